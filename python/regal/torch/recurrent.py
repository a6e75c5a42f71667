# SPDX-License-Identifier: Apache-2.0
"""The decomposition of an LSTM, as PyTorch should have it.

Its last states have one dimension too many, unless the batch is one sequence:
``one_layer_lstm`` of torch 2.11 ends with ``hx.squeeze(1)``, where dimension 0 is
the one to leave out. So every LSTM on a GPU, and any that is trained, would have
other states in a graph than the model has.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence, Tuple

import torch
from torch._decomp import decompositions


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
