# SPDX-License-Identifier: Apache-2.0
"""`auto` against everything, by time: a curve for each dataset and objective."""
import figures
import sets
import training
from page import Section
from session import ARCHIVES, OBJECTIVES, path_of
from statistics_of import Entry, Runs


def methods_of(objective, kind, has_cp_sat):
    """label: (method, whether it has budgets)"""
    methods = {"BRKGA": ("brkga", True), "heft": ("heft", False),
               "local": ("local", True), "auto": ("auto", True)}
    for label, method in training.labelled(kind, objective).items():
        methods[label] = (method, True)
    if has_cp_sat:
        methods["cp-sat"] = ("cp-sat", True)
    return methods


def graphs_of(session, name, objective):
    count = session.size("contest_graphs")
    if name == "synthetic":
        return sets.synthetic_graphs(session, objective, count)
    return sets.spread(sets.graphs_of(path_of(name), "test", objective,
                                      session.size("most_ops")), count)


def part(session, name, objective, has_cp_sat):
    graphs = graphs_of(session, name, objective)
    if not graphs:
        return None
    kind = "synthetic" if name == "synthetic" else "real"
    methods = methods_of(objective, kind, has_cp_sat)
    times = session.size("contest_times")
    session.say(f"by time: {name}, {objective}")
    session.bench(graphs, [method for method, _ in methods.values()], times,
                  objective, seeds=session.size("contest_seeds"))
    runs = Runs(session, graphs, objective)
    any_entry = Entry("auto", "auto", times[-1])
    curves = {}
    for label, (method, has_budget) in methods.items():
        points = []
        for budget in (times if has_budget else ("none",)):
            score = runs.score(Entry(label, method, budget), any_entry)
            if score:
                # what is faster than the axis stands at its beginning
                points.append((max(score.seconds, 0.001), score.gap,
                               score.gap_error))
        curves[label] = points
    file = figures.lines(
        session, f"contest_{name}_{objective}",
        f"{name}, {objective}: gap to the best known plan against time",
        "seconds on one thread", "mean gap, %", curves,
        ("set logscale x", "set yrange [0:]",
         f"set xrange [0.0008:{1.6 * float(times[-1].rstrip('s'))}]"))
    return file, (f"{name}, {objective}: mean gap to the best plan that any run "
                  f"found, against time; {len(graphs)} graphs, bars: standard "
                  "error")


def make(session):
    has_cp_sat = session.has_cp_sat()
    made = [part(session, name, objective, has_cp_sat)
            for name in ("synthetic", *ARCHIVES) for objective in OBJECTIVES]
    return Section(
        "contest", "By time: auto against everything",
        "Beyond the paper: budgets are seconds, "
        f"{', '.join(session.size('contest_times'))}. Each run has one thread, "
        "and as many runs as there are cores run in parallel.",
        [one for one in made if one])
