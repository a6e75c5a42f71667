# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs for calls: which addresses they use, and whose results are held.

*Addresses.* A CUDA graph reads and writes fixed addresses. Parameters, buffers
and tensors saved for the backward pass (*static* inputs) are used where they
are; a graph is kept for each set of their addresses. Other inputs *move*: they
are copied to a place of ours, and back if the graph writes them. If all come at
the addresses of the call before, which is common, a graph is captured that uses
them where they are. A static input that keeps coming at new addresses, such as
the batch that a forward pass saves for its backward pass, moves from then on.

*Results.* They lie in memory of the graph, so a replay would overwrite what an
earlier one returned. Before a replay the storages are asked whether somebody
still holds them; if so, a second capture serves, and when both are in use,
results of a third are copied. Each capture has memory of its own: what one uses
on the way may be what another has returned. A forward pass has no third one:
copies of the tensors that it saves would be useless to the backward graph,
which wants them at known addresses.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import (
    Any,
    Callable,
    Collection,
    Dict,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import torch

from .cuda import Captured

_ADDRESS = torch.Tensor.data_ptr
#: Captures of one set of addresses whose results are not copied.
_UNCOPIED = 2
#: Sets of addresses.
_SETS = 4
#: A static input with more addresses than this moves.
_ADDRESSES = 3
#: Types of `_foreach_copy_` on a GPU.
_COPIED_TOGETHER = {
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.complex128, torch.complex64, torch.bool, torch.uint8, torch.int8,
    torch.int16, torch.int32, torch.int64,
}
#: If inputs with more than this share of the static bytes are at new addresses,
#: the tensors saved by a forward pass are, and copying them is no gain.
_COPIED_SHARE = 0.25


@dataclasses.dataclass(frozen=True)
class View:
    """A result that is a view of an input; the offset is from the input's."""

    input: int
    shape: Tuple[int, ...]
    stride: Tuple[int, ...]
    offset: int

    def of(self, args: Sequence[Any]) -> torch.Tensor:
        base = args[self.input].detach()
        return base.as_strided(
            self.shape, self.stride, base.storage_offset() + self.offset
        )


class Slots:
    """Captures for the calls of one graph."""

    def __init__(
        self,
        capture: Callable[[Sequence[Any]], Optional[Captured]],
        static: List[int],
        moving: List[int],
        buffers: List[torch.Tensor],
        copied_back: Sequence[int] = (),
        passed_on: Optional[Dict[int, int]] = None,
        visible: Optional[int] = None,
        views: Optional[Dict[int, View]] = None,
        protected: Sequence[int] = (),
        fixed: Collection[int] = (),
    ):
        #: Records the graph on these inputs; None if that failed.
        self.capture = capture
        self._is_full = False
        self.static, self.moving = list(static), list(moving)
        #: Our copies of the inputs that move.
        self.buffers = list(buffers)
        self._note_buffers()
        #: Places in `moving` of inputs that a kernel writes.
        self.copied_back = list(copied_back)
        #: Static inputs that a kernel writes.
        self.protected = set(protected)
        #: Static inputs that results are views of. They never move: such results
        #: would be views of our copies.
        self.fixed = fixed
        #: Results that are inputs, and that are views of inputs.
        self.passed_on = passed_on or {}
        self.views = views or {}
        #: Results of a forward pass from here on are saved for backward; None
        #: for other graphs.
        self.visible = visible
        #: How calls were served.
        self.calls: Dict[str, int] = collections.Counter()
        self._by_static: Dict[tuple, List[Captured]] = {}
        self._by_address: Dict[tuple, List[Captured]] = {}
        self._last: tuple = ()
        self._seen: collections.deque = collections.deque(maxlen=8)
        self._addresses: Dict[int, Set[int]] = {i: set() for i in self.static}

    def call(self, args: Sequence[Any]) -> Optional[List[Any]]:
        """The results for these inputs; None if no capture can serve."""
        addresses = tuple(map(_ADDRESS, args))
        captured = self._direct(args, addresses)
        if captured is not None:
            captured.replay()
            return self._hand_out(captured, args)
        captured = self._copying(args, addresses)
        if captured is None:
            self.calls["plain"] += 1
            return None
        self._copy_inputs(args)
        captured.replay()
        for place in self.copied_back:
            args[self.moving[place]].copy_(self.buffers[place])
        return self._hand_out(captured, args)

    @property
    def newest(self) -> Optional[Captured]:
        """The capture that was made last: on the tensors of a call, if there
        is one such."""
        sets = list(self._by_address.values()) or list(self._by_static.values())
        return sets[-1][-1] if sets and sets[-1] else None

    def _note_buffers(self) -> None:
        self._groups, self._alone = _groups_by_type(self.buffers)
        self._targets = [without_repeats(b) for b in self.buffers]
        self._repeating = [
            place
            for place, (buffer, target) in enumerate(
                zip(self.buffers, self._targets)
            )
            if target is not buffer
        ]

    def _copy_inputs(self, args: Sequence[Any]) -> None:
        sources = [args[i] for i in self.moving]
        for place in self._repeating:
            sources[place] = without_repeats(sources[place])
        for places in self._groups:
            torch._foreach_copy_(
                [self._targets[p] for p in places],
                [sources[p] for p in places],
            )
        for place in self._alone:
            self._targets[place].copy_(sources[place])

    def _hand_out(self, captured: Captured, args: Sequence[Any]) -> List[Any]:
        results = list(captured.results)
        for at, i in self.passed_on.items():
            results[at] = args[i]
        for at, view in self.views.items():
            results[at] = view.of(args)
        for at in captured.copied:
            results[at] = results[at].clone()
        for at in captured.fresh:
            results[at] = results[at].detach()
        return results

    def _decide_manner(self, captured: Captured) -> None:
        """How the results of a new capture are handed out: what a forward pass
        saves as it is, so that the host need not touch it. Results that are inputs
        are those of each call: the ones that it was recorded on must not be kept,
        as their memory would not come again."""
        for at in (*self.passed_on, *self.views):
            captured.results[at] = None
        own = [
            at
            for at, value in enumerate(captured.results)
            if isinstance(value, torch.Tensor)
        ]
        if captured.is_copied:
            captured.copied = own
        elif self.visible is None:
            captured.fresh = own
        else:
            captured.copied = [at for at in own if at < self.visible]
            captured.lend([at for at in own if at >= self.visible])

    def _direct(self, args: Sequence[Any], key: tuple) -> Optional[Captured]:
        """A free capture on the very tensors of this call, if worth it."""
        if not self.moving:
            return None
        slots = self._by_address.get(key)
        if slots is None:
            is_repeated, self._last = key == self._last, key
            if not is_repeated or len(self._by_address) == _SETS:
                return None
            slots = self._by_address[key] = []
        return self._free("direct", slots, lambda: args)

    def _copying(
        self, args: Sequence[Any], addresses: tuple
    ) -> Optional[Captured]:
        """A free capture on our own copies of the inputs that move."""
        key = self._static_key(addresses)
        if key not in self._by_static and self._move_restless(args):
            key = self._static_key(addresses)
        slots = self._by_static.get(key)
        if slots is None:
            # Tensors that were saved without a graph come at any address; a
            # capture is for addresses that come again.
            is_new = self._by_static and key not in self._seen
            self._seen.append(key)
            if is_new or len(self._by_static) == _SETS:
                return None
            slots = self._by_static[key] = []
        return self._free("copying", slots, lambda: self._with_copies(args))

    def _static_key(self, addresses: tuple) -> tuple:
        return tuple([addresses[i] for i in self.static])

    def _move_restless(self, args: Sequence[Any]) -> bool:
        """Lets static inputs move that have had too many addresses."""
        new = [
            i for i in self.static
            if args[i].data_ptr() not in self._addresses[i]
        ]
        for i in new:
            self._addresses[i].add(args[i].data_ptr())
        static_bytes = sum(args[i].nbytes for i in self.static)
        if sum(args[i].nbytes for i in new) > _COPIED_SHARE * static_bytes:
            return False
        restless = [
            i for i in new
            if len(self._addresses[i]) > _ADDRESSES and i not in self.fixed
        ]
        for i in restless:
            self._let_move(i, args[i])
        if restless:
            self._note_buffers()
            self._by_static.clear()
            self._seen.clear()
        return bool(restless)

    def _let_move(self, i: int, like: torch.Tensor) -> None:
        self.static.remove(i)
        self.moving.append(i)
        self.buffers.append(empty_like(like))
        if i in self.protected:
            self.copied_back.append(len(self.moving) - 1)

    def _with_copies(self, args: Sequence[Any]) -> List[Any]:
        own = list(args)
        for i, buffer in zip(self.moving, self.buffers):
            own[i] = buffer
        return own

    def _free(self, kind: str, slots: List[Captured], inputs) -> Optional[Captured]:
        """One whose results nobody holds; a new one while there are few, and
        memory for them."""
        for captured in slots:
            if captured.is_copied or captured.is_free:
                self.calls[kind] += 1
                return captured
        if self.visible is not None and len(slots) == _UNCOPIED:
            return None
        captured = None if self._is_full else self.capture(inputs())
        if captured is None:
            self._is_full = True
            return None
        captured.is_copied = len(slots) == _UNCOPIED
        self._decide_manner(captured)
        slots.append(captured)
        self.calls["captured"] += 1
        self.calls[kind] += 1
        return captured


def without_repeats(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without the elements that `expand` repeats: what can be
    written. The tensor itself if there are none."""
    for at, (size, stride) in enumerate(zip(tensor.shape, tensor.stride())):
        if stride == 0 and size > 1:
            tensor = tensor.narrow(at, 0, 1)
    return tensor


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides."""
    copied = empty_like(tensor)
    without_repeats(copied).copy_(without_repeats(tensor))
    return copied


def empty_like(tensor: torch.Tensor) -> torch.Tensor:
    """Memory with the same strides."""
    return torch.empty_strided(
        tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )


def _groups_by_type(
    tensors: List[torch.Tensor],
) -> Tuple[List[List[int]], List[int]]:
    """One kernel copies all tensors of a type. The last: those whose type it does
    not know, such as `uint64`, the type of attention's random state."""
    groups: Dict[Any, List[int]] = {}
    alone: List[int] = []
    for place, tensor in enumerate(tensors):
        if tensor.dtype in _COPIED_TOGETHER:
            groups.setdefault(tensor.dtype, []).append(place)
        else:
            alone.append(place)
    return list(groups.values()), alone
