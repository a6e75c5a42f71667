# SPDX-License-Identifier: Apache-2.0
"""What matters in a policy: its heads, its features, rounds of messages."""
import math

import figures
import published
import sets
import training
from page import Section, number, table, with_error
from statistics_of import Entry, Runs
from table1 import reference

# label: (what the paper calls it, options of training)
VARIANTS = {
    "placement only": ("placement", {"heads": "placement"}),
    "scheduling only": ("scheduling", {"heads": "scheduling"}),
    "placement and scheduling": ("both", {}),
    "the same, no features of BRKGA": (None, {"features": "graph"}),
    "the same and transfers (ours)": (None, {"heads": "all"}),
}


def heads(session):
    """Peak memory of real graphs, as in the paper's table."""
    dataset = sets.real_training_set(session, "memory")
    graphs = sets.real_graphs(session, "memory")
    budget = str(session.size("evaluations"))
    policies = {label: training.train(session, dataset, "memory", **options)
                for label, (_, options) in VARIANTS.items()}
    session.bench(graphs, ["brkga", *(f"regal policy={path}" for path in
                                      policies.values())], [budget], "memory")
    runs = Runs(session, graphs, "memory")
    lines, rows = [], []
    for label, path in policies.items():
        score = runs.score(Entry(label, f"regal policy={path}", budget),
                           reference(session))
        valid = training.best_validation(path)
        paper = published.ABLATION.get(VARIANTS[label][0], (math.nan, math.nan))
        rows.append((label, valid, score.improvement, score.error, *paper))
        lines.append((label, number(valid, "{:+.2f}"),
                      with_error(score.improvement, score.error),
                      *(number(value, "{:+.2f}") for value in paper)))
    session.write_csv("ablation", ("policy", "valid", "test", "test_error",
                                   "paper_valid", "paper_test"), rows)
    return Section(
        "ablation", "Ablation of actions and features",
        f"Peak memory of {len(graphs)} real test graphs; policies trained here "
        f"for {session.size('steps')} steps ([data](RESULTS/ablation.csv)).\n\n"
        + table(("policy", "valid", "test", "paper: valid", "paper: test"),
                lines), [])


def sweep(session, key, title, dataset, text):
    """Best validation for each number of rounds of messages."""
    points = []
    for count in session.size("rounds"):
        path = training.train(session, dataset, "runtime",
                              session.size("sweep_steps"), rounds=count)
        points.append((count, training.best_validation(path), 0))
    file = figures.lines(
        session, key, f"{title}, run time: validation by rounds T",
        "rounds of messages T", "best validation, %", {"REGAL": points},
        (f"set xtics ({', '.join(str(point[0]) for point in points)})",))
    return Section(
        key, f"Rounds of messages, {title}", text,
        [(file, f"{title.capitalize()}: best validation (improvement over "
          "BRKGA, %) by the number of rounds, "
          f"{session.size('sweep_steps')} steps of training each")])


def rounds(session):
    return sweep(session, "rounds", "real graphs",
                 sets.real_training_set(session, "runtime"),
                 "The best validation of a training run for each T. In the "
                 "paper T > 0 is better than T = 0, and more is better on the "
                 "whole.")


def synthetic_rounds(session):
    return sweep(session, "rounds_synthetic", "synthetic graphs",
                 sets.synthetic_set(session),
                 "The same on synthetic graphs, which the paper does not have.")


def smooth(values, width):
    return [sum(values[max(0, i - width):i + 1]) /
            len(values[max(0, i - width):i + 1]) for i in range(len(values))]


def curves(session):
    """Reward on mini-batches during training, both objectives."""
    made = []
    for objective in ("runtime", "memory"):
        dataset = sets.real_training_set(session, objective)
        path = training.train(session, dataset, objective)
        rows = [row for row in training.log_of(path) if row["reward"]]
        rewards = [float(row["reward"]) for row in rows]
        points = [(row["step"], value, 0) for row, value in
                  zip(rows, smooth(rewards, max(1, len(rewards) // 20)))]
        file = figures.lines(
            session, f"training_{objective}",
            f"real graphs, {objective}: reward during training", "step",
            "reward, -cost over BRKGA", {"mean of mini-batches": points})
        made.append((file, f"Reward on mini-batches of training graphs, "
                     f"{objective}; -1 is standard BRKGA; running mean"))
    return Section("training", "Training curves",
                   f"{session.size('steps')} steps; the paper: 100,000.", made)
