# SPDX-License-Identifier: Apache-2.0
"""Estimated times of aten kernels: the library's rooflines.

Flops are those of torch's own counter (matrix products, convolutions,
attention and their gradients); other ops count one for each element written.
Bytes are those of the tensors that a kernel reads and writes.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Node
from torch.utils.flop_counter import FlopCounterMode

from .trace import Traced, tensors_of

_NUMBERS = {
    torch.float64: "fp64",
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.int8: "int8",
    torch.uint8: "int8",
}

#: Flops per multiplication of attention that the counter cannot call.
_FLEXIBLE = {
    torch.ops.higher_order.flex_attention: 2,
    torch.ops.higher_order.flex_attention_backward: 5,
}


def estimate(traced: Traced, device: str) -> None:
    """Sets `run_ns` of the program's kernels for a device of --roofline."""
    import regal

    for node, kernel in zip(traced.kernels, traced.program.kernels):
        moved = sum(
            math.prod(a.size) * a.itemsize for a in kernel.reads + kernel.writes
        )
        kernel.run_ns = regal.roofline_ns(
            device, _number(node, traced), _flops(node, traced), moved
        )


def _values(node: Node, traced: Traced) -> Any:
    return torch.fx.map_arg(
        (node.args, dict(node.kwargs)), lambda n: traced.values.get(n)
    )


def _flops(node: Node, traced: Traced) -> float:
    args, kwargs = _values(node, traced)
    if node.target in _FLEXIBLE:
        query, key, value = (t.shape for t in args[:3])
        products = query[:-1].numel() * key[-2] * (query[-1] + value[-1])
        return float(_FLEXIBLE[node.target] * products)
    with FlopCounterMode(display=False) as counter:
        node.target(*args, **kwargs)
    elements = sum(t.numel() for t in tensors_of(traced.values.get(node)))
    return float(counter.get_total_flops() or elements)


def _number(node: Node, traced: Traced) -> str:
    """Of the widest floating input, else of the result."""
    found = [
        t.dtype
        for t in tensors_of([*_values(node, traced)[0], traced.values.get(node)])
        if t.dtype in _NUMBERS
    ]
    if not found:
        return "fp32"
    return _NUMBERS[max(found, key=lambda d: (d.is_floating_point, d.itemsize))]
