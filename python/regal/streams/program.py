# SPDX-License-Identifier: Apache-2.0
"""A program of kernels: what each reads and writes, and what follows from it.

Plain data, without torch: it is recorded once on a GPU, kept as a small JSON
file, and everything that is derived from it (dependencies, orders, reuse of
memory) is tested where there is no GPU.

Kernels are in the order in which the compiler would launch them. Kernel j
depends on an earlier kernel i if one of them writes what the other reads or
writes. A view without elements has no bytes that anybody writes, but it is a
view of something: of what the first writer of its buffer makes. Buffers have a
role:

- ``input``: the caller's, a parameter or an argument; its memory is not ours;
- ``temporary``: allocated just before the first kernel that writes it.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, List, Sequence, Set, Tuple

from .access import Access, meet


@dataclasses.dataclass
class Buffer:
    bytes: int
    role: str = "temporary"


@dataclasses.dataclass
class Kernel:
    name: str
    reads: List[Access]
    writes: List[Access]
    #: Measured, alone on the device; 0 where it was not.
    run_ns: int = 0
    #: The share of the device that its grid fills (sharing.py).
    share: float = 0.0


class Program:
    """Kernels, buffers, and the buffers that outlive the program."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        buffers: Sequence[Buffer],
        outputs: Sequence[int],
    ):
        self.kernels = list(kernels)
        self.buffers = list(buffers)
        self.outputs = sorted(set(outputs))
        self.dependencies = self._find_dependencies()

    def _find_dependencies(self) -> List[List[int]]:
        writers: Dict[int, List[Tuple[int, Access]]] = {}
        readers: Dict[int, List[Tuple[int, Access]]] = {}
        found = []
        for index, kernel in enumerate(self.kernels):
            before: Set[int] = set()
            for access in kernel.reads:
                before |= _meeting(writers, access)
            for access in kernel.writes:
                before |= _meeting(writers, access)
                before |= _meeting(readers, access)
            for access in (*kernel.reads, *kernel.writes):
                if 0 in access.size and access.buffer in writers:
                    before.add(writers[access.buffer][0][0])
            found.append(sorted(before - {index}))
            for access in kernel.reads:
                readers.setdefault(access.buffer, []).append((index, access))
            for access in kernel.writes:
                writers.setdefault(access.buffer, []).append((index, access))
        return found

    @property
    def creators(self) -> Dict[int, int]:
        """The first kernel that writes each temporary buffer."""
        created: Dict[int, int] = {}
        for index, kernel in enumerate(self.kernels):
            for access in kernel.writes:
                if self.buffers[access.buffer].role == "temporary":
                    created.setdefault(access.buffer, index)
        return created

    @property
    def made_by(self) -> Dict[int, List[int]]:
        """The temporary buffers that each kernel is the first to write, in the
        order of its outputs."""
        found: Dict[int, List[int]] = {}
        for buffer, creator in self.creators.items():
            found.setdefault(creator, []).append(buffer)
        return found

    @property
    def users(self) -> Dict[int, List[int]]:
        """The kernels that read or write each buffer, in order."""
        found: Dict[int, List[int]] = {}
        for index, kernel in enumerate(self.kernels):
            touched = {a.buffer for a in kernel.reads + kernel.writes}
            for buffer in touched:
                found.setdefault(buffer, []).append(index)
        return found

    @property
    def work_ns(self) -> int:
        return sum(kernel.run_ns for kernel in self.kernels)

    def graph(self, moves_bytes: bool = False) -> Any:
        """This program as a graph for the search, one op per kernel.

        Streams of one device share its memory, so nothing is moved between
        them: every dependency is an edge of no bytes, whose price is the
        latency of the machine. With `moves_bytes` an edge carries the buffers
        that the reader needs, for devices with memory of their own.
        """
        import regal

        graph = regal.Graph()
        created, own = self.creators, self.made_by
        for index, kernel in enumerate(self.kernels):
            if moves_bytes:
                edges = self._data_edges(index, created, own)
            else:
                edges = {
                    "outputs": [0],
                    "inputs": self.dependencies[index],
                }
            graph.add_op(
                f"{index}:{kernel.name}", run_ns=kernel.run_ns, **edges
            )
        return graph

    def _data_edges(
        self,
        index: int,
        created: Dict[int, int],
        own: Dict[int, List[int]],
    ) -> Dict[str, Any]:
        mine = own.get(index, [])
        inputs = []
        for access in self.kernels[index].reads:
            creator = created.get(access.buffer)
            if creator is not None and creator != index:
                inputs.append((creator, own[creator].index(access.buffer)))
        reached = {creator for creator, _ in inputs}
        return {
            "outputs": [self.buffers[b].bytes for b in mine],
            "final": [p for p, b in enumerate(mine) if b in self.outputs],
            "inputs": sorted(set(inputs)),
            "control": [
                d for d in self.dependencies[index] if d not in reached
            ],
        }

    def to_json(self) -> str:
        return json.dumps(
            {
                "regal_program": 1,
                "buffers": [[b.bytes, b.role] for b in self.buffers],
                "kernels": [
                    {
                        "name": k.name,
                        "reads": [_pack(a) for a in k.reads],
                        "writes": [_pack(a) for a in k.writes],
                        "run_ns": k.run_ns,
                        "share": round(k.share, 4),
                    }
                    for k in self.kernels
                ],
                "outputs": self.outputs,
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> "Program":
        data = json.loads(text)
        if data.get("regal_program") != 1:
            raise ValueError("not a recorded program (regal_program: 1)")
        return cls(
            [
                Kernel(
                    k["name"],
                    [_unpack(a) for a in k["reads"]],
                    [_unpack(a) for a in k["writes"]],
                    k["run_ns"],
                    k["share"],
                )
                for k in data["kernels"]
            ],
            [Buffer(b, role) for b, role in data["buffers"]],
            data["outputs"],
        )


def _meeting(
    accesses: Dict[int, List[Tuple[int, Access]]], access: Access
) -> Set[int]:
    return {
        index
        for index, other in accesses.get(access.buffer, ())
        if meet(other, access)
    }


def _pack(a: Access) -> List[Any]:
    return [a.buffer, a.offset, list(a.size), list(a.stride), a.itemsize]


def _unpack(a: List[Any]) -> Access:
    return Access(a[0], a[1], tuple(a[2]), tuple(a[3]), a[4])


def critical_ns(program: Program) -> int:
    """The longest chain of kernels: no number of streams is faster."""
    end: List[int] = []
    for kernel, before in zip(program.kernels, program.dependencies):
        end.append(kernel.run_ns + max((end[d] for d in before), default=0))
    return max(end, default=0)
