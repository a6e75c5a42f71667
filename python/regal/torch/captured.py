# SPDX-License-Identifier: Apache-2.0
"""``regal.torch.capture``: a model as a graph, and ``apply``: its plan run.

Two levels. ``aten``: the ops of torch.export, or for training the joint graph
of forward and backward pass that AOTAutograd makes; runs anywhere.
``inductor``: the fused kernels that Inductor makes of the same graph; needs a
GPU with Triton.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import torch
from torch.fx import Node

from . import cuda
from .calls import (
    Call,
    Signature,
    fake_tensors,
    fakes_of,
    numbers_of_loops,
    without_autocast,
)
from .joint import joint
from .measure import measure
from .models import exported
from .recurrent import right_states
from .refusals import Refused, check_model, refusing, without_values
from .roofline import estimate
from .slots import copy_of, without_repeats
from ..streams.program import Program
from ..streams.schedule import make_schedule, one_stream
from .trace import Traced, Unsupported, tensors_of
from .workers import Devices, Step, Threads


_NOTHING = "the model computes nothing"


class Capture:
    """A model's kernels, with values to run them on."""

    def __init__(self, traced: Traced, args: List[Any], signature: Signature):
        self.traced = traced
        #: Values of the program's inputs: parameters, buffers, arguments.
        self.args = args
        self.signature = signature
        self._graph = None
        self._one_stream_us: Optional[float] = None
        #: What a trace of the profiler had no times of.
        self.notes: List[Any] = []

    def bind(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> List[Any]:
        """The program's inputs for a call of the model."""
        return self.signature.bind(self.args, Call(args, kwargs))

    @property
    def program(self):
        return self.traced.program

    @property
    def needs_shares(self) -> bool:
        """Whether it is on a GPU and its kernels' grids are not known."""
        return self.on_gpu and not any(k.share for k in self.program.kernels)

    @property
    def on_gpu(self) -> bool:
        return any(isinstance(a, torch.Tensor) and a.is_cuda for a in self.args)

    def measure_shares(self) -> None:
        from .shares import measure_shares

        with cuda.selected(self.traced.gpu):
            measure_shares(self.traced, self.args)

    @property
    def one_stream_us(self) -> float:
        """Measured: the compiler's order in one CUDA graph; 0 without a GPU."""
        if not self.on_gpu:
            return 0.0
        if self._one_stream_us is None:
            with cuda.selected(self.traced.gpu):
                graph = cuda.capture(
                    self.traced, one_stream(self.program), self.args
                )
                self._one_stream_us = cuda.time_us(graph)
        return self._one_stream_us

    @property
    def graph(self):
        """The graph for the search: sizes, and times of one device."""
        if self._graph is None:
            self._graph = self.program.graph(moves_bytes=True)
            # Not in a table of ours: what nobody uses is forgotten, both.
            self._graph._source = self
        return self._graph


class _Values(torch.fx.Interpreter):
    """Runs a graph on fake tensors and keeps the value of every node."""

    def __init__(self, gm: torch.fx.GraphModule):
        super().__init__(gm, garbage_collect_values=False)
        self.values: Dict[Node, Any] = {}

    def run_node(self, n: Node) -> Any:
        self.values[n] = super().run_node(n)
        return self.values[n]


def _traced(gm: torch.fx.GraphModule, args: Sequence[Any]) -> Traced:
    """Each op of aten as a kernel."""
    interpreter = _Values(gm)
    no_sizes = refusing("an op of the model has no known sizes")
    loops = numbers_of_loops()
    with no_sizes, fake_tensors(loops) as fake, right_states(), torch.no_grad():
        interpreter.run(
            *(
                fake.from_tensor(a.detach()) if isinstance(a, torch.Tensor) else a
                for a in args
            )
        )
    return Traced(gm, interpreter.values)


def _fused(gm: torch.fx.GraphModule, values: Sequence[Any]) -> Traced:
    """Inductor's kernels of a graph of aten's ops."""
    from .inductor import fused_kernels

    for tensor in tensors_of(list(values)):
        if not tensor.is_cuda:
            raise ValueError(
                'level="inductor" needs a model and arguments on a GPU; a tensor '
                f"is on the {tensor.device.type}"
            )
    output = gm.graph.output_node()
    results = list(output.args[0])
    # Inductor takes no numbers and no text.
    output.args = ([r for r in results if isinstance(r, Node)],)
    if all(r.op == "placeholder" for r in output.args[0]):
        raise Refused(_NOTHING)
    expected = len(values), len(output.args[0])
    fakes = fakes_of(values)
    with refusing("Inductor has no kernels of the model"), without_values():
        kernels = fused_kernels(gm, fakes)
    traced = Traced(kernels)
    found = len(traced.placeholders), len(traced.result_nodes)
    if found != expected:
        raise RuntimeError(
            f"Inductor's kernels have {found[0]} inputs and {found[1]} results, "
            f"expected {expected[0]} and {expected[1]}"
        )
    computed = iter(traced.result_nodes)
    traced.output.args = (
        [next(computed) if isinstance(r, Node) else r for r in results],
    )
    kernels.recompile()
    return traced


def capture(
    model: torch.nn.Module,
    args: Sequence[Any],
    level: str = "aten",
    train: bool = False,
    costs: Union[str, "os.PathLike[str]"] = "measure",
    loss: Optional[Callable] = None,
    kwargs: Optional[Dict[str, Any]] = None,
) -> Capture:
    """The graph of a model, with times.

    :param level: ``"aten"``, or ``"inductor"``: fused kernels, for a GPU.
    :param train: the joint graph of a training step, which returns the loss and
        the gradients of all parameters.
    :param costs: ``"measure"``: each kernel on the device where its inputs are;
        the path of a Chrome trace of torch.profiler, of the same model with
        ``record_shapes=True`` (docs/torch.md); or the name of a roofline.
    :param loss: from the model's result to a number; by default the mean square.
    :param kwargs: arguments that the model takes by keyword.
    """
    if level not in ("aten", "inductor"):
        raise ValueError(f"level is {level!r}, expected 'aten' or 'inductor'")
    if level == "inductor" and not torch.cuda.is_available():
        raise RuntimeError(
            'level="inductor" needs a CUDA device: Inductor gives its kernels '
            'as a graph only for Triton. level="aten" runs anywhere'
        )
    check_model(model, args, kwargs, "args")
    if loss is not None and not train:
        raise ValueError("loss is for a training step: give train=True, too")
    _check_costs(os.fspath(costs))
    call = Call(args, kwargs)
    gm, values, signature = (
        joint(model, call, loss) if train else exported(model, call)
    )
    with without_autocast():
        traced = (_fused if level == "inductor" else _traced)(gm, values)
        if not traced.kernels:
            raise Refused(_NOTHING)
        captured = Capture(traced, values, signature)
        with cuda.selected(_checked_gpu(traced)):
            _set_times(captured, os.fspath(costs))
    return captured


def _checked_gpu(traced: Traced) -> Optional[int]:
    try:
        return traced.gpu
    except Unsupported as error:
        raise Refused(str(error)) from None


def _check_costs(costs: str) -> None:
    """Before the model is traced, which may take minutes."""
    import regal

    if costs == "measure" or os.path.isfile(costs):
        return
    try:
        regal.roofline_ns(costs, "fp32", 1, 1)
    except regal.Error as error:
        reason = str(error).replace("--roofline: ", "", 1)
        raise ValueError(
            f"costs is {costs!r}, neither 'measure' nor the file of a trace nor a "
            f"roofline: {reason}"
        ) from None


def _set_times(captured: Capture, costs: str) -> None:
    if costs == "measure":
        measure(captured.traced, captured.args)
    elif os.path.isfile(costs):
        _profiled(captured, costs)
    else:
        estimate(captured.traced, costs)


def _profiled(captured: Capture, trace: str) -> None:
    """Times of a trace. Ops that it does not have are measured."""
    import regal

    measure(captured.traced, captured.args)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "captured.json")
        captured.program.graph(moves_bytes=True).save(path)
        graph = regal.Graph.load(path, costs=trace)
    for kernel, op in zip(captured.program.kernels, graph.ops):
        kernel.run_ns = op.run_ns
    captured.notes = graph.notes


def capture_of(plan: Any) -> Capture:
    """The capture whose graph the plan is for."""
    source = getattr(getattr(plan, "graph", None), "_source", None)
    if not isinstance(source, Capture):
        raise ValueError(
            "the plan is not for a graph of regal.torch.capture in this process: "
            "capture the model, and regal.evaluate(captured.graph, plan=plan)"
        )
    return source


def apply(
    plan: Any, on: Union[str, Sequence[Any]] = "auto"
) -> Callable[..., List[Any]]:
    """A function of the model's arguments that runs the plan.

    :param on: ``"streams"``: a stream of the GPU for each device of the plan,
        captured as one CUDA graph; ``"cpu"``: a thread for each; a list of
        torch devices, one for each; ``"auto"``: streams for a model on a GPU,
        else threads.
    """
    captured = capture_of(plan)
    traced = captured.traced
    order = [int(k) for k in plan.order]
    place = [int(d) for d in plan.placement]
    if on == "auto":
        on = "streams" if captured.on_gpu else "cpu"
    if on == "streams":
        if not captured.on_gpu:
            raise ValueError('on="streams" needs a model on a GPU')
        return _Streams(captured, make_schedule(captured.program, order, place))
    if on == "cpu":
        devices = len(plan.peak_bytes)
        return Applied(captured, Threads(traced, order, place, devices))
    if not isinstance(on, (list, tuple)):
        raise ValueError(
            f"on is {on!r}, expected 'streams', 'cpu' or a list of devices"
        )
    if len(on) <= max(place, default=0):
        raise ValueError(
            f"the plan has {max(place) + 1} devices, {len(on)} are given"
        )
    return Applied(captured, Devices(traced, _steps(plan, traced.program), place, on))


def _steps(plan: Any, program: Program) -> List[Step]:
    """Kernels and, between them, buffers that are sent."""
    own = program.made_by
    return [
        int(step["op"])
        if step["kind"] == "run"
        else (own[int(step["op"])][int(step["port"])], int(step["to"]))
        for step in plan.steps
        if step["kind"] == "run" or step["port"] >= 0
    ]


class Applied:
    """A plan that runs; `peak_bytes` has what the last run held."""

    def __init__(self, captured: Capture, runner: Any):
        self.captured, self.runner = captured, runner

    def __call__(self, *args: Any, **kwargs: Any) -> List[Any]:
        values = self.captured.bind(args, kwargs)
        with without_autocast():
            return self.captured.signature.finish(values, self.runner(values))

    @property
    def peak_bytes(self) -> List[int]:
        return self.runner.peak_bytes


class _Streams:
    """A CUDA graph on copies of the model's arguments."""

    def __init__(self, captured: Capture, schedule):
        self.captured, self.schedule = captured, schedule
        own = list(captured.args)
        #: Our copies of the arguments, by their places.
        self.inputs = {
            place: copy_of(own[place])
            for place in captured.signature.places
            if place is not None and isinstance(own[place], torch.Tensor)
        }
        for place, copied in self.inputs.items():
            own[place] = copied
        nodes = captured.traced.placeholders
        written = captured.traced.written_inputs
        self.written = [p for p in self.inputs if nodes[p] in written]
        with torch.no_grad(), without_autocast(), cuda.selected(captured.traced.gpu):
            captured.traced.gm(*own)  # kernels are tuned at their first call
            torch.cuda.synchronize()
            self.graph = cuda.capture(captured.traced, schedule, own)
        #: What the graph's pool takes: its buffers, as the streams reuse them.
        self.peak_bytes = [self.graph.pool_bytes]

    def __call__(self, *args: Any, **kwargs: Any) -> List[Any]:
        values = self.captured.bind(args, kwargs)
        for place, own in self.inputs.items():
            without_repeats(own).copy_(without_repeats(values[place]))
        self.graph.replay()
        for place in self.written:
            values[place].copy_(self.inputs[place])
        results = [
            r.clone() if isinstance(r, torch.Tensor) else r
            for r in self.graph.results
        ]
        return self.captured.signature.finish(values, results)
