# SPDX-License-Identifier: Apache-2.0
"""Which kernels of a schedule must not be late.

Kernels that run together share the device: a wide one that started first can
keep a narrow one waiting for multiprocessors, although the rest of the program
waits for the narrow one. CUDA gives kernels of a higher priority the next free
multiprocessors. So kernels that cannot be late without making the whole program
late, or hardly, are *urgent*; cuda.py launches them with a higher priority.
"""

from __future__ import annotations

import dataclasses
from typing import Dict, List

from .program import Program
from .schedule import Schedule


def slack_ns(program: Program, schedule: Schedule) -> Dict[int, int]:
    """By how much each kernel may be late before the program is.

    By the times of kernels alone: waits cost nothing here.
    """
    before = _before(schedule)
    run = [kernel.run_ns for kernel in program.kernels]
    end: Dict[int, int] = {}
    for launch in schedule.launches:
        begin = max((end[k] for k in before[launch.kernel]), default=0)
        end[launch.kernel] = begin + run[launch.kernel]
    last = max(end.values(), default=0)
    latest = {kernel: last for kernel in end}
    for launch in reversed(schedule.launches):
        begin = latest[launch.kernel] - run[launch.kernel]
        for kernel in before[launch.kernel]:
            latest[kernel] = min(latest[kernel], begin)
    return {kernel: latest[kernel] - end[kernel] for kernel in end}


def _before(schedule: Schedule) -> Dict[int, List[int]]:
    """The kernels that each starts after: of its stream, and its waits."""
    found: Dict[int, List[int]] = {}
    previous: Dict[int, int] = {}
    for launch in schedule.launches:
        found[launch.kernel] = list(launch.waits)
        if launch.stream in previous:
            found[launch.kernel].append(previous[launch.stream])
        previous[launch.stream] = launch.kernel
    return found


def with_urgency(program: Program, schedule: Schedule, share: float) -> Schedule:
    """The same schedule, in which kernels are urgent that may be late by at
    most this share of all work."""
    slack = slack_ns(program, schedule)
    most = share * program.work_ns
    launches = [
        dataclasses.replace(launch, is_urgent=slack[launch.kernel] <= most)
        for launch in schedule.launches
    ]
    return dataclasses.replace(schedule, launches=launches)
