#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the malformed binary files of this folder: one defect each, which is
the file's name. Run it here after a change; the results are committed. The
malformed texts are written by hand. Needs nothing but Python."""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "support"))
sys.dont_write_bytecode = True
from wire import (BYTES, END, FIXED32, FIXED64, GROUP,  # noqa: E402
                  VARINT, data, number, tag, varint)


def node(name, id=0, inputs=(), outputs=(), controls=(), rest=b""):
    body = data(1, name.encode())
    if id:
        body += number(3, id)
    for producer, port in inputs:
        body += data(4, number(1, producer) + number(2, port))
    for size in outputs:
        body += data(5, size if isinstance(size, bytes) else number(1, size))
    for control in controls:
        body += number(8, control)
    return data(1, body + rest)


def node_def(name, rest=b""):
    """A node of a GraphDef."""
    return data(1, data(1, name.encode()) + data(2, b"Relu") + rest)


A = node("a", outputs=[4])
B = node("b", 1, inputs=[(0, 0)], outputs=[4])


def shape(*dims):
    return number(4, 1) + data(3, b"".join(data(2, number(1, d)) for d in dims))


DEFECTS = {
    # The wire format
    "empty": b"",
    "truncated_tag": A + b"\x8a",
    "truncated_message": A + B[:-3],
    "truncated_length": A + tag(1, BYTES),
    "truncated_varint": data(1, data(1, b"a") + tag(9, VARINT) + b"\x80"),
    "truncated_varint_at_end": A + tag(5, VARINT),
    "truncated_packed": data(1, data(1, b"a") + data(8, b"\x01\x80")),
    "truncated_fixed32": A + tag(50, FIXED32) + b"123",
    "truncated_fixed64": A + tag(50, FIXED64) + b"1234567",
    "truncated_cost": data(2, tag(1, FIXED32) + b"12") + A,
    "length_2gib_lie": tag(1, BYTES) + varint(0x7FFFFFFF) + A,
    "length_one_past_end": A + tag(1, BYTES) + varint(len(B) - 1) + B[2:],
    "length_past_message": data(1, tag(1, BYTES) + varint(9) + b"name") + A,
    "length_overlong": tag(1, BYTES) + b"\x80\x80\x80\x80\x80\x00" + A,
    "tag_overlong": A + b"\x8a\x80\x80\x80\x80\x00",
    "varint_overlong": data(1, tag(9, VARINT) + b"\xff" * 10 + b"\x01"),
    "field_number_zero": A + b"\x00\x00",
    "field_number_too_large": A + b"\x88\x80\x80\x80\x10\x00",
    "wire_type_of_number": data(1, data(1, b"a") + data(9, b"12")),
    "wire_type_of_string": data(1, number(1, 7)),
    "wire_type_of_message": A + number(1, 7),
    "wire_type_of_float": data(2, number(1, 7)) + A,
    "wire_type_unknown": A + b"\x0e",
    "group_not_closed": A + tag(50, GROUP) + number(1, 1),
    "group_closed_by_another": A + tag(50, GROUP) + tag(51, END),
    "group_not_opened": A + tag(50, END),
    "groups_too_deep": A + tag(50, GROUP) * 65 + tag(50, END) * 65,
    "group_in_place_of_node": A + tag(1, GROUP) + tag(1, END),
    "name_not_utf8": data(1, data(1, b"conv\xff1")),
    "name_with_zero_byte": data(1, data(1, b"conv\x001")),
    "not_a_cost_graph": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "no_nodes": data(2, data(2, b"dimension")),
    # Files of other kinds
    "other_graph_def": node_def("x") + node_def("y", data(3, b"x")),
    "other_graph_def_of_attributes":
        node_def("x", data(5, data(1, b"dtype") + data(2, number(6, 1)))),
    "other_run_metadata": data(1, data(1, data(1, b"/job:localhost")))
    + data(2, A) + data(3, node_def("x")),
    "other_tflite": b"\x1c\x00\x00\x00TFL3\x14\x00",
    "other_tflite_like_onnx": b"\x08\x00\x00\x00TFL3\x14\x00",
    "other_ort": b"\x14\x00\x00\x00ORTM\x00\x00",
    "other_hdf5": b"\x89HDF\r\n\x1a\n",
    "other_zip": b"PK\x03\x04\x14\x00",
    "other_pickle": b"\x80\x02}q\x00",
    "other_safetensors": b"\x10" + 7 * b"\x00" + b'{"w":{}}        ',
    "other_mlir_bytecode": b"ML\xefR\r",
    "other_gguf": b"GGUF\x03\x00\x00\x00",
    # The graph
    "duplicate_id": A + node("b", 1) + node("c", 1),
    "missing_producer": A + node("b", 1, inputs=[(0, 0), (7, 0)]),
    "missing_control": A + node("b", 1, controls=[7]),
    "port_out_of_range": A + node("b", 1, inputs=[(0, 1)]),
    "port_negative": A + node("b", 1, inputs=[(0, -1)]),
    "port_of_no_output": node("a") + node("b", 1, inputs=[(0, 0)]),
    "self_loop": A + node("b", 1, inputs=[(1, 0)], outputs=[4]),
    "control_self_loop": A + node("b", 1, controls=[1]),
    "cycle": A
    + node("b", 1, inputs=[(0, 0), (3, 0)], outputs=[4])
    + node("c", 2, inputs=[(1, 0)], outputs=[4])
    + node("d", 3, inputs=[(2, 0)], outputs=[4]),
    "cycle_of_controls": A + node("b", 1, controls=[2]) + node("c", 2, controls=[1]),
    "negative_cost": A + node("b", 1, rest=number(9, -5)),
    "negative_temporary": A + node("b", 1, rest=number(6, -1)),
    "negative_persistent": A + node("b", 1, rest=number(12, -8)),
    "negative_run_ns": A + node("b", 1, rest=number(1000, -1)),
    "overflow_cost": A + node("b", 1, rest=number(9, 1 << 60)),
    "overflow_size": A + node("b", 1, outputs=[(1 << 63) - 1]),
    "overflow_sum_of_sizes": node("a", outputs=[1 << 61]) + node("b", 1, outputs=[1 << 61]),
    "overflow_shape": node("a", outputs=[shape(1 << 40, 1 << 40)]),
}

for name, content in DEFECTS.items():
    (FOLDER / (name + ".pb")).write_bytes(content)
