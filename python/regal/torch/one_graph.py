# SPDX-License-Identifier: Apache-2.0
"""A program of a model as one CUDA graph with one plan.

``torch.compile`` evaluates guards at every call and runs wrappers around each
graph: for small batches that takes the host longer than the kernels take. Here
shapes and types, the model's mode and autocast are those of an example; a call
checks and binds its arguments, and launches one graph.
"""

from __future__ import annotations

import contextlib
from typing import (
    Any,
    ContextManager,
    Dict,
    Iterator,
    List,
    Sequence,
    Tuple,
)

import torch
from torch.fx import Node

from .backend import Backend
from .calls import Call, Signature, fakes_of, without_autocast
from .models import Model
from .planned import Report
from .refusals import without_values


@contextlib.contextmanager
def by_itself() -> Iterator[None]:
    """A graph has all that it does; what the caller has switched on or off must
    neither add to it nor mark its tensors."""
    with _without_inference_mode(), torch.no_grad(), without_autocast():
        yield


def _without_inference_mode() -> ContextManager:
    """Nothing to leave in most calls; PyTorch's own takes the host 1 us."""
    if torch.is_inference_mode_enabled():
        return torch.inference_mode(False)
    return contextlib.nullcontext()


class OneGraph:
    """A program that is planned, and called with the model's arguments."""

    def __init__(self, model: Model, backend: Backend, kind: str):
        """
        :param kind: what the graph is called.
        """
        gm, values, signature, constants = closed(model)
        self.backend, self._signature = backend, signature
        #: Of results that are no tensors: their values.
        self._constants = constants
        places = set(signature.places)
        #: The program's inputs but for the arguments, by their places: what the
        #: model holds. Its memory is used where it is.
        self._own = {
            at: value for at, value in enumerate(values) if at not in places
        }
        with by_itself(), without_values():
            self._run = backend.plan(
                gm, fakes_of(values), list(self._own), kind
            )
        self._values = [
            self._own[at].detach() if at in self._own else None
            for at in range(len(values))
        ]
        self._addresses = self._addresses_now()

    @property
    def reports(self) -> List[Report]:
        """What was measured and chosen; empty before the first call."""
        return self.backend.reports

    def _bind(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> List[Any]:
        if self._addresses_now() != self._addresses:
            self._follow()
        return self._signature.bind(self._values, Call(args, kwargs))

    def _addresses_now(self) -> List[int]:
        return list(map(torch.Tensor.data_ptr, self._own.values()))

    def _follow(self) -> None:
        """Some of the model's memory is another one, after `p.data = ...`."""
        for at, part in self._own.items():
            known, part = self._values[at], part.detach()
            for what, found, expected in (
                ("shape", part.shape, known.shape),
                ("strides", part.stride(), known.stride()),
                ("dtype", part.dtype, known.dtype),
                ("device", part.device, known.device),
                # Kernels read several elements at once.
                ("address modulo 16", _offset(part), _offset(known)),
            ):
                if found != expected:
                    raise ValueError(
                        f"a parameter or buffer has {what} {found}; the graph "
                        f"was compiled with {expected}"
                    )
            self._values[at] = part
        self._addresses = self._addresses_now()


def _offset(tensor: torch.Tensor) -> int:
    return tensor.data_ptr() % 16


def closed(
    model: Model,
) -> Tuple[torch.fx.GraphModule, List[Any], Signature, Dict[int, Any]]:
    """The program as it is planned: its results are tensors, and it writes what
    the model writes. The last: results of a call that are no tensors."""
    gm, values, signature = model
    _write_inside(gm, signature)
    return gm, values, signature, _take_constants(gm, signature)


def _write_inside(gm: torch.fx.GraphModule, signature: Signature) -> None:
    """Lets ops of the graph write what the model writes: they are recorded with
    the others, where each result would be copied by the host."""
    graph = gm.graph
    inputs, output = graph.find_nodes(op="placeholder"), graph.output_node()
    results = list(output.args[0])
    with graph.inserting_before(output):
        for at, place in signature.updates.items():
            graph.call_function(
                torch.ops.aten.copy_.default, (inputs[place], results[at])
            )
    kept = [at for at in range(len(results)) if at not in signature.updates]
    signature.updates = {}
    _keep_results(gm, signature, kept)


def _take_constants(
    gm: torch.fx.GraphModule, signature: Signature
) -> Dict[int, Any]:
    """Results of a call that are no tensors. They are none of the program's
    any more."""
    results = list(gm.graph.output_node().args[0])
    constants = {
        place: results[at]
        for place, at in enumerate(signature.returned)
        if at is not None and not isinstance(results[at], Node)
    }
    kept = [at for at, value in enumerate(results) if isinstance(value, Node)]
    _keep_results(gm, signature, kept)
    return constants


def _keep_results(
    gm: torch.fx.GraphModule, signature: Signature, kept: Sequence[int]
) -> None:
    output = gm.graph.output_node()
    output.args = ([output.args[0][at] for at in kept],)
    place_of = {at: place for place, at in enumerate(kept)}
    signature.returned = [
        None if at is None else place_of.get(at) for at in signature.returned
    ]
    gm.recompile()
