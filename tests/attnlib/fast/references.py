"""The definition in extended precision, straight from the formula, for NumPy."""

import re

import numpy as np

from attnlib.fast import choice

WIDE = np.longdouble


def bound(method, dtype):
    """The error of a method as users read it: the rows of the table are "<method>  1e-5  1e-13"."""
    row = re.search(rf"^{re.escape(method)}.* (\de-\d+) +(\de-\d+)$", choice.__doc__, re.MULTILINE)
    return float(row[{"float32": 1, "float64": 2}[str(dtype)]])


def dot_weights(queries, keys, scale=1.0, *, mask=None):
    """Softmax (n, m) of dot products."""
    scores = WIDE(scale) * (queries.astype(WIDE) @ keys.T.astype(WIDE))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return np.exp(scores - scores.max(1, keepdims=True))


def gaussian_weights(queries, keys, bandwidth, *, others=False, mask=None):
    """Weights (n, m), not normalised: relative to the nearest key, as a product of differences."""
    q, k = (np.atleast_2d(x.T).T.astype(WIDE) for x in (queries, keys))
    use = np.ones((len(q), len(k)), bool) if mask is None else mask
    if others:
        use = use & ~np.eye(len(q), dtype=bool)
    bandwidth = np.asarray(bandwidth, WIDE)[..., None]
    near = k[use.argmax(1)]
    for _ in range(2):  # any key at first; then the nearest to the last digit
        # |q - k|^2 - |q - near|^2 = (k - near) . ((k - q) + (near - q)), where nothing cancels
        gap = k - near[:, None]
        far = (k - q[:, None]) + (near - q)[:, None]
        exponent = ((gap / bandwidth) * (far / bandwidth)).sum(-1)
        exponent[(gap == 0).all(-1)] = 0
        exponent[~use] = np.inf
        near = k[exponent.argmin(1)]
    return np.exp(-exponent / 2)


def compact_weights(queries, keys, radius, kernel, *, others=False):
    """Weights of the other kernels; the edge of the boxcar is decided in the arguments' dtype."""
    u = np.abs(queries[:, None] - keys) / queries.dtype.type(radius)
    distance = np.abs(queries[:, None].astype(float) - keys)
    weights = {
        "boxcar": u <= 1,
        "triangular": np.maximum(0, 1 - distance / radius),
        "constant": np.ones_like(u),
    }[kernel].astype(WIDE)
    if others:
        np.fill_diagonal(weights, 0)
        np.fill_diagonal(distance, np.inf)
    none = weights.sum(1) == 0
    weights[none] = (distance == distance.min(1, keepdims=True))[none]
    return weights


def means(weights, values):
    """Means (n, p) of values (m, p), and means of their sizes, by which errors are measured."""
    total = weights.sum(1, keepdims=True)
    return weights @ values.astype(WIDE) / total, weights @ np.abs(values).astype(WIDE) / total


def error(found, weights, values):
    """Error at each query (n,) over the mean of ``|v|`` or the smallest ``|v|`` that is not 0."""
    exact, sizes = means(weights, values)
    floor = np.where(values == 0, np.inf, np.abs(values)).min(0)
    floor = np.where(np.isinf(floor), 1, np.maximum(floor, np.finfo(values.dtype).tiny))
    return (np.abs(found - exact) / np.maximum(sizes, floor)).max(1).astype(float)


def error_of_edges(found, weights, values):
    """Largest error, where each weight may be wrong by rounding: near an edge that is much."""
    exact, sizes = means(weights, values)
    used = (weights > 0).astype(WIDE)
    total = weights.sum(1, keepdims=True)
    edges = (used @ np.abs(values) + used.sum(1, keepdims=True) * np.abs(exact)) / total
    allowed = 1e-13 * sizes + 16 * np.finfo(float).eps * edges
    return float(np.max(np.abs(found - exact) / allowed))
