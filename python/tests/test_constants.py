# SPDX-License-Identifier: Apache-2.0
"""Kernels that depend on no input are run once."""
import pytest

torch = pytest.importorskip("torch")

from regal.torch import constants  # noqa: E402
from regal.torch.constants import (  # noqa: E402
    bytes_of_constants,
    find_constants,
    fold_constants,
)
from regal.torch.workers import Threads  # noqa: E402
from triton_like import SIZE, Graph, kernels  # noqa: E402

def run(traced, x, workers=2):
    count = len(traced.kernels)
    place = [k % workers for k in range(count)]
    return Threads(traced, range(count), place)([x])


def test_runs_constants_once_and_the_rest_at_every_call():
    kernel, graph = kernels(), Graph()
    numbers = graph.call(kernel["count"], 3)
    doubled = graph.call(kernel["double"], numbers)
    traced = graph.traced(graph.call(kernel["add"], graph.x, doubled))
    folded = fold_constants(traced)
    assert [k.name for k in folded.program.kernels] == ["add"]
    assert len(traced.kernels) == 3  # the graph itself is as before
    for x in (torch.ones(SIZE), torch.full((SIZE,), 5.0)):
        (found,) = run(folded, x)
        (expected,) = run(traced, x)
        assert torch.equal(found, expected)
        assert torch.equal(found, x + 2 * torch.arange(3.0, 3 + SIZE))
    assert kernel["double"].runs == 1 + 2  # folded once, two calls unfolded
    assert kernel["add"].runs == 4


def test_equal_constants_share_memory_and_others_do_not():
    kernel, graph = kernels(), Graph()
    masks = [graph.call(kernel["count"], start) for start in (0, 0, 7, 0)]
    total = graph.x
    for mask in masks:
        total = graph.call(kernel["add"], total, graph.call(kernel["double"], mask))
    traced = graph.traced(total)
    folded = fold_constants(traced)
    assert len(traced.kernels) - len(folded.kernels) == 8
    # Two different masks, and each doubled.
    assert bytes_of_constants(folded) == 4 * SIZE * 4
    assert kernel["count"].runs == kernel["double"].runs == 2
    x = torch.rand(SIZE)
    assert torch.equal(run(folded, x)[0], run(traced, x)[0])


def test_what_the_caller_gets_is_computed_anew():
    kernel, graph = kernels(), Graph()
    numbers = graph.call(kernel["count"], 3)
    traced = graph.traced(numbers, graph.call(kernel["add"], graph.x, numbers))
    assert find_constants(traced) == []
    assert fold_constants(traced) is traced
    first, second = run(traced, torch.ones(SIZE))
    first.zero_()
    assert torch.equal(run(traced, torch.ones(SIZE))[1], second)


def test_what_is_written_twice_or_random_is_not_constant():
    kernel, graph = kernels(), Graph()
    counter = graph.call(kernel["count"], 0)
    graph.graph.call_function(kernel["grow"], (counter,))
    noise = graph.graph.call_function(torch.ops.aten.rand.default, ([SIZE],))
    total = graph.call(kernel["add"], counter, noise)
    traced = graph.traced(graph.call(kernel["add"], graph.x, total))
    assert find_constants(traced) == []


def test_large_constants_are_computed_anew(monkeypatch):
    kernel, graph = kernels(), Graph()
    numbers = graph.call(kernel["count"], 3)
    traced = graph.traced(graph.call(kernel["add"], graph.x, numbers))
    assert len(find_constants(traced)) == 1
    monkeypatch.setattr(constants, "_MOST_BYTES", 4 * SIZE - 1)
    assert find_constants(traced) == []


def test_views_of_constants_are_made_of_their_values():
    kernel, graph = kernels(), Graph()
    numbers = graph.call(kernel["count"], 3)
    again = graph.call(kernel["count"], 3)
    view = graph.graph.call_function(
        torch.ops.aten.view.default, (again, [2, SIZE // 2])
    )
    row = graph.graph.call_function(torch.ops.aten.select.int, (view, 0, 1))
    summed = graph.graph.call_function(torch.ops.aten.sum.default, (row,))
    traced = graph.traced(
        graph.call(kernel["add"], graph.x, numbers), summed
    )
    folded = fold_constants(traced)
    assert len(folded.kernels) == len(traced.kernels) - 2
    x = torch.rand(SIZE)
    for found, expected in zip(run(folded, x), run(traced, x)):
        assert torch.equal(found, expected)
    assert float(run(folded, x)[1]) == 6 + 7 + 8
