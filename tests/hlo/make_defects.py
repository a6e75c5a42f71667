#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the malformed modules of this folder, one for each defect: NAME.hlo
as text, NAME.hlopb binary.

The message that each gives is in NAME.message; after a change, run
test_hlo_parse with REGAL_REFRESH=1 and review the diff.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.dont_write_bytecode = True
from wire import data, number  # noqa: E402

HEAD = "HloModule m, is_scheduled=true\n\n"


def entry(*lines):
    return "ENTRY main {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def body(name, *lines):
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n\n"


P = "p = f32[8]{0} parameter(0)"
PAIR = body("pair", "a = f32[] parameter(0)", "b = f32[] parameter(1)",
            "ROOT s = f32[] add(a, b)")
TEXTS = {
    # Syntax.
    "text_header_alone": "HloModule m\n",
    "text_header_nameless": "HloModule , is_scheduled=true\n",
    "text_cut_in_instruction": HEAD + "ENTRY main {\n  p = f32[8]{0} param",
    "text_cut_in_shape": HEAD + "ENTRY main {\n  p = f32[8",
    "text_cut_in_attribute": HEAD + "ENTRY main {\n  " + P +
    ", metadata={op_name=\"a",
    "text_no_shape": HEAD + entry("p = parameter(0)"),
    "text_no_type": HEAD + entry("p = f33[8]{0} parameter(0)"),
    "text_no_opcode": HEAD + entry("p = f32[8]{0} (0)"),
    "text_number_too_long":
    HEAD + entry("p = f32[99999999999999999999] parameter(0)"),
    "text_attribute_valueless": HEAD + entry(P, "ROOT n = f32[8]{0} negate(p), x"),
    "text_two_entries": HEAD + entry(P, "n = f32[8] negate(p)") +
    entry(P, "n = f32[8] negate(p)"),
    "text_two_modules": HEAD + entry(P, "n = f32[8] negate(p)") + HEAD,
    "text_two_roots": HEAD + entry("ROOT " + P, "ROOT n = f32[8] negate(p)"),
    "text_empty_computation": HEAD + "ENTRY main {\n}\n",
    "text_cut_in_signature": HEAD + "ENTRY main (p: f32[8]",
    "text_behind_signatures": HEAD +
    body("f (p: f32[8],\n   q: (f32[], f32[])) -> f32[8]{0}", P,
         "ROOT n = f32[8]{0} negate(p)") +
    "ENTRY main (p: f32[8]) -> f32[8] {\n  p = f33[8]{0} parameter(0)\n}\n",
    "text_tuples_too_deep": HEAD + entry(
        "p = " + "(" * 40 + "f32[]" + ")" * 40 + " parameter(0)"),
    # References.
    "operand_unknown": HEAD + entry(P, "ROOT n = f32[8]{0} negate(q)"),
    "operand_its_own": HEAD + entry(P, "ROOT n = f32[8]{0} negate(n)"),
    "operand_later": HEAD + entry(
        P, "a = f32[8]{0} negate(b)", "ROOT b = f32[8]{0} negate(a)"),
    "control_unknown": HEAD + entry(
        P, "ROOT n = f32[8]{0} negate(p), control-predecessors={x}"),
    "control_later": HEAD + entry(
        P, "a = f32[8]{0} negate(p), control-predecessors={b}",
        "ROOT b = f32[8]{0} negate(p)"),
    "name_twice": HEAD + entry(P, "p = f32[8]{0} negate(p)"),
    "computation_unknown": HEAD + entry(
        P, "ROOT c = f32[8]{0} call(p), to_apply=f"),
    "computation_twice": HEAD + PAIR + PAIR + entry(
        P, "ROOT n = f32[8]{0} negate(p)"),
    "parameter_twice": HEAD + entry(P, "q = f32[8]{0} parameter(0)",
                                    "ROOT n = f32[8]{0} add(p, q)"),
    "parameter_out_of_range": HEAD + entry("p = f32[8]{0} parameter(3)",
                                           "ROOT n = f32[8]{0} negate(p)"),
    # Recursion.
    "recursion": HEAD + body("f", P, "ROOT c = f32[8]{0} call(p), to_apply=f") +
    entry(P, "ROOT c = f32[8]{0} call(p), to_apply=f"),
    "recursion_of_two": HEAD +
    body("f", P, "ROOT c = f32[8]{0} call(p), to_apply=g") +
    body("g", P, "ROOT d = f32[8]{0} call(p), to_apply=f") +
    entry(P, "ROOT c = f32[8]{0} call(p), to_apply=f"),
    "entry_calls_itself":
    HEAD + entry(P, "ROOT c = f32[8]{0} call(p), to_apply=main"),
    # Calls.
    "call_without_computation": HEAD + entry(P, "ROOT c = f32[8]{0} call(p)"),
    "call_with_too_few": HEAD + PAIR + entry(
        P, "ROOT c = f32[] call(p), to_apply=pair"),
    "call_result_differs": HEAD + body(
        "f", P, "ROOT t = (f32[8]{0}, f32[8]{0}) tuple(p, p)") + entry(
            P, "ROOT c = f32[8]{0} call(p), to_apply=f"),
    "call_operand_differs": HEAD + body(
        "f", "t = (f32[], f32[]) parameter(0)",
        "ROOT e = f32[] get-tuple-element(t), index=0") + entry(
            P, "ROOT c = f32[] call(p), to_apply=f"),
    "fusion_without_computation":
    HEAD + entry(P, "ROOT c = f32[8]{0} fusion(p), kind=kLoop"),
    "text_attribute_twice": HEAD + PAIR +
    entry(P, "ROOT c = f32[8]{0} call(p), to_apply=pair, to_apply=pair"),
    "while_body_empty": HEAD +
    entry(P, "ROOT w = f32[8]{0} while(p), body={}, condition={}"),
    "while_without_body": HEAD + body("f", P, "ROOT t = pred[] constant(true)") +
    entry(P, "ROOT w = f32[8]{0} while(p), condition=f"),
    "while_result_differs": HEAD +
    body("c", "p = (f32[]) parameter(0)", "ROOT t = pred[] constant(true)") +
    body("b", "ROOT p = (f32[]) parameter(0)") + entry(
        "p = (f32[]) parameter(0)",
        "ROOT w = (f32[], f32[]) while(p), condition=c, body=b"),
    "conditional_with_too_few": HEAD + body("f", "ROOT " + P) + entry(
        P, "ROOT c = f32[8]{0} conditional(p), branch_computations={f, f}"),
    # Shapes.
    "shape_too_large": HEAD + entry(
        "p = f32[4611686018427387904] parameter(0)",
        "ROOT n = f32[4611686018427387904] negate(p)"),
    "shape_product_too_large": HEAD + entry(
        "p = f32[4294967296,4294967296]{1,0} parameter(0)",
        "ROOT n = f32[4294967296,4294967296]{1,0} negate(p)"),
    "tuple_too_large": HEAD + entry(
        "p = (s8[4611686018427387903], s8[4611686018427387903]) parameter(0)"),
    "outputs_too_large": HEAD + entry(
        P, "a = s8[4611686018427387903] custom-call(p)",
        "b = s8[4611686018427387903] custom-call(p)",
        "ROOT c = pred[] custom-call(a, b)"),
    "parameters_too_large": HEAD + entry(
        "p = s8[4611686018427387903] parameter(0)",
        "q = s8[4611686018427387903] parameter(1)",
        "ROOT n = pred[] custom-call(p, q)"),
    "constants_too_large": HEAD + body(
        "f", "a = s8[4611686018427387903] constant({...})",
        "ROOT b = s8[] constant(1)") + entry(
            "ROOT c = s8[] call(), to_apply=f"),
    "constants_of_branches_too_large": HEAD + "".join(
        body(f"f{i}", "p = s8[] parameter(0)",
             "a = s8[2305843009213693952] constant({...})",
             "ROOT b = s8[] negate(p)") for i in range(4)) + body(
                 "g", "p = s32[] parameter(0)", "q = s8[] parameter(1)",
                 "ROOT c = s8[] conditional(p, q, q, q, q), "
                 "branch_computations={f0, f1, f2, f3}") + entry(
                     "p = s32[] parameter(0)", "q = s8[] parameter(1)",
                     "ROOT c = s8[] call(p, q), to_apply=g"),
    "temporary_too_large": HEAD + body(
        "f", "a = s8[3458764513820540928] iota(), iota_dimension=0",
        "ROOT b = s8[] custom-call(a)") + body(
            "g", "a = s8[3458764513820540928] iota(), iota_dimension=0",
            "b = s8[] call(), to_apply=f",
            "ROOT c = s8[] custom-call(a, b)") + entry(
                "ROOT c = s8[] call(), to_apply=g"),
    "dimension_negative": HEAD + entry("p = f32[-8] parameter(0)"),
    "dimension_unbounded": HEAD + entry("p = f32[?] parameter(0)"),
    "layout_no_permutation": HEAD + entry("p = f32[8,8]{1,1} parameter(0)"),
    "layout_out_of_range": HEAD + entry("p = f32[8,8]{1,2} parameter(0)"),
    "tuple_parts_differ": HEAD + entry(
        P, "ROOT t = (f32[8]{0}) tuple(p, p)"),
    "tuple_part_is_tuple": HEAD + entry(
        P, "ROOT t = ((f32[8]{0}, f32[8]{0})) tuple(p)"),
    "element_out_of_range": HEAD + entry(
        P, "t = (f32[8]{0}) tuple(p)",
        "ROOT e = f32[8]{0} get-tuple-element(t), index=1"),
    "element_of_array": HEAD + entry(
        P, "ROOT e = f32[8]{0} get-tuple-element(p), index=0"),
    "element_negative": HEAD + entry(
        P, "t = (f32[8]{0}) tuple(p)",
        "ROOT e = f32[8]{0} get-tuple-element(t), index=-1"),
    "element_is_tuple": HEAD + entry(
        P, "t = (f32[8]{0}) tuple(p)",
        "ROOT e = (f32[8]{0}, f32[8]{0}) get-tuple-element(t), index=0"),
    "bitcast_of_nothing": HEAD + entry("ROOT b = f32[8]{0} bitcast()"),
    "bitcast_of_tuple": HEAD + entry(
        P, "t = (f32[8]{0}, f32[8]{0}) tuple(p, p)",
        "ROOT b = f32[8]{0} bitcast(t)"),
    # The whole.
    "nothing_runs": HEAD + entry("ROOT " + P),
    "run_time_too_large": HEAD + entry(
        "p = f32[2000000000,1000000] parameter(0)",
        "q = f32[1000000,2000000000] parameter(1)",
        "ROOT d = f32[2000000000,200000000] dot(p, q), "
        "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"),
    "trips_too_many": HEAD +
    body("c", P, "ROOT t = pred[] custom-call(p)") +
    body("b", P, "ROOT n = f32[8]{0} custom-call(p)") + entry(
        P, "ROOT w = f32[8]{0} while(p), condition=c, body=b, "
        "backend_config={\"known_trip_count\":{\"n\":\"9000000000000000000\"}}"),
}


# XLA's messages.
F32, TUPLE = 11, 13


def shape(*dims, kind=F32, parts=()):
    return (number(2, kind) + b"".join(number(3, dim) for dim in dims) +
            b"".join(data(4, part) for part in parts))


def instruction(name, opcode, own, operands=(), calls=(), control=(),
                of=shape(8), rest=b""):
    return data(2, data(1, name) + data(2, opcode) +
                (data(3, of) if of else b"") + rest + number(35, own) +
                b"".join(number(36, i) for i in operands) +
                b"".join(number(37, i) for i in control) +
                b"".join(number(38, i) for i in calls))


def computation(name, own, root, *instructions):
    return data(3, data(1, name) + b"".join(instructions) + number(5, own) +
                number(6, root))


def module(*computations, entry=1, rest=b""):
    return (data(1, "m") + data(2, "main") + b"".join(computations) +
            number(6, entry) + rest)


def schedule(**sequences):
    return data(7, b"".join(
        data(1, number(1, int(key[1:])) +
             data(2, b"".join(number(1, i) for i in ids)))
        for key, ids in sequences.items()))


A = instruction("p", "parameter", 1)
N = instruction("n", "negate", 2, [1])
GOOD = module(computation("main", 1, 2, A, N))
BINARIES = {
    "cut_in_computation": GOOD[:20],
    "cut_in_entry_id": GOOD[:-1],
    "length_lie": GOOD[:2] + b"\x7f" + GOOD[3:40],
    "id_operand_unknown": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [7]))),
    "id_operand_later": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [2]))),
    "id_control_unknown": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [1], control=[-1]))),
    "id_computation_unknown": module(computation(
        "main", 1, 2, A, instruction("c", "call", 2, [1], [5]))),
    "id_twice": module(computation("main", 1, 2, A, N,
                                   instruction("o", "negate", 2, [1]))),
    "id_of_computation_twice": module(computation("main", 1, 2, A, N),
                                      computation("other", 1, 2, A, N)),
    "id_of_root_unknown": module(computation("main", 1, 9, A, N)),
    "id_of_entry_unknown": module(computation("main", 1, 2, A, N), entry=4),
    "no_instructions": module(computation("main", 1, 2)),
    "no_shape": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [1], of=None))),
    "type_unknown": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [1],
                                     of=shape(8, kind=99)))),
    "binary_recursion": module(
        computation("main", 1, 2, A,
                    instruction("c", "call", 2, [1], [2])),
        computation("f", 2, 2, A, instruction("d", "call", 2, [1], [2]))),
    "binary_shape_too_large": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [1],
                                     of=shape(1 << 40, 1 << 40)))),
    "binary_dimension_unbounded": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [1],
                                     of=shape(-1 << 63)))),
    "shapes_too_deep": module(computation(
        "main", 1, 2, A, instruction("n", "negate", 2, [1], of=(
            lambda f: f(f, 120))(lambda f, n: shape() if not n else shape(
                kind=TUPLE, parts=[f(f, n - 1)]))))),
    "schedule_incomplete": module(computation("main", 1, 2, A, N),
                                  rest=schedule(_1=[1])),
    "schedule_twice": module(computation("main", 1, 2, A, N),
                             rest=schedule(_1=[1, 1])),
    "schedule_unknown": module(computation("main", 1, 2, A, N),
                               rest=schedule(_1=[1, 6])),
    "schedule_of_one_twice": module(
        computation("main", 1, 2, A, N),
        rest=schedule(_1=[1, 2]) + schedule(_1=[1, 2])),
    "schedule_not_topological": module(computation("main", 1, 2, A, N),
                                       rest=schedule(_1=[2, 1])),
}


def main():
    for name, text in TEXTS.items():
        (HERE / f"{name}.hlo").write_text(text)
    for name, content in BINARIES.items():
        (HERE / f"{name}.hlopb").write_bytes(content)


main()
