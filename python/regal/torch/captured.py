# SPDX-License-Identifier: Apache-2.0
"""``regal.torch.capture``: a model as a graph, and ``apply``: its plan run.

Two levels. ``aten``: the ops of torch.export, or for training the joint graph
of forward and backward pass that AOTAutograd makes; runs anywhere.
``inductor``: the fused kernels of torch.compile; needs a GPU with Triton.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Node
from torch.utils import _pytree as pytree

from . import cuda
from .measure import measure
from .roofline import estimate
from ..streams.schedule import make_schedule, one_stream
from .trace import Traced
from .workers import Devices, Threads

#: From a graph to the capture that it was made from, for `apply(plan)`.
_captures: "weakref.WeakKeyDictionary[Any, Capture]" = weakref.WeakKeyDictionary()


class Capture:
    """A model's kernels, with values to run them on."""

    def __init__(self, traced: Traced, args: List[Any], places: List[int]):
        self.traced = traced
        #: Values of the program's inputs: parameters, buffers, arguments.
        self.args = args
        #: Where the model's arguments are among them.
        self.places = places
        self._graph = None
        self._one_stream_us: Optional[float] = None
        #: What a trace of the profiler had no times of.
        self.notes: List[Any] = []

    def bind(self, given: Sequence[Any]) -> List[Any]:
        """The program's inputs for a call of the model."""
        leaves = pytree.tree_leaves(tuple(given))
        if len(leaves) != len(self.places):
            raise ValueError(
                f"{len(leaves)} arguments, expected {len(self.places)}"
            )
        values = list(self.args)
        for place, leaf in zip(self.places, leaves):
            values[place] = leaf
        return values

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

        measure_shares(self.traced, self.args)

    @property
    def one_stream_us(self) -> float:
        """Measured: the compiler's order in one CUDA graph; 0 without a GPU."""
        if not self.on_gpu:
            return 0.0
        if self._one_stream_us is None:
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
            _captures[self._graph] = self
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
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    known: Dict[int, Any] = {}

    def faked(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return known.setdefault(id(value), fake.from_tensor(value))

    interpreter = _Values(gm)
    with fake, torch.no_grad():
        interpreter.run(*[faked(a) for a in args])
    return Traced(gm, interpreter.values)


def _exported(model: torch.nn.Module, args: Sequence[Any]) -> Capture:
    with torch.no_grad():
        exported = torch.export.export(model, tuple(args), strict=False)
        exported = exported.run_decompositions({})
    kept = {**exported.state_dict, **exported.constants}
    leaves = iter(pytree.tree_leaves(tuple(args)))
    values, places = [], []
    for place, spec in enumerate(exported.graph_signature.input_specs):
        if spec.kind.name == "USER_INPUT":
            places.append(place)
            values.append(next(leaves))
        else:
            values.append(kept[spec.target])
    return Capture(_traced(exported.graph_module, values), values, places)


def _joint(
    model: torch.nn.Module, args: Sequence[Any], loss: Optional[Callable]
) -> Capture:
    from torch._functorch.aot_autograd import aot_export_module

    class WithLoss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            return ((loss or mean_square)(self.model(*inputs)),)

    module = WithLoss()
    leaves = pytree.tree_leaves(tuple(args))
    gm, _ = aot_export_module(
        module, leaves, trace_joint=True, output_loss_index=0
    )
    kept = [p.detach() for _, p in module.named_parameters()]
    kept += [b.detach() for _, b in module.named_buffers()]
    values = kept + leaves
    places = list(range(len(kept), len(values)))
    return Capture(_traced(gm, values), values, places)


def mean_square(result: Any) -> torch.Tensor:
    """The default loss: the mean square of all floating results."""
    found = [
        t.float().square().mean()
        for t in pytree.tree_leaves(result)
        if isinstance(t, torch.Tensor) and t.is_floating_point()
    ]
    return torch.stack(found).sum()


def _fused(model: torch.nn.Module, args: Sequence[Any]) -> Capture:
    from .backend import Backend
    from ..streams.trials import Settings

    if not torch.cuda.is_available():
        raise RuntimeError(
            'level="inductor" needs a CUDA device: Inductor gives its kernels '
            'as a graph only for Triton. level="aten" runs anywhere'
        )
    backend = Backend(
        Settings(streams=1, keep_inputs=True, fold_constants=False)
    )
    compiled = torch.compile(
        model, backend=backend, dynamic=False, fullgraph=True
    )
    with torch.no_grad():
        compiled(*args)
    if len(backend.graphs) != 1 or backend.graphs[0].report is None:
        raise RuntimeError("the model is not one graph of Inductor's kernels")
    planned = backend.graphs[0]
    values = list(planned.example_args)
    return Capture(planned.traced, values, planned.moving)


def capture(
    model: torch.nn.Module,
    args: Sequence[Any],
    level: str = "aten",
    train: bool = False,
    costs: str = "measure",
    loss: Optional[Callable] = None,
) -> Capture:
    """The graph of a model, with times.

    :param level: ``"aten"`` or ``"inductor"``.
    :param train: the joint graph of a training step (level aten).
    :param costs: ``"measure"``: each kernel on the device where its inputs are;
        the path of a Chrome trace of torch.profiler, of the same model with
        ``record_shapes=True`` (docs/torch.md); or the name of a roofline.
    :param loss: from the model's result to a number; by default the mean square.
    """
    if level not in ("aten", "inductor"):
        raise ValueError(f"level is {level!r}, expected 'aten' or 'inductor'")
    if level == "inductor" and train:
        raise ValueError("level='inductor' captures inference only")
    if level == "inductor":
        captured = _fused(model, args)
    elif train:
        captured = _joint(model, args, loss)
    else:
        captured = _exported(model, args)
    if costs == "measure":
        measure(captured.traced, captured.args)
    elif os.path.isfile(costs):
        _profiled(captured, costs)
    else:
        estimate(captured.traced, costs)
    return captured


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
    try:
        return _captures[plan.graph]
    except (KeyError, AttributeError, TypeError):
        raise ValueError(
            "the plan is not for a graph of regal.torch.capture in this process"
        ) from None


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
        return _Streams(captured, make_schedule(captured.program, order, place))
    if on == "cpu":
        return Applied(captured, Threads(traced, order, place))
    if isinstance(on, str):
        raise ValueError(f"on is {on!r}, expected 'streams', 'cpu' or devices")
    if len(on) <= max(place, default=0):
        raise ValueError(
            f"the plan has {max(place) + 1} devices, {len(on)} are given"
        )
    return Applied(captured, Devices(traced, order, place, on))


class Applied:
    """A plan that runs; `peak_bytes` has what the last run held."""

    def __init__(self, captured: Capture, runner: Any):
        self.captured, self.runner = captured, runner

    def __call__(self, *args: Any) -> List[Any]:
        return self.runner(self.captured.bind(args))

    @property
    def peak_bytes(self) -> List[int]:
        return self.runner.peak_bytes


class _Streams:
    """A CUDA graph on copies of the model's arguments."""

    def __init__(self, captured: Capture, schedule):
        self.captured, self.schedule = captured, schedule
        own = list(captured.args)
        for place in captured.places:
            own[place] = own[place].clone()
        with torch.no_grad():
            captured.traced.gm(*own)  # kernels are tuned at their first call
        torch.cuda.synchronize()
        before = torch.cuda.memory_reserved()
        self.inputs = [own[place] for place in captured.places]
        self.graph = cuda.capture(captured.traced, schedule, own)
        #: What the graph's pool takes: its buffers, as the streams reuse them.
        self.peak_bytes = [torch.cuda.memory_reserved() - before]

    def __call__(self, *args: Any) -> List[Any]:
        values = self.captured.bind(args)
        for place, own in zip(self.captured.places, self.inputs):
            own.copy_(values[place])
        self.graph.replay()
        return [
            r.clone() if isinstance(r, torch.Tensor) else r
            for r in self.graph.results
        ]
