# SPDX-License-Identifier: Apache-2.0
"""How long a plan takes when its streams share one GPU.

The model of the search lets kernels on different streams run at full speed.
On a GPU they share multiprocessors and memory, so its times are too short by
10 to 30%. Three numbers explain most of the difference:

- a *crossing*: an event that one stream waits for costs about 2 us;
- *fill*: a kernel occupies min(1, fill x blocks / multiprocessors) of the GPU,
  time-weighted over its launches;
- an *exponent*: kernels that run together, with shares that add up to s > 1,
  all progress at the rate 1 / s ** exponent.

And one per program: the measured time of one stream over the sum of its
kernels' times (gaps between kernels, caches), by which all times are scaled.

The numbers are fitted to the device at hand (torch/calibration.py). Planning with this
model instead of the search's was tried and gains little, so it serves for
prediction only.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Dict, Iterable, List, Optional, Sequence

from .program import Program
from .schedule import Schedule


@dataclasses.dataclass(frozen=True)
class Sharing:
    """The three numbers. The defaults are those of one H200."""

    crossing_ns: float = 1750.0
    fill: float = 1.125
    exponent: float = 0.75


#: Streams that share nothing: the search's own model.
NO_SHARING = Sharing(crossing_ns=0.0, fill=0.0, exponent=0.0)


def predict_us(
    program: Program,
    schedule: Schedule,
    sharing: Sharing,
    one_stream_us: float = 0.0,
) -> float:
    """Microseconds of a schedule; `one_stream_us` is measured, if known."""
    scale = 1.0
    if one_stream_us and program.work_ns:
        scale = one_stream_us * 1e3 / program.work_ns
    return _Simulation(program, schedule, sharing).run() * scale / 1e3


class _Simulation:
    """Streams run in order; what runs together shares the device."""

    def __init__(self, program: Program, schedule: Schedule, sharing: Sharing):
        self.program, self.sharing = program, sharing
        self.queues: List[List[int]] = [[] for _ in range(schedule.streams)]
        self.waits: Dict[int, List[int]] = {}
        for launch in schedule.launches:
            self.queues[launch.stream].append(launch.kernel)
            self.waits[launch.kernel] = launch.waits
        self.share = [
            min(1.0, sharing.fill * kernel.share) for kernel in program.kernels
        ]
        self.ended: Dict[int, float] = {}
        self.left: Dict[int, float] = {}
        self.place = [0] * len(self.queues)

    def ready_at(self, kernel: int) -> float:
        """When its waits are over; infinity while one has not ended."""
        return max(
            (
                self.ended.get(other, float("inf")) + self.sharing.crossing_ns
                for other in self.waits[kernel]
            ),
            default=0.0,
        )

    def run(self) -> float:
        now = 0.0
        heads = {s: q[0] for s, q in enumerate(self.queues) if q}
        while heads:
            later = self._start(heads, now)
            together = sum(self.share[k] for k in self.left)
            rate = max(1.0, together) ** -self.sharing.exponent
            first = min(self.left.values(), default=float("inf")) / rate
            step = min([first, *(at - now for at in later)])
            now += step
            for kernel in self.left:
                self.left[kernel] -= step * rate
            self._end(heads, now)
        return now

    def _start(self, heads: Dict[int, int], now: float) -> List[float]:
        """Starts what is ready; returns when others will be."""
        later = []
        for kernel in heads.values():
            if kernel in self.left:
                continue
            at = self.ready_at(kernel)
            if at <= now + 1e-9:
                self.left[kernel] = float(self.program.kernels[kernel].run_ns)
            elif at < float("inf"):
                later.append(at)
        return later

    def _end(self, heads: Dict[int, int], now: float) -> None:
        for stream in list(heads):
            kernel = heads[stream]
            if self.left.get(kernel, 1.0) > 1e-6:
                continue
            del self.left[kernel]
            self.ended[kernel] = now
            self.place[stream] += 1
            if self.place[stream] < len(self.queues[stream]):
                heads[stream] = self.queues[stream][self.place[stream]]
            else:
                del heads[stream]


@dataclasses.dataclass
class Observation:
    """A schedule with its measured time, and that of one stream."""

    program: Program
    schedule: Schedule
    measured_us: float
    one_stream_us: float
    label: str = ""
    #: By the search's own model, if it made the plan.
    searched_us: Optional[float] = None


def errors(
    sharing: Sharing, observations: Iterable[Observation]
) -> List[float]:
    """The relative error of each prediction."""
    return [
        abs(
            predict_us(o.program, o.schedule, sharing, o.one_stream_us)
            / o.measured_us
            - 1
        )
        for o in observations
    ]


def fit(observations: Sequence[Observation]) -> Sharing:
    """The numbers with the smallest mean error, on a grid that is refined.

    Programs count alike, however many plans of them were observed.
    """
    programs: Dict[int, List[Observation]] = {}
    for o in observations:
        programs.setdefault(id(o.program), []).append(o)

    def mean_error(sharing: Sharing) -> float:
        found = [errors(sharing, some) for some in programs.values()]
        return sum(sum(e) / len(e) for e in found) / len(found)

    grid = itertools.product(
        (0.0, 1000.0, 2000.0, 3000.0), (0.5, 0.75, 1.0, 1.5, 2.0, 3.0),
        (0.25, 0.5, 0.75, 1.0),
    )
    best = min((Sharing(*numbers) for numbers in grid), key=mean_error)
    for step in (0.5, 0.25):
        near = itertools.product(
            (-1000 * step, 0, 1000 * step), (1 - step / 2, 1, 1 + step / 2),
            (-0.25 * step, 0, 0.25 * step),
        )
        best = min(
            (
                Sharing(
                    max(0.0, best.crossing_ns + c), best.fill * f,
                    max(0.0, best.exponent + e),
                )
                for c, f, e in near
            ),
            key=mean_error,
        )
    return best
