# SPDX-License-Identifier: Apache-2.0
"""A policy trained on torch and tf, tried on xla; and on larger graphs."""
import published
import sets
import training
from page import Section, table, with_error
from session import ARCHIVES, OBJECTIVES, path_of
from statistics_of import Entry, Runs
from table1 import reference

SOURCES = ("torch", "tf")


def larger(session, objective, archives):
    """Test graphs with more ops than any that was trained on."""
    found = [graph for archive in archives for graph in sets.graphs_of(
        path_of(archive), "test", objective, 4 * session.size("train_ops"))
        if graph.ops > session.size("train_ops")]
    return sets.spread(found, session.size("train_graphs"))


def make(session):
    budget = str(session.size("evaluations"))
    lines, rows = [], []
    for objective in OBJECTIVES:
        dataset = sets.real_training_set(session, objective, SOURCES)
        path = training.train(session, dataset, objective)
        entry = Entry("regal", f"regal policy={path}", budget)
        tried = {
            "the same sources": sets.real_graphs(session, objective,
                                                 archives=SOURCES),
            "xla": sets.real_graphs(session, objective,
                                    archives=[name for name in ARCHIVES
                                              if name not in SOURCES]),
            "larger graphs of the same sources": larger(session, objective,
                                                        SOURCES)}
        for label, graphs in tried.items():
            if not graphs:
                continue
            session.bench(graphs, ["brkga", entry.method], [budget], objective)
            score = Runs(session, graphs, objective).score(entry,
                                                           reference(session))
            paper = published.GENERALISATION[objective] if label == "xla" else ()
            rows.append((objective, label, score.graphs, score.improvement,
                         score.error, *paper))
            lines.append((f"{objective}, {label}", score.graphs,
                          with_error(score.improvement, score.error),
                          f"{paper[0]:+.2f} on {paper[1]} graphs" if paper
                          else ""))
    session.write_csv("generalisation", ("objective", "graphs_of", "graphs",
                                         "improvement", "error", "paper",
                                         "paper_graphs"), rows)
    return Section(
        "generalisation", "Generalisation to another source",
        "Policies trained on torch and tf graphs of at most "
        f"{session.size('train_ops')} ops ([data](RESULTS/generalisation.csv)); "
        "the paper's were trained on TensorFlow graphs and tried on XLA's.\n\n" +
        table(("tried on", "graphs", "improvement", "paper"), lines), [])
