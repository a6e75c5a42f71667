# SPDX-License-Identifier: Apache-2.0
"""``regal.torch.compile_inference``: a model's inference as one CUDA graph.

``torch.compile`` takes the host some tenths of a millisecond for a call of a
large model, guards above all. Plans of small batches may be faster than that.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

import torch
from torch.utils import _pytree as pytree

from ..streams.trials import Settings
from .backend import Backend
from .calls import Call
from .models import Model, exported
from .one_graph import OneGraph, by_itself
from .refusals import check_model


class Inference(OneGraph):
    """Called with the model's arguments: what the model returns."""

    def __init__(self, program: Model, backend: Backend):
        super().__init__(program, backend, "inference")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bind(args, kwargs)
        with by_itself():
            results = self._run(*values)
        leaves = [
            self._constants[place] if at is None else results[at]
            for place, at in enumerate(self._signature.returned)
        ]
        return pytree.tree_unflatten(leaves, self._signature.result)


def compile_inference(
    model: torch.nn.Module,
    example_args: Sequence[Any],
    streams: Any = "auto",
    inductor: Optional[dict] = None,
    example_kwargs: Optional[Dict[str, Any]] = None,
    **settings: Any,
) -> Inference:
    """A model's inference in one CUDA graph by its plan, without guards.

    :param example_args: of the shapes and types of all calls;
        ``example_kwargs`` by keyword.
    :param streams: how many to try: a number, several, or ``"auto"``.
    :param inductor: settings of Inductor, such as ``{"max_autotune": True}``.
    :param settings: other fields of `Settings`.

    The model's mode (``eval()``) and autocast are those of now. The first call
    measures and plans. Results require no gradient.
    """
    check_model(model, example_args, example_kwargs, "example_args")
    backend = Backend(Settings(streams=streams, **settings), inductor)
    call = Call(example_args, example_kwargs)
    with torch.inference_mode(False):
        program = exported(model, call)
    return Inference(program, backend)
