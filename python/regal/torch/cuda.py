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
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Sequence

import torch

from ..streams.schedule import Launch, Schedule
from .trace import Traced, tensors_of


#: Replays before a graph is timed.
_WARMING_S = 0.02
#: Captures that a `Timer` keeps: about as many as are tried.
_KEPT = 32
#: For `torch.cuda.Stream`: lower numbers come first.
_URGENT = -1


class Captured:
    """A CUDA graph, and the tensors that its replay fills."""

    def __init__(self, graph, results: List[Any], args: Sequence[Any]):
        self.graph = graph
        self.results = results
        #: Whether results are copied before they are handed out.
        self.is_copied = False
        # The inputs are not kept: a backward graph's are a forward graph's
        # results, which would never be free again.
        given = {t.untyped_storage()._cdata for t in tensors_of(list(args))}
        storages = {
            t.untyped_storage()._cdata for t in tensors_of(results)
        } - given
        # Only `results` refers to them now; whoever holds a result counts more.
        self._idle = [(s, torch._C._storage_Use_Count(s)) for s in storages]

    def replay(self) -> None:
        self.graph.replay()

    @property
    def is_free(self) -> bool:
        """Whether nobody outside holds what the last replay returned."""
        count = torch._C._storage_Use_Count
        return all(count(storage) <= idle for storage, idle in self._idle)


def capture(
    traced: Traced, schedule: Schedule, args: Sequence[Any]
) -> Captured:
    """Captures the schedule on the tensors `args`. Nothing runs yet."""
    main = torch.cuda.Stream()
    main.wait_stream(torch.cuda.current_stream())
    streams = [main] + [
        torch.cuda.Stream() for _ in range(schedule.streams - 1)
    ]
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, stream=main):
        results = _Recorder(traced, schedule, args, streams).record()
    return Captured(graph, results, args)


class _Recorder:
    """Issues the launches of a schedule while CUDA records them."""

    def __init__(self, traced, schedule, args, streams):
        self.traced, self.schedule, self.streams = traced, schedule, streams
        self.env = traced.inputs(list(args))
        self.events: Dict[int, torch.cuda.Event] = {}
        #: Of each stream: where urgent kernels are issued, and where the last
        #: kernel was.
        self.urgent: Dict[int, torch.cuda.Stream] = {}
        self.latest: Dict[int, torch.cuda.Stream] = {}

    def record(self) -> List[Any]:
        """Returns the program's results."""
        first = self.schedule.launches[0].stream if self.schedule.launches else 0
        # The stream that capture began on takes the first launch's place.
        self.streams[0], self.streams[first] = (
            self.streams[first],
            self.streams[0],
        )
        main = self.streams[first]
        for buffer in self.schedule.early:
            self.allocate(buffer)
        start = torch.cuda.Event()
        start.record(main)
        self.latest[first] = main
        for launch in self.schedule.launches:
            if launch.stream not in self.latest:
                stream = self.streams[launch.stream]
                stream.wait_event(start)
                self.latest[launch.stream] = stream
            self.launch(launch)
        for stream in self.latest.values():
            if stream is not main:
                main.wait_stream(stream)
        return self.traced.results(self.env)

    def launch(self, launch: Launch) -> None:
        stream = self.stream_of(launch)
        for other in launch.waits:
            stream.wait_event(self.events[other])
        self.traced.release(launch.releases, self.env)
        node = self.traced.kernels[launch.kernel]
        with torch.cuda.stream(self.streams[launch.stream]):
            for buffer in launch.allocates:
                self.allocate(buffer)
        with torch.cuda.stream(stream):
            self.traced.step(node, self.env)
        if launch.is_awaited:
            event = torch.cuda.Event()
            event.record(stream)
            self.events[launch.kernel] = event

    def stream_of(self, launch: Launch) -> torch.cuda.Stream:
        """Where the kernel is issued, after the last one of its stream."""
        stream = self.streams[launch.stream]
        if launch.is_urgent:
            if launch.stream not in self.urgent:
                self.urgent[launch.stream] = torch.cuda.Stream(priority=_URGENT)
            stream = self.urgent[launch.stream]
        if stream is not self.latest[launch.stream]:
            stream.wait_stream(self.latest[launch.stream])
            self.latest[launch.stream] = stream
        return stream

    def allocate(self, buffer: int) -> None:
        node = self.traced.allocator_of.get(buffer)
        if node is not None:
            self.traced.value(node, self.env)


def time_us(captured: Captured, repeats: int = 20, rounds: int = 7) -> float:
    """Microseconds of one replay: the best of rounds of back-to-back ones.

    Clocks drift and others use the device; what they add is never negative. A
    device that was idle while the graph was captured is slower at first.
    """
    end_of_warming = time.perf_counter() + _WARMING_S
    while True:
        for _ in range(5):
            captured.replay()
        torch.cuda.synchronize()
        if time.perf_counter() > end_of_warming:
            break
    best = float("inf")
    for _ in range(rounds):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeats):
            captured.replay()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3 / repeats)
    return best


class Timer:
    """Times schedules, and keeps the last captures to time them again.

    A capture takes longer than timing it. Captures hold memory, so large ones
    are not kept.
    """

    def __init__(
        self,
        capture: Callable[[Schedule], Captured],
        time_one: Callable[[Captured], float] = time_us,
        most: int = _KEPT,
    ):
        self.capture, self.time_one, self.most = capture, time_one, most
        self.kept: Dict[Any, Captured] = {}
        self.largest_bytes = _free_bytes() // (4 * most)

    def __call__(self, schedule: Schedule) -> float:
        captured = self.kept.pop(schedule.key, None) or self.capture(schedule)
        if schedule.held_bytes <= self.largest_bytes:
            self.kept[schedule.key] = captured
            if len(self.kept) > self.most:
                del self.kept[next(iter(self.kept))]
        return self.time_one(captured)


def _free_bytes() -> int:
    """Of the device; without one nothing is captured there."""
    if not torch.cuda.is_available():
        return 1 << 30
    return int(torch.cuda.mem_get_info()[0])
