# SPDX-License-Identifier: Apache-2.0
"""Fits the model of sharing (streams/sharing.py) to the GPU at hand.

Three small networks with parallel branches of different sizes (experts,
convolutions, two attention towers) are compiled and tried as `compile` does;
the measured times of all plans that were tried are what is fitted. It takes
some seconds; the result is kept in the user's cache, one file per GPU.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import List, Optional

import torch
from torch import nn

from . import cuda
from .backend import Backend
from .planned import PlannedGraph
from ..streams.sharing import Observation, Sharing, fit
from .shares import measure_shares
from ..streams.trials import ONE_STREAM, Settings


class _Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(
            nn.Sequential(
                nn.Linear(512, width), nn.GELU(), nn.Linear(width, 512)
            )
            for width in (256, 512, 512, 1024, 2048, 2048)
        )

    def forward(self, x):
        return sum(expert(x) for expert in self.experts)


class _Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(64, mid, 1), nn.ReLU(),
                nn.Conv2d(mid, 32, size, padding=size // 2), nn.ReLU(),
            )
            for mid, size in ((32, 1), (64, 3), (96, 3), (32, 5))
        )
        self.join = nn.Conv2d(128, 64, 1)

    def forward(self, x):
        for _ in range(4):
            parts = [branch(x) for branch in self.branches]
            x = torch.relu(self.join(torch.cat(parts, 1)))
        return x


class _Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleList(
            nn.TransformerEncoder(
                nn.TransformerEncoderLayer(
                    width, 8, 4 * width, dropout=0.0, batch_first=True
                ),
                3,
                enable_nested_tensor=False,
            )
            for width in (512, 768)
        )

    def forward(self, x, y):
        a, b = self.towers[0](x), self.towers[1](y)
        return a.mean((1, 2)) + b.mean((1, 2))


def _networks():
    yield _Experts(), [torch.randn(128, 512)]
    yield _Branches(), [torch.randn(1, 64, 35, 35)]
    yield _Towers(), [torch.randn(1, 77, 512), torch.randn(1, 50, 768)]


#: Plans of a graph that are timed for observations, and how often, in turn:
#: the clock of a GPU drifts by some percent within seconds.
_OBSERVED = 10
_ROUNDS = 3


def observations_of(graph: PlannedGraph) -> List[Observation]:
    """Plans that were tried for a graph that has been called, timed again.

    Needs the inputs of the first call (`Settings.keep_inputs`).
    """
    tried = graph.report.tried
    one = next(c for c in tried if c.label == ONE_STREAM)
    # The model of sharing knows nothing of early launches. For some there was no
    # memory.
    others = [
        c
        for c in tried
        if c is not one
        and not c.schedule.launches_early
        and c.measured_us < float("inf")
    ]
    step = max(1, len(others) // _OBSERVED)
    chosen = [one] + others[::step][:_OBSERVED]
    captured = [graph.record(c.schedule) for c in chosen]
    times = [float("inf")] * len(chosen)
    for _ in range(_ROUNDS):
        for at, capture in enumerate(captured):
            times[at] = min(times[at], cuda.time_us(capture))
    return [
        Observation(graph.traced.program, c.schedule, us, times[0], c.label,
                    c.predicted_us)
        for c, us in zip(chosen[1:], times[1:])
    ]


def cache_path() -> Path:
    name = re.sub(r"\W+", "-", torch.cuda.get_device_name()).strip("-").lower()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "regal" / f"sharing-{name}.json"


def load_calibration() -> Optional[Sharing]:
    """The kept numbers for the GPU at hand, or None."""
    if not torch.cuda.is_available():
        return None
    try:
        return Sharing(**json.loads(cache_path().read_text()))
    except (OSError, ValueError, TypeError):
        return None


def observe(seconds: float = 2.0) -> List[Observation]:
    """Plans of three networks with their measured times.

    `seconds` is for trying plans of each; compiling comes on top.
    """
    if not torch.cuda.is_available():
        raise RuntimeError("regal.torch.calibrate needs a CUDA device")
    observations: List[Observation] = []
    graphs: List[PlannedGraph] = []
    for module, inputs in _networks():
        module = module.eval().half().cuda()
        inputs = [x.half().cuda() for x in inputs]
        backend = Backend(Settings(seconds=seconds, keep_inputs=True))
        with torch.no_grad():
            torch.compile(module, backend=backend, dynamic=False)(*inputs)
        for graph in backend.graphs:
            if graph.report is not None:
                graphs.append(graph)
                observations += observations_of(graph)
    if not observations:
        raise RuntimeError("no plan could be measured on this device")
    # At the end: kernels are slower in a process that has had a profiler.
    for graph in graphs:
        measure_shares(graph.traced, graph.example_args)
    return observations


def keep(sharing: Sharing) -> None:
    """In the user's cache, for the GPU at hand."""
    path = cache_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dataclasses.asdict(sharing)) + "\n")


def calibrate(seconds: float = 2.0) -> Sharing:
    """Measures the GPU at hand and keeps the result.

    `seconds` is for trying plans of each of three networks; compiling them
    comes on top.
    """
    sharing = fit(observe(seconds))
    keep(sharing)
    return sharing
