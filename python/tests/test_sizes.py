# SPDX-License-Identifier: Apache-2.0
"""Graphs with sizes that vary, without a GPU: AOTAutograd's eager code in the
place of Inductor's."""
import warnings

import pytest

torch = pytest.importorskip("torch")

from regal.torch import Backend, sizes  # noqa: E402
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
def planned(monkeypatch):
    """Graphs that would be planned: the sizes of their inputs."""
    inductor = pytest.importorskip("regal.torch.inductor")
    found = []

    def lower(gm, example_inputs, compile_one, settings):
        found.append([tuple(x.shape) for x in example_inputs])
        return aot_eager(gm, example_inputs)

    monkeypatch.setattr(inductor, "lower", lower)
    monkeypatch.setattr(
        inductor, "lower_plainly",
        lambda gm, example_inputs, settings: aot_eager(gm, example_inputs),
    )
    torch._dynamo.reset()
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


def test_parameters_are_told_from_arguments(monkeypatch):
    """A plan reads them where they are; it would copy an argument."""
    inductor = pytest.importorskip("regal.torch.inductor")
    static = []

    def compile_one(gm, example_inputs, **kwargs):
        static.append(list(kwargs["static_input_idxs"]))
        return gm.forward

    usual = inductor.lower
    monkeypatch.setattr(
        inductor, "lower",
        lambda gm, inputs, _, settings: usual(gm, inputs, compile_one, settings),
    )
    monkeypatch.setattr(
        inductor, "lower_plainly",
        lambda gm, example_inputs, settings: aot_eager(gm, example_inputs),
    )
    torch._dynamo.reset()
    model = nn.Linear(4, 4)
    compiled = torch.compile(model, backend=Backend())
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


def test_what_cannot_be_compiled_for_its_sizes_is_so_for_any(
    planned, monkeypatch
):
    def fails(gm, example_inputs, compile_one, settings):
        raise RuntimeError("not this one\nat all")

    inductor = pytest.importorskip("regal.torch.inductor")
    monkeypatch.setattr(inductor, "lower", fails)
    compiled = torch.compile(function, backend=Backend(), dynamic=True)
    x = torch.randn(3, 2)
    compiled(x)
    with pytest.warns(UserWarning, match="sizes that vary.* not this one$"):
        torch.testing.assert_close(compiled(x), function(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(compiled(x), function(x))
