# SPDX-License-Identifier: Apache-2.0
"""Plans: what a search or an evaluation returns.

A Plan holds a result of the library with its problem. Ops are named by their
ids, not by the library's own numbers. Arrays are made when they are first asked
for.
"""
import copy
import html
import math
import os
import tempfile
from typing import Any, List, NamedTuple, Optional

import numpy as np

from ._arrays import MOST, check_range, numbers, whole
from ._graph import Graph
from ._library import (Context, Handle, InvalidPlanError, MisuseError, PathLike,
                       Unchanging, decode, encode, ffi, lib, path_bytes,
                       report_text)
from ._machine import Machine

#: Ops of a plan whose page a notebook shows: about 5 MB.
_MOST_IN_NOTEBOOK = 30_000

STEP = np.dtype([("kind", "U4"), ("op", np.int64), ("port", np.int32),
                 ("device", np.int32), ("to", np.int32),
                 ("start_ns", np.int64), ("end_ns", np.int64)])

_C_STEP = np.dtype([("op", np.uint32), ("port", np.int32),
                    ("device", np.uint16), ("to", np.uint16)])
assert _C_STEP.itemsize == ffi.sizeof("regal_step")


class Cost(NamedTuple):
    """What a plan costs, by the verifier."""
    runtime_ns: int
    peak_bytes: np.ndarray  # of each device
    max_peak_bytes: int     # the largest of them
    excess_bytes: int       # beyond the memory limits

    def __eq__(self, other: object) -> bool:
        # A tuple's own comparison would ask an array whether it is true.
        return (isinstance(other, Cost) and
                np.array_equal(self.peak_bytes, other.peak_bytes) and
                (self.runtime_ns, self.excess_bytes)
                == (other.runtime_ns, other.excess_bytes))

    def __ne__(self, other: object) -> bool:
        return not self == other


class Bound(NamedTuple):
    """No plan within the memory limits costs less. Zeros where sizes were
    assumed: then nothing is known."""
    runtime_ns: int
    peak_bytes: int  # of the device with the largest peak


class Rates(NamedTuple):
    """Of a plan for a pipeline; microbatches is 0 for other graphs."""
    microbatches: int
    bubble: float
    microbatches_per_second: float


class Progress(NamedTuple):
    """How far a search is."""
    evaluations: int
    seconds: float
    best: int         # the objective: nanoseconds or bytes
    bound: int        # its lower bound
    fits: bool        # within the memory limits
    share: float      # of the budget, 0 to 1; 0: it has no end
    stage: str        # what the search does now, such as "annealing"
    coarse_ops: int   # of a coarser graph that is worked on; 0: none is
    coarse_best: int  # the objective there


class Point(NamedTuple):
    """A point of a search: an improvement, or the end of a stage."""
    at: Progress
    stage: str  # what the stage did; "": an improvement


def progress_of(c: Any) -> Progress:
    """C's regal_progress."""
    return Progress(int(c.evaluations), float(c.seconds), int(c.best),
                    int(c.bound), bool(c.fits), float(c.share),
                    decode(c.stage) or "", int(c.coarse_ops),
                    int(c.coarse_best))


class Plan(Unchanging):
    """A plan: what runs where and when, and what it costs."""

    def __init__(self, graph: Graph, problem: Handle, result: Handle,
                 objective: str, machine: Machine) -> None:
        self._handles = problem, result
        self._problem = problem.pointer
        self._result = result.pointer
        self._steps: Optional[np.ndarray] = None
        self.graph = graph
        self.machine = copy.copy(machine)  # the caller's may be told more
        self.objective = objective

    # -- What it does ----------------------------------------------------------

    @property
    def devices(self) -> int:
        """The number of devices of the machine."""
        return int(lib.regal_problem_devices(self._problem))

    @property
    def steps(self) -> np.ndarray:
        """The steps in order: a structured array.

        kind: "run" or "send"; op: the op that runs, or whose output is sent;
        port: the output that is sent, -1 for a control transfer and for a run;
        device: where it runs, or the sender; to: the receiver, or the device;
        start_ns, end_ns: when, by the verifier.
        """
        if self._steps is None:
            self._steps = self._read_steps()
            self._steps.setflags(write=False)
        return self._steps

    def _read_steps(self) -> np.ndarray:
        plan = self._result.plan
        count = plan.step_count
        times = np.zeros((2, count), np.int64)
        start, end = (ffi.cast("int64_t *", ffi.from_buffer(row))
                      for row in times)
        context = Context()
        context.check(lib.regal_plan_times(context.pointer, self._problem,
                                           plan, start, end))
        raw = np.frombuffer(ffi.buffer(plan.steps, count * _C_STEP.itemsize),
                            _C_STEP)
        steps = np.empty(count, STEP)
        runs = raw["port"] == lib.REGAL_RUN
        steps["kind"] = np.where(runs, "run", "send")
        steps["op"] = self.graph._arrays.id[raw["op"]]
        steps["port"] = np.where(runs, -1, raw["port"])
        steps["device"], steps["to"] = raw["device"], raw["to"]
        steps["start_ns"], steps["end_ns"] = times
        return steps

    @property
    def order(self) -> np.ndarray:
        """The ids of all ops in the order of the plan."""
        steps = self.steps
        order: np.ndarray = steps["op"][steps["kind"] == "run"]
        return order

    @property
    def placement(self) -> np.ndarray:
        """The device of each op, by id; -1 where no op has this id."""
        runs = self.steps[self.steps["kind"] == "run"]
        placement = np.full(self.graph.info.file_nodes, -1, np.int64)
        placement[runs["op"]] = runs["device"]
        return placement

    # -- What it costs ---------------------------------------------------------

    def _cost(self, c: Any) -> Cost:
        return Cost(int(c.runtime_ns),
                    np.array([c.peak_bytes[a] for a in range(self.devices)],
                             np.int64),
                    int(c.max_peak_bytes), int(c.excess_bytes))

    @property
    def cost(self) -> Cost:
        """What the plan costs."""
        return self._cost(self._result.cost)

    @property
    def before(self) -> Cost:
        """What everything on one device costs, in the graph's order."""
        return self._cost(self._result.before)

    @property
    def runtime_ns(self) -> int:
        """The run time in nanoseconds."""
        return int(self._result.cost.runtime_ns)

    @property
    def expected_ns(self) -> int:
        """A run time that was measured, or that another model predicts, in
        nanoseconds; 0: none. The page shows it beside `runtime_ns`."""
        return int(self._result.expected_ns)

    @expected_ns.setter
    def expected_ns(self, value: int) -> None:
        self._result.expected_ns = whole("expected_ns", value, 0, MOST)

    @property
    def peak_bytes(self) -> np.ndarray:
        """The peak memory of each device."""
        return self.cost.peak_bytes

    @property
    def bound(self) -> Bound:
        """Lower bounds: no plan costs less."""
        bound = self._result.bound
        return Bound(int(bound.runtime_ns), int(bound.peak_bytes))

    @property
    def gap(self) -> float:
        """How far the objective is above its bound: 0.05 is 5 percent. NaN where
        no bound is known, and of a plan beyond the memory limits."""
        memory = self.objective == "memory"
        cost = self._result.cost
        value = cost.max_peak_bytes if memory else cost.runtime_ns
        bound = self.bound.peak_bytes if memory else self.bound.runtime_ns
        if not self.fits or (not bound and value):
            return math.nan
        return value / bound - 1 if bound else 0.0

    @property
    def fits(self) -> bool:
        """Whether it is within the memory limits."""
        return bool(self._result.fits)

    @property
    def shortage(self) -> Optional[str]:
        """Why no plan can be within the limits; None if that is not proven."""
        return decode(self._result.shortage)

    @property
    def rates(self) -> Rates:
        """Bubble and throughput of a pipeline."""
        rates = lib.regal_result_rates(self._result)
        return Rates(int(rates.microbatches), float(rates.bubble),
                     float(rates.microbatches_per_second))

    # -- How it was found ------------------------------------------------------

    @property
    def method(self) -> str:
        """The method that found it; "given" after `evaluate`."""
        return decode(self._result.method) or ""

    @property
    def stop(self) -> str:
        """Why the search ended: done, budget, time, target, bound, interrupt
        or no_fit."""
        return decode(lib.regal_stop_name(self._result.stop)) or ""

    @property
    def account(self) -> str:
        """One line: what the method did."""
        return decode(self._result.account) or ""

    @property
    def history(self) -> List[Point]:
        """How the search went: its improvements and the ends of its stages."""
        c = self._result
        points = (c.history[i] for i in range(c.history_count))
        return [Point(progress_of(point.at), decode(point.stage) or "")
                for point in points]

    @property
    def seed(self) -> int:
        """The random seed."""
        return int(self._result.seed)

    @property
    def evaluations(self) -> int:
        """How many evaluations the search used."""
        return int(self._result.evaluations)

    @property
    def seconds(self) -> float:
        """How long the search took."""
        return float(self._result.seconds)

    @property
    def threads(self) -> int:
        """The number of threads."""
        return int(self._result.threads)

    # -- Files and texts -------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Writes a plan file, which `regal evaluate` reads; if the path ends with
        .order, a bare order: the names of ops, one a line."""
        context = Context()
        context.check(lib.regal_plan_save(context.pointer, self._result,
                                          path_bytes(path)))

    def save_trace(self, path: PathLike) -> None:
        """Writes a Chrome / Perfetto trace."""
        context = Context()
        context.check(lib.regal_trace_save(context.pointer, self._problem,
                                           self._result.plan,
                                           path_bytes(path)))

    def save_onnx(self, path: PathLike, model: PathLike) -> None:
        """Writes the ONNX model that the graph was read from with its nodes in
        the plan's order, and device and step of each op as metadata."""
        context = Context()
        context.check(lib.regal_plan_save_onnx(
            context.pointer, self._result, path_bytes(model),
            path_bytes(path)))

    def draw(self, path: PathLike) -> None:
        """A picture of the graph with devices and steps, at most 2000 ops: SVG,
        or DOT for Graphviz if the path ends in ".dot"."""
        dot = path_bytes(path).endswith(b".dot")
        context = Context()
        context.check(lib.regal_plan_draw(
            context.pointer, self._result,
            lib.REGAL_PICTURE_DOT if dot else lib.REGAL_PICTURE_SVG,
            path_bytes(path)))

    def summary(self) -> str:
        """The result as text, as `regal optimize` prints it."""
        return report_text(Context(), lib.regal_report_summary, self._result)

    def timeline(self, columns: int = 100) -> str:
        """What each device does over time, so many characters wide."""
        return report_text(Context(), lib.regal_report_timeline, self._problem,
                           self._result.plan,
                           whole("columns", columns, 1, 1 << 30))

    def explain(self) -> str:
        """Where the plan's time and memory go."""
        return report_text(Context(), lib.regal_report_explain, self._problem,
                           self._result.plan)

    def to_html(self, path: Optional[PathLike] = None,
                title: Optional[str] = None) -> str:
        """A page about the plan for a browser, one HTML file; its text, which
        is also written to `path` if that is given."""
        context = Context()
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "plan.html")
            context.check(lib.regal_report_html(
                context.pointer, ffi.NULL if title is None else encode(title),
                ffi.new("regal_result *[]", [self._result]), ffi.NULL, 1,
                path_bytes(made)))
            with open(made, "rb") as file:
                page = file.read()
        if path is not None:
            context.check(lib.regal_file_save(context.pointer, path_bytes(path),
                                              page, len(page)))
        return page.decode("utf-8")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks; of a large plan, which
        would make the notebook large, only the summary."""
        if len(self.order) > _MOST_IN_NOTEBOOK:
            return (f"<pre>{html.escape(self.summary())}</pre><p>The page of "
                    f"{len(self.order)} ops is large: plan.to_html("
                    "&quot;plan.html&quot;) writes it to a file.</p>")
        page = html.escape(self.to_html(), quote=True)
        return (f'<iframe srcdoc="{page}" sandbox="allow-scripts" '
                'style="width: 100%; height: 600px; border: 0"></iframe>')

    def _quality(self) -> str:
        if not self.fits:
            return "beyond the memory limits"
        if math.isnan(self.gap):
            return "no bound is known"
        return f"{100 * self.gap:.1f}% above the bound"

    def __repr__(self) -> str:
        devices = f"{self.devices} device{'' if self.devices == 1 else 's'}"
        return (f"<regal.Plan: {self.runtime_ns} ns, peak "
                f"{self.cost.max_peak_bytes} bytes on {devices}, "
                f"{self._quality()}, by {self.method}>")


# -- Plans of callers ----------------------------------------------------------

def c_steps(graph: Graph, steps: Any) -> Any:
    """Steps of a caller as an array of C's regal_step."""
    given = np.asarray(steps)
    known = {"kind", "op", "port", "device", "to"}
    if given.dtype.names is None or not known <= set(given.dtype.names):
        raise TypeError("steps: expected a structured array with the fields "
                        "kind, op, port, device and to, as Plan.steps has")
    if given.ndim != 1:
        raise MisuseError(f"steps: found an array of {given.ndim} dimensions, "
                          "expected one")
    wrong = given["kind"][~np.isin(given["kind"], ("run", "send"))]
    if wrong.size:
        raise MisuseError(f"steps: found {wrong[0]!s} as kind, expected run or "
                          "send")
    column = {field: numbers(f'steps["{field}"]', given[field])
              for field in ("op", "port", "device", "to")}
    for field, low, high in (("device", 0, 0xFFFF), ("to", 0, 0xFFFF),
                             ("port", -1, 0x7FFFFFFF)):
        check_range(f'steps["{field}"]', column[field], low, high)
    missing = np.flatnonzero(~np.isin(column["op"], graph.ids))
    if missing.size:
        raise InvalidPlanError(f"step {missing[0]}: there is no op with id "
                               f"{column['op'][missing[0]]}")
    raw = np.empty(len(given), _C_STEP)
    raw["op"] = graph._arrays.op_of_id[column["op"]]
    raw["port"] = np.where(given["kind"] == "run", lib.REGAL_RUN,
                           column["port"])
    raw["device"], raw["to"] = column["device"], column["to"]
    return raw


def plan_handle(context: Context, graph: Graph, problem: Handle,
                given: Any) -> Handle:
    """The library's plan of a file, a Plan, or an array of steps."""
    if isinstance(given, (str, os.PathLike)):
        return context.make("regal_plan", lib.regal_plan_load,
                            lib.regal_plan_free, problem.pointer,
                            path_bytes(given))
    raw = c_steps(graph, given.steps if isinstance(given, Plan) else given)
    return context.make("regal_plan", lib.regal_plan_from_steps,
                        lib.regal_plan_free, problem.pointer,
                        ffi.cast("regal_step *", ffi.from_buffer(raw)),
                        len(raw))


def order_handle(context: Context, problem: Handle, order: np.ndarray,
                 devices: np.ndarray) -> Handle:
    """The library's plan of ids in order, and a device for each."""
    ids = np.ascontiguousarray(order, np.uint32)
    places = np.ascontiguousarray(devices, np.uint16)
    return context.make("regal_plan", lib.regal_plan_from_ids,
                        lib.regal_plan_free, problem.pointer,
                        ffi.cast("uint32_t *", ffi.from_buffer(ids)),
                        ffi.cast("uint16_t *", ffi.from_buffer(places)),
                        len(ids))
