# SPDX-License-Identifier: Apache-2.0
"""Graphs: built op by op, from arrays, from networkx, or read from files.

A graph is under construction until it is first used; then the library checks
and sorts it, and it never changes again. Ops are named by their ids: the numbers
that `add_op` returned, or positions in the file. Where a reader joined nodes,
some ids have no op; `Graph.ids` has those that have one, ascending, and `names`,
`ops` and the arrays are in the order of `ids`.
"""
import sys
import threading
import types
from typing import (Any, Dict, Iterable, Iterator, List, NamedTuple, Optional,
                    SupportsIndex, Tuple, Union)

import numpy as np

from ._arrays import (MOST, GraphArrays, Numbers, amount, column, column_of,
                      device_label, final_ports, index, label, listed, rows,
                      tensors_of, truths, vector, whole)
from ._library import (Context, Error, Handle, MisuseError, Options, PathLike,
                       Unchanging, decode, encode, enum_names, ffi, lib,
                       path_bytes, report_text)
from ._networkx import fill, networkx_of

Input = Union[SupportsIndex, Tuple[SupportsIndex, SupportsIndex]]


class GraphInfo(NamedTuple):
    """Statistics of a graph; the fields are those of C's regal_graph_info."""
    ops: int
    tensors: int
    data_edges: int
    control_edges: int
    file_nodes: int
    work_ns: int
    critical_ns: int
    tensor_bytes: int
    resident_bytes: int
    checksum: int
    parameters: int
    reusing_tensors: int
    has_schedule: bool        # the order of ops is XLA's
    schedule_peak_bytes: int  # of that order on one device
    reported_peak_bytes: int  # by XLA; 0: the file does not say


class Note(NamedTuple):
    """What the reader of a file assumed, dropped, joined, or warns of."""
    kind: str
    text: str


class Op(NamedTuple):
    """One op of a graph."""
    id: int
    name: str
    run_ns: int
    temporary_bytes: int
    resident_bytes: int
    outputs: List[int]               # bytes of each output
    final: List[int]                 # outputs that live to the end
    may_reuse: List[int]             # outputs that may overwrite an input
    inputs: List[Tuple[int, int]]    # (producer, output)
    control: List[int]               # ops that must end before
    parameters: List[int]
    device: Optional[str]
    group: Optional[str]


class Graph(Unchanging):
    """A computation graph: ops, their outputs, and who reads what.

    >>> g = Graph()
    >>> a = g.add_op("a", run_ns=1000, outputs=[4096])
    >>> b = g.add_op("b", run_ns=2000, outputs=[64], final=[0], inputs=[a])
    >>> len(g)
    2
    """

    #: What a framework's module made it of, for plans that run.
    _source: Any = None
    _builder: Optional[Handle] = None
    _graph: Optional[Handle] = None
    _failure: Optional[Error] = None
    _read: Optional[GraphArrays] = None
    _names: Optional[List[str]] = None

    def __init__(self) -> None:
        self._context = Context()
        self._lock = threading.Lock()  # held while the builder is used
        self._builder = self._context.make(
            "regal_builder", lib.regal_builder_create, lib.regal_builder_free)

    # -- Building --------------------------------------------------------------

    def _open(self) -> Any:
        """The builder; the lock must be held."""
        if self._builder is None:
            self._refuse_failed()
            raise MisuseError("the graph is in use: nothing can be added")
        return self._builder.pointer

    def _refuse_failed(self) -> None:
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args)

    def _fail(self, problem: BaseException) -> None:
        """The graph remains failed. What was added in part would stay as if it
        were all."""
        self._builder = None
        self._failure = (problem if isinstance(problem, Error) else
                         MisuseError("adding to the graph was interrupted"))

    def add_op(self, name: str = "", run_ns: SupportsIndex = 0,
               outputs: Numbers = (), *,
               final: Union[bool, Numbers] = (),
               inputs: Iterable[Input] = (),
               control: Numbers = (), parameters: Numbers = (),
               temporary_bytes: SupportsIndex = 0,
               resident_bytes: SupportsIndex = 0, may_reuse: Numbers = (),
               device: Union[None, SupportsIndex, str] = None,
               group: Union[None, SupportsIndex, str] = None) -> int:
        """Adds an op and returns its id.

        outputs: the bytes of each output. final: the outputs (positions in
        `outputs`, or True for all) that live to the end. inputs: the ops whose
        output is read, `a` or `(a, output)`. control: ops that must end before.
        parameters: what `add_parameter` returned. may_reuse: outputs that may be
        written over an input that is no longer needed. device: where it must
        run, a number or a name. group: ops of one group share a device.
        Ops and parameters that are named may be added later.
        """
        # All is looked at before the op is added: it would stay.
        sizes = [whole("outputs", size, 0, MOST)
                 for size in listed("outputs", outputs)]
        last = final_ports(final, len(sizes))
        details: List[Tuple[Any, ...]] = [
            (lib.regal_builder_add_output, size, port in last)
            for port, size in enumerate(sizes)]
        details += [(lib.regal_builder_add_input, *_tensor(source))
                    for source in listed("inputs", inputs)]
        details += [(_add_control, index("control", before))
                    for before in listed("control", control)]
        details += [(lib.regal_builder_add_parameter_use,
                     index("parameters", number))
                    for number in listed("parameters", parameters)]
        details += [(lib.regal_builder_set_may_reuse, index("may_reuse", port))
                    for port in listed("may_reuse", may_reuse)]
        if device is not None:
            details.append((lib.regal_builder_set_device,
                            encode(device_label(device))))
        if group is not None:
            details.append((lib.regal_builder_set_group,
                            encode(label("group", group))))
        place = ffi.new("uint32_t *")
        op = (encode(name), amount("run_ns", run_ns),
              amount("temporary_bytes", temporary_bytes),
              amount("resident_bytes", resident_bytes), place)
        with self._lock:
            builder, check = self._open(), self._context.check
            check(lib.regal_builder_add_op(builder, *op))
            try:
                for add, *detail in details:
                    check(add(builder, place[0], *detail))
            except BaseException as problem:
                self._fail(problem)
                raise
        return int(place[0])

    def add_parameter(self, size: SupportsIndex) -> int:
        """Adds a weight of so many bytes that ops may share; its number."""
        place, given = ffi.new("uint32_t *"), amount("size", size)
        with self._lock:
            self._context.check(lib.regal_builder_add_parameter(
                self._open(), given, place))
        return int(place[0])

    def add_input(self, consumer: SupportsIndex, producer: SupportsIndex,
                  port: SupportsIndex = 0) -> None:
        """`consumer` reads an output of `producer`."""
        edge = (index("consumer", consumer), index("producer", producer),
                index("port", port))
        with self._lock:
            self._context.check(lib.regal_builder_add_input(self._open(),
                                                            *edge))

    def add_control(self, before: SupportsIndex, after: SupportsIndex) -> None:
        """`after` waits for the end of `before`."""
        edge = index("before", before), index("after", after)
        with self._lock:
            self._context.check(lib.regal_builder_add_control(self._open(),
                                                              *edge))

    @property
    def handle(self) -> Handle:
        """The library's graph; the first use ends the construction."""
        with self._lock:
            if self._graph is None:
                self._graph = self._finish()
            return self._graph

    def _finish(self) -> Handle:
        self._refuse_failed()
        builder, self._builder = self._builder, None
        assert builder is not None
        builder.forget()  # freed whatever happens
        try:
            return self._context.make(
                "regal_graph",
                lambda c, place: lib.regal_builder_finish(builder.pointer,
                                                          place),
                lib.regal_graph_free)
        except BaseException as problem:
            self._fail(problem)
            raise

    @property
    def pointer(self) -> Any:
        """The library's graph, as cffi has it."""
        return self.handle.pointer

    # -- Files -----------------------------------------------------------------

    @classmethod
    def _of(cls, context: Context, handle: Handle) -> "Graph":
        graph = cls.__new__(cls)
        graph._context = context
        graph._lock = threading.Lock()
        graph._graph = handle
        return graph

    @classmethod
    def load(cls, path: PathLike, **reading: Any) -> "Graph":
        """Reads a file: CostGraphDef, JSON, ONNX, XLA's HLO or StableHLO, plain
        or compressed, or a graph of an archive, "ARCHIVE:NAME".

        Keyword arguments are the options of groups "reading" and "limits", such
        as `dim="batch=8"` or `roofline="a100"`. The path "-" is stdin.
        """
        if path == "-":  # by Python, which may have read ahead, and hears Ctrl-C
            return cls.loads(sys.stdin.buffer.read(), "stdin", **reading)
        context = Context()
        options = _reading(context, reading, "Graph.load")
        return cls._of(context, context.make(
            "regal_graph",
            lambda c, place: lib.regal_graph_load(c, path_bytes(path),
                                                  options.pointer, place),
            lib.regal_graph_free))

    @classmethod
    def loads(cls, data: Union[bytes, bytearray, memoryview, np.ndarray],
              name: str = "bytes", **reading: Any) -> "Graph":
        """The same from memory; `name` stands for the path in messages."""
        context = Context()
        options = _reading(context, reading, "Graph.loads")
        memory = ffi.from_buffer(data)
        return cls._of(context, context.make(
            "regal_graph",
            lambda c, place: lib.regal_graph_load_bytes(
                c, encode(name), memory, len(memory), options.pointer, place),
            lib.regal_graph_free))

    def save(self, path: PathLike) -> None:
        """Writes .pb, .pbtxt or .json, as the path's ending says."""
        context = Context()
        written = ffi.new("regal_graph_format *")
        context.check(lib.regal_graph_format_of(context.pointer,
                                                path_bytes(path), written))
        context.check(lib.regal_graph_save(context.pointer, self.pointer,
                                           path_bytes(path), written[0]))

    def pipeline(self, microbatches: int, **options: Any) -> "Graph":
        """The training step of several microbatches, from that of one.

        Keyword arguments are the options of group "pipeline".
        """
        context = Context()
        given = Options(context)
        given.set("microbatches", microbatches)
        given.update(options, ("pipeline",), "Graph.pipeline")
        return Graph._of(context, context.make(
            "regal_graph", lib.regal_graph_pipeline, lib.regal_graph_free,
            self.pointer, given.pointer))

    # -- Reading ---------------------------------------------------------------

    @property
    def _arrays(self) -> GraphArrays:
        if self._read is None:
            self._read = GraphArrays(self.pointer)
        return self._read

    def __len__(self) -> int:
        return self.info.ops

    def __bool__(self) -> bool:
        """A graph is one also while it is made; asking is no use of it."""
        return True

    def __copy__(self) -> "Graph":
        if self._graph is None:
            raise MisuseError("a graph under construction cannot be copied")
        return self

    def __repr__(self) -> str:
        if self._graph is None:
            return "<regal.Graph under construction>"
        info = self.info
        return f"<regal.Graph: {info.ops} ops, {info.tensors} tensors>"

    @property
    def info(self) -> GraphInfo:
        """Statistics of the graph."""
        c = ffi.new("regal_graph_info *")
        lib.regal_graph_describe(self.pointer, c)
        return GraphInfo(*(getattr(c, name) for name in GraphInfo._fields))

    @property
    def notes(self) -> List[Note]:
        """What the reader assumed, dropped, joined, or warns of."""
        kinds = enum_names("regal_note_kind", "REGAL_NOTE_")
        notes = (lib.regal_graph_note(self.pointer, i)
                 for i in range(lib.regal_graph_note_count(self.pointer)))
        return [Note(kinds[note.kind], decode(note.text) or "")
                for note in notes]

    @property
    def ids(self) -> np.ndarray:
        """The ids of all ops, ascending."""
        return self._arrays.id[self._arrays.by_id]

    @property
    def names(self) -> List[str]:
        """The names of all ops, in the order of `ids`."""
        if self._names is None:
            self._names = [name or "" for name, _, _ in self._texts()]
        return self._names.copy()

    def _texts(self) -> Iterator[Tuple[Optional[str], Optional[str],
                                       Optional[str]]]:
        """Name, device and group of each op, in the order of `ids`."""
        graph, c = self.pointer, ffi.new("regal_op_info *")
        for op in self._arrays.by_id.tolist():
            lib.regal_graph_op(graph, op, c)
            yield decode(c.name), decode(c.device), decode(c.group)

    @property
    def ops(self) -> List[Op]:
        """All ops, in the order of `ids`."""
        # Lists: single elements of numpy's arrays take ten times as long.
        lists = types.SimpleNamespace(**{
            name: array.tolist()
            for name, array in vars(self._arrays).items()})
        return [_op(lists, op, texts)
                for op, texts in zip(lists.by_id, self._texts())]

    def describe(self) -> str:
        """The graph's statistics and notes as text, as `regal inspect`."""
        return report_text(Context(), lib.regal_report_graph, self.pointer)

    # -- Arrays ----------------------------------------------------------------

    @classmethod
    def from_arrays(cls, run_ns: Any, *, edges: Any = None, tensors: Any = None,
                    final: Any = None, may_reuse: Any = None,
                    temporary_bytes: Any = None, resident_bytes: Any = None,
                    names: Any = None, control: Any = None,
                    parameter_bytes: Any = None, parameter_uses: Any = None,
                    devices: Any = None, groups: Any = None) -> "Graph":
        """A graph of arrays; what `to_arrays` returns may be given back.

        run_ns, temporary_bytes, resident_bytes, names, devices and groups have
        one entry for each op. tensors: one array with the bytes of each op's
        only output, or a pair of arrays, (op, bytes), where an op's outputs
        count up. final, may_reuse: one truth value for each tensor. edges:
        (producer, consumer) or (producer, consumer, output) arrays. control:
        (before, after) arrays. parameter_uses: (op, parameter) arrays.
        """
        run = vector("run_ns", run_ns)
        count = len(run)
        temporary = column("temporary_bytes", temporary_bytes, count)
        resident = column("resident_bytes", resident_bytes, count)
        producers, sizes = tensors_of(tensors, count)
        is_final = truths("final", final, len(sizes))
        reuse = truths("may_reuse", may_reuse, len(sizes))
        name = column_of("names", names, count)
        device = column_of("devices", devices, count)
        group = column_of("groups", groups, count)
        graph = cls()
        if names is None:
            name = [f"op{op}" for op in range(count)]
        graph._add_ops(zip(name, run, temporary, resident))
        graph._add_tensors(zip(producers, sizes, is_final, reuse))
        graph._add_labels(device, group)
        graph._add_edges(edges, control)
        for size in vector("parameter_bytes", parameter_bytes):
            graph.add_parameter(size)
        for op, parameter in rows("parameter_uses", parameter_uses, 2):
            graph._context.check(lib.regal_builder_add_parameter_use(
                graph._open(), op, parameter))
        return graph

    def _add_ops(self, ops: Iterable[Tuple[str, int, int, int]]) -> None:
        """As add_op for each, with numbers that were checked."""
        for name, *amounts in ops:
            self._context.check(lib.regal_builder_add_op(
                self._open(), encode(name), *amounts, ffi.NULL))

    def _add_tensors(self,
                     tensors: Iterable[Tuple[int, int, bool, bool]]) -> None:
        """The outputs of each op count up."""
        builder, check = self._open(), self._context.check
        port: Dict[int, int] = {}
        for op, size, is_final, may_reuse in tensors:
            check(lib.regal_builder_add_output(builder, op, size, is_final))
            if may_reuse:
                check(lib.regal_builder_set_may_reuse(builder, op,
                                                      port.get(op, 0)))
            port[op] = port.get(op, 0) + 1

    def _add_labels(self, devices: List[Any], groups: List[Any]) -> None:
        builder, check = self._open(), self._context.check
        for op, (device, group) in enumerate(zip(devices, groups)):
            if device is not None:
                check(lib.regal_builder_set_device(
                    builder, op, encode(device_label(device))))
            if group is not None:
                check(lib.regal_builder_set_group(
                    builder, op, encode(label("group", group))))

    def _add_edges(self, edges: Any, control: Any) -> None:
        add = lib.regal_builder_add_input
        builder, check = self._open(), self._context.check
        for edge in rows("edges", edges, 2, 3):
            check(add(builder, edge[1], edge[0],
                      edge[2] if len(edge) > 2 else 0))
        for before, after in rows("control", control, 2):
            check(lib.regal_builder_add_control(builder, before, after))

    def to_arrays(self) -> Dict[str, Any]:
        """The graph as arrays, with which `from_arrays` makes it again.

        Ops are numbered by their place in `ids`, which for a graph built in
        memory is their id.
        """
        a = self._arrays
        rank = np.empty(len(a.id), np.int64)
        rank[a.by_id] = np.arange(len(a.id))
        port = np.arange(len(a.producer)) - a.output_begin[a.producer]
        order = np.lexsort((port, rank[a.producer]))
        reader = np.repeat(np.arange(len(a.id)), np.diff(a.input_begin))
        waits = np.repeat(np.arange(len(a.id)), np.diff(a.control_begin))
        user = np.repeat(np.arange(len(a.id)), np.diff(a.parameter_begin))
        names, devices, groups = zip(*self._texts())
        return {
            "run_ns": a.run_ns[a.by_id],
            "edges": (rank[a.producer[a.input]], rank[reader], port[a.input]),
            "tensors": (rank[a.producer][order], a.bytes[order]),
            "final": a.is_final[order],
            "may_reuse": a.may_reuse[order],
            "temporary_bytes": a.temporary_bytes[a.by_id],
            "resident_bytes": a.resident_bytes[a.by_id],
            "names": list(names),
            "control": (rank[a.control], rank[waits]),
            "parameter_bytes": a.parameter_bytes,
            "parameter_uses": (rank[user], a.parameter.astype(np.int64)),
            "devices": list(devices),
            "groups": list(groups),
        }

    # -- networkx --------------------------------------------------------------

    @classmethod
    def from_networkx(cls, source: Any) -> "Graph":
        """A graph of a networkx DiGraph or MultiDiGraph.

        Attributes of nodes are the arguments of `add_op`, except `inputs` and
        `control`, which are edges; a node without `outputs` has one output, as
        large as the largest `bytes` of its edges.
        Attributes of edges: `port`, the output that is read; `position`, where
        several are read, their order (by default that in which the edges were
        added); and `control`, true for an edge without data. Other attributes
        are ignored. The graph's own attribute `parameters` has the bytes of each
        parameter. Ids are positions in `source.nodes`.
        """
        graph = cls()
        fill(graph, source)
        return graph

    def to_networkx(self) -> Any:
        """A networkx MultiDiGraph whose nodes are ids (see from_networkx)."""
        return networkx_of(self)


def _reading(context: Context, given: Dict[str, Any], where: str) -> Options:
    """The options of a call that reads a graph."""
    options = Options(context)
    options.update(given, ("reading", "limits"), where)
    lib.regal_set_max_input(context.pointer, options.pointer.max_input)
    return options


def _op(a: Any, op: int, texts: Tuple[Optional[str], Optional[str],
                                      Optional[str]]) -> Op:
    """An op of GraphArrays as lists."""
    first, end = a.output_begin[op:op + 2]
    begin = a.output_begin

    def row(name: str) -> List[int]:
        bounds = getattr(a, name + "_begin")
        values: List[int] = getattr(a, name)[bounds[op]:bounds[op + 1]]
        return values

    return Op(
        id=a.id[op], name=texts[0] or "", run_ns=a.run_ns[op],
        temporary_bytes=a.temporary_bytes[op],
        resident_bytes=a.resident_bytes[op], outputs=a.bytes[first:end],
        final=[t - first for t in range(first, end) if a.is_final[t]],
        may_reuse=[t - first for t in range(first, end) if a.may_reuse[t]],
        inputs=[(a.id[a.producer[t]], t - begin[a.producer[t]])
                for t in row("input")],
        control=[a.id[before] for before in row("control")],
        parameters=row("parameter"), device=texts[1], group=texts[2])


def _add_control(builder: Any, op: int, before: int) -> int:
    """The arguments in the order of the builder's other calls."""
    status: int = lib.regal_builder_add_control(builder, before, op)
    return status


def _tensor(source: Any) -> Tuple[int, int]:
    """(producer, output) of an input."""
    pair = source if isinstance(source, (tuple, list)) else (source, 0)
    if len(pair) != 2:
        raise MisuseError(f"inputs: found {source!r}, expected an op or "
                          "(op, output)")
    return index("inputs", pair[0]), index("inputs", pair[1])
