# SPDX-License-Identifier: Apache-2.0
"""The bytes that are in use at XLA's own peak, by its buffer assignment.

Imported by jax_peaks.py. An HloProto has, beside the scheduled module, where
XLA put each value: an allocation, an offset and a size. A value lives from the
instruction that makes it to the last that reads it, itself or through a tuple
or a bitcast. `live_bytes` adds at each instruction the parts of allocations
that hold a live value, each once, and returns the largest sum. What XLA reports
is the size of the allocations, which is never less: they also have gaps, and
results that are not made yet.

This shares nothing with regal's reader, not even the reading of protobuf.
"""

VIEWS = ("bitcast", "tuple", "get-tuple-element")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """{number: [values]} of a message; all of its fields are varints, bytes or
    fixed-size numbers."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(kind)
            if length is None:
                length, at = varint(data, at)
            value = data[at:at + length]
            at += length
        found.setdefault(key >> 3, []).append(value)
    return found


def numbers(message, field):
    """A repeated field of integers, packed or not."""
    found = []
    for value in message.get(field, []):
        at = 0
        if isinstance(value, int):
            found.append(value)
            continue
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


def number(message, field):
    return (numbers(message, field) or [0])[0]


class Entry:
    """The entry computation: places of instructions in XLA's order, and when
    each part of their values is read last. A part is named by its indices in
    tuples, as XLA's ShapeIndex."""

    def __init__(self, module):
        entry = number(module, 6)
        computation = next(c for c in map(fields, module[3])
                           if number(c, 5) == entry)
        sequences = [fields(e) for e in fields(module[7][0])[1]]
        order = next(numbers(fields(e[2][0]), 1) for e in sequences
                     if number(e, 1) == entry)
        self.root = number(computation, 6)
        self.end = len(order)
        self.place = {id: place for place, id in enumerate(order)}
        self.opcode, self.element, self.users = {}, {}, {}
        for instruction in map(fields, computation[2]):
            id = number(instruction, 35)
            self.opcode[id] = instruction[2][0].decode()
            self.element[id] = number(instruction, 13)
            for place, operand in enumerate(numbers(instruction, 36)):
                self.users.setdefault(operand, []).append((id, place))

    def last(self, id, index):
        """Where part `index` of an instruction's value is read last."""
        if id == self.root:
            return self.end
        until = self.place[id]
        for user, place in self.users.get(id, []):
            seen = self.seen_as(user, place, index)
            if seen is not None:
                until = max(until, self.place[user], self.last(user, seen))
            elif self.opcode[user] not in VIEWS:
                until = max(until, self.place[user])
        return until

    def seen_as(self, user, place, index):
        """The part's index in the value of a view of it, or None: the user is
        no view, or of another part."""
        if self.opcode[user] == "bitcast":
            return index
        if self.opcode[user] == "tuple":
            return (place, *index)
        if (self.opcode[user] == "get-tuple-element"
                and index[:1] == (self.element[user],)):
            return index[1:]
        return None


def uses(hlo):
    """(first, last, allocation, offset, size) of each value of the entry in
    memory that is neither a constant nor an argument that stays."""
    proto = fields(hlo)
    entry, assignment = Entry(fields(proto[1][0])), fields(proto[3][0])
    maker = {}
    for buffer in map(fields, assignment[1]):
        where = fields(buffer[3][0])
        maker[number(buffer, 1)] = (number(where, 4),
                                    tuple(numbers(where, 3)))
    for allocation in map(fields, assignment[3]):
        thread_local, parameter = number(allocation, 3), number(allocation, 5)
        live_out, constant = number(allocation, 7), number(allocation, 12)
        if thread_local or constant or (parameter and not live_out):
            continue
        for part in map(fields, allocation.get(9, [])):
            made, index = maker[number(part, 1)]
            if made not in entry.place:  # of a computation that is called
                continue
            first = entry.place[made]
            if entry.opcode[made] == "parameter":
                first = 0
            yield (first, entry.last(made, index), number(allocation, 1),
                   number(part, 2), number(part, 3))


def live_bytes(hlo):
    values = list(uses(hlo))
    peak = 0
    for now in range(max((last for _, last, *_ in values), default=0) + 1):
        parts = {}
        for first, last, allocation, offset, size in values:
            if first <= now <= last:
                where = allocation, offset
                parts[where] = max(parts.get(where, 0), size)
        peak = max(peak, sum(parts.values()))
    return peak
