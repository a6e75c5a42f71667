# SPDX-License-Identifier: Apache-2.0
"""Models as graphs of aten's ops, and how their calls lie in these graphs.

Both graphs are functional: what a model writes (a buffer of batch
normalisation, an argument) is one more result, which is written at the end of a
call, as in the model itself.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from typing import Any, Dict, Iterator, List, Tuple

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from . import attributes
from .calls import Call, Signature
from .recurrent import check_autocast, right_states
from .refusals import (
    REPLACES_DATA,
    Refused,
    check_dense,
    refusing,
    without_values,
)
from .slots import copy_of
from .trace import storage_of

#: A graph, the values of its inputs, and how calls lie in it.
Model = Tuple[torch.fx.GraphModule, List[Any], Signature]


_REGISTER = (
    "register it by torch.export.register_dataclass or "
    "torch.utils._pytree.register_pytree_node"
)


def _has_tensors(value: Any, levels: int = 4) -> bool:
    """Whether it is a tensor or has some: a cache may have layers that do."""
    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, (list, tuple)):
        inside = value
    else:
        held = value if isinstance(value, dict) else getattr(value, "__dict__", {})
        inside = list(held.values())
    return levels > 0 and any(_has_tensors(v, levels - 1) for v in inside)


def check_inputs(model: torch.nn.Module, call: Call) -> None:
    for at, leaf in enumerate(call.leaves):
        check_dense(f"argument {at}", leaf)
        if getattr(leaf, "ndim", 0) and not isinstance(leaf, torch.Tensor):
            raise Refused(
                f"argument {at} is a {type(leaf).__name__}, expected a tensor"
            )
        if isinstance(leaf, torch.nn.Module):
            raise Refused(
                f"argument {at} is a {type(leaf).__name__}, a module: make it a "
                "part of the model"
            )
        if not isinstance(leaf, torch.Tensor) and _has_tensors(leaf):
            raise Refused(
                f"argument {at} is a {type(leaf).__name__} with tensors: {_REGISTER}"
            )
    for kept in (model.named_parameters(), model.named_buffers()):
        for name, tensor in kept:
            check_dense(name, tensor)


@contextlib.contextmanager
def _watched(model: torch.nn.Module) -> Iterator[None]:
    """Inside, the model itself refuses values that decide what runs, because
    torch.export would first print all that it has traced, and results whose tensors
    torch.export would not find."""
    forward, own = model.forward, vars(model)

    @functools.wraps(forward)
    def watched(*args: Any, **kwargs: Any) -> Any:
        with without_values():
            result = forward(*args, **kwargs)
        _check_result(result)
        return result

    before = own.get("forward")
    own["forward"] = watched
    try:
        yield
    finally:
        own["forward"] = before
        if before is None:
            del own["forward"]


def _check_result(result: Any) -> None:
    for leaf in pytree.tree_leaves(result):
        if not isinstance(leaf, torch.Tensor) and _has_tensors(leaf):
            raise Refused(
                f"the model returns a {type(leaf).__name__} with tensors: {_REGISTER}"
            )


def check_graph(gm: torch.fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        check_dense(f"{node.name} of the graph", node.meta.get("val"))


def _apart(model: torch.nn.Module, call: Call) -> Tuple[tuple, Dict[str, Any]]:
    """The arguments, each with memory of its own. torch.export takes one that comes
    twice, or that is the model's, for one tensor, and knows no graph of some models
    whose inputs lie in one memory; at other calls they do not."""
    seen = {storage_of(t) for t in (*model.parameters(), *model.buffers())}
    leaves = []
    for leaf in call.leaves:
        if isinstance(leaf, torch.Tensor):
            storage = storage_of(leaf)
            leaf = copy_of(leaf.detach()) if storage in seen else leaf
            seen.add(storage)
        leaves.append(leaf)
    return pytree.tree_unflatten(leaves, call.spec)


def _copy_states(gm: torch.fx.GraphModule, signature: Signature) -> None:
    """What the model writes somewhere may be what another tensor was before the
    call, and is written, too: results are written one after the other."""
    inputs, output = gm.graph.find_nodes(op="placeholder"), gm.graph.output_node()
    written = {inputs[place] for place in signature.written}
    results = list(output.args[0])
    with gm.graph.inserting_before(output):
        for at in signature.updates:
            source = results[at]
            if _viewed(source) in written:
                results[at] = gm.graph.call_function(
                    torch.ops.aten.clone.default, (source,)
                )
                results[at].meta = dict(source.meta)
    output.args = (tuple(results),)


def _viewed(node: Node) -> Node:
    """What a node is a view of; the node itself if it is none."""
    while getattr(node.target, "is_view", False) or (
        node.target is operator.getitem
    ):
        node = node.args[0]
    return node


@contextlib.contextmanager
def _same_buffers(model: torch.nn.Module) -> Iterator[None]:
    """torch.export would take a new buffer for another input of the graph."""
    before = {name for name, _ in model.named_buffers()}
    yield
    for name, _ in model.named_buffers():
        if name not in before:
            raise Refused(
                f"the model registers the buffer {name} while it runs: "
                "call it once before"
            )


def _check_data(graph: torch.fx.Graph) -> None:
    asks = torch.ops.aten._has_compatible_shallow_copy_type.default
    if graph.find_nodes(op="call_function", target=asks):
        raise Refused(REPLACES_DATA)


def exported(model: torch.nn.Module, call: Call) -> Model:
    """The graph of torch.export."""
    check_inputs(model, call)
    no_graph = refusing("torch.export has no graph of the model")
    with no_graph, torch.no_grad(), without_values(), right_states():
        args, kwargs = _apart(model, call)
        as_before = attributes.kept(model)
        with _watched(model), as_before as replaced, _same_buffers(model):
            found = torch.export.export(model, args, kwargs, strict=False)
        if attributes.is_any_of(found.constants.values(), replaced):
            raise Refused(attributes.WRITTEN)
        _check_data(found.graph)
        check_autocast(found.graph)
        found = found.run_decompositions({})
    gm = found.graph_module
    check_graph(gm)
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
    _copy_states(gm, signature)
    gm.recompile()
    return gm, values, signature
