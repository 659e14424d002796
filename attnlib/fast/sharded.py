r"""A database spread over the devices of JAX: keys too many for one device, pooled as if on one.

Each device pools with its own keys and returns, for each query, its largest score :math:`t_s`, the
sum :math:`z_s = \sum_j e^{a_j - t_s}` and the sum of values :math:`f_s` with the same weights. With
the largest score of all, :math:`t`,

.. math:: f = \sum_s e^{t_s - t} f_s \Big/ \sum_s e^{t_s - t} z_s

is the mean over all keys: the shards merge by log-sum-exp. What travels between devices is a few
numbers for each query, however many keys there are.

Source: M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax",
arXiv:1805.02867, whose rule for merging partial sums this is.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import Any

from attnlib.fast.jax_stream import Chosen, sums

AXIS = "keys"


def mesh(devices: Any = None) -> Any:
    """Line up devices, all by default, along one axis named "keys".

    Parameters
    ----------
    devices : list of jax.Device, optional
        On a cluster, after ``jax.distributed.initialize()``, ``jax.devices()`` lists those of all
        processes.

    Returns
    -------
    jax.sharding.Mesh
        The axis along which a database is spread.
    """
    jax = import_module("jax")
    devices = jax.devices() if devices is None else devices
    kinds = (jax.sharding.AxisType.Auto,)
    return jax.make_mesh((len(devices),), (AXIS,), devices=devices, axis_types=kinds)


def place(over: Any, keys: Any, values: Any) -> tuple[Any, Any, int]:
    """Spread keys and values over the devices of a mesh.

    Parameters
    ----------
    over : jax.sharding.Mesh
        From `mesh`.
    keys : array (m, d_k)
        Any number of keys.
    values : array (m, d_v)
        Their values.

    Returns
    -------
    keys, values, number
        Sharded arrays, padded to a multiple of the number of devices; the number of true pairs.
    """
    jax = import_module("jax")
    sharding = jax.sharding.NamedSharding(over, jax.sharding.PartitionSpec(AXIS))
    return *jax.device_put(_padded(over, keys, values), sharding), len(keys)


def _padded(over: Any, keys: Any, values: Any) -> tuple[Any, Any]:
    """Pairs up to a multiple of the number of devices."""
    pad = import_module("jax").numpy.pad
    padding = [(0, -len(keys) % over.size), (0, 0)]
    return pad(keys, padding), pad(values, padding)


def attention(
    over: Any,
    queries: Any,
    keys: Any,
    values: Any,
    *,
    number: int | None = None,
    scale: float = 1.0,
    bandwidth: Any = None,
) -> Any:
    """Pool the values with weights from dot products or, with a bandwidth, the Gaussian kernel.

    Differentiable, and a program like any other under ``jax.jit``.

    Parameters
    ----------
    over : jax.sharding.Mesh
        From `mesh`.
    queries : array (n, d_k)
        Every device sees all of them.
    keys : array (m, d_k)
        From `place`; other arrays are spread on the way.
    values : array (m, d_v)
        Likewise.
    number : int, optional
        How many of the m pairs are true ones, the first; all by default.
    scale : float, optional
        Factor of the dot products.
    bandwidth : float or array (), optional
        Bandwidth of the Gaussian kernel.

    Returns
    -------
    array (n, d_v)
        What `attnlib.attention` or `attnlib.nadaraya_watson` gives on one device, but 0 for a query
        at which every score is :math:`-\\infty`.

    Raises
    ------
    ValueError
        If there is no key, or not one value for each.

    Examples
    --------
    >>> import jax
    >>> from attnlib.fast import sharded
    >>> over = sharded.mesh(jax.devices()[:1])
    >>> keys, values, number = sharded.place(over, jax.numpy.eye(3), jax.numpy.ones((3, 2)))
    >>> print(sharded.attention(over, jax.numpy.ones((1, 3)), keys, values, number=number))
    [[1. 1.]]
    """
    jax = sys.modules["jax"]
    xp, spec = jax.numpy, jax.sharding.PartitionSpec
    number = len(keys) if number is None else number
    if not 0 < number <= len(keys) or len(values) != len(keys):
        raise ValueError(
            f"keys and values: expected one value for each key, number = {number} of them true "
            f"pairs and at least one; got shapes {keys.shape} and {values.shape}"
        )
    keys, values = _padded(over, keys, values)
    usable = (xp.arange(len(keys)) < number)[None, :]
    kernel = "dot" if bandwidth is None else "gaussian"
    width = xp.full((1, 1), 1.0 if bandwidth is None else bandwidth, queries.dtype)

    def merged(*shard: Any) -> Any:
        top, total, pooled = sums(Chosen(kernel, scale, False, "zero"), *shard)
        highest = jax.lax.pmax(jax.lax.stop_gradient(top), AXIS)
        factor = xp.where(xp.isneginf(top), 0, xp.exp(top - highest))
        total = jax.lax.psum(total * factor, AXIS)[:, None]
        pooled = jax.lax.psum(pooled * factor[:, None], AXIS)
        return pooled / xp.where(total == 0, 1, total)

    spread = spec(AXIS)
    run = partial(jax.shard_map, mesh=over, out_specs=spec(), check_vma=False)
    run = run(merged, in_specs=(spec(), spread, spread, spec(), spec(None, AXIS)))
    return run(queries, keys, values, width, usable)
