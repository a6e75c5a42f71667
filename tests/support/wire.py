# SPDX-License-Identifier: Apache-2.0
"""Protobuf's wire format, for the scripts that write malformed files: they need
nothing but Python."""

VARINT, FIXED64, BYTES, GROUP, END, FIXED32 = range(6)


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(field, kind):
    return varint(field << 3 | kind)


def number(field, value):
    return tag(field, VARINT) + varint(value)


def data(field, content):
    """Bytes, a message or a text."""
    if isinstance(content, str):
        content = content.encode()
    return tag(field, BYTES) + varint(len(content)) + content
