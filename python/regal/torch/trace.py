# SPDX-License-Identifier: Apache-2.0
"""From an FX graph to a program of kernels, and back to calls.

A node of the graph is a *kernel* if it runs something on the device: one of
Inductor's Triton kernels, or an op of aten. Other nodes are *host* nodes: they
make a view of a tensor, take one of several results, or allocate. Which is
which follows from storages: a node whose results lie in the storages of its
inputs, and that writes nothing, is a view. The values that tell are those that
tracing left on the nodes (``meta["val"]``, fake tensors that share storages as
the real ones will), so nothing runs here.

What a kernel writes is said by its schema (aten), by the names of its arguments
(Triton kernels of Inductor), or it is its result.
"""

from __future__ import annotations

import copy
import operator
from typing import Any, Collection, Dict, Iterator, List, Optional, Tuple

import torch
from torch.fx import Node

from ..streams.access import Access
from ..streams.program import Buffer, Kernel, Program
from .attention import keep_states_on_gpu


class Unsupported(Exception):
    """The graph cannot be planned; the message says why."""


_ALLOCATES = {torch.empty_strided, torch.empty}
#: Kernels that write nothing: the device stops if a value is zero.
_CHECKS = {torch.ops.aten._assert_async.default, torch.ops.aten._assert_async.msg}


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)


def has_integers(tensor: torch.Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex())


def access_of(tensor: torch.Tensor, buffer: int = 0) -> Access:
    """To all elements of a tensor, which lies in this buffer."""
    return Access(
        buffer,
        int(tensor.storage_offset()),
        tuple(int(n) for n in tensor.shape),
        tuple(int(s) for s in tensor.stride()),
        tensor.element_size(),
    )


def storage_of(tensor: torch.Tensor) -> int:
    """A number for the memory that the tensor lies in."""
    return tensor.untyped_storage()._cdata


class Traced:
    """A graph module with the program that its kernels are."""

    def __init__(self, gm: torch.fx.GraphModule, values: Dict[Node, Any] = None):
        keep_states_on_gpu(gm)
        self.gm = gm
        self.nodes = list(gm.graph.nodes)
        self.placeholders = [n for n in self.nodes if n.op == "placeholder"]
        self.values = values or {n: n.meta.get("val") for n in self.nodes}
        self.output = next(n for n in self.nodes if n.op == "output")
        self.kernels: List[Node] = []
        self._buffer_of: Dict[int, int] = {}
        self._buffers: List[Buffer] = []
        #: Buffers that each node's value lies in.
        self.buffers_of: Dict[Node, List[int]] = {}
        #: Of host nodes: other tensors that it takes to compute their value.
        self._also_read: Dict[Node, List[torch.Tensor]] = {}
        self.program = self._trace()
        self.kernel_index = {n: i for i, n in enumerate(self.kernels)}
        #: Values of nodes that are known before a call (constants.py).
        self.constants: Dict[Node, Any] = {}
        self.allocator_of = self._find_allocators()
        #: Nodes that are computed and lie in each buffer.
        self.nodes_in: Dict[int, List[Node]] = {}
        for node, buffers in self.buffers_of.items():
            if node.op == "call_function":
                for buffer in buffers:
                    self.nodes_in.setdefault(buffer, []).append(node)

    # -- What the graph says ------------------------------------------------

    def _trace(self) -> Program:
        for node in self.nodes:
            if node.op == "get_attr":
                self.values[node] = _attribute(self.gm, node.target)
            if node.op in ("placeholder", "get_attr"):
                self._note(node, "input")
        kernels = []
        for node in self.nodes:
            if node.op != "call_function":
                continue
            reads, writes = self._accesses(node)
            self._note(node, "temporary")
            also_read = self._also_read_by(node)
            if self._is_kernel(node, writes):
                reads += also_read
                writes += self._fresh_results(node)
                self.kernels.append(node)
                kernels.append(
                    Kernel(
                        _name(node),
                        [self._access(t) for t in reads],
                        [self._access(t) for t in writes],
                    )
                )
            else:
                self._also_read[node] = also_read + self._beside(node, reads)
        kept = [
            b
            for n in self.output.all_input_nodes
            for b in self.buffers_of.get(n, ())
        ]
        kept += [self.buffer_of(t) for t in self._also_read_by(self.output)]
        outputs = [b for b in kept if self._buffers[b].role == "temporary"]
        return Program(kernels, self._buffers, outputs)

    def _beside(
        self, node: Node, reads: List[torch.Tensor]
    ) -> List[torch.Tensor]:
        """Those that the value of a host node does not lie in. One of several
        results of a kernel does not need the others; one of several views
        (`broadcast_tensors`) is made with the others."""
        is_part = node.target is operator.getitem
        if is_part and node.args[0] not in self._also_read:
            return []
        mine = self.buffers_of[node]
        return [t for t in reads if self.buffer_of(t) not in mine]

    def _also_read_by(self, node: Node) -> List[torch.Tensor]:
        """What its arguments are computed from and do not lie in: a view of one
        tensor with the shape or type of another needs both."""
        return [
            t for n in node.all_input_nodes for t in self._also_read.get(n, ())
        ]

    def _note(self, node: Node, role: str) -> None:
        """Gives the storages of the node's value numbers."""
        found = []
        for tensor in tensors_of(self.values.get(node)):
            key = storage_of(tensor)
            if key not in self._buffer_of:
                self._buffer_of[key] = len(self._buffers)
                size = tensor.untyped_storage().nbytes()
                self._buffers.append(Buffer(int(size), role))
            found.append(self._buffer_of[key])
        self.buffers_of[node] = found

    def _access(self, t: torch.Tensor) -> Access:
        return access_of(t, self._buffer_of[storage_of(t)])

    def _accesses(self, node: Node) -> Tuple[list, list]:
        """Tensors that the node reads, and arguments that it writes."""
        roles = getattr(node.target, "roles", None)
        if roles is not None:
            return self._by_roles(node, roles(len(node.args)))
        reads, writes = [], []
        for value, is_write, is_only_write in _arguments(node):
            found = list(tensors_of(_lookup(value, self.values)))
            if is_write:
                writes += found
            if not is_only_write:
                reads += found
        return reads, writes

    def _by_roles(self, node: Node, roles: List[str]) -> Tuple[list, list]:
        reads, writes = [], []
        for value, role in zip(node.args, roles):
            found = list(tensors_of(_lookup(value, self.values)))
            if "r" in role:
                reads += found
            if "w" in role:
                writes += found
        return reads, writes

    def _is_kernel(self, node: Node, writes: list) -> bool:
        if is_triton(node) or node.target in _CHECKS:
            return True
        if node.target in _ALLOCATES or node.target is operator.getitem:
            return False
        return bool(writes) or bool(self._fresh_results(node))

    def _fresh_results(self, node: Node) -> list:
        """Results that lie in none of the inputs' storages."""
        inside = {
            b for n in node.all_input_nodes for b in self.buffers_of.get(n, ())
        }
        return [
            t
            for t in tensors_of(self.values.get(node))
            if self._buffer_of[storage_of(t)] not in inside
        ]

    def _find_allocators(self) -> Dict[int, Node]:
        """The host node that allocates each buffer, where one does."""
        return {
            self.buffers_of[node][0]: node
            for node in self.nodes
            if node.target in _ALLOCATES and self.buffers_of[node]
        }

    def buffer_of(self, tensor: torch.Tensor) -> int:
        """Where a value of the graph lies."""
        return self._buffer_of[storage_of(tensor)]

    def arguments(self, node: Node) -> Any:
        """The node's arguments, as values that tracing left."""
        return _lookup(node.args, self.values)

    def without(
        self, kernels: Collection[Node], constants: Dict[Node, Any]
    ) -> "Traced":
        """The same graph where these kernels need not run: what they would
        write is in the values of `constants`."""
        rest = copy.copy(self)
        rest.constants = {**self.constants, **constants}
        rest.kernels = [n for n in self.kernels if n not in kernels]
        rest.kernel_index = {n: i for i, n in enumerate(rest.kernels)}
        known = {b for n in constants for b in self.buffers_of[n]}
        rest.program = Program(
            [self.program.kernels[self.kernel_index[n]] for n in rest.kernels],
            [
                Buffer(b.bytes, "input") if at in known else b
                for at, b in enumerate(self.program.buffers)
            ],
            self.program.outputs,
        )
        return rest

    # -- Running ------------------------------------------------------------

    def inputs(self, args: List[Any]) -> Dict[Node, Any]:
        """Values of the nodes that nothing computes."""
        env = {**dict(zip(self.placeholders, args)), **self.constants}
        for node in self.nodes:
            if node.op == "get_attr":
                env[node] = self.values[node]
        return env

    def value(self, node: Node, env: Dict[Node, Any]) -> Any:
        """The node's value; computes views and allocations on the way."""
        if node not in env:
            if node in self.kernel_index:
                raise KeyError(f"{node} is used before its kernel has run")
            env[node] = self.call(node, env)
        return env[node]

    def call(self, node: Node, env: Dict[Node, Any]) -> Any:
        args, kwargs = torch.fx.map_arg(
            (node.args, dict(node.kwargs)), lambda n: self.value(n, env)
        )
        return self.run(node, args, kwargs)

    def run(self, node: Node, args: Any, kwargs: Any) -> Any:
        """The node's value for these arguments. On a CPU with the strides that
        tracing found, so that later ops of the graph run: kernels for CPUs may
        choose others, and those of a dimension with one element mean nothing."""
        found, known = node.target(*args, **kwargs), self.values.get(node)
        is_view = node not in self.kernel_index
        if isinstance(found, (list, tuple)) and isinstance(known, (list, tuple)):
            return [_as_traced(a, b, is_view) for a, b in zip(found, known)]
        return _as_traced(found, known, is_view)

    def step(self, node: Node, env: Dict[Node, Any]) -> None:
        """Runs a kernel. Results of a tuple are taken out at once, so that
        each can be released by itself."""
        self.keep(node, self.call(node, env), env)

    def keep(self, node: Node, result: Any, env: Dict[Node, Any]) -> None:
        """Notes the result of a kernel that has run."""
        env[node] = result
        for part in self.parts(node):
            self.value(part, env)

    def parts(self, node: Node) -> List[Node]:
        """The nodes that take one of several results."""
        return [u for u in node.users if u.target is operator.getitem]

    def release(self, buffers: List[int], env: Dict[Node, Any]) -> None:
        """Forgets the values in these buffers."""
        for buffer in buffers:
            for node in self.nodes_in.get(buffer, ()):
                env.pop(node, None)

    @property
    def early_names(self) -> set:
        """Kernels that may be launched before those end that they follow."""
        return {
            node.target.__name__
            for node in self.kernels
            if getattr(node.target, "can_be_early", False)
        }

    @property
    def draws(self) -> bool:
        """Whether a kernel takes random numbers of PyTorch's generator."""
        drawing = torch.Tag.nondeterministic_seeded
        return any(drawing in getattr(n.target, "tags", ()) for n in self.kernels)

    @property
    def gpu(self) -> Optional[int]:
        """The number of the GPU that all of the graph is on; None: on none."""
        found = {
            t.device.index
            for t in tensors_of(list(self.values.values()))
            if t.is_cuda and t.device.index is not None
        }
        if len(found) > 1:
            raise Unsupported("it is on several GPUs")
        return found.pop() if found else None

    @property
    def result_nodes(self) -> List[Any]:
        """What the graph returns: nodes, or values such as None."""
        results = self.output.args[0]
        return list(results) if isinstance(results, (list, tuple)) else [results]

    def results(self, env: Dict[Node, Any]) -> List[Any]:
        return [
            self.value(r, env) if isinstance(r, Node) else r
            for r in self.result_nodes
        ]

    @property
    def written_inputs(self) -> set:
        """Placeholders whose memory a kernel writes."""
        written = {
            a.buffer
            for k in self.program.kernels
            for a in k.writes
            if self.program.buffers[a.buffer].role == "input"
        }
        return {
            n
            for n in self.placeholders
            if written.intersection(self.buffers_of[n])
        }


def _as_traced(found: Any, known: Any, is_view: bool) -> Any:
    """The value with the strides of the other one, if it has others."""
    if (
        not isinstance(found, torch.Tensor)
        or not isinstance(known, torch.Tensor)
        or not found.is_cpu
        or found.stride() == known.stride()
        or found.shape != known.shape
    ):
        return found
    strides = zip(found.shape, found.stride(), known.stride())
    if all(n == 1 or a == b for n, a, b in strides):
        return found.as_strided(known.shape, known.stride())
    if is_view or 0 in known.stride():
        return found
    return torch.empty_strided(
        known.shape, known.stride(), dtype=found.dtype, device=found.device
    ).copy_(found)


def _attribute(gm: torch.fx.GraphModule, target: str) -> Any:
    value: Any = gm
    for part in target.split("."):
        value = getattr(value, part)
    return value


def _lookup(value: Any, values: Dict[Node, Any]) -> Any:
    return torch.fx.map_arg(value, lambda n: values.get(n))


def _arguments(node: Node):
    """(value, is written, is only written) of each argument. Functions of
    Inductor's that are no ops have no schema; they write `out`."""
    schema = getattr(node.target, "_schema", None)
    written: Dict[Any, bool] = {} if schema else {"out": True}
    if schema is not None:
        for index, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                written[index] = written[argument.name] = argument.is_out
    for index, value in enumerate(node.args):
        yield value, index in written, written.get(index, False)
    for name, value in node.kwargs.items():
        yield value, name in written, written.get(name, False)


def is_triton(node: Node) -> bool:
    """Whether it launches one of Inductor's own kernels (inductor.py)."""
    return hasattr(node.target, "roles")


def _name(node: Node) -> str:
    return node.target.__name__ if is_triton(node) else node.name
