# SPDX-License-Identifier: Apache-2.0
"""The share of the GPU that each kernel's grid fills, from one profile.

CUPTI (torch.profiler) reports the grid of every launch. Kernels of the program
run one after the other, each inside a range of its own, so that a launch is
assigned to the kernel in whose range the host made it.
"""

from __future__ import annotations

import bisect
import json
import math
import os
import tempfile
from typing import Any, Dict, List, Sequence, Tuple

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from ..streams.schedule import one_stream
from .trace import Traced

_PREFIX = "regal-kernel-"
#: For what launches no kernel: copies by the copy engine, memsets.
_UNKNOWN_SHARE = 0.1


def measure_shares(traced: Traced, args: Sequence[Any]) -> None:
    """Sets `share` of the program's kernels."""
    events = _profile(traced, args)
    device = torch.cuda.current_device()
    processors = torch.cuda.get_device_properties(device).multi_processor_count
    launches = _launches_by_kernel(events)
    for index, kernel in enumerate(traced.program.kernels):
        found = launches.get(index, [])
        total = sum(duration for duration, _ in found)
        kernel.share = (
            sum(d * min(1.0, blocks / processors) for d, blocks in found) / total
            if total
            else _UNKNOWN_SHARE
        )


def _profile(traced: Traced, args: Sequence[Any]) -> List[dict]:
    env = traced.inputs(list(args))
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with torch.no_grad(), profile(activities=activities) as recorded:
        for launch in one_stream(traced.program).launches:
            traced.release(launch.releases, env)
            with record_function(f"{_PREFIX}{launch.kernel}"):
                traced.step(traced.kernels[launch.kernel], env)
            torch.cuda.synchronize()
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        recorded.export_chrome_trace(path)
        with open(path) as file:
            return json.load(file)["traceEvents"]
    finally:
        os.unlink(path)


def _launches_by_kernel(
    events: List[dict],
) -> Dict[int, List[Tuple[float, int]]]:
    """(duration, blocks) of each launch, by kernel of the program."""
    complete = [e for e in events if e.get("ph") == "X"]
    ranges = sorted(
        (e["ts"], e["ts"] + e["dur"], int(e["name"][len(_PREFIX):]))
        for e in complete
        if e.get("cat") == "user_annotation" and e["name"].startswith(_PREFIX)
    )
    starts = [begin for begin, _, _ in ranges]
    kernel_of = {}
    for e in complete:
        if e.get("cat") in ("cuda_runtime", "cuda_driver"):
            at = bisect.bisect_right(starts, e["ts"]) - 1
            if at >= 0 and e["ts"] <= ranges[at][1]:
                kernel_of[e.get("args", {}).get("correlation")] = ranges[at][2]
    found: Dict[int, List[Tuple[float, int]]] = {}
    for e in complete:
        if e.get("cat") == "kernel":
            kernel = kernel_of.get(e["args"].get("correlation"))
            if kernel is not None:
                blocks = math.prod(int(n) for n in e["args"].get("grid", [1]))
                found.setdefault(kernel, []).append((e["dur"], blocks))
    return found
