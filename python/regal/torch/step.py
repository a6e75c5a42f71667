# SPDX-License-Identifier: Apache-2.0
"""``regal.torch.compile_step``: a training step as one CUDA graph.

``torch.compile`` plans a forward and a backward graph. Between them are guards,
autograd's nodes and a tensor or two for each parameter, which the host touches
in every step: for small batches that takes longer than the kernels. Here loss,
gradients and what the model writes (running means, say) are one graph, with one
plan, and the host binds arguments, launches it and sets ``.grad``.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

from ..streams.trials import Settings
from .backend import Backend
from .models import (
    Call,
    Signature,
    check_model,
    fakes_of,
    joint,
    not_writable,
    without_autocast,
)
from .planned import Report


class Step:
    """Called with the model's arguments: the loss. Gradients are added to those
    that ``.grad`` has, as by ``backward()``."""

    def __init__(
        self,
        model: torch.nn.Module,
        call: Call,
        loss: Optional[Callable],
        backend: Backend,
    ):
        gm, values, signature = joint(model, call, loss)
        _write_inside(gm, signature)
        self.backend, self._signature = backend, signature
        found = list(zip(model.parameters(), signature.returned[1:]))
        #: Parameters that get a gradient, and the places of these.
        self._trained = [p for p, at in found if at is not None]
        self._gradients_at = [at for _, at in found if at is not None]
        #: Gradients that are no tensors of their own, or of another type or
        #: layout than the parameter; known after the first call.
        self._copied: Optional[List[int]] = None
        places = set(signature.places)
        static = [at for at in range(len(values)) if at not in places]
        with torch.no_grad(), without_autocast():
            self._run = backend.plan(
                gm, fakes_of(values), static, "training step"
            )
        #: The program's inputs but for the arguments; trained parameters first.
        self._values = [
            None if at in places else value for at, value in enumerate(values)
        ]
        self._addresses = self._addresses_now()

    @property
    def reports(self) -> List[Report]:
        """What was measured and chosen; empty before the first call."""
        return self.backend.reports

    def __call__(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        if self._addresses_now() != self._addresses:
            self._take_parameters()
        values = self._signature.bind(self._values, Call(args, kwargs))
        with torch.no_grad(), without_autocast():
            results = self._run(*values)
            gradients = [results[at] for at in self._gradients_at]
            if self._copied is None:
                self._copied = self._find_copied(gradients, values)
            self._hand_out(gradients)
            # Who keeps losses of many steps must not keep a graph's results.
            return results[self._signature.returned[0]].clone()

    def _addresses_now(self) -> List[int]:
        return list(map(torch.Tensor.data_ptr, self._trained))

    def _take_parameters(self) -> None:
        """Their memory is another one, after `p.data = ...`."""
        for at, parameter in enumerate(self._trained):
            known = self._values[at]
            for what in ("shape", "dtype", "device"):
                found, expected = getattr(parameter, what), getattr(known, what)
                if found != expected:
                    raise ValueError(
                        f"a parameter has {what} {found}; the step was compiled "
                        f"with {expected}"
                    )
            self._values[at] = parameter.detach()
        self._addresses = self._addresses_now()

    def _hand_out(self, gradients: List[torch.Tensor]) -> None:
        for at in self._copied or ():
            gradients[at] = torch.empty_like(self._trained[at]).copy_(gradients[at])
        known: List[torch.Tensor] = []
        more: List[torch.Tensor] = []
        for parameter, gradient in zip(self._trained, gradients):
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                known.append(parameter.grad)
                more.append(gradient)
        if known:
            torch._foreach_add_(known, more)

    def _find_copied(
        self, gradients: List[torch.Tensor], values: Sequence[Any]
    ) -> List[int]:
        unlike = [
            at
            for at, (gradient, like) in enumerate(zip(gradients, self._trained))
            if gradient.dtype != like.dtype or gradient.stride() != like.stride()
        ]
        return sorted({*unlike, *not_writable(gradients, values)})


def _write_inside(gm: torch.fx.GraphModule, signature: Signature) -> None:
    """Lets ops of the graph write what the model writes: they are recorded with
    the others, where each result would be copied by the host. Results are the
    loss and the gradients then."""
    graph = gm.graph
    inputs, output = graph.find_nodes(op="placeholder"), graph.output_node()
    results = list(output.args[0])
    with graph.inserting_before(output):
        for at, place in signature.updates.items():
            graph.call_function(
                torch.ops.aten.copy_.default, (inputs[place], results[at])
            )
    kept = [at for at in range(len(results)) if at not in signature.updates]
    output.args = ([results[at] for at in kept],)
    place_of = {at: place for place, at in enumerate(kept)}
    signature.returned = [
        None if at is None else place_of[at] for at in signature.returned
    ]
    signature.updates = {}
    gm.recompile()


def compile_step(
    model: torch.nn.Module,
    example_args: Sequence[Any],
    loss: Optional[Callable] = None,
    streams: Any = "auto",
    inductor: Optional[dict] = None,
    example_kwargs: Optional[Dict[str, Any]] = None,
    **settings: Any,
) -> Step:
    """A training step, loss and gradients, in one CUDA graph by its plan.

    :param example_args: of the shapes and types of all calls;
        ``example_kwargs`` by keyword.
    :param loss: from the model's result to a number; by default the model
        returns the loss.
    :param streams: how many to try: a number, several, or ``"auto"``.
    :param inductor: settings of Inductor, such as ``{"max_autotune": True}``.
    :param settings: other fields of `Settings`.

    The model's mode (``train()``), autocast, and which parameters require a
    gradient are those of now. The first call measures and plans.
    """
    check_model(model, example_args, "example_args")
    backend = Backend(Settings(streams=streams, **settings), inductor)
    call = Call(example_args, example_kwargs)
    return Step(model, call, loss or _itself, backend)


def _itself(result: Any) -> Any:
    return result
