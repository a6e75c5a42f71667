# SPDX-License-Identifier: Apache-2.0
"""The order that a recorded CUDA graph has, without a GPU.

Streams and events are replaced by ones that note what is known to have ended:
what CUDA would record as edges of the graph.
"""
import contextlib
import pathlib
import random

import pytest

torch = pytest.importorskip("torch")

from regal.streams.program import Program  # noqa: E402
from regal.streams.schedule import make_schedule  # noqa: E402
from regal.streams.urgency import with_urgency  # noqa: E402
from regal.torch import cuda  # noqa: E402

RECORDED = sorted((pathlib.Path(__file__).parent / "programs").glob("*.json"))


class Stream:
    def __init__(self, priority=0):
        self.priority, self.ended = priority, set()

    def wait_event(self, event):
        self.ended |= event.ended

    def wait_stream(self, other):
        self.ended |= other.ended


class Event:
    def record(self, stream):
        self.ended = set(stream.ended)


class Issued:
    """Takes the place of a traced graph: notes where kernels are issued."""

    def __init__(self, program, current):
        self.kernels = range(len(program.kernels))
        self.current, self.allocator_of = current, {}
        self.known, self.priority = {}, {}

    def inputs(self, args):
        return {}

    def release(self, buffers, env):
        pass

    def results(self, env):
        return []

    def step(self, kernel, env):
        stream = self.current[-1]
        self.known[kernel] = set(stream.ended)
        self.priority[kernel] = stream.priority
        stream.ended.add(kernel)


def issue(monkeypatch, program, schedule):
    current = []

    @contextlib.contextmanager
    def stream(given):
        current.append(given)
        yield
        current.pop()

    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "stream", stream)
    issued = Issued(program, current)
    recorder = cuda._Recorder(issued, schedule, [], cuda.Lanes())
    recorder.record()
    return issued, recorder.main


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
    assert main.ended == set(order)  # the graph ends when all have ended
