# SPDX-License-Identifier: Apache-2.0
"""BRKGA and REGAL as the evaluation limit grows."""
import figures
import sets
import training
from page import Section
from session import OBJECTIVES
from statistics_of import Entry, Runs
from table1 import SETS, reference


def curve(session, runs, label, method):
    points = []
    for limit in session.size("limits"):
        score = runs.score(Entry(label, method, str(limit)), reference(session))
        if score:
            points.append((limit, score.improvement, score.error))
    return points


def part(session, name, objective):
    graphs = sets.graphs_for(session, name, objective,
                             session.size("limit_graphs"))
    methods = {"BRKGA": "brkga", **training.labelled(name, objective)}
    session.say(f"evaluation limits: {name}, {objective}")
    seeds = session.size("limit_seeds")
    session.bench(graphs, list(methods.values()), session.size("limits"),
                  objective, seeds)
    session.bench(graphs, ["brkga"], [session.size("evaluations")], objective,
                  seeds)
    runs = Runs(session, graphs, objective)
    file = figures.lines(
        session, f"limits_{name}_{objective}",
        f"{name}, {objective}: improvement over BRKGA "
        f"{session.size('evaluations')}", "evaluations", "improvement, %",
        {label: curve(session, runs, label, method)
         for label, method in methods.items()},
        ("set logscale x", "set xzeroaxis lc '#888888' dt 2",
         f"set xrange [{0.8 * session.size('limits')[0]}:"
         f"{1.25 * session.size('limits')[-1]}]"))
    return file, (f"{name.capitalize()} graphs, {objective}: mean improvement "
                  f"over BRKGA against the evaluation limit, {len(graphs)} "
                  "graphs, bars: standard error")


def make(session):
    return Section(
        "limits", "Evaluation limits",
        "BRKGA and REGAL with the same limit, which for REGAL includes the "
        "evaluations for its features. In the paper BRKGA with 50,000 "
        "evaluations does not reach REGAL with 5,000.",
        [part(session, name, objective) for name in SETS
         for objective in OBJECTIVES])
