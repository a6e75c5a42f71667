# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers in graphs, where PyTorch has others than the model.

The last states of an LSTM have one dimension too many, unless the batch is one sequence:
``one_layer_lstm`` of torch 2.11 ends with ``hx.squeeze(1)``, where dimension 0 is
the one to leave out. So every LSTM on a GPU, and any that is trained, would have
other states in a graph than the model has.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence, Tuple

import torch
from torch._decomp import decompositions

from .refusals import Refused

_LAYERS = (
    torch.ops.aten.gru.input,
    torch.ops.aten.lstm.input,
    torch.ops.aten.rnn_relu.input,
    torch.ops.aten.rnn_tanh.input,
)


def check_autocast(graph: torch.fx.Graph) -> None:
    """torch.export has a layer as one op, of the type of its arguments; autocast
    converts within."""
    if any(map(torch.is_autocast_enabled, ("cpu", "cuda"))) and any(
        graph.find_nodes(op="call_function", target=layer) for layer in _LAYERS
    ):
        raise Refused(
            "torch.export has no conversions of autocast for a recurrent layer: "
            "leave it out by torch.autocast(..., enabled=False)"
        )


@contextlib.contextmanager
def right_states() -> Iterator[None]:
    """Inside, the states that an LSTM ends with are shaped as those it began
    with."""
    usual = decompositions.one_layer_lstm

    def one_layer(
        inputs: torch.Tensor, states: Sequence[torch.Tensor], *rest: Any,
        **more: Any,
    ) -> Tuple[torch.Tensor, Tuple[torch.Tensor, ...]]:
        results, last = usual(inputs, states, *rest, **more)
        return results, tuple(
            found.reshape(like.shape) for found, like in zip(last, states)
        )

    decompositions.one_layer_lstm = one_layer
    try:
        yield
    finally:
        decompositions.one_layer_lstm = usual
