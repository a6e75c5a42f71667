# SPDX-License-Identifier: Apache-2.0
"""Parts of buffers that kernels read and write, and whether two of them meet.

Inductor concatenates without copying: several kernels write into one buffer,
each into a view of its own. Such writers are independent, and much of the
parallelism of Inception or DARTS hangs on seeing that. A view is an offset,
sizes and strides, as in ``torch.as_strided``. Views along an inner dimension
interleave in memory, so comparing byte ranges is not enough; the test below
compares boxes where both views have the strides of one dense layout, and byte
ranges otherwise. It may say that two views meet although they do not (which
costs parallelism), never the other way round (which would cost correctness).
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple


class Access(NamedTuple):
    """A view of a buffer. Offset, sizes and strides count elements."""

    buffer: int
    offset: int
    size: Tuple[int, ...]
    stride: Tuple[int, ...]
    itemsize: int


def _span(a: Access) -> Tuple[int, int]:
    """First byte, and the one after the last."""
    if 0 in a.size:
        return 0, 0
    low = high = a.offset
    for size, stride in zip(a.size, a.stride):
        if stride >= 0:
            high += (size - 1) * stride
        else:
            low += (size - 1) * stride
    return low * a.itemsize, (high + 1) * a.itemsize


def _box(
    a: Access, strides: Sequence[int]
) -> Optional[List[Tuple[int, int]]]:
    """The view as an interval [from, to) of each of `strides`, or None.

    `strides` are positive, descending, without repeats, each a multiple of the
    next. The offset is written in the mixed radix that they define; the box is
    valid only if no interval reaches beyond its digit.
    """
    extent: Dict[int, int] = {}
    for size, stride in zip(a.size, a.stride):
        if size == 1:
            continue
        if stride in extent:
            return None
        extent[stride] = size
    box: List[Tuple[int, int]] = []
    rest, above = a.offset, 0
    for stride in strides:
        digit, rest = divmod(rest, stride)
        end = digit + extent.pop(stride, 1)
        if above and end * stride > above:
            return None
        box.append((digit, end))
        above = stride
    return None if extent or rest else box


def _common_strides(a: Access, b: Access) -> Optional[List[int]]:
    found = {1}
    for view in (a, b):
        found |= {s for n, s in zip(view.size, view.stride) if n > 1}
    strides = sorted(found, reverse=True)
    if strides[-1] < 1:
        return None
    if any(high % low for high, low in zip(strides, strides[1:])):
        return None
    return strides


def meet(a: Access, b: Access) -> bool:
    """Whether the two accesses may share a byte."""
    if a.buffer != b.buffer:
        return False
    a_low, a_high = _span(a)
    b_low, b_high = _span(b)
    if a_low >= b_high or b_low >= a_high:
        return False
    if a.itemsize != b.itemsize:
        return True
    strides = _common_strides(a, b)
    if strides is None:
        return True
    a_box, b_box = _box(a, strides), _box(b, strides)
    if a_box is None or b_box is None:
        return True
    return all(p[0] < q[1] and q[0] < p[1] for p, q in zip(a_box, b_box))
