"""The section's draws and the exercises' databases, in float32.

Every draw comes from a seed of its own: no global seed is read or changed. PyTorch and JAX draw
different numbers from equal seeds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from attnlib import _checks
from attnlib.frameworks import load, namespace

if TYPE_CHECKING:
    from attnlib._typing import Array, Draw, Elements, Matrix, Vector

BANDWIDTHS = (0.1, 0.5, 2.0)
"""The three bandwidths that the section compares."""


class SectionData(NamedTuple):
    """Forty noisy observations of `truth` on [0, 5), and fifty queries with the truth at them."""

    x_train: Vector
    y_train: Vector
    x_val: Vector
    y_val: Vector


class Pairs(NamedTuple):
    """Keys and their values."""

    keys: Matrix
    values: Vector | Matrix


def truth(x: Elements) -> Elements:
    r"""Curve that the section's observations scatter around, :math:`2 \sin x + x`.

    Parameters
    ----------
    x : array of any shape
        Positions.

    Returns
    -------
    array of the same shape
        The curve at these positions.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib.data import truth
    >>> truth(np.array([0.0, np.pi]))
    array([0.        , 3.14159265])
    """
    return 2 * namespace(x=x).sin(x) + x


def section_data(framework: str) -> SectionData:
    """Draw the section's data: 40 noisy observations, 50 queries.

    Inputs are uniform on [0, 5) and sorted, labels are `truth` plus standard normal noise; the
    queries are 0, 0.1, ..., 4.9. PyTorch draws from seed 0, inputs before noise. JAX splits
    ``key(0)`` and draws inputs from the first half, noise from the second.

    Parameters
    ----------
    framework : {"torch", "jax"}
        Whose arrays and whose random numbers.

    Returns
    -------
    SectionData
        ``x_train`` (40,), ``y_train`` (40,), ``x_val`` (50,) and ``y_val`` (50,).

    Raises
    ------
    ValueError
        If the framework is neither of the two.

    Examples
    --------
    >>> from attnlib.data import section_data
    >>> x_train, y_train, x_val, y_val = section_data("torch")
    >>> tuple(x_train.shape), tuple(x_val.shape)
    ((40,), (50,))
    """
    inputs, noise = _inputs_and_noise(framework, (40,), 0)
    xp = namespace(inputs=inputs)
    x_train = xp.sort(inputs)
    x_val = load(framework).arange(0, 5, 0.1, dtype=xp.float32)
    return SectionData(x_train, truth(x_train) + noise, x_val, truth(x_val))


def section_noise(framework: str, redraws: int, seed: int) -> Matrix:
    """Draw fresh noise for the section's training labels, inputs kept.

    Parameters
    ----------
    framework : {"torch", "jax"}
        Whose arrays and whose random numbers.
    redraws : int
        How often the 40 labels are redrawn.
    seed : int
        Seed of the draw.

    Returns
    -------
    array (redraws, 40)
        Standard normal numbers; add `truth` at ``x_train`` to get labels.

    Raises
    ------
    ValueError
        If the framework is neither of the two.

    Examples
    --------
    >>> from attnlib.data import section_noise
    >>> tuple(section_noise("torch", 200, seed=1).shape)
    (200, 40)
    """
    return standard_normal(framework, (redraws, 40), seed)


def metric_data(framework: str, n: int, seed: int) -> Pairs:
    """Draw inputs with five coordinates of which only the first one matters.

    Inputs are uniform on [0, 5)^5, labels are `truth` at the first coordinate plus standard normal
    noise.

    Parameters
    ----------
    framework : {"torch", "jax"}
        Whose arrays and whose random numbers.
    n : int
        Number of observations.
    seed : int
        Seed of the draw.

    Returns
    -------
    Pairs
        ``keys`` (n, 5) and ``values`` (n,).

    Raises
    ------
    ValueError
        If the framework is neither of the two.

    Examples
    --------
    >>> from attnlib.data import metric_data
    >>> x, y = metric_data("torch", 200, seed=1)
    >>> tuple(x.shape), tuple(y.shape)
    ((200, 5), (200,))
    """
    inputs, noise = _inputs_and_noise(framework, (n, 5), seed)
    return Pairs(inputs, truth(inputs[:, 0]) + noise)


def unit_sphere(framework: str, m: int, d: int, seed: int, *, databases: int | None = None) -> Draw:
    """Draw points uniformly from the unit sphere: normal vectors, scaled to length one.

    Parameters
    ----------
    framework : {"torch", "jax"}
        Whose arrays and whose random numbers.
    m : int
        Number of points.
    d : int
        Dimension of the space, not of the sphere.
    seed : int
        Seed of the draw.
    databases : int, optional
        Draw as many sets of m points, along a first axis.

    Returns
    -------
    array (m, d) or (databases, m, d)
        Vectors of length one.

    Raises
    ------
    ValueError
        If the framework is neither of the two.

    References
    ----------
    .. [1] M. E. Muller, "A note on a method for generating points uniformly on N-dimensional
       spheres", Communications of the ACM 2 (1959), 19-20.

    Examples
    --------
    >>> from attnlib.data import unit_sphere
    >>> tuple(unit_sphere("torch", 20, 16, seed=1, databases=3).shape)
    (3, 20, 16)
    """
    shape = (m, d) if databases is None else (databases, m, d)
    vectors = standard_normal(framework, shape, seed)
    xp = namespace(vectors=vectors)
    return vectors / xp.sqrt(xp.sum(vectors * vectors, axis=-1, keepdims=True))


def two_entry_database(framework: str) -> Pairs:
    """Return the database {(2, 10), (5, 20)}.

    Parameters
    ----------
    framework : {"torch", "jax", "numpy"}
        Whose arrays.

    Returns
    -------
    Pairs
        ``keys`` (2, 1) and ``values`` (2, 1).

    Raises
    ------
    ValueError
        If the framework is none of the three.

    Examples
    --------
    >>> from attnlib.data import two_entry_database
    >>> two_entry_database("numpy").values
    array([[10.],
           [20.]], dtype=float32)
    """
    xp = load(framework)
    keys = xp.asarray([[2.0], [5.0]], dtype=xp.float32)
    return Pairs(keys, xp.asarray([[10.0], [20.0]], dtype=xp.float32))


def standard_normal(framework: str, shape: tuple[int, ...], seed: int) -> Draw:
    """Draw standard normal numbers.

    Parameters
    ----------
    framework : {"torch", "jax"}
        Whose arrays and whose random numbers.
    shape : tuple of int
        Shape of the result.
    seed : int
        Seed of the draw. Equal seeds give equal numbers, also to the other functions of this file:
        use different seeds for draws that have to be independent.

    Returns
    -------
    array of this shape
        The numbers, float32.

    Raises
    ------
    ValueError
        If the framework is neither of the two.

    Examples
    --------
    >>> from attnlib.data import standard_normal
    >>> tuple(standard_normal("torch", (2, 3), seed=1).shape)
    (2, 3)
    """
    _checks.one_of("framework", framework, ("torch", "jax"))
    if framework == "torch":
        torch = import_module("torch")
        stream = torch.Generator().manual_seed(seed)
        return torch.randn(shape, generator=stream, dtype=torch.float32)
    random = import_module("jax.random")
    return random.normal(random.key(seed), shape, dtype="float32")


def _inputs_and_noise(framework: str, shape: tuple[int, ...], seed: int) -> tuple[Array, Array]:
    """Draw inputs uniform on [0, 5), and standard normal noise for each along the first axis."""
    _checks.one_of("framework", framework, ("torch", "jax"))
    if framework == "torch":
        torch = import_module("torch")
        stream = torch.Generator().manual_seed(seed)
        inputs = torch.rand(shape, generator=stream, dtype=torch.float32)
        return 5 * inputs, torch.randn(shape[0], generator=stream, dtype=torch.float32)
    random = import_module("jax.random")
    for_inputs, for_noise = random.split(random.key(seed))
    inputs = random.uniform(for_inputs, shape, dtype="float32")
    return 5 * inputs, random.normal(for_noise, shape[:1], dtype="float32")
