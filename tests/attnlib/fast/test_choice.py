"""Which method does the work, and what is said when the one asked for cannot."""

from functools import partial
from math import sqrt

import jax
import numpy as np
import pytest
import torch

import attnlib
from attnlib.fast import choice, dense, jax_small, jax_stream, line, small, torch_stream
from attnlib.kernels import KERNELS

ENGINES = {
    "line": (line, "means"),
    "line, own left out": (line, "left_out"),
    "dense": (dense, "pooled"),
    "torch": (torch_stream, "stream"),
    "jax": (jax_stream, "stream"),
    "small": (small, "kernel_means"),
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
FULL = np.eye(9, dtype=bool)


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
        (regression, torch.tensor(LINE[:9]).requires_grad_(), ["small"]),
        (regression, jax.numpy.asarray(LINE[:9]), ["small"]),
        (jax.jit(regression), jax.numpy.asarray(LINE[:9]), ["small"]),
        (regression, jax.numpy.asarray(PLANE[:9]), ["small"]),
        (partial(regression, kernel="boxcar"), LINE[:9], ["small"]),
        (partial(regression, mask=FULL), LINE[:9], ["small"]),
        (partial(regression, mask=FULL[:1]), LINE[:9], []),
        (partial(regression, empty="zero"), LINE[:9], []),
        (attention, PLANE[:9], ["small, dot"]),
        (attention, torch.tensor(PLANE[:9]), ["small, dot"]),
        (attention, torch.tensor(PLANE[:9]).requires_grad_(), ["small, dot"]),
        (attention, jax.numpy.asarray(PLANE[:9]), ["small, dot"]),
        (partial(attention, mask=FULL), PLANE[:9], ["small, dot"]),
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
    "mask, dtype": lambda m: attnlib.nadaraya_watson(x, x, x, 0.5, mask=np.ones((9, 9)), method=m),
    "mask, framework": lambda m: attnlib.nadaraya_watson(
        x, x, x, 0.5, mask=torch.ones(9, 9, dtype=torch.bool), method=m
    ),
    "integers": lambda m: attnlib.nadaraya_watson(np.arange(9), x, x, 0.5, method=m),
    "frameworks": lambda m: attnlib.nadaraya_watson(x, torch.tensor(x), x, 0.5, method=m),
    "one pair": lambda m: attnlib.leave_one_out(x[:1], x[:1], 0.5, method=m),
    "attention, widths": lambda m: attnlib.attention(FLAT, FLAT[:, :1], FLAT, method=m),
    "attention, values": lambda m: attnlib.attention(FLAT, FLAT, FLAT[:3], method=m),
    "attention, mask": lambda m: attnlib.attention(
        FLAT, FLAT, FLAT, mask=np.ones((9, 9)), method=m
    ),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input_gets_the_same_message_from_every_method(bad):
    messages = set()
    for method in choice.METHODS[: -1 if "attention" in bad else None]:  # which has no line
        with pytest.raises((TypeError, ValueError)) as caught:
            BAD[bad](method)
        messages.add((caught.type, str(caught.value)))
    assert len(messages) == 1, messages


ARRAYS = {"numpy": np.asarray, "torch": torch.tensor, "jax": jax.numpy.asarray}
DRAW = np.random.default_rng(0)
SMALL = {name: DRAW.standard_normal((n, 3)) for name, n in (("q", 20), ("k", 30), ("v", 30))}
SOME = DRAW.random((20, 30)) < 0.3
SOME[:, 5] = True
EMPTY = SOME.copy()
EMPTY[7] = False
MASKS = {"no mask": None, "mask": SOME, "mask with an empty row": EMPTY}


def both(function, *arrays, **options):
    """Results of the small path and of the definition."""
    return [np.asarray(function(*arrays, method=m, **options)) for m in ("auto", "plain")]


def rounding(far, dtype):
    """How far the two may be apart if a query lies that far away."""
    near = 40 * np.finfo(dtype).eps * max(1, min(far, 1e3))
    return {"rtol": near, "atol": near}


@pytest.fixture(params=ARRAYS)
def array(request):
    """A function that makes arrays of each framework."""
    return ARRAYS[request.param]


@pytest.fixture(params=MASKS)
def masked(request, array):
    """The option with each mask."""
    mask = MASKS[request.param]
    return {} if mask is None else {"mask": array(mask)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("far", [0, 1e3, 1e30])
@pytest.mark.parametrize("kernel", KERNELS)
def test_small_regression_is_that_of_the_definition(array, masked, dtype, far, kernel):
    """Also where a query is so far that the short formula would divide 0 by 0."""
    q, k, v = (array(x[:, 0].astype(dtype)) for x in SMALL.values())
    for gap in (0, far):
        found, plain = both(attnlib.nadaraya_watson, q + gap, k, v, 0.5, kernel, **masked)
        np.testing.assert_allclose(found, plain, **rounding(gap, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("far", [0, 1e3, 1e30])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_small_attention_is_that_of_the_definition(array, masked, dtype, far, scale):
    q, k, v = (array(x.astype(dtype)) for x in SMALL.values())
    score = partial(attnlib.dot_product, scale=scale)
    for gap in (0, far):
        found, plain = both(attnlib.attention, q + gap, k, v, score=score, **masked)
        np.testing.assert_allclose(found, plain, **rounding(gap, dtype))


@pytest.mark.parametrize("dtypes", ["fdd", "dff", "ffd"])
def test_small_problems_in_two_precisions(array, dtypes):
    """Bandwidth and scale, which no float32 holds, are rounded to float64."""
    q, k, v = (array(x.astype(dtype)) for x, dtype in zip(SMALL.values(), dtypes, strict=True))
    score = partial(attnlib.dot_product, scale=1 / 3)
    found, plain = both(attnlib.attention, q, k, v, score=score)
    np.testing.assert_allclose(found, plain, rtol=1e-12)
    found, plain = both(attnlib.nadaraya_watson, q[:, 0], k[:, 0], v[:, 0], 0.3)
    np.testing.assert_allclose(found, plain, rtol=1e-12)


def test_small_ties_and_edges(array):
    """Keys that are equally near, and keys on the edge of a kernel."""
    k, v = np.array([0.0, 0.75, 1.0, 1.0, 2.5]), np.array([1.0, 3.0, 2.0, 4.0, 8.0])
    for q in (0.5, 0.875, 7.0, -7.0):  # one at a time, as one without weight sends all back
        for kernel in KERNELS:
            arrays = map(array, (np.array([q]), k, v))
            found, plain = both(attnlib.nadaraya_watson, *arrays, 0.5, kernel)
            np.testing.assert_allclose(found, plain, rtol=1e-14)


@pytest.mark.parametrize("gap", [6.5, 6.8, 7.1])
def test_small_weights_that_lose_digits_before_they_vanish(array, gap):
    k, v = np.float32([0.0, 0.01]), np.float32([1.0, 2.0])
    assert 0 < np.exp(np.float32(-((gap / 0.5) ** 2) / 2)) < 1e-36
    found, plain = both(attnlib.nadaraya_watson, *map(array, (k[:1] - gap, k, v)), 0.5)
    np.testing.assert_allclose(found, plain, rtol=1e-5)


@pytest.mark.parametrize("bandwidth", [1e-45, 1e-30, 1e-10, 1e10, 1e30, np.inf])
def test_small_problems_with_extreme_bandwidths(array, bandwidth):
    q, k, v = (array(x[:, 0].astype("float32")) for x in SMALL.values())
    found, plain = both(attnlib.nadaraya_watson, q, k, v, bandwidth)
    np.testing.assert_allclose(found, plain, rtol=1e-5)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_small_problems_with_numbers_that_are_not_finite(array, place, wrong):
    arrays = [np.linspace(0.0, 1.0, 12).reshape(4, 3) for _ in range(3)]
    arrays[place][1, 1] = wrong
    with np.errstate(invalid="ignore"):
        for kernel in KERNELS:
            points = (array(x[:, 1]) for x in arrays)
            found, plain = both(attnlib.nadaraya_watson, *points, 0.5, kernel)
            np.testing.assert_allclose(found, plain, rtol=1e-14)
        found, plain = both(attnlib.attention, *map(array, arrays))
        np.testing.assert_allclose(found, plain, rtol=1e-14)


@pytest.mark.parametrize("far", [0.0, 1e200])
@pytest.mark.parametrize("mask", MASKS)
def test_small_gradients_of_pytorch_are_those_of_the_definition(mask, far):
    """Also with a key whose square overflows, and with a query that may use no key."""
    mask = None if MASKS[mask] is None else torch.tensor(MASKS[mask])
    slopes = []
    for method in ("auto", "plain"):
        q, k, v = leaves = [torch.tensor(x, requires_grad=True) for x in SMALL.values()]
        bandwidth = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
        move = torch.zeros(30, dtype=torch.float64)
        move[4] = far
        options = {"mask": mask, "method": method}
        out = attnlib.nadaraya_watson(q[:, 0], k[:, 0] + move, v[:, 0], bandwidth, **options)
        fixed = attnlib.nadaraya_watson(q[:, 1], k[:, 1], v[:, 1], 0.1, **options)
        pooled = attnlib.attention(q, k, v, **options)
        (out.square().sum() + fixed.square().sum() + pooled.square().sum()).backward()
        slopes.append([x.grad for x in (*leaves, bandwidth)])
    for found, plain in zip(*slopes, strict=True):
        torch.testing.assert_close(found, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_small_programs_of_jax_differentiate_and_vectorise(kernel, mask):
    q, k, v = (jax.numpy.asarray(x) for x in SMALL.values())
    mask = None if MASKS[mask] is None else jax.numpy.asarray(MASKS[mask])

    def estimates(method):
        function = partial(attnlib.nadaraya_watson, mask=mask, kernel=kernel, method=method)
        columns = jax.vmap(lambda *a: function(*a, 0.5), in_axes=1)
        slopes = jax.grad(lambda *a: (function(*a, 0.5) ** 2).sum(), argnums=(0, 1, 2))
        return [columns(q, k, v), *slopes(q[:, 0], k[:, 0], v[:, 0])]

    for found, plain in zip(estimates("auto"), estimates("plain"), strict=True):
        np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-12)


def test_small_second_derivatives_where_queries_are_keys(used):
    """There the distance has a kink, and its square none."""
    x, v = np.linspace(0.0, 1.0, 5), np.linspace(1.0, 2.0, 5) ** 2

    def total(q, k, v, method):
        return attnlib.nadaraya_watson(q, k, v, 0.5, method=method).sum()

    def by_jax(method):
        # Compiled, all three arrays are traced alike.
        return jax.hessian(jax.jit(partial(total, method=method)))(
            *map(jax.numpy.asarray, (x, x, v))
        )

    wanted = by_jax("plain")
    assert np.abs(np.diag(wanted)).min() > 0.1
    np.testing.assert_allclose(by_jax("auto"), wanted, rtol=1e-12, atol=1e-12)
    k, v = torch.tensor(x), torch.tensor(v)
    found = torch.autograd.functional.hessian(lambda q: total(q, k, v, "auto"), torch.tensor(x))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert used == ["small", "small"]


def test_a_small_program_of_jax_serves_every_bandwidth_and_scale():
    """Nothing is compiled again for another number."""
    q, k, v = (jax.numpy.asarray(x) for x in SMALL.values())

    def compiled():
        programs = jax_small._kernel_program("gaussian"), jax_small._dot_program()
        return [program._cache_size() for program in programs]

    attnlib.nadaraya_watson(q[:, 0], k[:, 0], v[:, 0], 0.5)
    attnlib.attention(q, k, v)
    before = compiled()
    for scale in (0.25, 1 / 3):
        score = partial(attnlib.dot_product, scale=scale)
        np.testing.assert_allclose(*both(attnlib.attention, q, k, v, score=score), rtol=1e-12)
    for bandwidth in (0.25, 0.75, 1, np.float64(2.0)):
        found, plain = both(attnlib.nadaraya_watson, q[:, 0], k[:, 0], v[:, 0], bandwidth)
        np.testing.assert_allclose(found, plain, rtol=1e-12)
    assert compiled() == before


def test_transformations_of_pytorch_take_the_definition():
    x = torch.linspace(0, 1, 9)

    def total(v):
        return attnlib.nadaraya_watson(x, x, v, 0.5).sum()

    slope = torch.func.grad(total)(x)
    numbers = attnlib.nadaraya_watson(x, x, torch.eye(9), 0.5).sum(0)
    torch.testing.assert_close(slope, numbers)
    torch.testing.assert_close(torch.func.vmap(total)(torch.eye(9)), numbers)


def test_what_pytorch_compiles_takes_the_definition(used, monkeypatch):
    """To look at a number would break its graph."""
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    regression(torch.tensor(LINE[:9]).requires_grad_())
    attention(torch.tensor(PLANE[:9]))
    assert not used


def test_transformations_of_recorded_tensors_take_the_definition():
    x = torch.linspace(0, 1, 9).requires_grad_()
    widths = torch.tensor([0.25, 0.5])
    many = torch.func.vmap(partial(attnlib.nadaraya_watson, x, x, x))(widths)
    single = torch.stack([attnlib.nadaraya_watson(x, x, x, b) for b in widths])
    torch.testing.assert_close(many, single)


def test_crossovers_of_the_two_small_paths_agree():
    assert choice.FEW["numbers"] == small.FEW
