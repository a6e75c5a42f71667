# SPDX-License-Identifier: Apache-2.0
"""Graphs that are left to Inductor, with the reason."""
import pytest

torch = pytest.importorskip("torch")

from regal.torch import planned  # noqa: E402
from regal.torch.trace import Traced, Unsupported  # noqa: E402
from regal.torch.workers import Threads  # noqa: E402
from triton_like import SIZE, Graph, kernels  # noqa: E402


def test_graphs_that_communicate_are_left_to_inductor():
    """Each process would have its own order, and wait for the others."""
    pytest.importorskip("torch.distributed")  # has the ops
    graph = Graph()
    functional = torch.ops._c10d_functional
    sent = graph.graph.call_function(
        functional.all_reduce.default, (graph.x, "sum", "0"))
    traced = graph.traced(
        graph.graph.call_function(functional.wait_tensor.default, (sent,)))
    with pytest.raises(Unsupported, match="all_reduce.* communicates"):
        planned._check_kernels(traced)


def test_a_check_on_the_device_is_a_kernel():
    """It has no result, and writes nothing."""
    kernel, graph = kernels(), Graph()
    doubled = graph.call(kernel["double"], graph.x)
    first = graph.graph.call_function(torch.ops.aten.select.int, (doubled, 0, 0))
    graph.graph.call_function(torch.ops.aten._assert_async.msg, (first, "zero"))
    traced = graph.traced(doubled)
    assert traced.program.dependencies == [[], [0]]
    run = Threads(traced, [0, 1], [0, 1])
    assert run([torch.ones(SIZE)])[0].tolist() == [2.0] * SIZE
    with pytest.raises(RuntimeError, match="zero"):
        run([torch.zeros(SIZE)])


def test_a_value_that_is_read_on_the_host_is_left_to_inductor():
    """A recording of it would fail; a mask that is an index is read, too."""
    inductor = pytest.importorskip("regal.torch.inductor")
    kernel, graph = kernels(), Graph()
    number = graph.graph.call_function(torch.ops.aten.item.default, (graph.x,))
    module = graph.module(graph.call(kernel["double"], graph.x))
    traced = Traced(module, {n: None for n in module.graph.nodes})
    assert number not in traced.kernels
    with pytest.raises(Unsupported, match="decides what runs"):
        planned._check_kernels(traced)
    for dtype in (torch.bool, torch.int64):
        graph = torch.fx.Graph()
        x, at = (graph.placeholder(name) for name in ("x", "at"))
        x.meta["val"], at.meta["val"] = torch.ones(3), torch.ones(3, dtype=dtype)
        graph.call_function(torch.ops.aten.index_put_.default, (x, (at,), x))
        graph.output((x,))
        module = torch.fx.GraphModule(torch.nn.Module(), graph)
        if dtype == torch.bool:
            with pytest.raises(Unsupported, match="index_put_.* cannot be recorded"):
                inductor.check_recordable(module)
        else:
            inductor.check_recordable(module)


def test_a_result_on_the_host_is_left_to_inductor():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    found = [
        graph.call_function(torch.ops.aten._to_copy.default, (x,), {"device": to})
        for to in ("meta", "cpu")
    ]
    graph.output(tuple(found))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    values = {x: torch.empty(3, device="meta"), found[0]: torch.empty(3, device="meta"),
              found[1]: torch.empty(3), graph.output_node(): None}
    with pytest.raises(Unsupported, match="of _to_copy_default_1 is on the cpu"):
        planned._check_kernels(Traced(module, values))


def test_a_reason_has_one_line_with_more_than_a_name():
    assert planned._reason(ValueError("one\ntwo")) == "one"
    assert planned._reason(ValueError()) == "ValueError"
    error = RuntimeError("outer")
    error.__cause__ = ValueError("NotImplementedError:\n\n  not this line\nnor that")
    assert planned._reason(error) == "NotImplementedError: not this line"


def test_what_is_drawn_again_is_left_to_inductor():
    """A part under `checkpoint` has a generator among the inputs of both graphs."""
    backend = pytest.importorskip("regal.torch.backend")
    with pytest.raises(Unsupported, match="^it draws random numbers again in the"):
        backend._check_devices([torch.Generator()])
