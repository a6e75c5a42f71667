# SPDX-License-Identifier: Apache-2.0
"""From a plan to what each stream does: launches, waits, and freed memory.

Streams run their kernels in order. Nothing else is certain: between streams
only an event that one records and another waits for gives an order. A vector
clock per kernel says what is known: ``seen[k][s]`` is the number of kernels of
stream s that have ended when kernel k starts. Two things follow from it.

*Waits.* A kernel waits for a kernel of another stream only if no earlier wait
of its own stream implies it. Each wait costs the device a microsecond or two.

*Memory.* The allocator gives a block that a stream has freed to the next
request of the same stream, at once. This is safe only if every kernel that
uses the block, on whichever stream, has ended before the next kernel of that
stream starts. So a buffer is released just before the first kernel of its
stream that knows all the buffer's users to have ended. The same holds for its
next life: all users of a buffer must start after the launch that allocated it.
This fails for a buffer that several streams fill, each its part, in no order;
such a buffer is allocated before everything else, from memory that nobody has
used.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .program import Program

#: The stream of each kernel.
Streams = Union[Sequence[int], Mapping[int, int]]
#: What each kernel knows to have ended, on each stream.
Clocks = Dict[int, List[int]]


@dataclasses.dataclass
class Launch:
    kernel: int
    stream: int
    #: Kernels of other streams to wait for.
    waits: List[int]
    #: Some kernel waits for this one: record an event after it.
    is_awaited: bool = False
    #: It must not be late (urgency.py).
    is_urgent: bool = False
    #: Buffers whose memory this stream may use again from here on.
    releases: List[int] = dataclasses.field(default_factory=list)
    #: Buffers to allocate on this stream, after the releases.
    allocates: List[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Schedule:
    launches: List[Launch]
    streams: int
    #: Buffers to allocate on the first launch's stream before all launches.
    early: List[int] = dataclasses.field(default_factory=list)
    #: Bytes of temporary memory that the streams hold, all together.
    held_bytes: int = 0
    #: Whether kernels that can be are launched before those end that they
    #: follow.
    launches_early: bool = False

    @property
    def crossings(self) -> int:
        return sum(len(launch.waits) for launch in self.launches)

    @property
    def key(self) -> Tuple[bool, Tuple[Tuple[int, int, bool], ...]]:
        """Equal for schedules that do the same."""
        return self.launches_early, tuple(
            (x.kernel, x.stream, x.is_urgent) for x in self.launches
        )


def make_schedule(
    program: Program,
    order: Sequence[int],
    stream_of: Streams,
) -> Schedule:
    """`order` has each kernel once; `stream_of[kernel]` is its stream."""
    _check_order(program, order)
    streams = max((stream_of[k] for k in order), default=0) + 1
    launches, seen = _place_waits(program, order, stream_of, streams)
    early, held = _place_memory(program, launches, seen, stream_of)
    return Schedule(launches, streams, early, held)


def _check_order(program: Program, order: Sequence[int]) -> None:
    position = {kernel: at for at, kernel in enumerate(order)}
    if sorted(position) != list(range(len(program.kernels))):
        raise ValueError("the order must have each kernel once")
    for kernel, before in enumerate(program.dependencies):
        for other in before:
            if position[other] > position[kernel]:
                raise ValueError(
                    f"kernel {kernel} is before kernel {other}, on which it "
                    "depends"
                )


def _place_waits(
    program: Program, order: Sequence[int], stream_of: Streams, streams: int
) -> Tuple[List[Launch], Clocks]:
    """Launches with their waits, and the vector clock of each kernel."""
    clock = [[0] * streams for _ in range(streams)]
    place: Dict[int, int] = {}
    seen: Clocks = {}
    by_kernel: Dict[int, Launch] = {}
    launches = []
    for kernel in order:
        stream = stream_of[kernel]
        known = clock[stream]
        waits = []
        # The latest first: it may imply the others.
        for other in sorted(
            program.dependencies[kernel], key=place.__getitem__, reverse=True
        ):
            source = stream_of[other]
            if source == stream or place[other] < known[source]:
                continue
            waits.append(other)
            by_kernel[other].is_awaited = True
            for s, count in enumerate(seen[other]):
                known[s] = max(known[s], count)
            known[source] = max(known[source], place[other] + 1)
        launch = Launch(kernel, stream, waits)
        by_kernel[kernel] = launch
        launches.append(launch)
        seen[kernel] = list(known)
        place[kernel] = known[stream]
        known[stream] += 1
    return launches, seen


class _Memory:
    """Where buffers are allocated and released, and what that holds."""

    def __init__(
        self,
        program: Program,
        launches: List[Launch],
        seen: Clocks,
        stream_of: Streams,
    ):
        self.program, self.seen, self.stream_of = program, seen, stream_of
        self.place: Dict[int, int] = {}
        streams = {launch.stream for launch in launches}
        count = [0] * (max(streams, default=0) + 1)
        for launch in launches:
            self.place[launch.kernel] = count[launch.stream]
            count[launch.stream] += 1
        self.users = program.users
        self.live = [0] * len(count)
        self.most = [0] * len(count)
        self.waiting: List[List[int]] = [[] for _ in count]

    def ended_before(self, user: int, kernel: int) -> bool:
        """Whether `user` is known to have ended when `kernel` starts."""
        return self.place[user] < self.seen[kernel][self.stream_of[user]]

    def allocate(self, buffer: int, stream: int, is_kept: bool) -> None:
        self.live[stream] += self.program.buffers[buffer].bytes
        self.most[stream] = max(self.most[stream], self.live[stream])
        if not is_kept:
            self.waiting[stream].append(buffer)

    def release_before(self, launch: Launch) -> None:
        still = []
        for buffer in self.waiting[launch.stream]:
            if all(
                self.ended_before(user, launch.kernel)
                for user in self.users[buffer]
            ):
                launch.releases.append(buffer)
                self.live[launch.stream] -= self.program.buffers[buffer].bytes
            else:
                still.append(buffer)
        self.waiting[launch.stream] = still


def _place_memory(
    program: Program,
    launches: List[Launch],
    seen: Clocks,
    stream_of: Streams,
) -> Tuple[List[int], int]:
    """Adds allocations and releases to the launches.

    Returns the buffers to allocate before all, and the bytes held at most.
    """
    memory = _Memory(program, launches, seen, stream_of)
    kept = set(program.outputs)
    created: Dict[int, int] = {}
    for launch in launches:
        for access in program.kernels[launch.kernel].writes:
            if program.buffers[access.buffer].role == "temporary":
                created.setdefault(access.buffer, launch.kernel)
    early = [
        buffer
        for buffer, creator in created.items()
        if not all(
            user == creator or memory.ended_before(creator, user)
            for user in memory.users[buffer]
        )
    ]
    for buffer in early:
        memory.allocate(buffer, launches[0].stream, buffer in kept)
        del created[buffer]
    by_kernel: Dict[int, List[int]] = {}
    for buffer, creator in created.items():
        by_kernel.setdefault(creator, []).append(buffer)
    for launch in launches:
        memory.release_before(launch)
        launch.allocates = by_kernel.get(launch.kernel, [])
        for buffer in launch.allocates:
            memory.allocate(buffer, launch.stream, buffer in kept)
    return early, sum(memory.most)


def one_stream(program: Program) -> Schedule:
    """The compiler's own order."""
    count = len(program.kernels)
    return make_schedule(program, range(count), [0] * count)


def urgent_order(program: Program) -> List[int]:
    """Kernels by the longest chain of time that begins at them."""
    rank = [0] * len(program.kernels)
    for kernel in reversed(range(len(rank))):
        rank[kernel] += program.kernels[kernel].run_ns
        for before in program.dependencies[kernel]:
            rank[before] = max(rank[before], rank[kernel])
    # A kernel ranks above those that depend on it, also at equal times.
    return sorted(range(len(rank)), key=lambda k: (-rank[k], k))


def by_chains(
    program: Program, order: Optional[Sequence[int]] = None
) -> Schedule:
    """No plan: a stream for every chain, and the device decides.

    A kernel goes on with the stream of its latest dependency that no other
    kernel went on with, or opens a stream.
    """
    order = list(range(len(program.kernels))) if order is None else order
    place = {kernel: at for at, kernel in enumerate(order)}
    stream_of: Dict[int, int] = {}
    continued = set()
    streams = 0
    for kernel in order:
        before = sorted(
            program.dependencies[kernel], key=place.__getitem__, reverse=True
        )
        ends = [other for other in before if other not in continued]
        if ends:
            continued.add(ends[0])
            stream_of[kernel] = stream_of[ends[0]]
        else:
            stream_of[kernel] = streams
            streams += 1
    return make_schedule(program, order, stream_of)
