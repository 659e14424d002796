"""Parameters counted on arrays of the right size; changes recomputed for each permutation."""

from itertools import permutations

import numpy as np
import pytest
from draws import normals
from scipy.special import softmax

D_K, D_V, M = 4, 3, 5
ROUNDING = pytest.approx(0, abs=1e-13)  # sums of numbers below 100 in double precision


def connections(pairs, d_k, d_v):
    """Inputs times outputs of a layer that reads a query and some pairs written in a row."""
    query, database = np.zeros(d_k), np.zeros((pairs, d_k + d_v))
    return int(np.outer(np.zeros(d_v), np.append(query, database)).size)


def changes(framework):
    """Largest entry of the change, for each order but the given one."""
    shapes = (D_K,), (D_K, D_K), (M, D_K), (M, D_V), (D_V, D_K + M * (D_K + D_V))
    query, matrix, keys, values, weight = normals(framework, 2, *shapes, keys=32)
    attention = softmax(np.einsum("a,ab,ib->i", query, matrix / D_K, keys))
    blocks = weight[:, D_K:].reshape(D_V, M, D_K + D_V)
    pairs = np.hstack([keys, values])

    orders = np.array(list(permutations(range(M)))[1:])
    layer = np.einsum("oip,nip->no", blocks, pairs[orders] - pairs)
    # Values moved against their weights: keys that move alone do this with the inverse, and all
    # permutations but the identity are all inverses but the identity.
    keys_alone = attention @ (values[orders] - values)
    return len(orders), np.abs(layer).max(axis=1), np.abs(keys_alone).max(axis=1)


def expected(framework):
    if framework is None:
        layers = {f"ex2/b/layer_d64_m{m}": connections(m, 64, 64) + 64 for m in (1, 10, 100, 1000)}
        return layers | {
            "ex2/a/parameters": D_K * D_K,
            "ex2/a/scores": M,
            "ex2/b/lookup_d64": np.zeros((64, 64)).size,
            "ex2/b/layer_weights": connections(M, D_K, D_V),
            "ex2/b/layer_with_bias": connections(M, D_K, D_V) + D_V,
            "ex2/c/orders": 119,
        }
    _, layer, keys_alone = changes(framework)
    return {
        "ex2/c/lookup_largest_change": ROUNDING,
        "ex2/c/equal_blocks_largest_change": ROUNDING,
        "ex2/c/layer_smallest_change": pytest.approx(layer.min(), rel=1e-12),
        "ex2/c/layer_largest_change": pytest.approx(layer.max(), rel=1e-12),
        # A difference of outputs of order one, as small as 1e-4.
        "ex2/c/keys_alone_smallest_change": pytest.approx(keys_alone.min(), abs=1e-13),
        "ex2/c/keys_alone_largest_change": pytest.approx(keys_alone.max(), rel=1e-12),
    }
