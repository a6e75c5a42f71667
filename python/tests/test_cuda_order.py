# SPDX-License-Identifier: Apache-2.0
"""The order that a recorded CUDA graph has, without a GPU.

Streams and events are replaced by ones that note what is known to have ended:
what CUDA would record as edges of the graph. Memory is given out and again as
PyTorch's allocator does.
"""
import contextlib
import gc
import pathlib
import random
import threading
import types
import weakref

import pytest

torch = pytest.importorskip("torch")

from regal.streams.program import Program  # noqa: E402
from regal.streams.schedule import (  # noqa: E402
    by_chains,
    make_schedule,
    urgent_order,
)
from regal.streams.urgency import with_urgency  # noqa: E402
from regal.torch import cuda  # noqa: E402
from regal.torch.captured import _traced  # noqa: E402

RECORDED = sorted((pathlib.Path(__file__).parent / "programs").glob("*.json"))


class Handle:
    """A stream of CUDA."""

    def __init__(self, priority):
        self.priority, self.ended, self.free = priority, set(), []


class Stream:
    def __init__(self, priority=0):
        self.handle = Handle(priority)
        self.cuda_stream = id(self.handle)

    def wait_event(self, event):
        self.handle.ended |= event.ended

    def wait_stream(self, other):
        self.handle.ended |= other.handle.ended


class Event:
    def record(self, stream):
        self.ended = set(stream.handle.ended)


class Issued:
    """Takes the place of a traced graph: notes where kernels are issued, and
    which memory they get. A block that was freed is what its stream gets next,
    as from PyTorch's allocator; sizes are not looked at."""

    def __init__(self, program, current, early):
        self.kernels = range(len(program.kernels))
        #: The streams that are current, the innermost last.
        self.program, self.current = program, current
        temporary = {b for b, buffer in enumerate(program.buffers)
                     if buffer.role == "temporary"}
        # Some kernels allocate what they write themselves; never what several
        # kernels fill in no order.
        self.by_kernel = {b for b in temporary if not b % 3} - set(early)
        self.allocator_of = {b: b for b in temporary - self.by_kernel}
        self.known, self.priority = {}, {}
        self.users_of, self.block_of, self.owner = {}, {}, {}

    def inputs(self, args):
        return {}

    def value(self, buffer, env):
        if buffer not in self.block_of:
            handle = self.current[-1].handle
            block = handle.free.pop() if handle.free else len(self.users_of)
            self.users_of.setdefault(block, set())
            self.block_of[buffer] = block
            self.owner[block] = handle
            env[buffer] = frozenset(self.users_of[block])  # of lives before

    def release(self, buffers, env):
        for buffer in buffers:
            if buffer in env:
                block = self.block_of[buffer]
                self.owner[block].free.append(block)

    def results(self, env):
        return []

    def step(self, kernel, env):
        handle = self.current[-1].handle
        self.known[kernel] = set(handle.ended)
        self.priority[kernel] = handle.priority
        given = self.program.kernels[kernel]
        for access in given.writes:
            if access.buffer in self.by_kernel:
                self.value(access.buffer, env)
        for access in (*given.reads, *given.writes):
            if access.buffer in env:
                assert handle.ended.issuperset(env[access.buffer] - {kernel})
                self.users_of[self.block_of[access.buffer]].add(kernel)
        handle.ended.add(kernel)


def issue(monkeypatch, program, schedule, starts=()):
    current = [None]

    def set_stream(given):
        current[-1] = given

    monkeypatch.setattr(cuda, "_new_stream", Stream)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "set_stream", set_stream)
    issued = Issued(program, current, schedule.early)
    recorder = cuda._Recorder(issued, schedule, [], cuda.Lanes(), starts)
    monkeypatch.setattr(
        torch, "_foreach_copy_", lambda *_: current[-1].handle.ended.add("copied")
    )
    recorder.record()
    assert current == [recorder.main]  # where a capture must end
    return issued, recorder.main


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_recording_that_fails_ends_where_it_began(monkeypatch, error):
    """With streams that nobody waits for, CUDA would not end it."""
    program = Program.from_json(RECORDED[0].read_text())
    usual, issued, mains = Issued.step, [], []

    def step(self, kernel, env):
        if len(issued) == len(self.kernels) // 2:
            raise error("no memory")
        usual(self, kernel, env)
        issued.append(kernel)

    class Noting(cuda._Recorder):
        def __init__(self, *args):
            super().__init__(*args)
            mains.append(self.main)

    monkeypatch.setattr(Issued, "step", step)
    monkeypatch.setattr(cuda, "_Recorder", Noting)
    with pytest.raises(error, match="no memory"):
        issue(monkeypatch, program, by_chains(program))
    assert issued and mains[0].handle.ended == set(issued)


class Recording:
    """A CUDA graph whose recording CUDA has ended, or not."""

    log = []

    def __init__(self, is_over=False, fits=True):
        self.is_over, self.fits, self.has_ended = is_over, fits, False

    def capture_begin(self, pool=None, capture_error_mode=""):
        self.log.append("begin")

    def capture_end(self):
        if self.is_over or self.has_ended:
            raise RuntimeError("it has ended")
        self.log.append("end")
        self.has_ended = True
        if not self.fits:
            raise RuntimeError("no memory to make a graph of it")

    def pool(self):
        if not self.has_ended:
            raise RuntimeError("it has not ended well")
        return "the pool"


@pytest.mark.parametrize("is_over", [True, False])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_failed_first_is_said_and_pytorch_knows_that_nothing_is_recorded(
    monkeypatch, is_over, error
):
    @contextlib.contextmanager
    def stream(given):
        try:
            yield
        finally:
            log.append("usual stream")

    log = []
    monkeypatch.setattr(Recording, "log", log)
    monkeypatch.setattr(torch.cuda, "stream", stream)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Recording)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch, "zeros", lambda *args, device: torch.ones(()))
    for name in ("_cuda_endAllocateToPool", "_cuda_releasePool"):
        monkeypatch.setattr(torch._C, name, lambda gpu, pool, name=name:
                            log.append((name, pool)), raising=False)
    with pytest.raises(error, match="the first"):
        with cuda._recorded(Recording(is_over), None, "the pool"):
            raise error("the first")
    repaired = [("_cuda_endAllocateToPool", "the pool"),
                ("_cuda_releasePool", "the pool"), "begin"] * is_over
    assert log == ["begin", *repaired, "end", "usual stream"]


@pytest.mark.parametrize("fails_first", [True, False])
def test_a_graph_that_does_not_fit_gives_its_memory_back_once(
    monkeypatch, fails_first
):
    """By itself. PyTorch would end the process where it is given back twice."""
    log = []
    monkeypatch.setattr(Recording, "log", log)
    monkeypatch.setattr(
        torch.cuda, "stream", lambda given: contextlib.nullcontext()
    )
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    for name in ("_cuda_endAllocateToPool", "_cuda_releasePool"):
        monkeypatch.setattr(
            torch._C, name, lambda *args: pytest.fail("again"), raising=False
        )
    with pytest.raises(RuntimeError, match="no memory"):
        with cuda._recorded(Recording(fits=False), None, "the pool"):
            if fails_first:
                raise RuntimeError("no memory for a kernel's results")
    assert log == ["begin", "end"]


class Cycle:
    def __init__(self):
        self.itself = self


def test_no_garbage_is_collected_while_a_graph_is_recorded(monkeypatch):
    """A recorded graph that is destroyed there ends the recording."""
    monkeypatch.setattr(Recording, "log", [])
    monkeypatch.setattr(
        torch.cuda, "stream", lambda given: contextlib.nullcontext()
    )
    before = gc.get_threshold()
    gc.set_threshold(10, 1, 1)
    try:
        with cuda._recorded(Recording(), None, "the pool"):
            garbage = weakref.ref(Cycle())
            kept = [[] for _ in range(10000)]
            assert garbage() is not None
        kept += [[] for _ in range(10000)]
        assert garbage() is None and gc.isenabled()
    finally:
        gc.set_threshold(*before)


@pytest.fixture
def current(monkeypatch):
    """The streams that were made current, the last one is."""
    found = []
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream",
                        lambda gpu: found[-1].cuda_stream, raising=False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda gpu: found[-1])
    return found


def test_calls_on_several_streams_follow_each_other(current):
    streams = [Stream() for _ in range(3)]
    turns = cuda.Turns(0)
    for call, at in enumerate([0, 0, 1, 2, 2, 0]):
        current.append(streams[at])
        turns.take()
        handle = streams[at].handle
        assert handle.ended.issuperset(range(call))
        handle.ended.add(call)


def test_a_replay_waits_for_those_who_read_the_last_results(current):
    """On the stream that they were handed out on, after calls of others."""

    class Graph:
        def replay(self):
            replayed.append(set(current[-1].handle.ended))

    replayed = []
    captured = cuda.Captured(Graph(), [], [], cuda.Turns(0))
    first, second = Stream(), Stream()
    current.append(first)
    captured.replay()
    first.handle.ended.add("a reader of its results")
    current.append(second)
    captured.replay()
    assert replayed == [set(), {"a reader of its results"}]


@pytest.mark.parametrize("draws", [True, False])
def test_who_draws_random_numbers_waits_while_another_thread_records(draws):
    """PyTorch's generator would raise an error."""
    replayed = threading.Event()
    graph = types.SimpleNamespace(replay=replayed.set)
    captured = cuda.Captured(graph, [], [], draws=draws)
    thread = threading.Thread(target=captured.replay)
    with cuda.RECORDING:
        thread.start()
        assert replayed.wait(0.2 if draws else 5) != draws
    assert replayed.wait(5)
    thread.join()


def test_ops_that_draw_are_known():
    for op, draws in (
        (torch.ops.aten.rand.default, True),
        (torch.ops.aten.zeros.default, False),
    ):
        graph = torch.fx.Graph()
        graph.output((graph.call_function(op, ([3],)),))
        module = torch.fx.GraphModule(torch.nn.Module(), graph)
        assert _traced(module, []).draws == draws


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
@pytest.mark.parametrize("share", [None, 0.0, 0.05])
def test_kernels_start_after_what_they_depend_on(monkeypatch, path, share):
    program = Program.from_json(path.read_text())
    draw = random.Random(3)
    order = list(range(len(program.kernels)))
    place = [draw.randrange(4) for _ in order]
    schedule = make_schedule(program, order, place)
    if share is not None:
        schedule = with_urgency(program, schedule, share)
    issued, main = issue(monkeypatch, program, schedule)
    for kernel, before in enumerate(program.dependencies):
        assert issued.known[kernel].issuperset(before)
    streams = {}
    for launch in schedule.launches:  # those of a stream are in order
        earlier = streams.setdefault(launch.stream, set())
        assert issued.known[launch.kernel].issuperset(earlier)
        earlier.add(launch.kernel)
        expected = -1 if launch.is_urgent else 0
        assert issued.priority[launch.kernel] == expected
    assert main.handle.ended == set(order)  # the graph ends when all have ended


@pytest.mark.parametrize("starts", [[], [("position", "its start")]])
def test_all_kernels_wait_for_what_a_replay_begins_with(monkeypatch, starts):
    program = Program.from_json(RECORDED[0].read_text())
    issued, _ = issue(monkeypatch, program, by_chains(program), starts)
    assert len(issued.known) == len(program.kernels)
    assert all(("copied" in known) == bool(starts) for known in issued.known.values())


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
@pytest.mark.parametrize("share", [None, 0.0, 0.02, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_memory_is_given_again_when_its_users_have_ended(
    monkeypatch, path, share, seed
):
    """Also with more streams than there are lanes."""
    program = Program.from_json(path.read_text())
    draw = random.Random(seed)
    order = list(range(len(program.kernels)))
    schedules = [by_chains(program), by_chains(program, urgent_order(program))]
    for streams in (3, 40, 100):
        place = [draw.randrange(streams) for _ in order]
        schedules.append(make_schedule(program, order, place))
    for schedule in schedules:
        if share is not None:
            schedule = with_urgency(program, schedule, share)
        issued, main = issue(monkeypatch, program, schedule)
        assert main.handle.ended == set(order)
        for kernel, before in enumerate(program.dependencies):
            assert issued.known[kernel].issuperset(before)
