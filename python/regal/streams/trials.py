# SPDX-License-Identifier: Apache-2.0
"""Plans to try on the device, and the choice among them.

What two kernels do to each other when they share a GPU is beyond the model of
the search, and no setting of it is best for every program. So a handful of
plans, with different numbers of streams and prices of a crossing, are run on
the device, and the fastest measured one is kept. The compiler's own order on
one stream is always among them: the result is never slower than that, beyond
noise. The best ones are tried with early launches, too, and with a higher
priority for kernels that must not be late; while there is time, more plans
around the best one.
"""

from __future__ import annotations

import dataclasses
import numbers
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from .._library import lib
from .program import Program, critical_ns
from .schedule import (
    Schedule,
    by_chains,
    make_schedule,
    one_stream,
    urgent_order,
)
from .urgency import with_urgency

ONE_STREAM = "one stream"
_URGENT = "urgent first"
_EARLY = "early launches"
CHAINS = "a stream for each chain"
URGENT_CHAINS = "a stream for each chain, longest first"

#: Where the longest chain takes more than this share of the work, streams
#: cannot gain anything that is worth a search.
_WORTH = 0.98
#: So many plans are tried whatever the time: one stream, chains, heft, one of
#: the search; then the best of them with early launches, and with urgent
#: kernels first.
_ALWAYS = 5
_ALWAYS_URGENT = 1
_ALWAYS_EARLY = 1
#: How often the leaders are timed again; at least twice, then while there is
#: time, for which this share of it is kept, and more of a short one: seven
#: leaders take a tenth of a second each. A few leaders are timed more often:
#: replays of a chain were up to 8% slower in a short trial than in the calls
#: after it, perhaps because the clock of an idle device rises slowly.
_FINAL_ROUNDS = 3
_FINAL_SHARE = 0.25
_FINAL_SHARE_OF_SHORT = 0.4
_FINAL_LEAST_S = 1.4
_FINAL_S = 0.5
#: Before that the best of all has this share for urgent kernels.
_URGENT_SHARE = 0.06
#: Seconds of search for each kernel: more plans in the same time are better
#: than better plans for a model of the device that is not exact.
_SEARCH_S = 0.0007
#: Plans that are tried with early launches before others are made.
_EARLY_LEADERS = 3
#: How late an urgent kernel may be, as a share of all work.
_URGENCIES = (0.02, 0.1)


@dataclasses.dataclass
class Candidate:
    label: str
    schedule: Schedule
    #: By the search's own model; None for what was not searched.
    predicted_us: Optional[float] = None
    measured_us: Optional[float] = None
    #: Whether it was timed again at the end, in turn with the other leaders.
    timed_again: bool = False
    #: Labels of others with the same schedule.
    also: List[str] = dataclasses.field(default_factory=list)

    def is_by(self, method: str) -> bool:
        """Whether its label, or that of an equal one, begins so."""
        return any(label.startswith(method) for label in (self.label, *self.also))


@dataclasses.dataclass
class Settings:
    """What to try. `streams` is a number, several, or "auto"."""

    streams: Union[str, int, Sequence[int]] = "auto"
    #: Prices of a crossing, in microseconds, that plans are made with.
    crossings_us: Sequence[float] = (1.0, 4.0, 2.0)
    #: For measuring, planning and trying a graph. A forward and a backward
    #: graph have half of it each. If the model is several graphs, each has
    #: three eighths.
    seconds: float = 8.0
    #: For one plan, at most: a program of few kernels has less.
    search_seconds: float = 0.15
    seed: int = 1
    threads: int = 0
    #: Keep the inputs of the first call, to measure more on them later.
    keep_inputs: bool = False
    #: Run kernels that depend on no input once, not at every call.
    fold_constants: bool = True
    #: Launch kernels before those end that they follow, where the device can.
    early_launches: bool = True

    def stream_counts(self) -> List[int]:
        if isinstance(self.streams, str):
            return [3, 2, 4, 8]
        return [int(k) for k in _several(self.streams)]

    def __post_init__(self) -> None:
        """Whoever gives a wrong setting is told now, not at the first call,
        which would leave the graph to the compiler."""
        most = int(lib.REGAL_MAX_DEVICES)
        is_auto = isinstance(self.streams, str) and self.streams == "auto"
        if not is_auto and not _are_numbers(
            self.streams, numbers.Integral, 1, most
        ):
            raise ValueError(
                f"streams is {self.streams!r}, expected a number from 1 to "
                f"{most}, several, or 'auto'"
            )
        for name in ("seconds", "search_seconds", "crossings_us"):
            value = getattr(self, name)
            if not _are_numbers(value, numbers.Real, 0, float("inf")):
                raise ValueError(f"{name} is {value!r}, expected 0 or more")
        self.crossings_us = _several(self.crossings_us)


def _several(value: Any) -> List[Any]:
    """A number or several, as a list."""
    return [value] if isinstance(value, numbers.Number) else list(value)


def _are_numbers(value: Any, kind: Any, low: float, high: float) -> bool:
    """Whether it is a number of this kind, or several, from low to high."""
    try:
        found = _several(value)
    except TypeError:
        return False
    return bool(found) and all(
        isinstance(k, kind) and not isinstance(k, bool) and low <= k <= high
        for k in found
    )


def planned(
    program: Program,
    streams: int,
    crossing_us: float,
    settings: Settings,
    method: str = "auto",
    seed: int = 0,
) -> Candidate:
    """One plan by the search."""
    import regal

    machine = regal.Machine(
        devices=streams,
        transfers="overlapped",
        latency=round(crossing_us * 1000),
    )
    plan = regal.optimize(
        program.graph(),
        machine,
        time=min(
            settings.search_seconds, _SEARCH_S * len(program.kernels)
        ),
        method=method,
        seed=settings.seed + seed,
        threads=settings.threads,
    )
    schedule = make_schedule(
        program,
        [int(k) for k in plan.order],
        [int(d) for d in plan.placement],
    )
    label = f"{method}, {streams} streams, {crossing_us:g} us"
    return Candidate(label, schedule, plan.runtime_ns / 1e3)


def first_round(program: Program, settings: Settings) -> Iterator[Candidate]:
    """Plans that are always tried, one stream first."""
    work = program.work_ns
    yield Candidate(ONE_STREAM, one_stream(program), work / 1e3)
    counts = [k for k in settings.stream_counts() if k > 1]
    if not counts or critical_ns(program) > _WORTH * work:
        return
    yield Candidate(CHAINS, by_chains(program))
    yield Candidate(URGENT_CHAINS, by_chains(program, urgent_order(program)))
    yield planned(program, max(counts), 2.0, settings, "heft")
    for crossing_us in settings.crossings_us[:2]:
        for streams in counts:
            yield planned(program, streams, crossing_us, settings)


def next_round(
    program: Program, settings: Settings, best: Candidate
) -> Iterator[Candidate]:
    """Plans around the best so far: more streams, other prices and seeds; with
    early launches if the best has them."""
    for candidate in _around(program, settings, best):
        yield early(candidate) if best.schedule.launches_early else candidate


def _around(
    program: Program, settings: Settings, best: Candidate
) -> Iterator[Candidate]:
    counts = settings.stream_counts()
    if isinstance(settings.streams, str):
        counts = [best.schedule.streams, 6, 12, 16, *counts]
    counts = sorted({min(k, 16) for k in counts if k > 1})
    counts.sort(key=lambda k: abs(k - best.schedule.streams))
    for seed in range(1, 1000):
        for crossing_us in (*settings.crossings_us, 0.5, 8.0):
            for streams in counts[:3]:
                yield planned(
                    program, streams, crossing_us, settings, seed=seed
                )
        for streams in counts:
            yield planned(
                program, streams, float(seed), settings, "heft", seed
            )


def early(candidate: Candidate) -> Candidate:
    """The same with early launches."""
    return Candidate(
        f"{_EARLY}, {candidate.label}",
        dataclasses.replace(candidate.schedule, launches_early=True),
    )


def urgent_round(
    program: Program, leaders: Sequence[Candidate]
) -> Iterator[Candidate]:
    """Plans with a higher priority for kernels that must not be late."""
    for candidate in leaders:
        if candidate.schedule.streams == 1 or _URGENT in candidate.label:
            continue
        for share in _URGENCIES:
            schedule = with_urgency(program, candidate.schedule, share)
            if not all(launch.is_urgent for launch in schedule.launches):
                label = f"{_URGENT} ({share:.0%}), {candidate.label}"
                yield Candidate(label, schedule)


def choose(
    program: Program,
    settings: Settings,
    time_us: Callable[[Schedule], float],
    seconds: Optional[float] = None,
    can_be_early: bool = False,
) -> Tuple[Candidate, List[Candidate]]:
    """The fastest candidate by `time_us`, and all of them.

    :param seconds: what is left of those that the settings have.
    :param can_be_early: whether some kernels can be launched early.
    """
    if seconds is None:
        seconds = settings.seconds
    end = time.monotonic() + seconds
    last_trial = end - _final_seconds(seconds)
    last_plan = last_trial - _URGENT_SHARE * seconds
    tried: List[Candidate] = []
    first = first_round(program, settings)
    _try_all(first, tried, time_us, last_plan, _ALWAYS)
    if can_be_early and settings.early_launches:
        leaders = sorted(tried, key=_measured)[:_EARLY_LEADERS]
        _try_all(map(early, leaders), tried, time_us, last_plan, _ALWAYS_EARLY)
    leaders = sorted(tried, key=_measured)[:2]
    urgent = urgent_round(program, leaders)
    _try_all(urgent, tried, time_us, last_plan, _ALWAYS_URGENT)
    best = min(tried, key=_measured)
    if best.schedule.streams > 1:
        around = next_round(program, settings, best)
        _try_all(around, tried, time_us, last_plan)
        best = min(tried, key=_measured)
        _try_all(urgent_round(program, [best]), tried, time_us, last_trial)
    leaders = _leaders(tried)
    time_again(leaders, time_us, end)
    return min(leaders, key=_measured), sorted(tried, key=_measured)


def _final_seconds(seconds: float) -> float:
    """Of these, what is kept to time the leaders again."""
    least = min(_FINAL_LEAST_S, _FINAL_SHARE_OF_SHORT * seconds)
    return max(least, _FINAL_SHARE * seconds)


def time_again(
    leaders: List[Candidate],
    time_us: Callable[[Schedule], float],
    end: float,
) -> None:
    """Times the leaders again, in turn.

    Of many noisy times the smallest is too small, and the device may have been
    faster earlier or later.
    """
    again: Dict[int, List[float]] = {id(c): [] for c in leaders}
    began = time.monotonic()
    for number in range(100):
        now = time.monotonic()
        if number > 1 and now > end:
            break
        if number >= _FINAL_ROUNDS and now > began + _FINAL_S:
            break
        for candidate in leaders:
            again[id(candidate)].append(time_us(candidate.schedule))
    for candidate in leaders:
        candidate.measured_us = min(again[id(candidate)])
        candidate.timed_again = True


def _leaders(tried: List[Candidate]) -> List[Candidate]:
    """The fastest, and the fastest of each kind to compare with."""
    tried = sorted(tried, key=_measured)
    kinds = [
        next((c for c in tried if c.is_by(kind)), None)
        for kind in (ONE_STREAM, CHAINS, "heft", "auto")
    ]
    found = tried[:3] + [c for c in kinds if c is not None]
    return list({id(c): c for c in found}.values())


def _measured(candidate: Candidate) -> float:
    return candidate.measured_us or float("inf")


def _try_all(
    found: Iterator[Candidate],
    tried: List[Candidate],
    time_us: Callable[[Schedule], float],
    end: float,
    least: int = 0,
) -> None:
    """Times what is new until `end`, but not fewer than `least`."""
    known = {candidate.schedule.key: candidate for candidate in tried}
    wanted = len(tried) + least
    while len(tried) < wanted or time.monotonic() < end:
        candidate = next(found, None)
        if candidate is None:
            return
        same = known.setdefault(candidate.schedule.key, candidate)
        if same is candidate:
            candidate.measured_us = time_us(candidate.schedule)
            tried.append(candidate)
        elif candidate.label not in (same.label, *same.also):
            same.also.append(candidate.label)
