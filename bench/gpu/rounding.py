#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far rounding alone moves gradients: bench/gpu/rounding.py OUT.csv [MODEL...]

Training steps of plans.py run with TF32: arguments of products and convolutions
have ten bits. Batch normalisation of one image amplifies what is rounded away,
so two correct programs may differ by half of a gradient. This runs training steps
of batch 1 on the CPU, where the rounding is done by hand, and writes relative
differences in norm, of all gradients of a model:

  rounded     with rounded arguments, to those without rounding
  noisy       with rounded arguments and an input that differs by one part in a
              million, to those without that noise

Needs torch, torchvision and transformers, and no GPU.
"""
import csv
import sys

import models
import torch
from case import difference, loss_of
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

_ATEN = torch.ops.aten
_ROUNDED = {_ATEN.convolution, _ATEN.convolution_backward, _ATEN.mm,
            _ATEN.addmm, _ATEN.bmm, _ATEN.baddbmm}
#: Of the 23 bits of a float's fraction TF32 has ten.
_DROPPED = 13
_NOISE = 1e-6


def rounded(value):
    """To the nearest number of TF32."""
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
        return value
    bits = value.contiguous().view(torch.int32) + (1 << (_DROPPED - 1))
    bits = bits & ~((1 << _DROPPED) - 1)
    return torch.empty_like(value).copy_(bits.view(torch.float32))


class Tf32(TorchDispatchMode):
    """Products and convolutions as tensor cores compute them, but for the order
    of their sums."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket in _ROUNDED:
            args = pytree.tree_map(rounded, args)
        return function(*args, **(kwargs or {}))


def gradients(module, inputs):
    for parameter in module.parameters():
        parameter.grad = None
    loss_of(module(*inputs)).backward()
    return [p.grad for p in module.parameters() if p.grad is not None]


def noisy(value):
    if not value.is_floating_point():
        return value
    return value * (1 + _NOISE * torch.randn_like(value))


def row_of(name):
    torch.manual_seed(0)
    module, inputs = models.MODELS[name](1)
    module = models.without_chance(module.train())
    exact = gradients(module, inputs)
    with Tf32():
        found = gradients(module, inputs)
        other = gradients(module, [noisy(x) for x in inputs])
    return {"model": name, "rounded": f"{difference(found, exact):.2g}",
            "noisy": f"{difference(other, found):.2g}"}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["model", "rounded", "noisy"],
                                lineterminator="\n")
        writer.writeheader()
        trained = [m for m in models.MODELS if m not in models.ONLY_INFERENCE]
        for name in sys.argv[2:] or trained:
            writer.writerow(row_of(name))
            file.flush()


if __name__ == "__main__":
    main()
