# SPDX-License-Identifier: Apache-2.0
"""Graphs as Inductor makes them, with kernels that run on the CPU in the place
of Triton's."""
import torch
from regal.torch.captured import _traced
from torch._subclasses.fake_tensor import FakeTensor

SIZE = 6


class Launch:
    """A kernel that writes its arguments, as Inductor's: roles say which."""

    def __init__(self, name, roles, run):
        self.__name__, self._roles, self._run = name, roles, run
        self.runs = 0

    def roles(self, count):
        return self._roles[:count]

    def __call__(self, *args):
        if not any(isinstance(a, FakeTensor) for a in args):
            self.runs += 1
            self._run(*args)


def count_up(out, start):
    out.copy_(torch.arange(start, start + SIZE))


def kernels():
    return {
        "count": Launch("count", ["w", ""], count_up),
        "double": Launch("double", ["r", "w"], lambda a, out: out.copy_(2 * a)),
        "add": Launch(
            "add", ["r", "r", "w"], lambda a, b, out: out.copy_(a + b)
        ),
        "grow": Launch("grow", ["rw"], lambda a: a.add_(1)),
    }


class Graph:
    """Builds an FX graph with buffers that kernels fill."""

    def __init__(self):
        self.graph = torch.fx.Graph()
        self.x = self.graph.placeholder("x")

    def call(self, kernel, *args, dtype=torch.float32):
        """The buffer that it fills, allocated here; the last tensor of a
        kernel's arguments."""
        out = self.graph.call_function(
            torch.empty_strided, ((SIZE,), (1,)), {"dtype": dtype}
        )
        numbers = [a for a in args if isinstance(a, int)]
        nodes = [a for a in args if not isinstance(a, int)]
        self.graph.call_function(kernel, (*nodes, out, *numbers))
        return out

    def module(self, *outputs):
        self.graph.output(tuple(outputs))
        return torch.fx.GraphModule(torch.nn.Module(), self.graph)

    def traced(self, *outputs):
        return traced_module(self.module(*outputs))


def traced_module(module, dtype=torch.float32):
    return _traced(module, [torch.zeros(SIZE, dtype=dtype)])
