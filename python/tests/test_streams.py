# SPDX-License-Identifier: Apache-2.0
"""Programs of kernels on streams: views, dependencies, order, memory, time."""
import itertools
import pathlib
import random
from statistics import mean

import pytest

from regal.streams import trials
from regal.streams.access import Access, meet
from regal.streams.program import Buffer, Kernel, Program, critical_ns
from regal.streams.schedule import (by_chains, make_schedule, one_stream,
                                    urgent_order)
from regal.streams.urgency import slack_ns, with_urgency
from regal.streams.sharing import (NO_SHARING, Observation, Sharing, errors,
                                   fit, predict_us)

RECORDED = sorted((pathlib.Path(__file__).parent / "programs").glob("*.json"))


def elements(a):
    """All bytes of a view, the slow way."""
    places = {
        a.offset + sum(i * s for i, s in zip(index, a.stride))
        for index in itertools.product(*(range(n) for n in a.size))
    }
    return {p * a.itemsize + b for p in places for b in range(a.itemsize)}


def random_view(draw):
    dims = draw.randint(0, 3)
    return Access(
        0, draw.randint(0, 12),
        tuple(draw.randint(1, 4) for _ in range(dims)),
        tuple(draw.choice([1, 2, 3, 4, 6, 8, 12, 24]) for _ in range(dims)),
        draw.choice([1, 2, 4]),
    )


def test_views_that_share_a_byte_always_meet():
    draw = random.Random(1)
    apart = 0
    for _ in range(4000):
        a, b = random_view(draw), random_view(draw)
        if elements(a) & elements(b):
            assert meet(a, b) and meet(b, a), (a, b)
        elif not meet(a, b):
            apart += 1
    assert apart > 500  # it does tell views apart


def test_parts_of_a_concatenation_do_not_meet():
    # Two halves of the channels of one image, channels last and first.
    for strides, offset in (((64, 8, 1), 4), ((16, 4, 1), 64)):
        left = Access(0, 0, (4, 4, 4), strides, 2)
        right = Access(0, offset, (4, 4, 4), strides, 2)
        assert not meet(left, right)
        assert meet(left, left)


def test_other_buffers_and_empty_views_never_meet():
    assert not meet(Access(0, 0, (4,), (1,), 4), Access(1, 0, (4,), (1,), 4))
    assert not meet(Access(0, 0, (0,), (1,), 4), Access(0, 0, (4,), (1,), 4))


def whole(buffer, size=64):
    return Access(buffer, 0, (size,), (1,), 1)


def part(buffer, half):
    return Access(buffer, 32 * half, (32,), (1,), 1)


def random_program(draw, kernels=12):
    """Kernels that read some buffers and write one: a new one, an old one or
    half of it, or the halves of a new one, as for a concatenation."""
    buffers, made = [Buffer(64, "input")], []

    def add(writes, among):
        count = min(among, draw.randint(1, 2))
        reads = [whole(b) for b in draw.sample(range(among), count)]
        made.append(Kernel(f"k{len(made)}", reads, writes, draw.randint(1, 50)))

    while len(made) < kernels:
        kind, old = draw.random(), len(buffers)
        if kind < 0.3 and old > 1:
            target = draw.randrange(1, old)
            add([whole(target) if kind < 0.15 else part(target, 1)], old)
        elif kind < 0.6 and len(made) + 2 <= kernels:
            buffers.append(Buffer(64))
            add([part(old, 0)], old)
            add([part(old, 1)], old)
        else:
            buffers.append(Buffer(64))
            add([whole(old)], old)
    return Program(made, buffers, [len(buffers) - 1])


def conflicts(program, i, j):
    a, b = program.kernels[i], program.kernels[j]
    pairs = [(a.writes, b.reads), (a.writes, b.writes), (a.reads, b.writes)]
    return any(
        x.buffer == y.buffer and elements(x) & elements(y)
        for left, right in pairs for x in left for y in right
    )


def test_dependencies_are_exactly_the_conflicts():
    draw = random.Random(2)
    for _ in range(50):
        program = random_program(draw)
        for j in range(len(program.kernels)):
            expected = [i for i in range(j) if conflicts(program, i, j)]
            assert program.dependencies[j] == expected


def test_a_view_without_elements_waits_for_what_it_is_a_view_of():
    empty = Access(0, 0, (0,), (1,), 1)
    kernels = [Kernel("a", [], [whole(0)]), Kernel("b", [], [whole(1)]),
               Kernel("c", [empty], [empty._replace(buffer=2)]),
               Kernel("d", [empty._replace(buffer=2)], [whole(3)])]
    program = Program(kernels, [Buffer(64)] * 2 + [Buffer(0), Buffer(64)], [3])
    assert program.dependencies == [[], [], [0], [2]]


def random_order(program, draw):
    left, order = set(range(len(program.kernels))), []
    while left:
        ready = [k for k in left if not left.intersection(
            program.dependencies[k])]
        order.append(draw.choice(sorted(ready)))
        left.remove(order[-1])
    return order


class Streams:
    """Runs a schedule in some order that streams and events allow.

    Memory is blocks that each stream gives again to itself. Every block knows
    the buffer it belongs to; a kernel that finds another buffer's data in its
    block, or that runs before what it depends on, fails the test.
    """

    def __init__(self, program, schedule):
        self.program, self.schedule = program, schedule
        self.block, self.free = {}, {}
        self.queues = {}
        for launch in schedule.launches:
            self.queues.setdefault(launch.stream, []).append(launch)
        self.assign_blocks()

    def assign_blocks(self):
        """As the host does while it captures: in the order of launches."""
        fresh = itertools.count()
        for buffer in self.schedule.early:
            self.block[buffer] = next(fresh)
        home = {}
        for launch in self.schedule.launches:
            pool = self.free.setdefault(launch.stream, [])
            for buffer in launch.releases:
                pool.append(self.block[buffer])
            for buffer in launch.allocates:
                self.block[buffer] = pool.pop() if pool else next(fresh)
                home[buffer] = launch.stream
        self.blocks = next(fresh)

    def run(self, draw):
        done, place, content = set(), {s: 0 for s in self.queues}, {}
        while any(place[s] < len(q) for s, q in self.queues.items()):
            ready = [
                s for s, q in self.queues.items()
                if place[s] < len(q) and done.issuperset(q[place[s]].waits)
            ]
            assert ready, "the streams wait for each other"
            stream = draw.choice(ready)
            launch = self.queues[stream][place[stream]]
            self.execute(launch.kernel, done, content)
            place[stream] += 1
            done.add(launch.kernel)
        for buffer in self.program.outputs:
            assert content.get(self.block[buffer]) == buffer

    def execute(self, kernel, done, content):
        assert done.issuperset(self.program.dependencies[kernel])
        accesses = self.program.kernels[kernel]
        started = {a.buffer for k in done for a in
                   self.program.kernels[k].writes}
        for access in accesses.reads + accesses.writes:
            if access.buffer not in self.block:
                continue
            block = self.block[access.buffer]
            if access.buffer in started:
                assert content[block] == access.buffer, "overwritten"
        for access in accesses.writes:
            if access.buffer in self.block:
                content[self.block[access.buffer]] = access.buffer


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_any_interleaving_finds_its_data(streams):
    draw = random.Random(3)
    reused = 0
    for _ in range(150):
        program = random_program(draw, 16)
        order = random_order(program, draw)
        place = [draw.randrange(streams) for _ in order]
        running = Streams(program, make_schedule(program, order, place))
        reused += running.blocks < len(running.block)
        for _ in range(8):
            running.run(draw)
    assert reused > 50  # memory is given again


def test_a_wait_that_another_implies_is_left_out():
    kernels = [Kernel("a", [], [whole(0)]), Kernel("b", [whole(0)], [whole(1)]),
               Kernel("c", [whole(0), whole(1)], [whole(2)])]
    program = Program(kernels, [Buffer(64)] * 3, [2])
    schedule = make_schedule(program, [0, 1, 2], [0, 0, 1])
    assert [launch.waits for launch in schedule.launches] == [[], [], [1]]


def test_orders_that_break_a_dependency_are_refused():
    program = random_program(random.Random(4))
    with pytest.raises(ValueError, match="depends"):
        make_schedule(program, reversed(range(12)), [0] * 12)
    with pytest.raises(ValueError, match="each kernel once"):
        make_schedule(program, [0] * 12, [0] * 12)


def test_chains_cover_the_program_in_a_legal_order():
    draw = random.Random(5)
    for _ in range(30):
        program = random_program(draw)
        for order in (None, urgent_order(program)):
            schedule = by_chains(program, order)
            Streams(program, schedule).run(draw)


def test_a_program_survives_its_file():
    program = random_program(random.Random(6))
    again = Program.from_json(program.to_json())
    assert again.to_json() == program.to_json()
    assert again.dependencies == program.dependencies
    with pytest.raises(ValueError, match="regal_program"):
        Program.from_json("{}")


# -- Time ------------------------------------------------------------------


def pair(share, times=(100, 100)):
    kernels = [Kernel(f"k{i}", [], [whole(i)], t, share)
               for i, t in enumerate(times)]
    return Program(kernels, [Buffer(64)] * len(times), [])


def test_kernels_that_fill_the_device_take_turns():
    program = pair(1.0)
    apart = make_schedule(program, [0, 1], [0, 1])
    assert predict_us(program, apart, NO_SHARING) == pytest.approx(0.1)
    assert predict_us(program, apart, Sharing(0, 1.0, 1.0)) == pytest.approx(0.2)
    half = pair(0.5)
    assert predict_us(half, make_schedule(half, [0, 1], [0, 1]),
                      Sharing(0, 1.0, 1.0)) == pytest.approx(0.1)


def test_crossings_and_the_time_of_one_stream_count():
    kernels = [Kernel("a", [], [whole(0)], 100), Kernel("b", [whole(0)],
                                                        [whole(1)], 100)]
    program = Program(kernels, [Buffer(64)] * 2, [1])
    across = make_schedule(program, [0, 1], [0, 1])
    assert predict_us(program, across, Sharing(50, 1, 1)) == pytest.approx(0.25)
    assert predict_us(program, one_stream(program), Sharing(50, 1, 1),
                      0.4) == pytest.approx(0.4)


def test_a_fit_finds_the_numbers_that_made_the_times():
    draw = random.Random(7)
    truth = Sharing(2000.0, 1.5, 0.5)
    observations = []
    for _ in range(12):
        program = random_program(draw, 20)
        for kernel in program.kernels:
            kernel.run_ns = draw.randint(2000, 30000)
            kernel.share = draw.random()
        for streams in (2, 3, 4):
            order = random_order(program, draw)
            place = [draw.randrange(streams) for _ in order]
            schedule = make_schedule(program, order, place)
            measured = predict_us(program, schedule, truth)
            observations.append(
                Observation(program, schedule, measured, 0.0))
    found = fit(observations)
    assert mean(errors(found, observations)) < 0.01
    assert mean(errors(NO_SHARING, observations)) > 0.05


def test_programs_count_alike_in_a_fit():
    """However many plans of one of them were observed."""
    draw = random.Random(5)
    truths = [Sharing(2000.0, 1.0, 0.5), Sharing(2000.0, 1.0, 1.0)]
    by_count = []
    for counts in ((1, 1), (1, 30)):
        observations = []
        for truth, count in zip(truths, counts):
            draw.seed(7)
            program = random_program(draw, 20)
            for kernel in program.kernels:
                kernel.run_ns, kernel.share = draw.randint(2000, 30000), 0.9
            order = random_order(program, draw)
            schedule = make_schedule(
                program, order, [draw.randrange(3) for _ in order])
            measured = predict_us(program, schedule, truth)
            observations += [
                Observation(program, schedule, measured, 0.0)] * count
        by_count.append(fit(observations))
    assert by_count[0] == by_count[1]


# -- Trials ----------------------------------------------------------------


def wide_program():
    """Eight branches of ten kernels between a first and a last one."""
    kernels, buffers = [Kernel("first", [], [whole(0)], 1000)], [Buffer(64)]
    ends = []
    for branch in range(8):
        last = 0
        for step in range(10):
            buffers.append(Buffer(64))
            kernels.append(Kernel(f"b{branch}.{step}", [whole(last)],
                                  [whole(len(buffers) - 1)], 5000))
            last = len(buffers) - 1
        ends.append(last)
    buffers.append(Buffer(64))
    kernels.append(Kernel("last", [whole(e) for e in ends],
                          [whole(len(buffers) - 1)], 1000))
    return Program(kernels, buffers, [len(buffers) - 1])


@pytest.mark.parametrize("given, message", [
    (dict(streams="many"), "streams is 'many', expected a number from 1 to 64"),
    (dict(streams=0), "streams is 0"),
    (dict(streams=65), "streams is 65"),
    (dict(streams=2.5), "streams is 2.5"),
    (dict(streams=True), "streams is True"),
    (dict(streams=[]), "streams is .., expected"),
    (dict(streams=[2, "4"]), "streams is .2, '4'., expected"),
    (dict(streams=None), "streams is None"),
    (dict(crossings_us=-1), "crossings_us is -1, expected 0 or more"),
    (dict(seconds="8"), "seconds is '8', expected 0 or more"),
    (dict(search_seconds=float("nan")), "search_seconds is nan"),
])
def test_wrong_settings_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        trials.Settings(**given)


def test_settings_may_be_one_or_several():
    assert trials.Settings().stream_counts() == [3, 2, 4, 8]
    assert trials.Settings(streams=5).stream_counts() == [5]
    assert trials.Settings(streams=range(2, 4)).stream_counts() == [2, 3]
    assert trials.Settings(crossings_us=2).crossings_us == [2]


def test_the_fastest_measured_plan_is_kept():
    program = wide_program()
    settings = trials.Settings(streams=[2, 4], search_seconds=0.02, seconds=0,
                               threads=1)
    sharing = Sharing(2000.0, 1.0, 0.5)

    def time_us(schedule):
        return predict_us(program, schedule, sharing)

    best, tried = trials.choose(program, settings, time_us)
    assert best.measured_us == min(c.measured_us for c in tried)
    assert best.measured_us < 0.5 * program.work_ns / 1e3
    labels = [c.label for c in tried]
    assert trials.ONE_STREAM in labels and trials.CHAINS in labels


def test_one_stream_is_kept_where_nothing_is_faster():
    program = wide_program()
    settings = trials.Settings(streams=2, search_seconds=0.02, seconds=0)
    best, tried = trials.choose(
        program, settings, lambda s: 1.0 + s.crossings)
    assert best.label == trials.ONE_STREAM and len(tried) > 1


def test_kernels_that_may_not_be_late_are_urgent():
    # A long and a short branch, joined: only the short one may be late.
    kernels = [Kernel("long", [], [whole(0)], 5000),
               Kernel("short", [], [whole(1)], 1000),
               Kernel("last", [whole(0), whole(1)], [whole(2)], 1000)]
    program = Program(kernels, [Buffer(64)] * 3, [2])
    schedule = make_schedule(program, [0, 1, 2], [0, 1, 0])
    assert slack_ns(program, schedule) == {0: 0, 1: 4000, 2: 0}
    urgent = with_urgency(program, schedule, 0.1)
    assert [x.is_urgent for x in urgent.launches] == [True, False, True]
    assert not any(x.is_urgent for x in schedule.launches)
    assert urgent.key != schedule.key
    assert all(x.is_urgent for x in with_urgency(program, schedule, 1).launches)


def test_no_kernel_may_be_later_than_its_slack():
    draw = random.Random(5)
    program = wide_program()
    for _ in range(20):
        order = random_order(program, draw)
        place = [draw.randrange(3) for _ in order]
        schedule = make_schedule(program, order, place)
        slack = slack_ns(program, schedule)
        usual = predict_us(program, schedule, NO_SHARING)
        late = draw.randrange(len(program.kernels))
        program.kernels[late].run_ns += slack[late]
        assert predict_us(program, schedule, NO_SHARING) == pytest.approx(usual)
        program.kernels[late].run_ns += 1000
        assert predict_us(program, schedule, NO_SHARING) > usual
        program.kernels[late].run_ns -= 1000 + slack[late]


def test_priorities_are_tried_on_the_best_plans():
    program = wide_program()
    program.kernels[1].run_ns *= 9  # branches of different lengths
    settings = trials.Settings(streams=[2], search_seconds=0.02, seconds=0,
                               threads=1)

    def time_us(schedule):
        late = sum(not launch.is_urgent for launch in schedule.launches)
        return predict_us(program, schedule, NO_SHARING) + late / 1e3

    best, _ = trials.choose(program, settings, time_us)
    assert best.label.startswith("urgent first")


@pytest.mark.parametrize("seconds", [4.0, 8.0])
def test_trials_end_in_time(monkeypatch, seconds):
    """With graphs of which recording takes .3 s and timing a tenth."""
    program = wide_program()
    program.kernels[1].run_ns *= 9
    settings = trials.Settings(search_seconds=0.001, threads=1)
    now, recorded = [0.0], set()
    monkeypatch.setattr(trials.time, "monotonic", lambda: now[0])

    def time_us(schedule):
        now[0] += 0.1 if schedule.key in recorded else 0.4
        recorded.add(schedule.key)
        return predict_us(program, schedule, NO_SHARING)

    _, tried = trials.choose(program, settings, time_us, seconds, True)
    assert 0.7 * seconds < now[0] < 1.08 * seconds
    assert any(c.label.startswith("urgent first") for c in tried)


def test_a_plan_that_was_tried_already_has_both_names():
    """One that joins two kernels: chains and heft have the same schedule."""
    kernels = [Kernel("a", [], [whole(0)], 1000),
               Kernel("b", [], [whole(1)], 1000),
               Kernel("c", [whole(0), whole(1)], [whole(2)], 1000)]
    program = Program(kernels, [Buffer(64)] * 3, [2])
    settings = trials.Settings(streams=2, search_seconds=0.02, seconds=0.1)
    _, tried = trials.choose(program, settings, lambda s: 5.0 - s.streams)
    assert len({c.schedule.key for c in tried}) == len(tried)
    for method in (trials.ONE_STREAM, trials.CHAINS, "heft", "auto"):
        assert any(c.is_by(method) and c.timed_again for c in tried), method


@pytest.mark.parametrize("is_wanted", [True, False])
def test_early_launches_are_tried_and_kept_if_they_are_faster(is_wanted):
    program = wide_program()
    settings = trials.Settings(
        streams=2, search_seconds=0.02, seconds=0.2, early_launches=is_wanted
    )

    def time_us(schedule):
        return 5.0 - schedule.launches_early - 0.1 * schedule.streams

    best, tried = trials.choose(program, settings, time_us, can_be_early=True)
    assert best.schedule.launches_early == is_wanted
    assert best.label.startswith("early launches") == is_wanted
    usual = next(c for c in tried if c.label == trials.ONE_STREAM)
    assert not usual.schedule.launches_early and usual.timed_again
    best, tried = trials.choose(program, settings, time_us)
    assert not any(c.schedule.launches_early for c in tried)


def test_a_chain_may_have_early_launches():
    kernels = [Kernel("a", [], [whole(0)], 1000),
               Kernel("b", [whole(0)], [whole(1)], 1000)]
    program = Program(kernels, [Buffer(64)] * 2, [1])
    best, tried = trials.choose(
        program, trials.Settings(), lambda s: 5.0 - s.launches_early,
        can_be_early=True)
    assert best.label == "early launches, one stream" and len(tried) == 2


def test_a_chain_is_not_searched():
    kernels = [Kernel(f"k{i}", [whole(i - 1)] if i else [], [whole(i)], 1000)
               for i in range(5)]
    program = Program(kernels, [Buffer(64)] * 5, [4])
    assert critical_ns(program) == program.work_ns
    best, tried = trials.choose(program, trials.Settings(), lambda s: 5.0)
    assert [c.label for c in tried] == [trials.ONE_STREAM]


def test_a_graph_that_moves_bytes_has_the_programs_edges():
    program = wide_program()
    graph = program.graph(moves_bytes=True)
    assert len(graph) == len(program.kernels)
    assert graph.info.tensor_bytes == 64 * len(program.kernels)
    assert graph.info.data_edges == sum(map(len, program.dependencies))


# -- Recorded on a GPU -------------------------------------------------------


@pytest.mark.skipif(not RECORDED, reason="no recorded programs")
@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_recorded_programs_run_in_any_interleaving(path):
    program = Program.from_json(path.read_text())
    draw = random.Random(8)
    assert critical_ns(program) < program.work_ns
    for streams in (2, 4):
        order = random_order(program, draw)
        place = [draw.randrange(streams) for _ in order]
        running = Streams(program, make_schedule(program, order, place))
        for _ in range(2):
            running.run(draw)
    Streams(program, by_chains(program)).run(draw)
    assert one_stream(program).held_bytes <= by_chains(program).held_bytes
