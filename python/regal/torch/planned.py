# SPDX-License-Identifier: Apache-2.0
"""One graph of Inductor's kernels: measured, planned, tried, and called."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
import time
import warnings
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
)

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..streams.schedule import Schedule, one_stream
from ..streams.trials import ONE_STREAM, Candidate, Settings, choose
from . import cuda
from .constants import bytes_of_constants, fold_constants
from .counters import find_counters
from .measure import measure
from .slots import Slots, View, copy_of
from .trace import Traced, Unsupported, tensors_of

#: Of ops that all processes must launch in one order.
_BETWEEN_PROCESSES = {"_c10d_functional", "c10d_functional", "c10d", "symm_mem"}


@dataclasses.dataclass
class Report:
    """What was measured for one graph, and what was chosen."""

    kind: str
    kernels: int
    chosen: Candidate
    tried: List[Candidate]
    #: Temporary memory of the plan, and of the compiler's order on one stream.
    held_bytes: int
    one_stream_bytes: int
    measuring_s: float
    trying_s: float
    #: Kernels that were run once and left out (constants.py), and the compiler's
    #: order on one stream with them; None if there are none.
    constants: int = 0
    whole_us: Optional[float] = None

    def by_label(self, label: str) -> Optional[float]:
        """The measured time of the candidate with this label."""
        return next(
            (c.measured_us for c in self.tried if c.label == label), None
        )

    @property
    def speedup(self) -> float:
        """Over all of the compiler's kernels on one stream."""
        whole_us = self.whole_us or self.by_label(ONE_STREAM)
        return whole_us / self.chosen.measured_us

    def __str__(self) -> str:
        extra = self.held_bytes - self.one_stream_bytes
        constants = f" ({self.constants} more run once)" if self.constants else ""
        return (
            f"{self.kind}: {self.kernels} kernels{constants}, "
            f"{self.chosen.label}: "
            f"{self.chosen.measured_us:.1f} us, {self.speedup:.2f} times as "
            f"fast as one stream; {extra / 1e6:+.1f} MB of temporary memory"
        )


class PlannedGraph:
    """Called with its inputs, as Inductor's own code would be."""

    def __init__(
        self,
        gm: torch.fx.GraphModule,
        kind: str,
        static_inputs: Sequence[int],
        visible: Optional[int],
        settings: Settings,
        seconds: float,
        compile_plainly: Callable[[], Callable],
    ):
        self.kind, self.settings, self.seconds = kind, settings, seconds
        self._compile_plainly = compile_plainly
        self._plain: Optional[Callable] = None
        self._lock = threading.Lock()
        self.traced = Traced(gm)
        _check_inputs(self.traced)
        self._gpu = self.traced.gpu
        self._turns = None if self._gpu is None else cuda.Turns(self._gpu)
        placeholders = self.traced.placeholders
        self.static = [i for i in static_inputs if i < len(placeholders)]
        fixed = set(self.static)
        self.moving = [i for i in range(len(placeholders)) if i not in fixed]
        written = self.traced.written_inputs
        #: Places in `moving` of inputs that a kernel writes.
        self.copied_back = [
            place
            for place, i in enumerate(self.moving)
            if placeholders[i] in written
        ]
        self.protected = [i for i in self.static if placeholders[i] in written]
        self._counters = find_counters(self.traced)
        #: Results of a forward pass from here on are saved for backward; None
        #: for other graphs.
        self.visible = visible
        #: Results that are inputs.
        self.passed_on = {
            at: placeholders.index(node)
            for at, node in enumerate(self.traced.result_nodes)
            if node in placeholders
        }
        #: Results that are views of inputs that move, and inputs that do not and
        #: have such results.
        self.views: Dict[int, View] = {}
        self.viewed: Set[int] = set()
        self._find_views()
        self.schedule: Optional[Schedule] = None
        self.report: Optional[Report] = None
        self.slots: Optional[Slots] = None
        #: Of the first call, if kept; inputs that a kernel writes are copies.
        self.example_args: List[Any] = []
        self._starts: cuda.Starts = []

    def _find_views(self) -> None:
        """In a capture they would be views of our copies."""
        placeholders = self.traced.placeholders
        base_of = {
            b: i
            for i, node in enumerate(placeholders)
            for b in self.traced.buffers_of[node]
        }
        for at, node in enumerate(self.traced.result_nodes):
            bases = [
                base_of[b]
                for b in self.traced.buffers_of.get(node, ())
                if b in base_of
            ]
            if not bases or at in self.passed_on:
                continue
            if bases[0] in self.static:
                self.viewed.add(bases[0])
            else:
                self.views[at] = self._view(at, node, bases[0])

    def _view(self, at: int, node: torch.fx.Node, base: int) -> View:
        found = self.traced.values[node]
        whole = self.traced.values[self.traced.placeholders[base]]
        if not isinstance(found, torch.Tensor) or found.dtype != whole.dtype:
            raise Unsupported(f"result {at} is an input as another type")
        return View(
            base,
            tuple(found.shape),
            tuple(found.stride()),
            int(found.storage_offset() - whole.storage_offset()),
        )

    # -- The first call -----------------------------------------------------

    def prepare(self, args: Sequence[Any]) -> None:
        """Measures kernels, tries plans, keeps the fastest. Nothing of the graph
        changes before all of it has been done: who interrupts it may call again.
        """
        own = list(args)
        for i in self.moving + self.protected:
            own[i] = copy_of(args[i])
        starts = [(own[i], copy_of(args[i])) for i in self._counters]
        buffers = [own[i] for i in self.moving]
        began = time.perf_counter()
        workshop = cuda.Workshop()
        whole = traced = self.traced
        measure(whole, own, workshop)
        if self.settings.fold_constants:
            traced = fold_constants(whole)
        measured = time.perf_counter()
        best, tried = choose(
            traced.program,
            self.settings,
            cuda.Timer(lambda s: cuda.capture(traced, s, own, workshop, starts)),
            self.seconds - (measured - began),
            bool(traced.early_names),
        )
        compilers = one_stream(whole.program)
        whole_us = None
        if whole is not traced:
            captured = cuda.capture(whole, compilers, own, workshop, starts)
            whole_us = min(cuda.time_us(captured) for _ in range(3))
        self.report = Report(
            kind=self.kind,
            kernels=len(traced.kernels),
            chosen=best,
            tried=tried,
            held_bytes=best.schedule.held_bytes + bytes_of_constants(traced),
            one_stream_bytes=compilers.held_bytes,
            measuring_s=measured - began,
            trying_s=time.perf_counter() - measured,
            constants=len(whole.kernels) - len(traced.kernels),
            whole_us=whole_us,
        )
        self.traced = traced
        self.slots = self._make_slots(buffers, best.schedule)
        if self.settings.keep_inputs:
            self.example_args, self._starts = own, starts
        self.schedule = best.schedule

    def record(self, schedule: Schedule) -> cuda.Captured:
        """A schedule on the inputs of the first call, if they were kept, to be
        replayed any number of times."""
        return cuda.capture(
            self.traced, schedule, self.example_args, starts=self._starts
        )

    def _make_slots(
        self, buffers: List[torch.Tensor], schedule: Schedule
    ) -> Slots:
        # It does not know this object: their memory would wait for Python's
        # collection of cycles.
        return Slots(
            functools.partial(_capture, self.traced, schedule, self.kind),
            self.static,
            self.moving,
            buffers,
            self.copied_back,
            self.passed_on,
            self.visible,
            self.views,
            self.protected,
            self.viewed,
        )

    def _try_to_prepare(self, args: Sequence[Any]) -> None:
        try:
            # At a first call PyTorch looks at every op by such a mode, which
            # takes longer than to record it.
            with _disable_current_modes(), self._random_numbers_kept():
                self.prepare(args)
        except Exception as error:  # an op that cannot be captured, say
            warn(self.kind, error)
            self._plain = self._compile_plainly()

    @contextlib.contextmanager
    def _random_numbers_kept(self) -> Iterator[None]:
        """Trials draw as many as there is time for: a model that is seeded would
        differ from run to run. Those of the CPU are other threads', too."""
        if self._gpu is None:
            with torch.random.fork_rng([]):
                yield
            return
        state = torch.cuda.get_rng_state(self._gpu)
        try:
            yield
        finally:
            torch.cuda.set_rng_state(state, self._gpu)

    # -- Every call ---------------------------------------------------------

    def __call__(self, *args: Any) -> List[Any]:
        # One at a time: a capture is chosen, filled and replayed. On the device
        # of the graph, whichever is the caller's current one: its streams are
        # those that kernels are recorded on.
        with self._lock, cuda.selected(self._gpu):
            if self._turns is not None:
                if torch.cuda.is_current_stream_capturing():
                    return self._run_recorded(args)
                self._turns.take()
            return self._call(args)

    def _call(self, args: Sequence[Any]) -> List[Any]:
        if self.schedule is None and self._plain is None:
            self._try_to_prepare(args)
        if self._plain is not None:
            return self._plain(list(args))
        results = self.slots.call(args)
        return self._run_plainly(args) if results is None else results

    def _run_recorded(self, args: Sequence[Any]) -> List[Any]:
        """In a CUDA graph that the caller records: a replay cannot be a part of
        it, nor may it wait for calls before."""
        if self._plain is not None:
            return self._plain(list(args))
        return self._run_plainly(args)

    def _run_plainly(self, args: Sequence[Any]) -> List[Any]:
        with torch.no_grad(), cuda.drawing(self.traced.draws):
            results = self.traced.gm(*args)
        return list(results) if isinstance(results, (list, tuple)) else [results]


def _capture(
    traced: Traced, schedule: Schedule, kind: str, inputs: Sequence[Any]
) -> Optional[cuda.Captured]:
    """None if there is no memory for one more, say."""
    try:
        return cuda.capture(traced, schedule, inputs)
    except RuntimeError as error:
        warnings.warn(
            f"regal: calls of a graph ({kind}) are launched kernel by kernel "
            f"where no recorded one is free: {_reason(error)}"
        )
        return None


def _check_inputs(traced: Traced) -> None:
    for node in traced.placeholders:
        value = traced.values[node]
        if isinstance(value, torch.Tensor) and value.is_cuda:
            continue
        if isinstance(value, torch.Tensor):
            raise Unsupported(f"input {node.name} is on the {value.device.type}")
        raise Unsupported(f"input {node.name} is a number that varies")
    _check_kernels(traced)


def _check_kernels(traced: Traced) -> None:
    if not traced.kernels:
        raise Unsupported("it has no kernels")
    for node in traced.nodes:  # to read a value is no kernel
        if node.target is torch.ops.aten.item.default:
            raise Unsupported("a value of a tensor decides what runs")
    for node in traced.kernels:
        if getattr(node.target, "namespace", "") in _BETWEEN_PROCESSES:
            # Others would wait for another one, or not try at all.
            raise Unsupported(
                f"{node.name} communicates with other processes, which have "
                "orders of their own"
            )
        if any(t.is_cpu for t in tensors_of(traced.values.get(node))):
            # To wait for it would end the recording.
            raise Unsupported(f"a result of {node.name} is on the cpu")


def warn(kind: str, error: Exception) -> None:
    """Says why a graph is not planned."""
    warnings.warn(
        f"regal: a graph ({kind}) is left to Inductor: {_reason(error)}",
        stacklevel=3,
    )


def _reason(error: BaseException) -> str:
    """The first line of what went wrong first, which may be a name alone."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    lines = [x.strip() for x in str(root).splitlines() if x.strip()]
    shown = lines[:2] if lines and lines[0].endswith(":") else lines[:1]
    return " ".join(shown) or type(root).__name__
