# SPDX-License-Identifier: Apache-2.0
"""What policies choose: entropy of actions per graph, and their structure.

As in the paper, an op's placement action prefers one of the two devices or
neither (by the means of its affinities), and its schedule action gives a high
or a low priority (a mean above or below one half).
"""
import collections
import csv
import json

import figures
import published
import sets
import training
from page import Section, number
from session import OBJECTIVES
from table1 import SETS

PLACEMENTS = ("device 1", "device 2", "neither")
PRIORITIES = ("low", "high")


def actions_of(session, graph, policy, objective):
    """The summary of each class of genes, and the rows of all genes."""
    table = session.work / "actions.csv"
    done = session.call("actions", f"{graph.path}:{graph.name}", "--policy",
                        policy, "--objective", objective, "--json", "--quiet",
                        "-o", table)
    classes = {row["name"]: row for row in json.loads(done.stdout)["classes"]}
    with table.open() as rows:
        return classes, list(csv.DictReader(rows))


# -- Entropy ------------------------------------------------------------------


def entropy_part(session, kind, objective):
    """Of placement, or of priorities if the policy does not place."""
    policy = training.best_shipped(kind, objective)
    if not policy:
        return None
    entropies, name = [], None
    for graph in sets.graphs_for(session, kind, objective):
        classes, _ = actions_of(session, graph, policy, objective)
        name = "affinity" if "affinity" in classes else next(iter(classes))
        entropies.append(classes[name]["chosen_entropy"])
    mean = sum(entropies) / len(entropies)
    file = figures.histogram(
        session, f"entropy_{kind}_{objective}",
        f"{kind} graphs, {objective}: entropy of the actions of a graph",
        f"entropy of {name} actions, nats", entropies, 0.1, signed=False,
        more=(f"set xrange [0:{max(3, *entropies) + 0.1:.1f}]",))
    text = (f"`{policy}`, {objective}: mean {number(mean)} nats over "
            f"{len(entropies)} graphs ({name} genes).")
    return text, (file, f"Entropy of the {name} actions that `{policy}` takes, "
                  "over the ops of a graph: a histogram over graphs")


def entropy(session):
    made = [part for part in (entropy_part(session, kind, objective)
                              for kind in SETS for objective in OBJECTIVES)
            if part]
    return Section("entropy", "Entropy of actions",
                   " ".join(text for text, _ in made) +
                   f" The paper: {published.ENTROPY} nats for placement, run "
                   "time, 16 actions.", [figure for _, figure in made])


# -- Structure ----------------------------------------------------------------


def placement_of(means):
    first, second = means
    if abs(first - second) < 1e-9:
        return "neither"
    return "device 1" if first > second else "device 2"


def choices(rows):
    """(placement, priority, relative memory) of each op of a graph."""
    affinity = collections.defaultdict(dict)
    priority, memory = {}, {}
    for row in rows:
        if row["class"] == "affinity":
            affinity[row["op"]][int(row["device"])] = float(row["mean"])
        elif row["class"] == "priority":
            priority[row["op"]] = float(row["mean"])
            memory[row["op"]] = float(row["memory"])
    for op, mean in priority.items():
        if len(affinity[op]) == 2:
            yield (placement_of((affinity[op][0], affinity[op][1])),
                   "high" if mean > 0.5 else "low", memory[op])


def heat_map(session, name, title, cells, form):
    rows = [(x, y, placement, priority, cells.get((placement, priority), 0),
             form % cells[placement, priority] if (placement, priority) in cells
             else "none")
            for x, placement in enumerate(PLACEMENTS)
            for y, priority in enumerate(PRIORITIES)]
    session.write_csv(name, ("x", "y", "placement", "priority", "value",
                             "label"), rows)
    columns = ", ".join(f"'{text}' {x}" for x, text in enumerate(PLACEMENTS))
    lines = ", ".join(f"'{text}' {y}" for y, text in enumerate(PRIORITIES))
    return figures.draw(
        session, name, figures.head(
            title, "preferred device", "priority", "unset key", "unset grid",
            f"set xtics ({columns})", f"set ytics ({lines})",
            "set palette defined (0 '#ffffff', 1 '#56b4e9')", "set cbrange [0:]",
            "set xrange [-0.5:2.5]", "set yrange [-0.5:1.5]") +
        f"plot '{name}.csv' every ::1 using 1:2:5 with image, '' every ::1 "
        "using 1:2:6 with labels", "620,360")


def policy_with_both_heads(session, graph):
    """For peak memory, and what it is: the shipped one if it chooses for
    placement and priorities, else that of the ablation."""
    policy = training.best_shipped("real", "memory")
    if policy and any(choices(actions_of(session, graph, policy, "memory")[1])):
        return policy, f"`{policy}`"
    return (training.train(session, sets.real_training_set(session, "memory"),
                           "memory"),
            "the policy of the ablation with both heads")


def structure(session):
    """Which actions ops get, for peak memory."""
    graphs = sets.real_graphs(session, "memory")
    policy, name = policy_with_both_heads(session, graphs[0])
    count, weight = collections.Counter(), collections.Counter()
    for graph in graphs:
        _, rows = actions_of(session, graph, policy, "memory")
        for placement, priority, memory in choices(rows):
            count[placement, priority] += 1
            weight[placement, priority] += memory
    total = max(1, sum(count.values()))
    shares = {key: 100 * value / total for key, value in count.items()}
    means = {key: weight[key] / value for key, value in count.items()}
    made = [(heat_map(session, "actions_frequency",
                      "peak memory: how often an action is taken, %", shares,
                      "%.1f"),
             "Frequency of actions, percent of the ops of all graphs"),
            (heat_map(session, "actions_memory",
                      "peak memory: relative memory of the ops", means, "%.3f"),
             "Mean relative memory (inputs and outputs, divided by those of "
             "the graph's largest op) of the ops that get an action")]
    return Section(
        "structure", "Structure of actions",
        f"Of {total} ops of real test graphs, by {name}. In the paper heavy "
        "ops get low priorities and no device, light ones more often device 2 "
        "than device 1.", made)
