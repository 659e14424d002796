"""Which method does the work, and what is said when the one asked for cannot."""

from functools import partial
from math import sqrt

import jax
import numpy as np
import pytest
import torch

import attnlib
from attnlib.fast import choice, dense, jax_stream, line, small, torch_stream

ENGINES = {
    "line": (line, "means"),
    "line, own left out": (line, "left_out"),
    "dense": (dense, "pooled"),
    "torch": (torch_stream, "stream"),
    "jax": (jax_stream, "stream"),
    "small": (small, "gaussian_means"),
    "small, dot": (small, "dot_means"),
}


@pytest.fixture
def used(monkeypatch):
    """Names of the engines that gave a result."""
    names = []

    def record(name, module, function):
        real = getattr(module, function)

        def recorded(*arguments, **options):
            result = real(*arguments, **options)
            if result is not None:
                names.append(name)
            return result

        monkeypatch.setattr(module, function, recorded)

    for name, (module, function) in ENGINES.items():
        record(name, module, function)
    return names


MANY = int(sqrt(choice.FEW["numbers"])) + 1
LINE = np.linspace(0, 1, MANY)
PLANE = np.stack([LINE, LINE**2], 1)
DOTS = np.ones((int(sqrt(choice.FEW["dot"])) + 1, 2))
GRADIENT = torch.ones(int(sqrt(choice.FEW["gradient"])) + 1, 2, requires_grad=True)
MASK = np.ones((1, MANY), bool)


def regression(points, **options):
    return attnlib.nadaraya_watson(points, points, points, 0.5, **options)


def attention(points, **options):
    return attnlib.attention(points, points, points, **options)


@pytest.mark.parametrize(
    ("call", "points", "engines"),
    [
        (regression, LINE[:9], ["small"]),
        (regression, LINE[:-1], ["small"]),
        (regression, torch.tensor(LINE[:-1]), ["small"]),
        (regression, torch.tensor(LINE[:9]).requires_grad_(), []),
        (partial(regression, empty="zero"), LINE[:9], []),
        (attention, PLANE[:9], ["small, dot"]),
        (attention, torch.tensor(PLANE[:9]), ["small, dot"]),
        (attention, torch.tensor(PLANE[:9]).requires_grad_(), []),
        (attention, torch.tensor(PLANE[:9], dtype=torch.bfloat16), []),
        (partial(attention, score=attnlib.squared_distance), PLANE[:9], []),
        (regression, PLANE[:-1], []),
        (regression, LINE, ["line"]),
        (regression, LINE.astype("float16"), ["line"]),
        (regression, PLANE, ["dense"]),
        (regression, torch.tensor(LINE), ["line"]),
        (regression, torch.tensor(PLANE), ["dense"]),
        (regression, jax.numpy.asarray(LINE), ["line"]),
        (partial(regression, kernel="boxcar"), LINE, ["line"]),
        (partial(regression, kernel="boxcar"), PLANE, []),
        (partial(regression, mask=MASK), LINE, ["dense"]),
        (partial(regression, method="plain"), LINE, []),
        (partial(regression, method="stream"), LINE[:9], ["dense"]),
        (partial(regression, method="line"), LINE[:9], ["line"]),
        (lambda x: attnlib.leave_one_out(x, x, 0.5), LINE, ["line, own left out"]),
        (lambda x: attnlib.leave_one_out(x, x, 0.5), PLANE, ["dense"]),
        (regression, GRADIENT[:-1], []),
        (regression, GRADIENT, ["dense", "torch"]),
        (attention, PLANE, []),
        (attention, DOTS, ["dense"]),
        (attention, torch.tensor(DOTS), ["dense"]),
        (attention, torch.tensor(DOTS, dtype=torch.float32), ["torch"]),
        (partial(attention, score=attnlib.squared_distance), DOTS, ["dense"]),
        (partial(attention, score=partial(attnlib.dot_product, scale=0.5)), DOTS, ["dense"]),
        (partial(attention, method="stream"), PLANE[:9], ["dense"]),
    ],
)
def test_engines(used, call, points, engines):
    call(points)
    assert used == engines


def test_an_unknown_score_is_never_streamed(used):
    attention(DOTS[:100], score=lambda q, k: q @ k.T)
    assert not used


def test_traced_arrays_take_the_stream_of_jax(used):
    jax.jit(partial(regression, method="stream"))(jax.numpy.asarray(PLANE[:9]))
    assert used == ["jax"]


SHORT = LINE[:9]
FLAT = PLANE[:9]
CANNOT = [
    (partial(regression, FLAT, method="line"), "'line' is for kernels of scalar positions"),
    (partial(regression, SHORT, method="line", mask=MASK[:, :9]), "'line' is for kernels of scal"),
    (lambda: attnlib.nadaraya_watson(SHORT, SHORT, SHORT, np.ones((9, 1)), method="line"),
     "'line' needs one bandwidth"),
    (partial(regression, torch.tensor(SHORT).requires_grad_(), method="line"),
     "'line' has no gradient"),
    (partial(regression, np.array([0.0, np.inf]), method="line"), "'line' needs finite positions"),
    (partial(attention, FLAT, method="line"), "'line' is for kernels of scalar positions"),
    (partial(regression, FLAT, kernel="boxcar", method="stream"),
     "'stream' is for Gaussian and dot-product scores, not for kernel 'boxcar'"),
    (lambda: attnlib.nadaraya_watson(FLAT, FLAT, FLAT, np.ones(9), method="stream"),
     "'stream' needs a bandwidth that is the same for all keys"),
    (partial(attention, FLAT, score=lambda q, k: q @ k.T, method="stream"),
     "'stream' is for the scores dot_product and squared_distance"),
    (partial(regression, FLAT, method="fast"), "method: expected one of auto, plain, stream, line"),
    (partial(attention, FLAT, method="fast"), "method: expected one of auto, plain, stream, line"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), CANNOT, ids=[message for _, message in CANNOT])
def test_what_a_method_cannot_do(call, message):
    with pytest.raises(ValueError, match="method: ") as caught:
        call()
    assert message in str(caught.value)


x = SHORT
BAD = {
    "no key": lambda m: attnlib.nadaraya_watson(x, x[:0], x[:0], 0.5, method=m),
    "widths": lambda m: attnlib.nadaraya_watson(FLAT, x, x, 0.5, method=m),
    "values": lambda m: attnlib.nadaraya_watson(x, x, x[:3], 0.5, method=m),
    "batch": lambda m: attnlib.nadaraya_watson(
        np.ones((2, 4, 1)), np.ones((3, 9, 1)), np.ones((3, 9)), 0.5, method=m
    ),
    "bandwidth": lambda m: attnlib.nadaraya_watson(x, x, x, -1.0, method=m),
    "bandwidths": lambda m: attnlib.nadaraya_watson(x, x, x, np.ones((3, 1)), method=m),
    "kernel": lambda m: attnlib.nadaraya_watson(x, x, x, 0.5, "cosine", method=m),
    "empty": lambda m: attnlib.nadaraya_watson(x, x, x, 0.5, empty="none", method=m),
    "mask": lambda m: attnlib.nadaraya_watson(x, x, x, 0.5, mask=np.ones(3, bool), method=m),
    "mask, dtype": lambda m: attnlib.nadaraya_watson(x, x, x, 0.5, mask=np.ones(9), method=m),
    "integers": lambda m: attnlib.nadaraya_watson(np.arange(9), x, x, 0.5, method=m),
    "frameworks": lambda m: attnlib.nadaraya_watson(x, torch.tensor(x), x, 0.5, method=m),
    "one pair": lambda m: attnlib.leave_one_out(x[:1], x[:1], 0.5, method=m),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input_gets_the_same_message_from_every_method(bad):
    messages = set()
    for method in choice.METHODS:
        with pytest.raises((TypeError, ValueError)) as caught:
            BAD[bad](method)
        messages.add((caught.type, str(caught.value)))
    assert len(messages) == 1, messages


@pytest.mark.parametrize("array", [np.asarray, torch.tensor])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("far", [0, 1e3, 1e30])
def test_small_problems_are_those_of_the_definition(array, dtype, far):
    """Also where a query is so far that the short formula would divide 0 by 0."""
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((n, 3)).astype(dtype) for n in (20, 30, 30))
    q[0] += far
    rounding = 40 * np.finfo(dtype).eps * max(1, min(far, 1e3))
    for function, arguments in [
        (partial(attnlib.nadaraya_watson, bandwidth=0.5), (q[:, 0], k[:, 0], v[:, 0])),
        (attnlib.attention, (q, k, v)),
        (partial(attnlib.attention, score=partial(attnlib.dot_product, scale=0.5)), (q, k, v)),
    ]:
        found, plain = (
            np.asarray(function(*map(array, arguments), method=method))
            for method in ("auto", "plain")
        )
        np.testing.assert_allclose(found, plain, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_small_problems_with_numbers_that_are_not_finite(place, wrong):
    arrays = [np.linspace(0.0, 1.0, 12).reshape(4, 3) for _ in range(3)]
    arrays[place][1, 1] = wrong
    for function in (
        lambda q, k, v, **m: attnlib.nadaraya_watson(q[:, 1], k[:, 1], v[:, 1], 0.5, **m),
        attnlib.attention,
    ):
        with np.errstate(invalid="ignore"):
            found, plain = (function(*arrays, method=method) for method in ("auto", "plain"))
        np.testing.assert_allclose(found, plain, rtol=1e-14)


def test_transformations_of_pytorch_take_the_definition():
    x = torch.linspace(0, 1, 9)

    def total(v):
        return attnlib.nadaraya_watson(x, x, v, 0.5).sum()

    slope = torch.func.grad(total)(x)
    numbers = attnlib.nadaraya_watson(x, x, torch.eye(9), 0.5).sum(0)
    torch.testing.assert_close(slope, numbers)
    torch.testing.assert_close(torch.func.vmap(total)(torch.eye(9)), numbers)


def test_crossovers_of_the_two_small_paths_agree():
    assert choice.FEW["numbers"] == small.FEW
