# SPDX-License-Identifier: Apache-2.0
"""How a search runs: the program's plan, progress, Ctrl-C, threads."""
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import regal
from conftest import DEMO
from regal._library import Context, ffi
from regal._search import _running

MACHINE = dict(devices=3, latency="5us", bandwidth="25GB/s")


@pytest.mark.parametrize("method, objective", [
    ("auto", "runtime"), ("auto", "memory"), ("brkga", "runtime")])
def test_the_programs_plan(demo, program, tmp_path, method, objective):
    """Same seed, same plan, byte for byte but for the seconds."""
    theirs, ours = tmp_path / "theirs.plan", tmp_path / "ours.plan"
    subprocess.run(
        [program, "optimize", DEMO, "-q", "--method", method, "--objective",
         objective, "--devices", "3", "--latency", "5us", "--bandwidth",
         "25GB", "--evaluations", "3000", "--seed", "7", "-o", theirs],
        check=True, stdout=subprocess.DEVNULL)
    regal.optimize(demo, regal.Machine(**MACHINE), objective=objective,
                   method=method, evaluations=3000, seed=7).save(ours)

    def lines(path):
        text = path.read_text()
        before, _, after = text.partition('"seconds": ')
        return before + after.partition(",")[2]

    assert lines(ours) == lines(theirs)


def test_the_programs_default_budget(diamond, program, tmp_path):
    diamond.save(tmp_path / "g.json")
    subprocess.run([program, "optimize", tmp_path / "g.json", "-q", "-o",
                    tmp_path / "p.plan"], check=True,
                   stdout=subprocess.DEVNULL)
    theirs = regal.evaluate(diamond, plan=tmp_path / "p.plan")
    assert (regal.optimize(diamond).steps == theirs.steps).all()


def test_threads_do_not_change_the_plan(demo):
    plans = [regal.optimize(demo, regal.Machine(**MACHINE), evaluations=2000,
                            threads=n) for n in (1, 2)]
    assert (plans[0].steps == plans[1].steps).all()


def test_progress(demo):
    seen = []
    here = threading.get_ident()

    def progress(report):
        assert threading.get_ident() == here
        seen.append(report)

    plan = regal.optimize(demo, regal.Machine(**MACHINE), evaluations=20000,
                          progress=progress)
    assert seen and seen[-1].best >= plan.runtime_ns
    assert [r.best for r in seen] == sorted((r.best for r in seen),
                                            reverse=True)
    assert seen[0].bound <= plan.runtime_ns and seen[0].fits


@pytest.mark.parametrize("no", [False, np.False_])
def test_progress_ends_the_search(demo, no):
    began, seen = time.monotonic(), []

    def progress(report):
        seen.append(report)
        return no

    plan = regal.optimize(demo, regal.Machine(**MACHINE), time=60,
                          progress=progress)
    assert plan.stop == "interrupt"
    assert len(seen) == 1, "it is not called again"
    assert time.monotonic() - began < 30


def test_a_slow_progress_function_gets_the_latest_report(demo):
    """The reports of a search that has ended are old but for the last."""
    seen = []

    def progress(report):
        seen.append(report)
        for thread in threading.enumerate():
            if thread.name == "regal search":
                thread.join()

    plan = regal.optimize(demo, regal.Machine(**MACHINE), method="climb",
                          evaluations=20000, progress=progress)
    assert len([point for point in plan.history if not point.stage]) > 5
    assert len(seen) <= 2 and seen[-1].best == plan.runtime_ns


def test_an_error_in_progress_is_raised(demo):
    def progress(report):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        regal.optimize(demo, regal.Machine(**MACHINE), time=60,
                       progress=progress)


def test_what_was_made_before_an_error_is_freed():
    """As the plan of a search that an error in progress ended."""
    context, freed = Context(), []

    def create(pointer, place):
        place[0] = ffi.cast("regal_result *", 64)
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        context.make("regal_result", create, freed.append)
    assert [int(ffi.cast("intptr_t", pointer)) for pointer in freed] == [64]


INTERRUPTED = """
import regal, signal, sys
graph = regal.Graph.load(sys.argv[1])
print("ready", flush=True)
plan = regal.optimize(graph, regal.Machine(devices=3, latency="5us"), time=60)
regal.evaluate(graph, plan=plan)
print(plan.stop, plan.seconds < 30, plan.runtime_ns < plan.before.runtime_ns)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""

STUCK = """
import regal, sys, time

def progress(report):
    print("ready", flush=True)
    while True:
        time.sleep(60)

graph = regal.Graph.load(sys.argv[1])
print(regal.optimize(graph, time=60, progress=progress).stop)
"""

OWN_HANDLER = """
import regal, signal, sys

class Mine(Exception):
    pass

def handler(number, frame):
    raise Mine

graph = regal.Graph.load(sys.argv[1])
signal.signal(signal.SIGINT, handler)
print("ready", flush=True)
try:
    regal.optimize(graph, time=60)
except Mine:
    print("mine")
"""


def interrupt(code):
    """Runs the code, sends Ctrl-C when it is ready, and returns its output.

    Whoever runs the tests in the background may have Ctrl-C ignored.
    """
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(DEMO)], stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    os.kill(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=30)
    assert child.returncode == 0
    return output


def test_ctrl_c_keeps_the_best_plan():
    assert interrupt(INTERRUPTED) == "interrupt True True\n"


def test_ctrl_c_ends_a_progress_function_that_waits():
    assert interrupt(STUCK) == "interrupt\n"


def test_a_handler_of_the_caller_is_heard():
    assert interrupt(OWN_HANDLER) == "mine\n"


class Mine(Exception):
    pass


def test_a_search_without_a_thread_is_forgotten(diamond, monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start"):
            regal.optimize(diamond)
    assert not _running


class LastEventIsLost(queue.SimpleQueue):
    """As where a handler raises when the last event has just been taken."""

    def get(self):
        event = super().get()
        if event is None:
            raise Mine
        return event


@pytest.mark.parametrize("progress", [None, lambda report: None])
def test_a_search_ends_also_where_its_last_event_is_lost(diamond, monkeypatch,
                                                         progress):
    monkeypatch.setattr("queue.SimpleQueue", LastEventIsLost)
    with contextlib.suppress(Mine):
        regal.optimize(diamond, evaluations=100, progress=progress)


LEFT_BEHIND = """
import regal, sys, threading, time
graph = regal.Graph.load(sys.argv[1])
for _ in range(3):
    threading.Thread(target=regal.optimize, args=(graph,), daemon=True, kwargs=
                     dict(time=60, threads=1, progress=lambda report: None)
                     ).start()
time.sleep(float(sys.argv[2]))
"""


def test_python_ends_while_searches_run():
    for delay in range(5):
        subprocess.run([sys.executable, "-c", LEFT_BEHIND, str(DEMO),
                        str(delay / 50)], check=True, timeout=30)


def test_python_runs_beside_a_search(demo):
    """The search does not hold Python's lock."""
    thread = threading.Thread(target=regal.optimize, args=(demo,),
                              kwargs=dict(time=1.0, threads=1))
    thread.start()
    ticks, end = 0, time.monotonic() + 0.5
    while time.monotonic() < end:
        time.sleep(0.001)
        ticks += 1
    assert thread.is_alive()
    thread.join()
    assert ticks > 50


def test_searches_at_the_same_time(demo):
    """One graph and one machine, several threads."""
    machine = regal.Machine(**MACHINE)
    plans = [None] * 4

    def search(i):
        plans[i] = regal.optimize(demo, machine, evaluations=1000, threads=1)

    threads = [threading.Thread(target=search, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for plan in plans:
        assert np.array_equal(plan.steps, plans[0].steps)


def test_no_memory_is_lost(diamond):
    """Many small searches hold no more memory than a few."""
    resource = pytest.importorskip("resource")

    def peak_after(searches):
        for _ in range(searches):
            regal.optimize(diamond, regal.Machine(), evaluations=10,
                           progress=lambda report: None).steps
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = peak_after(50)
    assert peak_after(300) - first < 4096  # KiB
