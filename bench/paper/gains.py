# SPDX-License-Identifier: Apache-2.0
"""REGAL against BRKGA graph by graph: histograms, topologies, train and test."""
import collections
import itertools

import figures
import published
import sets
import training
from page import Section, number, table, with_error
from session import OBJECTIVES
from statistics_of import Entry, Runs
from table1 import SETS, reference


def regal_entry(session, name, objective):
    """The label is the policy's name."""
    policy = training.best_shipped(name, objective)
    return policy and Entry(policy, f"regal policy={policy}",
                            str(session.size("evaluations")))


def run(session, graphs, entry, objective, **more):
    session.bench(graphs, ["brkga", entry.method],
                  [session.size("evaluations")], objective, **more)


# -- Histograms ---------------------------------------------------------------


def histogram(session, name, objective):
    entry = regal_entry(session, name, objective)
    if not entry:
        return None
    graphs = sets.graphs_for(session, name, objective)
    run(session, graphs, entry, objective)
    score = Runs(session, graphs, objective).score(entry, reference(session))
    share = 100 * (score.better + score.equal) / score.graphs
    paper = published.HISTOGRAM[objective] if name == "real" else None
    line = (f"{name}, {objective}", f"`{entry.label}`", score.graphs,
            number(share, "{:.1f}"), number(score.largest, "{:+.1f}"),
            number(score.smallest, "{:+.1f}"),
            *(map("{:.1f}".format, paper) if paper else ("", "", "")))
    values = [value for value in score.each.values() if abs(value) > 1e-9]
    file = figures.histogram(
        session, f"histogram_{name}_{objective}",
        f"{name}, {objective}: improvement of REGAL over BRKGA",
        "improvement, %", values, 2, total=score.graphs)
    return line, (file, f"{name.capitalize()} graphs, {objective}: improvement "
                  "of REGAL over BRKGA, percent of all graphs; ties are not "
                  "drawn")


def histograms(session):
    made = [histogram(session, name, objective) for name in SETS
            for objective in OBJECTIVES]
    made = [one for one in made if one]
    return Section(
        "histograms", "Histograms of improvement per graph",
        table(("set", "policy", "graphs", "equal or better, %", "largest", "smallest",
               "paper: equal or better", "paper: largest", "paper: smallest"),
              [line for line, _ in made]), [figure for _, figure in made])


# -- Topologies ---------------------------------------------------------------


def topologies(session):
    """A box for each graph of the run time test split, over its copies."""
    copies = session.size("copies")
    entry = regal_entry(session, "real", "runtime")
    graphs = sets.real_graphs(session, "runtime", session.size("topologies"))
    session.say(f"topologies: {len(graphs)} graphs with {copies} copies each")
    run(session, graphs, entry, "runtime", seeds="1", copies=copies)
    runs = Runs(session, graphs, "runtime", copies)
    groups = collections.defaultdict(list)
    for key in runs.keys:
        gain = runs.gain(entry, reference(session), key)
        if gain is not None:
            groups[key[1]].append(gain)
    ordered = dict(sorted(groups.items(), key=lambda item: figures.quantile(
        sorted(item[1]), 0.5)))
    file = figures.boxes(session, "topologies",
                         "real graphs, run time: REGAL over BRKGA by topology",
                         "improvement, %", ordered)
    return Section(
        "topologies", "Performance by topology",
        f"`{entry.label}` on {len(graphs)} topologies of the test split, each "
        f"with {copies} augmented copies (the paper: 99): sizes and times times "
        "a random number in (0.5, 1.5).",
        [(file, "Improvement of REGAL over BRKGA by topology: quartiles and "
          "range over the graph and its augmented copies")])


# -- Train against test -------------------------------------------------------


def train_and_test(session, name, objective, policy):
    """The scores on both splits."""
    entry = Entry(policy, f"regal policy={policy}",
                  str(session.size("evaluations")))
    scores = []
    for split in ("train", "test"):
        graphs = sets.graphs_for(session, name, objective,
                                 session.size("train_graphs"), split)
        run(session, graphs, entry, objective)
        scores.append(Runs(session, graphs, objective).score(
            entry, reference(session)))
    return scores


def train_test(session):
    lines, rows = [], []
    for name, objective in itertools.product(SETS, OBJECTIVES):
        paper = published.TRAIN_TEST[objective] if name == "real" else ()
        for policy in training.all_shipped(name, objective):
            scores = train_and_test(session, name, objective, policy)
            rows.append((name, objective, policy, *(
                value for score in scores for value in
                (score.improvement, score.error)), *paper))
            lines.append((f"{name}, {objective}", f"`{policy}`", *(
                with_error(score.improvement, score.error) for score in scores),
                *(map("{:+.2f}".format, paper) if paper else ("", ""))))
    session.write_csv("train_test", ("set", "objective", "policy", "train",
                                     "train_error", "test", "test_error",
                                     "paper_train", "paper_test"), rows)
    return Section("train_test", "Train against test",
                   table(("set", "policy", "train", "test", "paper: train",
                          "paper: test"), lines), [])
