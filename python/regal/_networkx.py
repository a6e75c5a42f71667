# SPDX-License-Identifier: Apache-2.0
"""Graphs of networkx: Graph.from_networkx and Graph.to_networkx."""
from typing import Any

from ._library import MisuseError

_NODE_ATTRIBUTES = ("name", "run_ns", "outputs", "final", "may_reuse",
                    "temporary_bytes", "resident_bytes", "parameters",
                    "device", "group")


def fill(graph: Any, source: Any) -> None:
    """Adds all of a networkx graph to a graph under construction."""
    if not hasattr(source, "is_directed"):
        raise TypeError(f"found a {type(source).__name__}, expected a networkx "
                        "DiGraph or MultiDiGraph")
    if not source.is_directed():
        raise MisuseError("the networkx graph is undirected, expected a DiGraph "
                          "or MultiDiGraph")
    for size in source.graph.get("parameters", ()):
        graph.add_parameter(size)
    ids = {node: i for i, node in enumerate(source.nodes)}
    for node, given in source.nodes(data=True):
        known = {k: v for k, v in given.items() if k in _NODE_ATTRIBUTES}
        known.setdefault("name", str(node))
        if "outputs" not in known:
            sizes = [edge.get("bytes", 0)
                     for _, _, edge in source.out_edges(node, data=True)
                     if not edge.get("control")]
            known["outputs"] = [max(sizes, default=0)]
        graph.add_op(**known)
    for consumer in source.nodes:
        edges = sorted(source.in_edges(consumer, data=True),
                       key=lambda edge: edge[2].get("position", 0))
        for producer, _, edge in edges:
            if edge.get("control"):
                graph.add_control(ids[producer], ids[consumer])
            else:
                graph.add_input(ids[consumer], ids[producer],
                                edge.get("port", 0))


def networkx_of(graph: Any) -> Any:
    """A MultiDiGraph of a graph."""
    import networkx  # type: ignore

    made = networkx.MultiDiGraph(
        parameters=graph._arrays.parameter_bytes.tolist())
    ops = graph.ops
    sizes = {op.id: op.outputs for op in ops}
    for op in ops:
        made.add_node(op.id, **{name: getattr(op, name)
                                for name in _NODE_ATTRIBUTES})
    for op in ops:
        for position, (producer, port) in enumerate(op.inputs):
            made.add_edge(producer, op.id, port=port, position=position,
                          bytes=sizes[producer][port])
        for before in op.control:
            made.add_edge(before, op.id, control=True)
    return made
