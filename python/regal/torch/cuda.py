# SPDX-License-Identifier: Apache-2.0
"""Schedules on the streams of one GPU, captured as one CUDA graph.

The host launches kernels in the order of the plan, each on its stream, with
events between streams; CUDA records this as a graph, whose replay costs the
host one call. Memory comes from PyTorch's own allocator, in a pool of the
graph; when a block may be used again is the schedule's business
(streams/schedule.py).

A recorded graph has no streams, only edges between kernels. So the urgent
kernels of a stream can be issued on a second stream, of a higher priority, at
the price of no wait: their edges are the same, and the graph keeps their
priority (PyTorch 2.10 and later; earlier ones ignore it).

Graphs that are only timed, one after the other, share their memory (`Workshop`).

Other threads may use the device while a graph is recorded. CUDA lets them
allocate and make handles (capture mode `thread_local`), and the streams that are
recorded are ours alone: `torch.cuda.Stream` gives the same 32 to everybody, and
what another thread issued there would be recorded too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import operator
import sys
import threading
import time
from typing import (
    Any,
    Callable,
    ContextManager,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
)

import torch

from ..streams.schedule import Launch, Schedule
from .driver import driver
from .early import launch_early
from .trace import Traced, storage_of, tensors_of


#: Tensors, and what each replay begins with in them.
Starts = Sequence[Tuple[torch.Tensor, torch.Tensor]]

#: Replays before a graph is timed, in each round, and in all rounds, for about
#: so long.
_WARMING_S = 0.02
_ROUND_S = 0.01
_ROUNDS_S = 0.08
#: Captures that a `Timer` keeps: about as many as are tried.
_KEPT = 32
#: A stream's priority: lower numbers come first.
_URGENT = -1
#: CUDA's streams of a priority; each has memory of its own in a capture.
_STREAMS = 32
#: For `cuStreamCreateWithPriority`: no order with the default stream.
_NON_BLOCKING = 1
#: Held while a device's lanes are in use: threads take turns.
RECORDING = threading.RLock()
#: Of each thread: the devices for which it has handles.
_HANDLES = threading.local()


def selected(gpu: Optional[int]) -> ContextManager:
    """Where a graph is measured, recorded and called: its kernels are issued on
    streams of the GPU that is selected."""
    return contextlib.nullcontext() if gpu is None else torch.cuda.device(gpu)


def drawing(draws: bool) -> ContextManager:
    """For who draws random numbers: PyTorch's generator gives none, and an error,
    while a thread records."""
    return RECORDING if draws else contextlib.nullcontext()


class Captured:
    """A CUDA graph, and the tensors that its replay fills."""

    def __init__(
        self,
        graph,
        results: List[Any],
        args: Sequence[Any],
        turns: Optional["Turns"] = None,
        draws: bool = False,
    ):
        self.graph = graph
        self.results = results
        #: Of replays: results may still be read on the stream of the last one,
        #: although nobody holds them.
        self._turns = turns
        self._draws = draws
        #: Whether results are copied before they are handed out.
        self.is_copied = False
        #: Places of results that are handed out as copies, and as new tensors
        #: on the same memory; others are handed out as they are.
        self.copied: List[int] = []
        self.fresh: List[int] = []
        self._lent: List[torch.Tensor] = []
        self._idle_lent: List[int] = []
        # The inputs are not kept: a backward graph's are a forward graph's
        # results, which would never be free again.
        given = {storage_of(t) for t in tensors_of(list(args))}
        storages = {storage_of(t) for t in tensors_of(results)} - given
        # Only `results` refers to them now; whoever holds a result counts more.
        self._storages = list(storages)
        self._idle = self._holders_of_storages()

    def replay(self) -> None:
        if self._turns is not None:
            self._turns.take()
        with drawing(self._draws):
            self.graph.replay()

    @property
    def pool_bytes(self) -> int:
        """What PyTorch's allocator holds for the graph. What it holds in all
        before and after a capture does not tell: a capture empties its cache."""
        pool = self.graph.pool()
        return sum(
            segment["total_size"]
            for segment in torch.cuda.memory_snapshot()
            if segment["segment_pool_id"] == pool
        )

    def lend(self, places: Sequence[int]) -> None:
        """These results are handed out as they are: a new tensor takes the
        host 0.6 us, and a forward pass may save hundreds."""
        self._lent = [self.results[at] for at in places]
        self._idle_lent = self._holders_of_lent()

    # Asked at every call, of hundreds of tensors: hence no loops in Python.

    def _holders_of_storages(self) -> List[int]:
        return list(map(torch._C._storage_Use_Count, self._storages))

    def _holders_of_lent(self) -> List[int]:
        """Of each lent tensor: those in Python, and those in C++."""
        in_python = map(sys.getrefcount, self._lent)
        in_cpp = map(torch.Tensor._use_count, self._lent)
        return list(map(operator.add, in_python, in_cpp))

    @property
    def is_free(self) -> bool:
        """Whether nobody outside holds what the last replay returned."""
        storages, lent = self._holders_of_storages(), self._holders_of_lent()
        return not (
            any(map(operator.gt, storages, self._idle))
            or any(map(operator.gt, lent, self._idle_lent))
        )


class Turns:
    """Lets calls that share memory follow each other, on whatever streams they
    come: what one reads, the next may write."""

    def __init__(self, gpu: int):
        self.gpu = gpu
        self._handle: Optional[int] = None
        self._stream: Optional[torch.cuda.Stream] = None

    def take(self) -> None:
        """The current stream waits for that of the last call, if it is another
        one; to ask for its handle takes the host 0.1 us."""
        handle = torch._C._cuda_getCurrentRawStream(self.gpu)
        if handle != self._handle:
            stream = torch.cuda.current_stream(self.gpu)
            if self._stream is not None:
                stream.wait_stream(self._stream)
            self._handle, self._stream = handle, stream


class Lanes:
    """CUDA's streams for the streams of a schedule: two each, one of them for
    urgent kernels.

    A schedule may have more streams than there are lanes; then some share one
    and follow each other. They must share both of its streams: memory that was
    freed in a lane goes to the next kernel that asks for it there, and that one
    must start after all before it.
    """

    def __init__(self) -> None:
        self._lanes = [
            (_new_stream(0), _new_stream(_URGENT)) for _ in range(_STREAMS)
        ]

    def lane_of(self, stream: int) -> int:
        return stream % len(self._lanes)

    def plain(self, stream: int) -> torch.cuda.Stream:
        return self._lanes[self.lane_of(stream)][0]

    def urgent(self, stream: int) -> torch.cuda.Stream:
        return self._lanes[self.lane_of(stream)][1]


@functools.lru_cache(maxsize=None)
def _lanes_of(gpu: int) -> Lanes:
    with torch.cuda.device(gpu):
        return Lanes()


def current_lanes() -> Lanes:
    """Of the current device; to be used while `RECORDING` is held."""
    return _lanes_of(torch.cuda.current_device())


def _new_stream(priority: int) -> torch.cuda.Stream:
    """On the current device, for as long as the process lives."""
    torch.cuda.current_stream().synchronize()  # makes its context the current one
    handle = ctypes.c_void_p()
    driver(
        "cuStreamCreateWithPriority",
        ctypes.byref(handle),
        _NON_BLOCKING,
        priority,
    )
    return torch.cuda.ExternalStream(handle.value)


class Workshop:
    """Memory and streams of graphs that are replayed one after the other, and
    whose results nobody reads.

    PyTorch's own `torch.cuda.graph` empties the allocator's cache before each
    capture, and gives it new memory from the device: this takes longer than
    most kernels. Here a capture gets the memory of those before.
    """

    def __init__(self) -> None:
        self.lanes = current_lanes()
        self._pool = torch.cuda.graph_pool_handle()
        #: A pool lives as long as a graph of it.
        self._last: Optional[torch.cuda.CUDAGraph] = None

    @contextlib.contextmanager
    def recording(
        self, graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream
    ) -> Iterator[None]:
        with _recorded(graph, stream, self._pool):
            yield
        self._last = graph


def capture(
    traced: Traced,
    schedule: Schedule,
    args: Sequence[Any],
    workshop: Optional[Workshop] = None,
    starts: Starts = (),
) -> Captured:
    """Captures the schedule on the tensors `args`. Nothing runs yet.

    What was captured in a workshop can be timed, but has no results.
    """
    with RECORDING:
        lanes = workshop.lanes if workshop else current_lanes()
        recorder = _Recorder(traced, schedule, args, lanes, starts)
        recorder.main.wait_stream(torch.cuda.current_stream())
        graph = _new_graph(schedule)
        recording = (
            workshop.recording(graph, recorder.main)
            if workshop
            else _recording(graph, recorder.main)
        )
        _make_handles()
        with torch.no_grad(), _unfilled(), recording:
            results = recorder.record()
    if schedule.launches_early:
        launch_early(graph.raw_cuda_graph(), traced.early_names)
        graph.instantiate()
    # Holders of the results' memory are counted: views of it are none.
    recorder.env.clear()
    if workshop:
        return Captured(graph, [], args, draws=traced.draws)
    turns = Turns(torch.cuda.current_device())
    return Captured(graph, results, args, turns, traced.draws)


@contextlib.contextmanager
def _unfilled() -> Iterator[None]:
    """Inside, new memory is not filled, as it is with deterministic algorithms. A
    kernel that fills it would be issued where memory is allocated, which an urgent
    kernel of the lane, that writes it, does not wait for. Inductor's own code does
    not fill it, either."""
    state = torch.utils.deterministic
    before = state.fill_uninitialized_memory
    state.fill_uninitialized_memory = False
    try:
        yield
    finally:
        state.fill_uninitialized_memory = before


def _new_graph(schedule: Schedule) -> torch.cuda.CUDAGraph:
    """Edges of a graph can be changed until it is instantiated."""
    if schedule.launches_early:
        return torch.cuda.CUDAGraph(keep_graph=True)
    return torch.cuda.CUDAGraph()


def _make_handles() -> None:
    """cuBLAS and cuDNN have a handle for each thread, and a thread that records
    cannot make one."""
    gpu = torch.cuda.current_device()
    gpus = _HANDLES.__dict__.setdefault("gpus", set())
    if gpu not in gpus:
        with torch.no_grad():
            image = torch.ones(1, 1, 4, 4, device="cuda")
            torch.nn.functional.conv2d(image, image[..., :3, :3])
            torch.nn.functional.linear(image[0, 0], image[0, 0])
        gpus.add(gpu)


@contextlib.contextmanager
def _recording(
    graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream
) -> Iterator[None]:
    """With memory of its own, also for the workspaces of cuBLAS, which PyTorch
    keeps for each stream: another graph may run at the same time. They take 32
    MB each on a recent GPU; those of a workshop are given back here."""
    _clear_workspaces()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()  # for the graph's own memory
    try:
        with _recorded(graph, stream, torch.cuda.graph_pool_handle()):
            yield
    finally:
        _clear_workspaces()


@contextlib.contextmanager
def _recorded(
    graph: torch.cuda.CUDAGraph, stream: torch.cuda.Stream, pool: Any
) -> Iterator[None]:
    """Inside, what is issued on the stream is recorded, with memory of the pool.

    `torch.cuda.graph` leaves the stream current where the end of a recording
    fails, as it does where a launch has failed.
    """
    with _uncollected(), torch.cuda.stream(stream):
        graph.capture_begin(pool=pool, capture_error_mode="thread_local")
        try:
            yield
            graph.capture_end()
        except BaseException:
            _abandon(graph, pool)
            raise


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Inside, Python collects no garbage: a recorded graph may be a part of it,
    such as one of a model that is no longer used, and the thread that destroys a
    graph (PyTorch 2.11) makes CUDA end its recording."""
    is_usual = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_usual:
            gc.enable()


def _abandon(graph: torch.cuda.CUDAGraph, pool: Any) -> None:
    """Ends a recording in which something has failed.

    A launch that synchronises, say, makes CUDA end the recording by itself. Then
    PyTorch (2.11) goes on as if it recorded: its allocator keeps the memory, and
    whoever draws random numbers on the GPU gets an error. The next recording that
    ends well puts that right for the random numbers.
    """
    if not _has_ended(graph):
        with contextlib.suppress(RuntimeError):
            graph.capture_end()
    if _has_ended(graph):
        return
    gpu = torch.cuda.current_device()
    for give_back in (torch._C._cuda_endAllocateToPool, torch._C._cuda_releasePool):
        with contextlib.suppress(RuntimeError):
            give_back(gpu, pool)
    with contextlib.suppress(RuntimeError):
        something, spare = torch.zeros((), device="cuda"), torch.cuda.CUDAGraph()
        spare.capture_begin(capture_error_mode="thread_local")
        something.zero_()
        spare.capture_end()


def _has_ended(graph: torch.cuda.CUDAGraph) -> bool:
    """Whether its recording has ended well, if only to fail after that, for there
    may be no memory on the GPU to make a graph of it. Then it gives its memory
    back by itself; a pool that is given back twice ends the process."""
    try:
        graph.pool()
    except RuntimeError:
        return False
    return True


def _clear_workspaces() -> None:
    torch._C._cuda_clearCublasWorkspaces()


class _Recorder:
    """Issues the launches of a schedule while CUDA records them."""

    def __init__(self, traced, schedule, args, lanes, starts=()):
        self.traced, self.schedule, self.lanes = traced, schedule, lanes
        self.starts = list(zip(*starts))
        self.env = traced.inputs(list(args))
        self.events: Dict[int, torch.cuda.Event] = {}
        #: Of each lane: where the last kernel was issued.
        self.latest: Dict[int, torch.cuda.Stream] = {}
        launches = schedule.launches
        self.first = launches[0].stream if launches else 0
        #: Where the capture begins and ends: the stream of the first launch.
        self.main = lanes.plain(self.first)
        self.current: Optional[torch.cuda.Stream] = None

    def record(self) -> List[Any]:
        """Returns the program's results."""
        self.use(self.main)
        try:
            self.issue_all()
            return self.traced.results(self.env)
        except BaseException:
            # A recording ends where it began, or it cannot end.
            with contextlib.suppress(RuntimeError):
                self.join()
            raise
        finally:
            self.use(self.main)

    def issue_all(self) -> None:
        for buffer in self.schedule.early:
            self.allocate(buffer)
        if self.starts:
            torch._foreach_copy_(*self.starts)
        start = torch.cuda.Event()
        start.record(self.main)
        self.latest[self.lanes.lane_of(self.first)] = self.main
        for launch in self.schedule.launches:
            lane = self.lanes.lane_of(launch.stream)
            if lane not in self.latest:
                self.lanes.plain(lane).wait_event(start)
                self.latest[lane] = self.lanes.plain(lane)
            self.launch(launch)
        self.join()

    def join(self) -> None:
        """Lets the stream where the capture ends wait for all others."""
        for stream in self.latest.values():
            if stream is not self.main:
                self.main.wait_stream(stream)

    def use(self, stream: torch.cuda.Stream) -> None:
        """Makes it the current one: what is allocated and issued is its own.
        Whoever records has noted the current stream, and sets it back."""
        if stream is not self.current:
            torch.cuda.set_stream(stream)
            self.current = stream

    def launch(self, launch: Launch) -> None:
        stream = self.stream_of(launch)
        for other in launch.waits:
            stream.wait_event(self.events[other])
        self.traced.release(launch.releases, self.env)
        if launch.allocates:
            self.use(self.lanes.plain(launch.stream))
            for buffer in launch.allocates:
                self.allocate(buffer)
        self.use(stream)
        self.traced.step(self.traced.kernels[launch.kernel], self.env)
        if launch.is_awaited:
            event = torch.cuda.Event()
            event.record(stream)
            self.events[launch.kernel] = event

    def stream_of(self, launch: Launch) -> torch.cuda.Stream:
        """Where the kernel is issued, after the last one of its lane."""
        lane = self.lanes.lane_of(launch.stream)
        is_urgent = launch.is_urgent
        stream = self.lanes.urgent(lane) if is_urgent else self.lanes.plain(lane)
        if stream is not self.latest[lane]:
            stream.wait_stream(self.latest[lane])
            self.latest[lane] = stream
        return stream

    def allocate(self, buffer: int) -> None:
        node = self.traced.allocator_of.get(buffer)
        if node is not None:
            self.traced.value(node, self.env)


def time_us(captured: Captured, most: int = 20) -> float:
    """Microseconds of one replay: the best of rounds of back-to-back ones.

    Clocks drift and others use the device; what they add is never negative. A
    device that was idle while the graph was captured is slower at first.
    """
    once = _warm_up(captured)
    repeats = max(2, min(most, int(_ROUND_S / once)))
    rounds = max(3, min(7, int(_ROUNDS_S / (once * (repeats + 1)))))
    best = float("inf")
    for _ in range(rounds):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        captured.replay()  # while it runs, the host launches the next ones
        begin.record()
        for _ in range(repeats):
            captured.replay()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3 / repeats)
    return best


def _warm_up(captured: Captured) -> float:
    """Replays for a while; returns the seconds of one replay, about."""
    began, replays, elapsed = time.perf_counter(), 0, 0.0
    while elapsed < _WARMING_S:
        for _ in range(2):
            captured.replay()
        torch.cuda.synchronize()
        replays += 2
        elapsed = time.perf_counter() - began
    return elapsed / replays


class Timer:
    """Times schedules, and keeps the last captures to time them again: a
    capture takes longer than timing it."""

    def __init__(
        self,
        capture: Callable[[Schedule], Captured],
        time_one: Callable[[Captured], float] = time_us,
        most: int = _KEPT,
    ):
        self.capture, self.time_one, self.most = capture, time_one, most
        self.kept: Dict[Any, Captured] = {}
        #: Early launches failed: they are not tried again.
        self.has_failed = False

    def __call__(self, schedule: Schedule) -> float:
        captured = self.kept.pop(schedule.key, None)
        if captured is None:
            captured = self._record(schedule)
        if captured is None:
            return float("inf")
        self.kept[schedule.key] = captured
        if len(self.kept) > self.most:
            del self.kept[next(iter(self.kept))]
        return self.time_one(captured)

    def _record(self, schedule: Schedule) -> Optional[Captured]:
        """None where there is no memory for a plan after the first, and where the
        driver knows no early launches."""
        if self.has_failed and schedule.launches_early:
            return None
        try:
            return self.capture(schedule)
        except RuntimeError as error:
            if _is_out_of_memory(error):
                if not self.kept:
                    raise
                return None
            if not schedule.launches_early:
                raise
            self.has_failed = True
            return None


def _is_out_of_memory(error: RuntimeError) -> bool:
    """PyTorch's allocator, or CUDA, where it makes a graph of a recording."""
    return (
        isinstance(error, torch.OutOfMemoryError)
        or "CUDA error: out of memory" in str(error)
    )
