# SPDX-License-Identifier: Apache-2.0
"""A training step as a graph of aten's ops: the joint graph of forward and
backward pass."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

from . import attributes
from .calls import Call, Signature, describe, fake_tensors, without_autocast
from .models import Model, check_graph, check_inputs
from .recurrent import right_states
from .refusals import (
    Refused,
    WithoutNewData,
    check_dense,
    refusing,
    without_values,
)

_NO_STEP = "AOTAutograd has no graph of the training step"


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """Models that look at values if they may must know that they may not, as
    torch.export tells them."""
    compiler = torch.compiler
    before = compiler._is_compiling_flag
    compiler._is_compiling_flag = True
    try:
        yield
    finally:
        compiler._is_compiling_flag = before


@contextlib.contextmanager
def _without_onednn() -> Iterator[None]:
    """Its LSTM keeps what a backward pass needs only where autograd runs. Other
    ops are the same in a graph with and without it."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)


def _autocasts() -> List[Dict[str, Any]]:
    """Arguments of `torch.autocast` for what the caller has switched on."""
    return [
        {"device_type": kind, "dtype": torch.get_autocast_dtype(kind)}
        for kind in ("cpu", "cuda")
        if torch.is_autocast_enabled(kind)
    ]


def mean_square(result: Any) -> torch.Tensor:
    """The default loss: the mean square of all floating results."""
    found = [
        t.float().square().mean()
        for t in pytree.tree_leaves(result)
        if isinstance(t, torch.Tensor) and t.is_floating_point()
    ]
    if not found:
        raise Refused("the model returns no floating tensor: give a loss")
    return torch.stack(found).sum()


class _Loss(torch.nn.Module):
    """A model's loss, and what is computed from it while the model has the
    tensors that it was given: parts of a model under `checkpoint` run again in
    the backward pass."""

    def __init__(self, model: torch.nn.Module, loss: Callable, then: Callable):
        super().__init__()
        self.model = model
        self._functions = (loss, then)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        loss, then = self._functions
        found = loss(self.model(*args, **kwargs))
        if not isinstance(found, torch.Tensor) or found.numel() != 1:
            raise Refused(f"the loss is {describe(found)}, expected a number")
        return then(found.reshape(()))


class _Step(torch.nn.Module):
    """A model's loss. Its parameters are those that get a gradient, its buffers
    the other tensors of the model, each once, whatever names it has there."""

    def __init__(
        self,
        model: torch.nn.Module,
        call: Call,
        loss: Optional[Callable],
        autocasts: Sequence[Dict[str, Any]] = (),
    ):
        super().__init__()
        self._model = (model,)  # not a part of this one
        #: Of the forward pass; `backward` is called outside.
        self._autocasts = autocasts
        #: See `_joint_graph`.
        self.has_views = False
        self._loss = loss or mean_square
        self.leaves, self._spec = call.leaves, call.spec
        self.is_tensor = [isinstance(x, torch.Tensor) for x in self.leaves]
        own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        self._name_of = _attributes(model, own)
        #: Tensors that were attributes of the model until the last call.
        self.replaced: List[torch.Tensor] = []
        #: Buffers that the model replaces, as by `self.mean = ...`.
        self._replaced: List[str] = []
        self.trained = self._with_gradient(own)
        self._names = [*self.trained, *(n for n in own if n not in self.trained)]
        #: The model's own tensors, in the order of the graph's inputs.
        self.held = [own[name] for name in self._names]
        self._parts = torch.nn.ParameterList(own[n] for n in self.trained)
        for at, name in enumerate(self._names[len(self.trained):]):
            self.register_buffer(f"kept{at}", own[name].detach())

    @property
    def tensors(self) -> List[torch.Tensor]:
        """Of the arguments: gradients are those of parameters only."""
        return [
            x.detach() for x, known in zip(self.leaves, self.is_tensor) if known
        ]

    def _with_gradient(self, own: Dict[str, torch.Tensor]) -> List[str]:
        """Parameters that the loss depends on; found on fake tensors."""
        with fake_tensors() as fake, torch.enable_grad():
            given = {name: fake.from_tensor(t) for name, t in own.items()}
            wanted = {name: t for name, t in given.items() if t.requires_grad}
            with WithoutNewData():
                gradients, new = self._call(
                    given,
                    map(fake.from_tensor, self.tensors),
                    lambda loss: _gradients(loss, [*wanted.values()]),
                )
            self._replaced = _replaced_by(new, given)
        for name, gradient in zip(wanted, gradients):
            check_dense(f"the gradient of {name}", gradient)
        return [n for n, g in zip(wanted, gradients) if g is not None]

    @contextlib.contextmanager
    def without_values(self, fake: FakeTensorMode) -> Iterator[None]:
        """Inside, its parameters and buffers are tensors without values."""
        parts, buffers = self._parts, dict(self.named_buffers())
        self._parts = torch.nn.ParameterList(
            torch.nn.Parameter(fake.from_tensor(p.detach())) for p in parts
        )
        for name, buffer in buffers.items():
            self.register_buffer(name, fake.from_tensor(buffer))
        try:
            yield
        finally:
            self._parts = parts
            for name, buffer in buffers.items():
                self.register_buffer(name, buffer)

    def _call(
        self, own: Dict[str, Any], tensors: Any, then: Callable = lambda loss: loss
    ) -> Tuple[Any, Dict[str, Any]]:
        """What `then` makes of the loss, and what the model replaced by name."""
        rest = iter(tensors)
        leaves = [
            next(rest) if known else x
            for x, known in zip(self.leaves, self.is_tensor)
        ]
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        with contextlib.ExitStack() as stack:
            for given in self._autocasts:
                stack.enter_context(torch.autocast(**given, cache_enabled=False))
            given = {f"model.{at}": own[name] for at, name in self._name_of.items()}
            used = dict(given)  # written by the call
            model = self._model[0]
            self.replaced = stack.enter_context(attributes.kept(model))
            found = torch.func.functional_call(
                _Loss(model, self._loss, then), used, args, kwargs, tie_weights=False
            )
        new = {
            name: used[f"model.{at}"]
            for at, name in self._name_of.items()
            if used[f"model.{at}"] is not given[f"model.{at}"]
        }
        return found, new

    def forward(self, *tensors: torch.Tensor) -> Tuple[torch.Tensor]:
        parts = [p.view(p.shape) if self.has_views else p for p in self._parts]
        own = dict(zip(self._names, [*parts, *self.buffers()]))
        # The backward pass may need what was there before.
        copies = {name: own[name].clone() for name in self._replaced}
        with torch.enable_grad():
            loss, new = self._call({**own, **copies}, tensors)
        with torch.no_grad():
            for name, value in new.items():
                own[name].copy_(value)
        return (loss,)


def _gradients(
    loss: torch.Tensor, tensors: Sequence[torch.Tensor]
) -> Sequence[Optional[torch.Tensor]]:
    if not tensors or not loss.requires_grad:
        raise Refused("the loss depends on no parameter that requires a gradient")
    with without_autocast():
        return torch.autograd.grad(loss, tensors, allow_unused=True)


def _attributes(
    model: torch.nn.Module, own: Dict[str, torch.Tensor]
) -> Dict[str, str]:
    """The name in `own` of the tensor that each attribute of a module has. A
    module that has two names is here once: `functional_call` would put tensors
    into it twice, and leave those of the first time there."""
    name_of = {tensor: name for name, tensor in own.items()}
    return {
        at: name_of[tensor]
        for prefix, module in model.named_modules()
        for kept in (module.named_parameters, module.named_buffers)
        for at, tensor in kept(prefix, recurse=False, remove_duplicate=False)
    }


def _replaced_by(new: Dict[str, Any], old: Dict[str, Any]) -> List[str]:
    for name, value in new.items():
        if describe(value) != describe(old[name]):
            raise Refused(
                f"the model replaces {name}, {describe(old[name])}, "
                f"by {describe(value)}"
            )
    return list(new)


def _joint_graph(step: _Step) -> Tuple[torch.fx.GraphModule, Any]:
    """As it can be had.

    AOTAutograd asserts that there are as many gradients as parameters. It
    counts those of two parameters as one if they are equal, such as those of
    the two biases of an LSTM; they are two if the parameters are read by views.

    Dynamo asserts that its guards hold, which they do not in AOTAutograd, for
    parts of the model that are compiled; as what they were compiled from they
    have a graph. It is not the first choice: `torch.cond` needs Dynamo.

    AOTAutograd runs the graph that it has made once more. If an op fails then,
    which has taken other strides than it was recorded for, the model may have a
    graph without values.
    """
    failures: List[AssertionError] = []
    for step.has_views, stance in (
        (False, "default"), (True, "default"), (False, "force_eager"),
    ):
        try:
            with torch.compiler.set_stance(stance):
                return _export(step, step.tensors)
        except AssertionError as error:
            failures.append(error)
        except RuntimeError as error:
            return _export_without_values(step, error)
    why = str(failures[0])
    if "to FakeTensors first" in why:
        return _export_with_constants(step)
    raise Refused(f"{_NO_STEP}: {why}") from failures[0]


def _export(
    step: _Step, tensors: List[torch.Tensor]
) -> Tuple[torch.fx.GraphModule, Any]:
    from torch._functorch.aot_autograd import aot_export_module

    return aot_export_module(step, tensors, trace_joint=True, output_loss_index=0)


def _export_without_values(
    step: _Step, failure: Exception
) -> Tuple[torch.fx.GraphModule, Any]:
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    try:
        with step.without_values(fake):
            return _export(step, list(map(fake.from_tensor, step.tensors)))
    except Exception:
        raise failure from None


def _export_with_constants(step: _Step) -> Tuple[torch.fx.GraphModule, Any]:
    """Of a model that reads tensors which are no buffers: they are constants of
    the graph, so nothing may be written there."""
    written = Refused(f"{_NO_STEP}: {attributes.WRITTEN}")
    gm, names = _export_without_values(step, written)
    constants = [
        getattr(gm, node.target) for node in gm.graph.find_nodes(op="get_attr")
    ]
    if attributes.is_any_of(constants, step.replaced):
        raise written
    return gm, names


def joint(
    model: torch.nn.Module, call: Call, loss: Optional[Callable]
) -> Model:
    """The graph of forward and backward pass that AOTAutograd makes.

    Results of a call: the loss, and the gradient of each parameter, None for
    those that get none.
    """
    check_inputs(model, call)
    autocasts = _autocasts()
    with contextlib.ExitStack() as stack:
        for state in (
            refusing(_NO_STEP),
            # Of the caller; the loss is computed with gradients.
            torch.inference_mode(False),
            torch.no_grad(),
            _compiling(),
            without_values(),
            right_states(),
            _without_onednn(),
            without_autocast(),
        ):
            stack.enter_context(state)
        step = _Step(model, call, loss, autocasts)
        gm, names = _joint_graph(step)
    check_graph(gm)
    tensors = step.tensors
    place_of = {
        name: len(step.trained) + at
        for at, (name, _) in enumerate(step.named_buffers())
    }
    values = [*step.held, *tensors]
    inputs = [n.name for n in gm.graph.find_nodes(op="placeholder")]
    written = {
        **{to: place_of[name] for to, name in names.buffers_to_mutate.items()},
        **{
            to: inputs.index(name)
            for to, name in names.user_inputs_to_mutate.items()
        },
    }
    # The results: what is written, the loss, and the gradients.
    results = list(next(n for n in gm.graph.nodes if n.op == "output").args[0])
    first = len(results) - len(step.trained)
    gradient = {name: first + at for at, name in enumerate(step.trained)}
    arguments = iter(range(len(values) - len(tensors), len(values)))
    signature = Signature(
        call,
        [next(arguments) if known else None for known in step.is_tensor],
        [first - 1, *(gradient.get(n) for n, _ in model.named_parameters())],
        are_gradients=True,
    )
    for at, node in enumerate(results[: first - 1]):
        signature.updates[at] = written[node.name]
    signature.written = frozenset(signature.updates.values())
    numbers = _numbers_beside(values, _constants_as_inputs(gm))
    return gm, values + numbers, signature


def _numbers_beside(
    values: List[Any], constants: List[torch.Tensor]
) -> List[torch.Tensor]:
    """Numbers that the model assigns to parts of tensors are on the CPU, where
    ops of a GPU take them; a plan for a GPU needs its inputs there."""
    devices = {v.device for v in values if isinstance(v, torch.Tensor)}
    if len(devices) != 1:
        return constants
    (device,) = devices
    return [c.to(device) if c.dim() == 0 else c for c in constants]


def _constants_as_inputs(gm: torch.fx.GraphModule) -> List[torch.Tensor]:
    """Tensors that the model made from numbers become the last inputs, as
    torch.export has it; AOTAutograd would make them the first ones later."""
    found: List[torch.Tensor] = []
    moved = set()
    last = [n for n in gm.graph.nodes if n.op == "placeholder"][-1]
    for node in list(gm.graph.nodes):
        if node.op != "get_attr":
            continue
        value = getattr(gm, node.target)
        if isinstance(value, torch.Tensor):
            with gm.graph.inserting_after(last):
                last = gm.graph.placeholder(f"constant{len(found)}")
            last.meta = dict(node.meta)
            node.replace_all_uses_with(last)
            gm.graph.erase_node(node)
            found.append(value)
            moved.add(node.target)
    for name in moved:
        delattr(gm, name)
    gm.recompile()
    return found
