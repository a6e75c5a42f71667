# SPDX-License-Identifier: Apache-2.0
"""The backend of torch.compile, as far as it needs no GPU."""
import contextlib
import copy
import dataclasses
import functools
import gc
import pickle
import threading
import time
import types
import unittest.mock
import warnings
import weakref

import pytest

torch = pytest.importorskip("torch")

import regal.torch as rt  # noqa: E402
from regal.streams.schedule import one_stream  # noqa: E402
from regal.streams.trials import Settings  # noqa: E402
from regal.torch import backend, captured, cuda, inductor, planned  # noqa: E402
from regal.torch.backend import is_part  # noqa: E402
from regal.torch.counters import find_counters  # noqa: E402
from regal.torch.measure import measure  # noqa: E402
from regal.torch.trace import Traced, tensors_of  # noqa: E402
from regal.torch.workers import Devices, Threads  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from triton_like import SIZE, Graph, Launch, kernels, traced_module  # noqa: E402


def test_graphs_of_a_model_that_dynamo_cuts_are_parts():
    def first_and_second(x):
        x = x.sin()
        torch._dynamo.graph_break()
        return x.cos()

    found = []

    def backend(gm, example_inputs):
        found.append(is_part(gm))
        return gm.forward

    torch.compile(first_and_second, backend=backend)(torch.ones(3))
    assert found == [True, True]
    found.clear()
    torch.compile(torch.nn.Linear(3, 3), backend=backend)(torch.ones(3))
    assert found == [False]
    assert not is_part(torch.fx.symbolic_trace(torch.nn.Linear(3, 3)))


def capture_on_cpu(traced, schedule, args, workshop=None, starts=()):
    """What CUDA records, as a function that launches in the same order."""
    env = traced.inputs(list(args))

    def replay():
        for tensor, start in starts:
            tensor.copy_(start)
        for launch in schedule.launches:
            traced.step(traced.kernels[launch.kernel], env)

    given = [(tensor, tensor.clone()) for tensor in tensors_of(list(args))]
    replay()  # CUDA runs nothing: inputs stay as they were
    for tensor, before in given:
        tensor.copy_(before)
    graph = types.SimpleNamespace(replay=replay)
    return cuda.Captured(graph, traced.results(env), args)


@pytest.fixture
def without_gpu(monkeypatch):
    def time_us(captured):
        captured.replay()
        return 5.0

    monkeypatch.setattr(cuda, "capture", capture_on_cpu)
    monkeypatch.setattr(cuda, "Workshop", lambda: None)
    monkeypatch.setattr(cuda, "time_us", time_us)
    monkeypatch.setattr(
        cuda, "Timer", functools.partial(cuda.Timer, time_one=time_us)
    )
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(planned, "_check_inputs", lambda traced: None)


QUICK = Settings(streams=2, seconds=0.2, search_seconds=0.02)


def graph_of(settings, graph, *outputs, static=(), dtype=torch.float32):
    """What is planned of a graph that is built."""
    module = graph.module(*outputs)
    traced = traced_module(module, dtype)
    for node in module.graph.nodes:
        node.meta["val"] = traced.values.get(node)
    return planned.PlannedGraph(
        module, "inference", static, None, settings, settings.seconds,
        lambda: pytest.fail("it was left to Inductor"),
    )


def planned_graph(settings):
    """x + count(3), its double and their sum, beside a second branch."""
    kernel, graph = kernels(), Graph()
    numbers = graph.call(kernel["count"], 3)
    left = graph.call(kernel["add"], graph.x, numbers)
    right = graph.call(kernel["double"], graph.x)
    return kernel, graph_of(settings, graph, graph.call(kernel["add"], left, right))


@pytest.mark.parametrize("is_folded", [True, False])
def test_a_planned_graph_measures_tries_and_serves_calls(without_gpu, is_folded):
    settings = Settings(
        streams=2, seconds=0.2, search_seconds=0.02, fold_constants=is_folded
    )
    kernel, graph = planned_graph(settings)
    held = []
    for start in (0.0, 1.0, 5.0):
        x = torch.full((SIZE,), start)
        (result,) = graph(x)
        held.append((x, result))
    for x, result in held:
        assert torch.equal(result, 3 * x + torch.arange(3.0, 3 + SIZE))
    report = graph.report
    assert report.kernels == (3 if is_folded else 4)
    assert report.constants == (1 if is_folded else 0)
    assert (report.whole_us is not None) == is_folded
    assert report.tried[0].measured_us == report.chosen.measured_us == 5.0
    assert report.held_bytes > 0 and report.measuring_s > 0
    assert ("(1 more run once)" in str(report)) == is_folded
    runs = kernel["count"].runs
    graph(torch.ones(SIZE))
    assert kernel["count"].runs - runs == (not is_folded)


def test_trials_draw_no_random_numbers_of_the_callers(without_gpu):
    """How many there are depends on the time that trials take."""
    kernel, graph = kernels(), Graph()
    noise = graph.graph.call_function(torch.ops.aten.rand.default, ([SIZE],))
    found = graph_of(QUICK, graph, graph.call(kernel["add"], graph.x, noise))
    torch.manual_seed(7)
    expected = torch.rand(SIZE)
    torch.manual_seed(7)
    found._try_to_prepare([torch.zeros(SIZE)])
    assert found.report is not None
    assert torch.equal(torch.rand(SIZE), expected)


def look_up(table):
    """A kernel that reads it, where each element of its argument says."""
    return Launch("look_up", ["r", "w"], lambda at, out: out.copy_(table[at]))


@pytest.mark.parametrize("static", [(), (0,)])
@pytest.mark.parametrize("is_derived", [False, True])
def test_trials_do_not_count_on(without_gpu, static, is_derived):
    """A position in a cache that each call increments, and integers that are
    computed from it."""
    kernel, graph = kernels(), Graph()
    at = graph.x
    if is_derived:
        at = graph.call(kernel["double"], at, dtype=torch.int64)
    table = look_up(torch.arange(20.0))
    found = [graph.call(table, at), graph.call(table, at)]
    graph.graph.call_function(kernel["grow"], (graph.x,))
    planned_one = graph_of(QUICK, graph, *found, static=static, dtype=torch.int64)
    position = torch.zeros(SIZE, dtype=torch.int64)
    for step in range(5):
        result, same = planned_one(position)
        assert result.tolist() == same.tolist() == [step * (1.0 + is_derived)] * SIZE
        assert position.tolist() == [step + 1] * SIZE
    assert len(planned_one.report.tried) > 1


@pytest.mark.parametrize("by", ["x", "a copy", "nothing"])
@pytest.mark.parametrize("result", [torch.int64, torch.float32])
@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_counters_are_integers_that_something_depends_on(by, result, dtype):
    kernel, graph = kernels(), Graph()
    graph.graph.call_function(kernel["grow"], (graph.x,))
    found = graph.call(kernel["count"], 3, dtype=result)
    if by != "nothing":
        at = graph.x
        if by == "a copy":
            at = graph.call(kernel["double"], at, dtype=dtype)
        found = graph.call(kernel["double"], at, dtype=result)
    traced = traced_module(graph.module(found), dtype)
    is_counter = dtype is torch.int64 and by != "nothing"
    assert find_counters(traced) == [0] * is_counter


def test_a_counter_that_is_incremented_by_way_of_a_copy_may_count_on():
    kernel, graph = kernels(), Graph()
    doubled = graph.call(kernel["double"], graph.x, dtype=torch.int64)
    graph.graph.call_function(torch.ops.aten.copy_.default, (graph.x, doubled))
    result = graph.call(kernel["count"], 3)
    traced = traced_module(graph.module(result), torch.int64)
    assert traced.written_inputs == {graph.x}
    assert find_counters(traced) == []


def test_trials_draw_none_of_a_gpu(without_gpu, monkeypatch):
    _, graph = planned_graph(QUICK)
    graph._gpu, states = 1, []
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda gpu: f"of {gpu}")
    monkeypatch.setattr(
        torch.cuda, "set_rng_state", lambda *given: states.append(given)
    )
    graph.prepare = lambda args: states.append("prepared")
    graph._try_to_prepare([])
    assert states == ["prepared", ("of 1", 1)]


def test_who_interrupts_the_trials_may_call_again(without_gpu, monkeypatch):
    kernel, graph = planned_graph(QUICK)
    usual = planned.choose

    def interrupted(*args):
        monkeypatch.setattr(planned, "choose", usual)
        raise KeyboardInterrupt

    monkeypatch.setattr(planned, "choose", interrupted)
    x = torch.ones(SIZE)
    with pytest.raises(KeyboardInterrupt):
        graph(x)
    assert graph.report is None and len(graph.traced.kernels) == 4
    (found,) = graph(x)
    assert torch.equal(found, 3 * x + torch.arange(3.0, 3 + SIZE))
    assert graph.report.constants == 1 and graph.report.whole_us == 5.0


@pytest.mark.parametrize("static", [(), (0,)])
def test_results_that_are_views_of_an_input(without_gpu, static):
    """They are views of the caller's, which does not move if it is static."""
    kernel, graph = kernels(), Graph()
    doubled = graph.call(kernel["double"], graph.x)
    view = graph.graph.call_function(
        torch.ops.aten.view.default, (graph.x, [2, SIZE // 2]))
    found = graph_of(QUICK, graph, doubled, view, static=static)
    assert (found.viewed, list(found.views)) == (set(static), [] if static else [1])
    for _ in range(3):
        x = torch.rand(SIZE)
        assert found(x)[1].data_ptr() == x.data_ptr()


def test_inputs_that_are_results_are_not_kept(without_gpu):
    """Their memory would not come again, for which such a graph is recorded, and
    results of another graph would be in use for ever."""
    kernel, graph = kernels(), Graph()
    view = graph.graph.call_function(torch.ops.aten.view.default, (graph.x, [2, 3]))
    found = graph_of(
        QUICK, graph, graph.x, view, graph.call(kernel["double"], graph.x)
    )
    x = torch.ones(SIZE)
    for _ in range(3):
        same, seen, doubled = found(x)
        assert same is x and seen.data_ptr() == x.data_ptr()
        assert doubled.tolist() == [2.0] * SIZE
    assert found.slots.calls["direct"] > 0
    for kept in tensors_of(found.slots.newest.results):
        assert kept.data_ptr() != x.data_ptr()


def test_counts_that_are_indices_do_not_grow_while_kernels_are_measured():
    """A kernel would look beyond the end of a tensor."""
    seen = []

    def look(counts, out):
        seen.append(counts.clone())
        out.copy_(counts)

    kernel, graph = kernels(), Graph()
    counts = graph.call(kernel["count"], 0, dtype=torch.int64)
    graph.graph.call_function(kernel["grow"], (counts,))
    traced = graph.traced(graph.call(Launch("look", ["r", "w"], look), counts))
    measure(traced, [torch.zeros(SIZE)])
    assert seen and kernel["grow"].runs > 1
    for found in seen:
        assert torch.equal(found, torch.arange(1, 1 + SIZE))


def test_kernels_that_fill_buffers_need_one_device():
    """Another device would allocate the buffer anew, and read nothing."""
    kernel, graph = kernels(), Graph()
    doubled = graph.call(kernel["double"], graph.x)
    traced = graph.traced(graph.call(kernel["double"], doubled))
    with pytest.raises(ValueError, match="needs one device"):
        Devices(traced, [0, 1], [0, 1], ["cpu", "cpu"])
    for run in (Devices(traced, [0, 1], [0, 0], ["cpu"]),
                Threads(traced, [0, 1], [0, 1])):
        (found,) = run([torch.ones(SIZE)])
        assert found.tolist() == [4.0] * SIZE


@pytest.mark.parametrize("given", [
    {"options": {"streams": 2}}, {"mode": "max-autotune"},
])
def test_a_backend_takes_no_other_settings(given):
    """Which would have no effect."""
    compiled = torch.compile(torch.nn.ReLU(), backend=rt.Backend(), **given)
    with pytest.raises(Exception, match=f"{list(given)[0]} of torch.compile"):
        compiled(torch.ones(3))


@pytest.mark.parametrize("copy_of", [
    copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)),
])
def test_a_compiled_model_may_be_copied(without_gpu, copy_of):
    """The copy is compiled anew; graphs have locks, which cannot be copied."""
    model = torch.nn.Linear(3, 3)
    compiled = rt.compile(model, seconds=1.5)
    compiled.regal.graphs.append(planned_graph(QUICK)[1])
    copied = copy_of(compiled)
    assert copied.weight is not model.weight
    torch.testing.assert_close(copied.weight, model.weight)
    backend = copy_of(compiled.regal)
    assert backend.graphs == [] and len(compiled.regal.graphs) == 1
    assert backend.settings == compiled.regal.settings


@pytest.fixture
def on_gpus(monkeypatch):
    """Captures a graph with tensors on these GPUs; where it was measured and
    recorded."""
    found, current = [], [0]

    @contextlib.contextmanager
    def device(gpu):
        current.append(gpu)
        yield
        current.pop()

    def noting(result=None):
        return lambda *args: found.append(current[-1]) or result

    def capture(*gpus):
        kernel, graph = kernels(), Graph()
        module = graph.module(graph.call(kernel["double"], graph.x))
        tensors = [torch.empty(SIZE, device=f"cuda:{gpu}") for gpu in gpus]
        values = {node: tensors[at % len(tensors)]
                  for at, node in enumerate(module.graph.nodes)}
        signature = types.SimpleNamespace(places=[0])
        for name, value in {
            "exported": (module, tensors[:1], signature),
            "_traced": Traced(module, values),
            "check_model": None,
        }.items():
            monkeypatch.setattr(captured, name, lambda *args, value=value: value)
        return rt.capture(None, ())

    monkeypatch.setattr(torch.cuda, "device", device)
    monkeypatch.setattr(torch.cuda, "synchronize", noting())
    graph = types.SimpleNamespace(pool_bytes=1)
    monkeypatch.setattr(cuda, "capture", noting(graph))
    monkeypatch.setattr(cuda, "time_us", noting(5.0))
    monkeypatch.setattr(captured, "measure", noting())
    with FakeTensorMode(allow_non_fake_inputs=True):
        yield capture, found


def test_a_captured_model_runs_on_its_gpu(on_gpus):
    """Streams of the one that is selected would record nothing."""
    capture, found = on_gpus
    model = capture(1)
    assert found == [1]
    assert model.one_stream_us == 5.0
    captured._Streams(model, one_stream(model.program))
    assert found == [1] * 5


def test_a_model_on_several_gpus_has_no_times(on_gpus):
    capture, found = on_gpus
    with pytest.raises(ValueError, match="it is on several GPUs"):
        capture(0, 1)
    assert not found


class NoStream:
    """A stream of CUDA that orders nothing: kernels run as they are issued."""

    cuda_stream = 0

    def wait_stream(self, other):
        pass


@pytest.fixture
def recorded_on_cpu(monkeypatch):
    """Kernels run as they are recorded."""

    @contextlib.contextmanager
    def anything(*args, **kwargs):
        yield

    for name in ("stream", "set_stream"):
        monkeypatch.setattr(torch.cuda, name, anything)
    for name in ("synchronize", "empty_cache", "graph_pool_handle"):
        monkeypatch.setattr(torch.cuda, name, lambda: None)
    for name in ("CUDAGraph", "Event"):
        monkeypatch.setattr(torch.cuda, name, unittest.mock.MagicMock)
    monkeypatch.setattr(torch.cuda, "current_stream", NoStream)
    monkeypatch.setattr(cuda, "_new_stream", lambda priority: NoStream())
    monkeypatch.setattr(cuda, "current_lanes", cuda.Lanes)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(cuda, "_clear_workspaces", lambda: None)
    monkeypatch.setattr(cuda, "_make_handles", lambda: None)


def test_memory_is_not_filled_where_a_graph_is_recorded(recorded_on_cpu):
    """Not in the order of the kernels that write it."""
    state, found = torch.utils.deterministic, []
    look = Launch(
        "look", ["r", "w"], lambda a, out: found.append(state.fill_uninitialized_memory)
    )
    graph = Graph()
    traced = graph.traced(graph.call(look, graph.x))
    before = state.fill_uninitialized_memory
    cuda.capture(traced, one_stream(traced.program), [torch.ones(SIZE)])
    assert before and found == [False] and state.fill_uninitialized_memory


def test_a_result_that_is_a_view_is_in_use_while_it_is_held(recorded_on_cpu):
    """Only results count as idle, not views that kernels have read."""
    kernel, graph = kernels(), Graph()
    doubled = graph.call(kernel["double"], graph.x)
    first, second = (
        graph.graph.call_function(torch.ops.aten.view.default, (doubled, shape))
        for shape in ([2, SIZE // 2], [SIZE])
    )
    traced = graph.traced(first, graph.call(kernel["double"], second))
    x = torch.ones(SIZE)
    captured = cuda.capture(traced, one_stream(traced.program), [x])
    assert captured.results[0].tolist() == [[2.0] * 3] * 2
    assert captured.is_free
    held = captured.results[0].detach()
    assert not captured.is_free
    del held
    assert captured.is_free


def test_calls_go_on_where_another_capture_fails(without_gpu, monkeypatch):
    _, graph = planned_graph(Settings(streams=2, seconds=0.1, search_seconds=0.02))
    x = torch.ones(SIZE)
    held = graph(x)

    def fails(*args):
        raise torch.OutOfMemoryError("no memory is left\nfor you")

    monkeypatch.setattr(cuda, "capture", fails)
    with pytest.warns(UserWarning, match="kernel by kernel .* no memory is left$"):
        found = graph(x.clone())
    assert torch.equal(found[0], held[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(graph(x.clone())[0], held[0])


def test_memory_of_a_graph_that_nobody_has_is_free_at_once(
    without_gpu, monkeypatch
):
    """It does not wait until Python collects cycles."""
    kernel, graph = kernels(), Graph()
    module = graph.module(graph.call(kernel["double"], graph.x))
    traced = traced_module(module)
    for node in module.graph.nodes:
        node.meta["val"] = traced.values.get(node)
    monkeypatch.setattr(
        inductor, "compile_kernels", lambda receive, *args, **kwargs: receive(module)
    )
    monkeypatch.setattr(backend, "_check_devices", lambda inputs: None)
    compiler = rt.Backend(QUICK)
    run = compiler._compile_one(1.0, (), "graph", module, [], is_inference=True)
    x = torch.ones(SIZE)
    assert [torch.equal(run(x)[0], 2 * x) for _ in range(3)] == [True] * 3
    captured = weakref.ref(run.slots.newest)
    gc.collect()
    gc.disable()
    try:
        assert captured() is not None
        del compiler, run
        assert captured() is None
    finally:
        gc.enable()


def test_a_caller_may_record_calls(without_gpu, monkeypatch):
    """A replay cannot be recorded; single kernels can."""
    kernel, graph = planned_graph(QUICK)
    graph._gpu, graph._turns = 0, unittest.mock.Mock()
    is_recording = unittest.mock.Mock(return_value=False)
    monkeypatch.setattr(torch.cuda, "device", lambda gpu: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", is_recording)
    for name in ("get_rng_state", "set_rng_state"):
        monkeypatch.setattr(torch.cuda, name, lambda *args: args)
    x = torch.ones(SIZE)
    expected = graph(x)[0].clone()
    graph.slots, graph._turns = unittest.mock.Mock(), unittest.mock.Mock()
    is_recording.return_value = True
    assert torch.equal(graph(x)[0], expected)
    graph._plain = lambda args: ["Inductor's"]
    assert graph(x) == ["Inductor's"]
    assert not graph.slots.mock_calls and not graph._turns.mock_calls


def test_a_planned_graph_serves_several_threads(without_gpu):
    """Each call fills the memory of a capture and reads it out again."""
    settings = Settings(streams=2, seconds=0.2, search_seconds=0.02)
    kernel, graph = planned_graph(settings)
    double = kernel["double"]._run

    def slowly(a, out):
        double(a, out)
        time.sleep(0.002)

    kernel["double"]._run = slowly
    wrong = []

    def call(start):
        for step in range(10):
            x = torch.full((SIZE,), float(start + step))
            (found,) = graph(x)
            if not torch.equal(found, 3 * x + torch.arange(3.0, 3 + SIZE)):
                wrong.append(float(x[0]))

    threads = [threading.Thread(target=call, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_early_launches_that_fail_are_not_chosen(without_gpu):
    """A driver may know none; others must not fail silently."""
    _, graph = planned_graph(Settings())
    usual = one_stream(graph.traced.program)
    early = dataclasses.replace(usual, launches_early=True)

    def fails(schedule):
        raise RuntimeError("CUDA's driver has no such function")

    timer = cuda.Timer(fails, time_one=lambda captured: 5.0)
    assert timer(early) == float("inf")
    with pytest.raises(RuntimeError, match="no such function"):
        timer(usual)


@pytest.mark.parametrize("error", [
    torch.OutOfMemoryError("no memory is left"),
    torch.AcceleratorError("CUDA error: out of memory\nSearch for ..."),
])
def test_plans_without_memory_are_not_chosen(without_gpu, monkeypatch, error):
    """Several streams take more of it than one, which may just fit."""
    _, graph = planned_graph(QUICK)
    usual = cuda.capture

    def capture(traced, schedule, *args):
        if schedule.streams > 1:
            raise error
        return usual(traced, schedule, *args)

    monkeypatch.setattr(cuda, "capture", capture)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph(torch.ones(SIZE))
    assert graph.report.chosen.schedule.streams == 1
    assert len(graph.report.tried) > 1

    def fails(*args):
        raise error

    with pytest.raises(type(error)):
        cuda.Timer(fails)(one_stream(graph.traced.program))
