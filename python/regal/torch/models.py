# SPDX-License-Identifier: Apache-2.0
"""Models as graphs of aten's ops, and how their calls lie in these graphs.

Both graphs are functional: what a model writes (a buffer of batch
normalisation, an argument) is one more result, which is written at the end of a
call, as in the model itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import (
    Any,
    Callable,
    ContextManager,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
)

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from .slots import empty_like, without_repeats


class Refused(ValueError):
    """There is no graph of the model; the message says why."""


@contextlib.contextmanager
def refusing(what: str) -> Iterator[None]:
    """Inside, whatever PyTorch cannot do, in whichever of its parts, is refused
    with a message of one line."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise Refused(f"{what}: {type(error).__name__}: {lines[0]}") from error


@contextlib.contextmanager
def without_values() -> Iterator[None]:
    """Inside, whoever needs the value of a tensor is told why it has none."""
    try:
        yield
    except (
        DataDependentOutputException,
        DynamicOutputShapeException,
        GuardOnDataDependentSymNode,
    ) as error:
        needed = getattr(error, "func", None) or error.cond
        raise Refused(
            f"a value of a tensor decides what runs, or a size: {needed}; "
            "a plan is for one graph with known sizes"
        ) from error


@contextlib.contextmanager
def fake_tensors() -> Iterator[FakeTensorMode]:
    """Inside, tensors have shapes and no values."""
    with without_values(), FakeTensorMode(allow_non_fake_inputs=True) as fake:
        yield fake


def fakes_of(values: Sequence[Any]) -> List[Any]:
    """The tensors among them without values."""
    with fake_tensors() as fake:
        return [
            fake.from_tensor(v.detach()) if isinstance(v, torch.Tensor) else v
            for v in values
        ]


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


def without_autocast() -> ContextManager:
    """A graph of a model has the conversions that autocast has made; whoever
    takes it apart or runs it must not make others."""
    return torch._C._DisableAutocast()


def _autocasts() -> List[Dict[str, Any]]:
    """Arguments of `torch.autocast` for what the caller has switched on."""
    return [
        {"device_type": kind, "dtype": torch.get_autocast_dtype(kind)}
        for kind in ("cpu", "cuda")
        if torch.is_autocast_enabled(kind)
    ]


class Call:
    """Arguments of a model. By keyword they may come in any order."""

    def __init__(self, args: Sequence[Any], kwargs: Optional[Dict[str, Any]]):
        self.args, self.kwargs = tuple(args), dict(sorted((kwargs or {}).items()))
        self.leaves, self.spec = pytree.tree_flatten((self.args, self.kwargs))

    def without_values(self) -> "Call":
        """To compare others with: it takes no memory of a device."""
        return Call(*pytree.tree_unflatten(fakes_of(self.leaves), self.spec))


@dataclasses.dataclass
class Signature:
    """Where arguments and results of a model are in its program."""

    #: As it was captured.
    example: Call
    #: Of each leaf: its place among the program's inputs; None: it is none.
    places: List[Optional[int]]
    #: Of each result of a call: its place among the program's results; None:
    #: it is None.
    returned: List[Optional[int]]
    #: From results of the program to the inputs that the model writes.
    updates: Dict[int, int] = dataclasses.field(default_factory=dict)
    #: These inputs, also when the program itself writes them.
    written: FrozenSet[int] = frozenset()
    #: Whether whoever gets results may write to each of them alone.
    are_gradients: bool = False
    #: How results of a call lie in what the model returns.
    result: Any = None

    def bind(self, args: Sequence[Any], given: Call) -> List[Any]:
        """The program's inputs for a call: `args` but for what is given."""
        if list(given.kwargs) != list(self.example.kwargs):
            raise ValueError(
                f"keyword arguments {', '.join(given.kwargs) or 'none'}, "
                f"expected {', '.join(self.example.kwargs) or 'none'}"
            )
        if len(given.leaves) != len(self.places):
            raise ValueError(
                f"{len(given.leaves)} arguments, expected {len(self.places)}"
            )
        values = list(args)
        for at, (place, leaf) in enumerate(zip(self.places, given.leaves)):
            known = self.example.leaves[at]
            _check_argument(at, leaf, known)
            if place is not None:
                values[place] = _in_layout(at, leaf, known, place in self.written)
        return values

    def finish(self, values: Sequence[Any], results: Sequence[Any]) -> List[Any]:
        """Writes what the model writes; what a call returns."""
        with torch.no_grad():
            for at, place in self.updates.items():
                values[place].copy_(results[at])
        found = [None if at is None else results[at] for at in self.returned]
        return _writable(found, values) if self.are_gradients else found


def not_writable(results: Sequence[Any], values: Sequence[Any]) -> List[int]:
    """Results that have no memory of their own: gradients of two parameters may
    be equal, one may be a number that is repeated, or an input."""
    seen = {
        v.untyped_storage()._cdata for v in values if isinstance(v, torch.Tensor)
    }
    found = []
    for at, value in enumerate(results):
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()._cdata
            if storage in seen or without_repeats(value) is not value:
                found.append(at)
            seen.add(storage)
    return found


def _writable(results: List[Any], values: Sequence[Any]) -> List[Any]:
    found = list(results)
    for at in not_writable(results, values):
        found[at] = results[at].clone(memory_format=torch.contiguous_format)
    return found


def _check_argument(at: int, given: Any, known: Any) -> None:
    """A graph is for one shape and type, and has numbers built in."""
    if _description(given) != _description(known):
        raise ValueError(
            f"argument {at} is {_describe(given)}; the model was captured with "
            f"{_describe(known)}"
        )


def _in_layout(
    at: int, given: Any, known: Any, is_written: bool
) -> Any:
    """The argument as its elements lie in the example: kernels of a graph have
    the strides built in."""
    if not isinstance(known, torch.Tensor) or given.stride() == known.stride():
        return given
    if is_written or without_repeats(known) is not known:
        raise ValueError(
            f"argument {at} has strides {given.stride()}; the model was captured "
            f"with {known.stride()}"
        )
    return empty_like(known).copy_(given.detach())


def _description(value: Any) -> Any:
    """Equal for arguments that a graph takes for each other."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.device
    return repr(value)


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return (
            f"a tensor of {value.dtype} and shape {tuple(value.shape)} on "
            f"{value.device}"
        )
    return repr(value)


def check_model(model: Any, args: Any, name: str) -> None:
    """
    :param name: what the caller calls the arguments.
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model is a {type(model).__name__}, expected a torch.nn.Module"
        )
    check_arguments(args, name)


def check_arguments(args: Any, name: str) -> None:
    if not isinstance(args, (list, tuple)):
        raise TypeError(
            f"{name} is a {type(args).__name__}, expected a tuple such as (x,)"
        )


def _check_dense(what: str, value: Any) -> None:
    """Sparse and nested tensors have no storage of one size."""
    for tensor in pytree.tree_leaves(value):
        if isinstance(tensor, torch.Tensor) and (
            tensor.layout is not torch.strided or tensor.is_nested
        ):
            kind = "nested" if tensor.is_nested else str(tensor.layout)
            raise Refused(f"{what} is a {kind} tensor; a plan needs dense ones")


def _has_tensors(value: Any) -> bool:
    inside = getattr(value, "__dict__", {}).values()
    return any(isinstance(v, torch.Tensor) for v in inside)


def _check_inputs(model: torch.nn.Module, call: Call) -> None:
    for at, leaf in enumerate(call.leaves):
        _check_dense(f"argument {at}", leaf)
        if not isinstance(leaf, torch.Tensor) and _has_tensors(leaf):
            raise Refused(
                f"argument {at} is a {type(leaf).__name__} with tensors: "
                "register it by torch.export.register_dataclass or "
                "torch.utils._pytree.register_pytree_node"
            )
    for kept in (model.named_parameters(), model.named_buffers()):
        for name, tensor in kept:
            _check_dense(name, tensor)


def _check_graph(gm: torch.fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        _check_dense(f"{node.name} of the graph", node.meta.get("val"))


#: A graph, the values of its inputs, and how calls lie in it.
Model = Tuple[torch.fx.GraphModule, List[Any], Signature]


def _apart(model: torch.nn.Module, call: Call) -> Tuple[tuple, Dict[str, Any]]:
    """The arguments, each a tensor of its own. torch.export takes one that comes
    twice, or that is the model's, for one tensor; at other calls they are not."""
    seen = {id(t) for t in (*model.parameters(), *model.buffers())}
    leaves = []
    for leaf in call.leaves:
        if isinstance(leaf, torch.Tensor):
            if id(leaf) in seen:
                leaf = leaf.detach()
            seen.add(id(leaf))
        leaves.append(leaf)
    return pytree.tree_unflatten(leaves, call.spec)


def exported(model: torch.nn.Module, call: Call) -> Model:
    """The graph of torch.export."""
    _check_inputs(model, call)
    no_graph = refusing("torch.export has no graph of the model")
    with no_graph, torch.no_grad(), without_values():
        args, kwargs = _apart(model, call)
        found = torch.export.export(model, args, kwargs, strict=False)
        found = found.run_decompositions({})
    gm = found.graph_module
    _check_graph(gm)
    kept = {**found.state_dict, **found.constants}
    values: List[Any] = []
    signature = Signature(call, [], [])
    #: Inputs by name; arguments and what the model holds may share one.
    place_of: Dict[Tuple[bool, str], int] = {}
    inputs = gm.graph.find_nodes(op="placeholder")
    for node, spec in zip(inputs, found.graph_signature.input_specs):
        if spec.kind.name == "USER_INPUT":
            leaf = call.leaves[len(signature.places)]
            if not isinstance(leaf, torch.Tensor):
                signature.places.append(None)  # it is built in
                gm.graph.erase_node(node)
                continue
            signature.places.append(len(values))
            place_of[True, spec.arg.name] = len(values)
            values.append(leaf)
        else:
            place_of[False, spec.target] = len(values)
            values.append(kept[spec.target])
    for at, spec in enumerate(found.graph_signature.output_specs):
        if spec.kind.name.endswith("MUTATION"):
            is_argument = spec.kind.name == "USER_INPUT_MUTATION"
            signature.updates[at] = place_of[is_argument, spec.target]
        else:
            signature.returned.append(at)
    signature.written = frozenset(signature.updates.values())
    signature.result = found.call_spec.out_spec
    gm.recompile()
    return gm, values, signature


# -- Training ------------------------------------------------------------------

_NO_STEP = "AOTAutograd has no graph of the training step"



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
        #: Buffers that the model replaces, as by `self.mean = ...`.
        self._replaced: List[str] = []
        self.trained = self._with_gradient(own)
        self._names = [*self.trained, *(n for n in own if n not in self.trained)]
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
            found, new = self._call(given, map(fake.from_tensor, self.tensors))
            self._replaced = _replaced_by(new, given)
            wanted = [name for name, t in given.items() if t.requires_grad]
            if not wanted or not found.requires_grad:
                raise Refused(
                    "the loss depends on no parameter that requires a gradient"
                )
            gradients = torch.autograd.grad(
                found, [given[name] for name in wanted], allow_unused=True
            )
        for name, gradient in zip(wanted, gradients):
            _check_dense(f"the gradient of {name}", gradient)
        return [n for n, g in zip(wanted, gradients) if g is not None]

    def _call(
        self, own: Dict[str, Any], tensors: Any
    ) -> Tuple[torch.Tensor, Dict[str, Any]]:
        """The loss, and what the model replaced by name."""
        rest = iter(tensors)
        leaves = [
            next(rest) if known else x
            for x, known in zip(self.leaves, self.is_tensor)
        ]
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        with contextlib.ExitStack() as stack:
            for given in self._autocasts:
                stack.enter_context(torch.autocast(**given, cache_enabled=False))
            given = {at: own[name] for at, name in self._name_of.items()}
            used = dict(given)  # written by the call
            result = torch.func.functional_call(
                self._model[0], used, args, kwargs, tie_weights=False
            )
            found = self._loss(result)
        if not isinstance(found, torch.Tensor) or found.numel() != 1:
            raise Refused(f"the loss is {_describe(found)}, expected a number")
        new = {
            self._name_of[at]: used[at]
            for at, old in given.items()
            if used[at] is not old
        }
        return found.reshape(()), new

    def forward(self, *tensors: torch.Tensor) -> Tuple[torch.Tensor]:
        parts = [p.view(p.shape) if self.has_views else p for p in self._parts]
        own = dict(zip(self._names, [*parts, *self.buffers()]))
        # The backward pass may need what was there before.
        copies = {name: own[name].clone() for name in self._replaced}
        loss, new = self._call({**own, **copies}, tensors)
        with torch.no_grad():
            for name, value in new.items():
                own[name].copy_(value)
        return (loss,)


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
        if _describe(value) != _describe(old[name]):
            raise Refused(
                f"the model replaces {name}, {_describe(old[name])}, "
                f"by {_describe(value)}"
            )
    return list(new)


def _joint_graph(step: _Step) -> Tuple[torch.fx.GraphModule, Any]:
    """AOTAutograd asserts that there are as many gradients as parameters. It
    counts those of two parameters as one if they are equal, such as those of
    the two biases of an LSTM; they are two if the parameters are read by views.

    Dynamo asserts that its guards hold, which they do not in AOTAutograd, for
    parts of the model that are compiled; as what they were compiled from they
    have a graph. It is not the first choice: `torch.cond` needs Dynamo.
    """
    from torch._functorch.aot_autograd import aot_export_module

    failures: List[AssertionError] = []
    for step.has_views, stance in (
        (False, "default"), (True, "default"), (False, "force_eager"),
    ):
        try:
            with torch.compiler.set_stance(stance):
                return aot_export_module(
                    step, step.tensors, trace_joint=True, output_loss_index=0
                )
        except AssertionError as error:
            failures.append(error)
    why = str(failures[0])
    if "to FakeTensors first" in why:
        why = "the model has a tensor that is no buffer: register it as a buffer"
    raise Refused(f"{_NO_STEP}: {why}") from failures[0]


def joint(
    model: torch.nn.Module, call: Call, loss: Optional[Callable]
) -> Model:
    """The graph of forward and backward pass that AOTAutograd makes.

    Results of a call: the loss, and the gradient of each parameter, None for
    those that get none.
    """
    _check_inputs(model, call)
    autocasts = _autocasts()
    with contextlib.ExitStack() as stack:
        for state in (
            refusing(_NO_STEP),
            torch.enable_grad(),
            _compiling(),
            without_values(),
            _without_onednn(),
            without_autocast(),
        ):
            stack.enter_context(state)
        step = _Step(model, call, loss, autocasts)
        gm, names = _joint_graph(step)
    _check_graph(gm)
    tensors = step.tensors
    values = [p.detach() for p in step.parameters()]
    place_of = {n: len(values) + at for at, (n, _) in
                enumerate(step.named_buffers())}
    values += [*step.buffers(), *tensors]
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
