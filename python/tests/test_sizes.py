# SPDX-License-Identifier: Apache-2.0
"""Graphs with sizes that vary, without a GPU: AOTAutograd's eager code in the
place of Inductor's."""
import warnings

import pytest

torch = pytest.importorskip("torch")

from regal.torch import Backend, backend, sizes  # noqa: E402
from torch import nn  # noqa: E402
from torch._dynamo.backends.debugging import aot_eager  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402


class Odd(nn.Module):
    """Results that are numbers and views, a buffer that it writes, contexts."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)
        self.register_buffer("calls", torch.zeros(4))

    def forward(self, x, factor):
        self.calls.add_(1)
        with torch.autocast("cpu", torch.bfloat16):
            y = self.linear(x)
        y = checkpoint(self.norm, y.float(), use_reentrant=False)
        y = y.reshape(x.shape[0] * 2, 2) * factor
        return y, x.view(-1), x.shape[0] * 3, self.calls[:2], factor


@pytest.fixture
def inductor(monkeypatch):
    """With eager code for any size."""
    found = pytest.importorskip("regal.torch.inductor")
    monkeypatch.setattr(
        found, "lower_plainly",
        lambda gm, example_inputs, settings: aot_eager(gm, example_inputs),
    )
    torch._dynamo.reset()
    return found


@pytest.fixture
def on_gpu(monkeypatch):
    monkeypatch.setattr(backend, "_check_devices", lambda example_inputs: None)


@pytest.fixture
def planned(monkeypatch, inductor, on_gpu):
    """Graphs that would be planned: the sizes of their inputs."""
    found = []

    def lower(gm, example_inputs, compile_one, settings):
        found.append([tuple(x.shape) for x in example_inputs])
        compile_one.func.__self__.graphs.append(None)
        return aot_eager(gm, example_inputs)

    monkeypatch.setattr(inductor, "lower", lower)
    return found


def assert_same(model, compiled, x, factor):
    expected, *_ = model(x, factor)
    expected.sum().backward()
    gradient, x.grad = x.grad, None
    model.calls.zero_()
    found, view, number, calls, same = compiled(x, factor)
    found.sum().backward()
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(x.grad, gradient)
    assert view.data_ptr() == x.data_ptr() and view.shape == (x.numel(),)
    assert (number, same) == (3 * len(x), factor)
    assert calls.tolist() == [1.0, 1.0]


def test_sizes_that_come_again_are_planned(planned):
    model = Odd()
    compiled = torch.compile(model, backend=Backend())
    for rows in (3, 5, 7, 5, 9, 5, 7, 3):
        x = torch.randn(rows, 4, requires_grad=True)
        assert_same(model, compiled, x, 2)
    rows = [next(s[0] for s in graph if len(s) == 2 and s[0] != 4)
            for graph in planned]
    assert rows == [3, 5, 7]  # the first shape is known, others came twice


def test_numbers_that_vary_are_constants_of_a_plan(planned):
    model = Odd()
    compiled = torch.compile(model, backend=Backend())
    x = torch.randn(3, 4, requires_grad=True)
    for factor in (2, 5, 6, 5, 6, 2):
        assert_same(model, compiled, x, factor)
    assert len(planned) == 3


def function(x):
    return x.relu() + x.shape[0]


def test_parameters_are_told_from_arguments(monkeypatch, inductor, on_gpu):
    """A plan reads them where they are; it would copy an argument."""
    found, static, usual = Backend(), [], inductor.lower

    def compile_one(gm, example_inputs, **kwargs):
        static.append(list(kwargs["static_input_idxs"]))
        found.graphs.append(None)
        return gm.forward

    monkeypatch.setattr(
        inductor, "lower",
        lambda gm, inputs, _, settings: usual(gm, inputs, compile_one, settings),
    )
    model = nn.Linear(4, 4)
    compiled = torch.compile(model, backend=found)
    with torch.no_grad():
        for rows in (3, 5, 5, 5):
            compiled(torch.ones(rows, 4))
    assert static == [[0, 1], [0, 1]]


def test_there_are_not_more_plans_than_that(planned, monkeypatch):
    monkeypatch.setattr(sizes, "_MOST", 2)
    monkeypatch.setattr(sizes, "_COUNTED", 3)
    compiled = torch.compile(function, backend=Backend(), dynamic=True)
    for rows in (3, 5, 7, 9, 11) * 2 + (5, 5, 7, 7, 9, 9):
        x = torch.randn(rows, 2)
        torch.testing.assert_close(compiled(x), function(x))
    assert planned == [[(5, 2)], [(7, 2)]]


def fails(gm, example_inputs, compile_one, settings):
    raise RuntimeError("not this one\nat all")


def leaves(gm, example_inputs, compile_one, settings):
    """As `_compile_one` does with what it cannot plan."""
    warnings.warn("regal: left to Inductor: not this one")
    return aot_eager(gm, example_inputs)


@pytest.mark.parametrize("lower", [fails, leaves])
def test_what_cannot_be_planned_is_tried_once(
    monkeypatch, inductor, on_gpu, lower
):
    monkeypatch.setattr(inductor, "lower", lower)
    compiled = torch.compile(function, backend=Backend(), dynamic=True)
    x, y = torch.randn(3, 2), torch.randn(5, 2)
    compiled(x)
    with pytest.warns(UserWarning, match="left to Inductor: not this one$"):
        torch.testing.assert_close(compiled(x), function(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            torch.testing.assert_close(compiled(x), function(x))
            torch.testing.assert_close(compiled(y), function(y))


def test_a_model_on_the_cpu_is_compiled_once(monkeypatch, inductor):
    monkeypatch.setattr(inductor, "lower", fails)
    compiled = torch.compile(function, backend=Backend(), dynamic=True)
    x = torch.randn(3, 2)
    with pytest.warns(UserWarning, match="sizes that vary.* is on the cpu$"):
        compiled(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            torch.testing.assert_close(compiled(x), function(x))
