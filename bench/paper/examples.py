# SPDX-License-Identifier: Apache-2.0
"""Example graphs of the paper's four models, drawn."""
import json

import figures
from page import Section

MODELS = ("erdos-renyi", "barabasi-albert", "watts-strogatz",
          "stochastic-block")


def read_graph(session, model):
    """How many ops a small graph of the model has, and {(producer, consumer):
    kind}: "edge" or, without a tensor, "control"."""
    folder = session.work / f"example-{model}"
    session.call("generate", folder, "--model", model, "--count", 1, "--nodes",
                 session.size("example_nodes"), "--seed", 3, "--quiet")
    path = session.work / f"example-{model}.json"
    session.call("convert", next(folder.glob("graph_*")), "-o", path, "--quiet")
    graph = json.loads(path.read_text())
    ops = [op for op in graph["ops"] if not op["name"].startswith("_")]
    number = {op["name"]: place for place, op in enumerate(ops)}
    edges = {(number[producer], place): "control"
             for place, op in enumerate(ops)
             for producer in op.get("control", ()) if producer in number}
    edges |= {(number[producer], place): "edge"
              for place, op in enumerate(ops)
              for producer, _ in op.get("inputs", ())}
    return len(ops), edges


def layout(count, edges):
    """Depth from the left; ops of one depth from top to bottom."""
    depth = [0] * count
    for _ in range(count):  # no path is longer
        for source, target in edges:
            depth[target] = max(depth[target], depth[source] + 1)
    layers = {}
    for op in range(count):
        layers.setdefault(depth[op], []).append(op)
    places = [None] * count
    for column, ops in layers.items():
        for row, op in enumerate(ops):
            places[op] = (column, (row + 0.5) / len(ops))
    return places


def lines_of(kind):
    return (f"using (strcol(1) eq '{kind}'?$2:1/0):3:($4-$2):($5-$3) with "
            "vectors nohead lw 1 lc '#aaaaaa'")


def part(session, model):
    count, edges = read_graph(session, model)
    places = layout(count, edges)
    name = f"example_{model}"
    rows = [(kind, *places[source], *places[target])
            for (source, target), kind in sorted(edges.items())]
    rows += [("op", *place, "", "") for place in places]
    session.write_csv(name, ("kind", "x", "y", "to_x", "to_y"), rows)
    file = figures.draw(
        session, name, figures.head(f"{model}: {count} ops, {len(edges)} edges "
                                    "(dashed: control edges)",
                                    "depth", "", "unset key", "unset ytics",
                                    "unset grid", "set border 1",
                                    "set xtics 1",
                                    "set offsets 0,0,0.05,0.05", "set xrange "
                                    f"[-0.5:{max(x for x, _ in places) + 0.5}]") +
        f"plot '{name}.csv' every ::1 {lines_of('edge')}, '' every ::1 "
        f"{lines_of('control')} dt 2, '' every ::1 "
        "using (strcol(1) eq 'op'?$2:1/0):3 with points lt 1 ps 1", "820,360")
    return file, f"A graph of the model {model}, from left to right by depth"


def make(session):
    return Section("examples", "Example graphs",
                   "The four random models of the synthetic set "
                   "([data.md](data.md) has the statistics of all sets).",
                   [part(session, model) for model in MODELS])
