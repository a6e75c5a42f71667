# SPDX-License-Identifier: Apache-2.0
"""``regal.torch.compile_step``: a training step as one CUDA graph.

``torch.compile`` plans a forward and a backward graph. Between them are guards,
autograd's nodes and a tensor or two for each parameter, which the host touches
in every step. Here loss, gradients and what the model writes (running means,
say) are one graph, with one plan, and the host launches it and sets ``.grad``.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

from ..streams.trials import Settings
from .backend import Backend
from .calls import Call, not_writable
from .joint import joint
from .models import Model
from .one_graph import OneGraph, by_itself
from .refusals import check_model


class Step(OneGraph):
    """Called with the model's arguments: the loss. Gradients are added to those
    that ``.grad`` has, as by ``backward()``."""

    def __init__(self, model: torch.nn.Module, program: Model, backend: Backend):
        super().__init__(program, backend, "training step")
        loss_at, *gradients_at = self._signature.returned
        found = list(zip(model.parameters(), gradients_at))
        #: Parameters that get a gradient, and the places of these.
        self._trained = [p for p, at in found if at is not None]
        self._gradients_at = [at for _, at in found if at is not None]
        self._loss_at = loss_at
        #: Gradients that are no tensors of their own, or of another type or
        #: layout than the parameter; known after the first call.
        self._copied: Optional[List[int]] = None

    def __call__(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        values = self._bind(args, kwargs)
        with by_itself():
            results = self._run(*values)
            gradients = [results[at] for at in self._gradients_at]
            if self._copied is None:
                self._copied = self._find_copied(gradients, values)
            self._hand_out(gradients)
            # Who keeps losses of many steps must not keep a graph's results.
            return results[self._loss_at].clone()

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
    check_model(model, example_args, example_kwargs, "example_args")
    backend = Backend(Settings(streams=streams, **settings), inductor)
    call = Call(example_args, example_kwargs)
    return Step(model, joint(model, call, loss or _itself), backend)


def _itself(result: Any) -> Any:
    return result
