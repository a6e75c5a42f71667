# SPDX-License-Identifier: Apache-2.0
"""optimize and evaluate.

A search runs in a thread of its own, without Python's lock, while the calling
thread waits and hands progress on. So Ctrl-C arrives at once wherever the search
is, and progress functions run in the thread that called `optimize`. What the
library does depends on neither.
"""
import atexit
import contextlib
import os
import queue
import signal
import threading
from typing import Any, Callable, Iterator, Optional, Set, Union

import numpy as np

from ._arrays import Column, check_range, numbers
from ._graph import Graph
from ._library import (Context, Handle, InvalidPlanError, MisuseError, Options,
                       PathLike, Quantity, ffi, lib)
from ._machine import Machine, check_graph
from ._plan import Plan, Progress, order_handle, plan_handle, progress_of

_SEARCH_GROUPS = ("objective", "search", "brkga", "anneal")


@ffi.def_extern()  # type: ignore
def regal_python_progress(state: Any, progress: Any) -> None:
    """The library's progress function: hands on to the waiting thread."""
    ffi.from_handle(state).put(progress_of(progress))


class _Running:
    """A call of the library in a thread of its own."""

    def __init__(self, context: Context, call: Callable[[], int]) -> None:
        self._context = context
        self._call = call
        self._events: "queue.SimpleQueue[Optional[Progress]]" = (
            queue.SimpleQueue())  # None: the call has ended
        self._handle = ffi.new_handle(self._events)
        self._in_progress = False  # the caller's function is running
        self._status: Optional[int] = None  # when the call has ended
        self._thread = threading.Thread(target=self._run, name="regal search",
                                        daemon=True)

    def _run(self) -> None:
        self._status = self._call()
        self._events.put(None)
        _running.discard(self)

    def end(self) -> None:
        """Ends the call."""
        self._stop()
        if self._thread.is_alive():
            self._thread.join()
        _running.discard(self)  # also where no thread could be started

    def _stop(self) -> None:
        lib.regal_stop_request(self._context.pointer)

    def _interrupt(self, number: int, frame: Any) -> None:
        """Ctrl-C: ends the search, and the caller's function, which may wait.
        In _serve itself an exception might meet no handler."""
        self._stop()
        if self._in_progress and frame.f_code is not _Running._serve.__code__:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def _interrupts(self) -> Iterator[None]:
        """Ctrl-C ends the search. Python's own handler would raise an exception
        anywhere, also where a thread is just being started."""
        usual = signal.default_int_handler
        mine = (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is usual)
        if mine:
            signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            if mine:
                signal.signal(signal.SIGINT, usual)

    def wait(self, progress: Optional[Callable[[Progress], Any]]) -> int:
        """The call's status, after it has ended in any case."""
        if progress is not None:
            lib.regal_set_progress(self._context.pointer,
                                   lib.regal_python_progress, self._handle)
        try:
            with self._interrupts():
                _running.add(self)
                self._thread.start()
                failure = self._serve(progress)
        except BaseException:  # raised by a handler of the caller
            self.end()
            raise
        lib.regal_set_progress(self._context.pointer, ffi.NULL, ffi.NULL)
        if failure is not None:
            raise failure
        assert self._status is not None
        return self._status

    def _latest(self) -> Optional[Progress]:
        """The latest report, or None: the call has ended. A function that takes
        longer than the search from one report to the next would otherwise still
        be told of old ones when the search has long ended."""
        event = self._events.get()
        while event is not None and not self._events.empty():
            later = self._events.get()
            if later is None:  # only after the last report
                self._events.put(None)
                break
            event = later
        return event

    def _serve(self, progress: Optional[Callable[[Progress], Any]]
               ) -> Optional[BaseException]:
        """Hands progress on until the call has ended. Returns what the caller's
        function raised. A handler of the caller may raise when the last event
        has just been taken: the status says whether one is still to come."""
        failure: Optional[BaseException] = None
        while progress is not None or self._status is None:
            try:
                event = self._latest()
                if event is None:
                    break
                if progress is None:
                    continue
                self._in_progress = True
                answer = progress(event)
                if not isinstance(answer, (bool, np.bool_)) or answer:
                    continue
            except KeyboardInterrupt:
                pass
            except BaseException as problem:
                failure = failure or problem
            finally:
                self._in_progress = False
            self._stop()
            progress = None
        return failure


_running: Set[_Running] = set()


@atexit.register
def _end_all() -> None:
    """Else a search that a daemon thread has begun would call the progress
    function of an interpreter that is no more."""
    for running in list(_running):
        running.end()


PlanLike = Union[None, Plan, PathLike, np.ndarray]


def _check_types(graph: Any, machine: Any) -> None:
    check_graph(graph)
    if machine is not None and not isinstance(machine, Machine):
        raise TypeError(f"machine is a {type(machine).__name__}, expected a "
                        "regal.Machine")


def _machine_for(machine: Optional[Machine], plan: PlanLike) -> Machine:
    """The machine, or else the plan's own."""
    if machine is not None:
        return machine
    if isinstance(plan, Plan):
        return plan.machine
    if isinstance(plan, (str, os.PathLike)):
        return Machine.from_plan(plan)
    return Machine()


def _problem(context: Context, graph: Graph, machine: Machine,
             options: Options) -> Handle:
    made = machine.make(context, graph)
    return context.make("regal_problem", lib.regal_problem_create_on,
                        lib.regal_problem_free, made.pointer, options.pointer,
                        parents=(graph.handle,))


def optimize(graph: Graph, machine: Optional[Machine] = None,
             objective: str = "runtime", time: Optional[Quantity] = None,
             evaluations: Optional[int] = None, method: Optional[str] = None,
             seed: int = 1, threads: int = 0,
             start: PlanLike = None,
             progress: Optional[Callable[[Progress], Any]] = None,
             **options: Any) -> Plan:
    """Searches for a plan.

    objective: "runtime" or "memory" (the largest peak). time: seconds, or a text
    such as "500ms". evaluations: the budget; with it alone the plan depends on
    the seed, not on the computer at hand. Without both the budget is the
    program's own, which depends on the problem alone: the same plan each time.
    method: one of `regal.methods()`. threads: 0 is one for each core. start: a
    plan to begin with (a Plan, a file, or steps), or "schedule", the order of a
    module that XLA has scheduled; the result is never worse, and without a
    machine that of the Plan or of the file is used. progress: called with a
    Progress at each improvement and a few times a second, or, where it takes
    longer than that, with the latest; if it returns False, the search ends.
    Other keyword arguments are the program's options of the search
    (`regal.options()`), with underscores for hyphens.

    Ctrl-C ends a search of the main thread and keeps the best plan; `Plan.stop`
    is then "interrupt".
    """
    _check_types(graph, machine)
    context = Context()
    given = Options(context)
    given.update(dict(options, objective=objective, time=time,
                      evaluations=evaluations, method=method, seed=seed,
                      threads=threads), _SEARCH_GROUPS, "optimize",
                 cost_unit="" if objective == "memory" else "ns")
    scheduled = isinstance(start, str) and start == "schedule"
    machine = _machine_for(machine, None if scheduled else start)
    problem = _problem(context, graph, machine, given)
    begin = None
    if isinstance(start, (str, os.PathLike)):
        given.set("start", start)
    elif start is not None:
        begin = plan_handle(context, graph, problem, start)

    def search(c: Any, place: Any) -> int:
        return _Running(context, lambda: lib.regal_optimize_from(
            c, problem.pointer, given.pointer,
            begin.pointer if begin else ffi.NULL, place)).wait(progress)

    result = context.make("regal_result", search, lib.regal_result_free,
                          parents=(problem,))
    return Plan(graph, problem, result, objective, machine)


def evaluate(graph: Graph, machine: Optional[Machine] = None,
             plan: PlanLike = None, *,
             order: Optional[Column] = None,
             placement: Optional[Column] = None,
             objective: str = "runtime") -> Plan:
    """Verifies a plan and computes its cost; no search runs.

    plan: a Plan, a plan file or a file with a bare order, or steps as
    `Plan.steps` has. Or order: all ids in order (by default the graph's own),
    and placement: the device of each op, by id (by default 0); transfers are
    then inserted just before their first reader.

    Without a machine, a Plan's or a plan file's own is used. A plan that breaks
    a rule raises InvalidPlanError.
    """
    if (plan is None) == (order is None and placement is None):
        raise MisuseError("evaluate needs a plan, or an order or placement")
    _check_types(graph, machine)
    context = Context()
    given = Options(context)
    given.set("objective", objective)
    machine = _machine_for(machine, plan)
    problem = _problem(context, graph, machine, given)
    if plan is not None:
        steps = plan_handle(context, graph, problem, plan)
    else:
        steps = _order(context, graph, problem, order, placement)
    try:
        result = context.make("regal_result", lib.regal_evaluate,
                              lib.regal_result_free, problem.pointer,
                              steps.pointer, parents=(problem,))
    except InvalidPlanError as error:
        if isinstance(plan, (str, os.PathLike)):
            raise InvalidPlanError(f"{os.fspath(plan)}: {error}") from None
        raise
    return Plan(graph, problem, result, objective, machine)


def _order(context: Context, graph: Graph, problem: Handle,
           order: Optional[Column],
           placement: Optional[Column]) -> Handle:
    ids = numbers("order", graph._arrays.id if order is None else order)
    nodes = graph.info.file_nodes
    if placement is None:
        devices = np.zeros(len(ids), np.int64)
    else:
        by_id = numbers("placement", placement)
        if by_id.shape != (nodes,):
            raise MisuseError(f"placement: found {by_id.size} entries, "
                              f"expected {nodes}, one for each id")
        wrong = ids[(ids < 0) | (ids >= nodes)]
        if len(wrong):
            raise MisuseError(f"order: there is no op with id {wrong[0]}")
        devices = by_id[ids]
    check_range("placement", devices, 0, 0xFFFF)
    check_range("order", ids, 0, 0xFFFFFFFF)
    return order_handle(context, problem, ids, devices)
