# SPDX-License-Identifier: Apache-2.0
"""Graphs: built, from arrays and networkx, read, written, refused."""
import copy
import gzip
import os
import pickle
import threading
import time

import numpy as np
import pytest

import regal
from conftest import SOURCES


def rich():
    """Everything that a graph can have."""
    g = regal.Graph()
    weight = g.add_parameter(1 << 20)
    a = g.add_op("a", run_ns=10, outputs=[8, 16], temporary_bytes=3)
    b = g.add_op("b", 20, [32], inputs=[a, (a, 1)], parameters=[weight],
                 resident_bytes=5, may_reuse=[0], device=1)
    c = g.add_op("c", 30, control=[a], parameters=[weight], group="pair")
    g.add_op("d", 40, [64, 4], final=[1], inputs=[b], control=[c],
             group="pair", device="gpu0")
    return g


def test_ops_are_what_was_added():
    a, b, c, d = rich().ops
    assert a.outputs == [8, 16] and a.temporary_bytes == 3 and a.run_ns == 10
    assert b.inputs == [(0, 0), (0, 1)] and b.parameters == [0]
    assert b.resident_bytes == 5 and b.may_reuse == [0] and b.device == "1"
    assert c.control == [0] and c.group == "pair" and c.outputs == []
    assert d.final == [1] and d.device == "gpu0" and d.control == [2]


def test_info_and_names(diamond):
    assert len(diamond) == 4
    assert diamond.names == ["split", "left", "right", "join"]
    assert diamond.ids.tolist() == [0, 1, 2, 3]
    assert diamond.info.work_ns == 12000
    assert diamond.info.critical_ns == 7000
    assert diamond.notes == []
    assert repr(diamond) == "<regal.Graph: 4 ops, 4 tensors>"
    assert diamond.describe().startswith("ops             4\n")


def test_a_consumer_may_come_first():
    g = regal.Graph()
    last = g.add_op("last", inputs=[1])
    first = g.add_op("first", outputs=[4])
    assert (last, first) == (0, 1)
    assert g.ops[0].inputs == [(1, 0)]
    assert regal.optimize(g, evaluations=10).order.tolist() == [1, 0]


def test_a_used_graph_is_closed(diamond):
    len(diamond)
    for add in (lambda: diamond.add_op("late"),
                lambda: diamond.add_parameter(1),
                lambda: diamond.add_input(0, 1)):
        with pytest.raises(regal.MisuseError, match="the graph is in use"):
            add()


@pytest.mark.parametrize("build, message", [
    (lambda g: g.add_op("x", inputs=[7]), 'op "x" reads from op 7, but'),
    (lambda g: g.add_op("x", run_ns=-1), "run time -1 is negative"),
    (lambda g: g.add_op("x", inputs=[0]), 'op "x" reads its own output 0'),
    (lambda g: (g.add_op("x", outputs=[4], inputs=[1]),
                g.add_op("y", outputs=[4], inputs=[0])),
     '^cycle: "x" -> "y" -> "x"$'),
    (lambda g: None, "the graph has no ops"),
])
def test_bad_graphs_are_refused(build, message):
    g = regal.Graph()
    with pytest.raises(regal.Error, match=message):
        build(g)
        len(g)


def test_a_failed_graph_stays_failed():
    g = regal.Graph()
    g.add_op("x", inputs=[7])
    for _ in range(2):
        with pytest.raises(regal.InputError, match="7"):
            len(g)


@pytest.mark.parametrize("given, message", [
    (dict(run_ns=1.5), "run_ns: found 1.5, expected a whole number"),
    (dict(run_ns="7"), "run_ns: found '7', expected a whole number"),
    (dict(run_ns=1 << 63), "run_ns: found 9223372036854775808, expected -92"),
    (dict(outputs=[float("nan")]), "outputs: found nan, expected a whole"),
    (dict(outputs=[4, -1]), "outputs: found -1, expected 0 to 9223372036854"),
    (dict(outputs=7), "outputs: found 7, expected a list"),
    (dict(outputs=[1, 2], final=[False, True]), "final: found False, expected"),
    (dict(inputs=0), "inputs: found 0, expected a list"),
    (dict(control="ab"), "control: found 'ab', expected a list"),
    (dict(device=float("nan")), "device: found nan, expected a number or a n"),
    (dict(device=True), "device: found True, expected a number or a name"),
    (dict(device=""), "device: found '', expected a number or a name"),
    (dict(device="64"), "device: found 64, expected 0 to 63"),
    (dict(group=float("nan")), "group: found nan, expected a number or a name"),
    (dict(group="a\0b"), "expected a text without"),
    (dict(inputs=[-1]), "inputs: found -1, expected 0 to 4294967295"),
    (dict(inputs=[(0, 1, 2)]), r"inputs: found \(0, 1, 2\), expected an op or"),
    (dict(control=[1 << 32]), "control: found 4294967296, expected 0 to"),
    (dict(parameters=[None]), "parameters: found None, expected a whole"),
    (dict(may_reuse=[-1]), "may_reuse: found -1, expected 0"),
    (dict(name="a\0b"), "expected a text without"),
])
def test_numbers_and_names_that_c_cannot_hold_are_refused(given, message):
    g = regal.Graph()
    with pytest.raises(regal.MisuseError, match=message):
        g.add_op(**given)
    g.add_op("x", run_ns=1e3, outputs=np.array([4.0]))
    assert [op.name for op in g.ops] == ["x"]  # nothing else was added
    assert g.ops[0].run_ns == 1000


def test_an_op_that_is_added_in_part_is_never_used():
    g = regal.Graph()
    for use in (lambda: g.add_op("x", outputs=[5, 1 << 62]),
                lambda: g.add_op("y"), lambda: len(g)):
        with pytest.raises(regal.InputError, match='op "x": with its output'):
            use()


@pytest.mark.parametrize("add", [
    lambda g: g.add_op("x"), lambda g: g.add_parameter(1),
    lambda g: g.add_input(0, 1), lambda g: g.add_control(0, 1)])
def test_threads_build_a_graph_one_at_a_time(add):
    g = regal.Graph()
    thread = threading.Thread(target=add, args=(g,))
    with g._lock:  # as another thread that adds has it
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
    thread.join()


def test_final_may_be_an_array():
    g = regal.Graph()
    g.add_op("a", outputs=np.array([4, 5, 6]), final=np.array([0, 2]))
    g.add_op("b", outputs=[4, 5], final=np.True_)
    g.add_op("c", outputs=[4, 5], final=False)
    assert [op.final for op in g.ops] == [[0, 2], [0, 1], []]


def test_an_op_may_have_many_outputs():
    """The time does not grow with their square."""
    began, count = time.monotonic(), 50_000
    g = regal.Graph()
    g.add_op("a", outputs=[1] * count, final=True)
    again = regal.Graph.from_arrays(**g.to_arrays())
    assert again.ops == g.ops and len(g.ops[0].final) == count
    assert time.monotonic() - began < 5


def test_copies_of_a_graph(diamond):
    g = regal.Graph()
    g.add_op("a")
    assert g  # asking does not end the construction
    with pytest.raises(regal.MisuseError, match="cannot be copied"):
        copy.copy(g)
    g.add_op("b")
    assert len(g) == 2
    assert len(diamond) == 4 and copy.copy(diamond) is diamond
    assert copy.deepcopy([diamond])[0] is diamond
    with pytest.raises(TypeError, match="regal.Graph cannot be pickled"):
        pickle.dumps(diamond)


def test_final_ports_are_checked():
    with pytest.raises(regal.MisuseError, match="final: there is no output 1"):
        regal.Graph().add_op("x", outputs=[4], final=[1])


def test_arrays_make_the_same_graph():
    g = rich()
    again = regal.Graph.from_arrays(**g.to_arrays())
    assert again.info == g.info
    assert again.ops == g.ops


def test_arrays_of_a_file_make_the_same_graph(demo):
    again = regal.Graph.from_arrays(**demo.to_arrays())
    assert again.info.critical_ns == demo.info.critical_ns
    assert again.info.tensor_bytes == demo.info.tensor_bytes
    assert again.info.data_edges == demo.info.data_edges


def test_ids_have_no_gaps_in_a_graph_that_was_made_again(tmp_path):
    pytest.importorskip("networkx")
    g = regal.Graph.load(SOURCES / "tests" / "hlo" / "good" / "step.hlo.pb")
    g.save(tmp_path / "g.json")
    assert g.ids.tolist() != list(range(len(g)))
    for again in (regal.Graph.from_arrays(**g.to_arrays()),
                  regal.Graph.from_networkx(g.to_networkx()),
                  regal.Graph.load(tmp_path / "g.json")):
        assert again.ids.tolist() == list(range(len(g)))
        for mine, theirs in zip(again.ops, g.ops):
            assert theirs.id == g.ids[mine.id]
            assert mine.name == theirs.name
            assert theirs.inputs == [(g.ids[op], port)
                                     for op, port in mine.inputs]


def test_plain_arrays():
    g = regal.Graph.from_arrays(np.array([5, 6, 7]),
                                tensors=np.array([1, 2, 3]),
                                edges=([0, 1], [1, 2]))
    assert [op.outputs for op in g.ops] == [[1], [2], [3]]
    assert g.ops[2].inputs == [(1, 0)]
    assert g.names == ["op0", "op1", "op2"]


@pytest.mark.parametrize("arrays, message", [
    (dict(run_ns=[1.5]), "run_ns: found an array of 1 dimensions and type "
     "float64, expected one dimension of whole numbers"),
    (dict(run_ns=[1], names=["a", "b"]), "names: found 2 entries, expected 1"),
    (dict(run_ns=[1], edges=([0], [0], [0], [0])), "edges: found 4 arrays"),
    (dict(run_ns=[1, 2, 3], edges=[(0, 1), (0, 2)]),
     r"edges: found a list of tuples, .* tuple\(zip\(\*edges\)\)"),
    (dict(run_ns=[1, 2], edges=([0], [0, 1])), "lengths .1, 2."),
    (dict(run_ns=[1], tensors=([3], [4])), "tensors: there is no op 3"),
    (dict(run_ns=[1], tensors=([0], None)), "tensors: found 0 entries, expec"),
    (dict(run_ns=[1], final=[True]), "final: found 1 entries, expected 0"),
    (dict(run_ns=[1], edges=([-1], [0])), "edges: found -1, expected 0 to"),
    (dict(run_ns=np.array([1 << 63], np.uint64)),
     "run_ns: found 9223372036854775808, expected"),
    (dict(run_ns=[1], may_reuse=[True]),
     "may_reuse: found 1 entries, expected 0"),
    (dict(run_ns=[1, 2], tensors=[3, 4], final=[1, 2]),
     r"final: found \[1, 2\], expected a list of True and False"),
    (dict(run_ns=[1, None]), "run_ns: found None, expected a whole number"),
    (dict(run_ns=[1, 2], names="ab"), "names: found 'ab', expected a list"),
    (dict(run_ns=[1, 2], edges=7), "edges: found 7, expected a list"),
    (dict(run_ns=[1, 2], tensors=7), "tensors: found an array of 0 dimens"),
])
def test_bad_arrays_are_refused(arrays, message):
    with pytest.raises(regal.MisuseError, match=message):
        regal.Graph.from_arrays(**arrays)


def test_arrays_of_any_layout_and_type():
    g = regal.Graph.from_arrays(
        np.arange(10, dtype=np.int16)[::-4],
        tensors=np.arange(6, dtype=">i4")[::2],
        edges=(np.array([0, 1], np.uint8), np.array([1, 2], np.uint64)))
    assert [op.run_ns for op in g.ops] == [9, 5, 1]
    assert [op.outputs for op in g.ops] == [[0], [2], [4]]
    assert g.ops[2].inputs == [(1, 0)]
    two = regal.Graph.from_arrays([1, 2], tensors=(64, 8))
    assert [op.outputs for op in two.ops] == [[64], [8]]


class Labelled(list):
    """A Series of pandas: v[i] is not its i-th value."""

    def __getitem__(self, i):
        return super().__getitem__(~i)


def test_arrays_are_read_in_their_order():
    g = regal.Graph.from_arrays(
        [1, 2, 3], tensors=Labelled([4, 5, 6]), names=Labelled("abc"),
        final=Labelled([True, False, False]), devices=Labelled([0, "x", None]),
        groups=Labelled(["p", None, 7]), may_reuse=Labelled([0, 0, 1]))
    assert [(op.name, op.outputs, op.final, op.may_reuse, op.device, op.group)
            for op in g.ops] == [("a", [4], [0], [], "0", "p"),
                                 ("b", [5], [], [], "x", None),
                                 ("c", [6], [], [0], None, "7")]


def test_bytes_are_counted_whatever_they_are_given_as(tmp_path):
    path = tmp_path / "g.json"
    plain().save(path)
    data = path.read_bytes()
    data += b" " * (-len(data) % 4)
    for given in (bytearray(data), memoryview(data).cast("i")):
        assert regal.Graph.loads(given).ops == plain().ops


def test_networkx_makes_the_same_graph():
    pytest.importorskip("networkx")
    g = rich()
    again = regal.Graph.from_networkx(g.to_networkx())
    assert again.info == g.info
    assert again.ops == g.ops


def test_networkx_keeps_the_order_of_inputs():
    """Of two inputs that an output may be written over the first counts."""
    pytest.importorskip("networkx")
    g = regal.Graph()
    g.add_op("a", outputs=[4, 8])
    g.add_op("b", outputs=[6])
    g.add_op("c", outputs=[4], inputs=[(1, 0)], may_reuse=[0])
    g.add_op("d", outputs=[4], inputs=[(0, 1), (1, 0), (0, 0)], may_reuse=[0])
    again = regal.Graph.from_networkx(g.to_networkx())
    assert again.ops == g.ops and again.info == g.info


def test_a_plain_networkx_graph():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(TypeError, match="found a list, expected a networkx"):
        regal.Graph.from_networkx([])
    source = networkx.DiGraph()
    source.add_node("x", run_ns=7)
    source.add_edge("x", "y", bytes=10)
    source.add_edge("x", "z", bytes=30)
    source.add_edge("y", "z", control=True)
    with pytest.raises(regal.MisuseError, match="is undirected"):
        regal.Graph.from_networkx(source.to_undirected())
    g = regal.Graph.from_networkx(source)
    assert g.names == ["x", "y", "z"]
    assert g.ops[0].outputs == [30] and g.ops[0].run_ns == 7
    assert g.ops[2].inputs == [(0, 0)] and g.ops[2].control == [1]


@pytest.mark.parametrize("ending", [".json", ".pb", ".pbtxt"])
def test_files_hold_the_graph(tmp_path, ending):
    g = rich() if ending == ".json" else plain()
    path = tmp_path / ("g" + ending)
    g.save(path)
    assert regal.Graph.load(path).info.checksum == g.info.checksum
    loaded = regal.Graph.loads(path.read_bytes(), name="mine")
    assert loaded.ops == g.ops


def plain():
    g = regal.Graph()
    a = g.add_op("a", run_ns=1000, outputs=[8])
    g.add_op("b", run_ns=2000, outputs=[8], inputs=[a])
    return g


def test_file_errors_have_the_librarys_message(tmp_path):
    with pytest.raises(regal.FileError, match="absent.pb"):
        regal.Graph.load(tmp_path / "absent.pb")
    with pytest.raises(regal.InputError, match="^mine:1"):
        regal.Graph.loads(b'{"regal_graph": 1, "ops": [}', name="mine")
    with pytest.raises(regal.InputError, match=r"not end in .*, \.txt or \.json$"):
        plain().save(tmp_path / "g.xyz")
    assert list(tmp_path.iterdir()) == []


def test_reading_options(demo):
    with pytest.raises(regal.InputError, match="loops"):
        regal.Graph.loads(b"", loops="never")
    with pytest.raises(TypeError, match="takes no option 'devices'"):
        regal.Graph.loads(b"", devices=3)
    with pytest.raises(regal.InputError,
                       match="unknown option --no-such-option"):
        regal.Graph.loads(b"", no_such_option=3)


def test_the_limit_of_inputs_is_kept(tmp_path):
    path = tmp_path / "g.json"
    plain().save(path)
    packed = tmp_path / "g.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for given in (path, packed):
        assert len(regal.Graph.load(given, max_input="1KiB")) == 2
        with pytest.raises(regal.InputError, match="larger than 9 B"):
            regal.Graph.load(given, max_input=9)
    with pytest.raises(regal.InputError, match="9 B"):
        regal.Graph.loads(packed.read_bytes(), max_input=9)


def test_graphs_come_from_stdin(tmp_path, monkeypatch):
    plain().save(tmp_path / "g.json")
    with open(tmp_path / "g.json") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert regal.Graph.load("-").ops == plain().ops
    with open(os.devnull) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(regal.InputError, match="^stdin: the file is empty"):
            regal.Graph.load("-")


def test_notes(demo):
    model = SOURCES / "tests" / "graphs" / "onnx" / "transformer.onnx"
    notes = regal.Graph.load(model, roofline="a100").notes
    assert notes and all(note.text for note in notes)
    assert {note.kind for note in notes} <= {
        "assumed", "dropped", "joined", "warning"}
    assert demo.notes == []


def test_modules_of_xla(tmp_path):
    g = regal.Graph.load(SOURCES / "tests" / "hlo" / "good" / "step.hlo.pb")
    assert g.info.has_schedule
    assert 0 < g.info.schedule_peak_bytes <= g.info.reported_peak_bytes
    result = regal.optimize(g, regal.Machine(1), objective="memory",
                            start="schedule", evaluations=50)
    assert result.peak_bytes[0] < g.info.schedule_peak_bytes
    result.save(tmp_path / "step.order")
    lines = (tmp_path / "step.order").read_text().split()
    assert sorted(lines) == sorted(op.name for op in g.ops)
