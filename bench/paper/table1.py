# SPDX-License-Identifier: Apache-2.0
"""Table 1 and the running times: every method at equal evaluations."""
import itertools
import re

import published
import sets
import training
from page import Section, number, table, with_error
from session import OBJECTIVES
from statistics_of import Entry, Runs

SETS = ("synthetic", "real")


def reference(session):
    return Entry("brkga", "brkga", str(session.size("evaluations")))


def gas_policy(session, name, objective):
    """The shipped one, or one that is trained here, or none."""
    if training.shipped(f"{name}_{objective}_gas"):
        return f"{name}_{objective}_gas"
    if not session.size("gas_steps"):
        return None
    dataset = (sets.synthetic_set(session) if name == "synthetic" else
               sets.real_training_set(session, objective))
    return training.train(session, dataset, objective,
                          session.size("gas_steps"), policy_kind="gas")


def regal_entries(name, objective, budget):
    """REGAL with the policies that are shipped for the set; random search, and
    "late", the other reading of the paper's decoder, with the first of them.
    That of the paper's features and actions has no name in its label."""
    policies = training.all_shipped(name, objective)
    if not policies:
        return []
    first = policies[0]
    return [Entry("idrs", f"idrs policy={first}", budget),
            *(Entry("regal" + ("" if policy.endswith("_paper") else
                               f" ({policy})"), f"regal policy={policy}", budget)
              for policy in policies),
            Entry("regal, late", f"regal policy={first} decoder=paper-late",
                  budget)]


def entries_of(session, name, objective):
    known = session.methods()
    budget = str(session.size("evaluations"))
    gas = gas_policy(session, name, objective)
    entries = [Entry("gp-dfs", "gp-dfs", "none"),
               Entry("local", "local", budget), reference(session),
               Entry("brkga, late", "brkga decoder=paper-late", budget),
               Entry("tuned", "tuned", budget),
               *([Entry("gas", f"gas policy={gas}", budget)] if gas else []),
               *regal_entries(name, objective, budget),
               Entry("heft", "heft", "none"),
               Entry("climb", "climb", budget),
               Entry("partition", "partition", "none"),
               Entry("auto", "auto", budget)]
    return [entry for entry in entries if entry.method.split()[0] in known]


def solver_entries(session, name, objective):
    budget, seconds = session.size("evaluations"), session.size("cp_sat_seconds")
    return [reference(session),
            *(entry for entry in regal_entries(name, objective, str(budget))
              if entry.label not in ("idrs", "regal, late")),
            Entry("auto", "auto", str(budget)),
            Entry(f"cp-sat, {seconds} s", f"cp-sat time={seconds}s",
                  f"{seconds}s")]


def make_runs(session, name, objective, entries):
    graphs = sets.graphs_for(session, name, objective)
    budget = session.size("evaluations")
    session.say(f"Table 1: {name}, {objective}, {len(graphs)} graphs")
    learned = [entry.method for entry in entries if "policy=" in entry.method]
    session.bench(graphs, [entry.method for entry in entries
                           if entry.method not in learned], [budget], objective)
    seeds = session.size("seeds").split(",")
    session.bench(sets.spread(graphs, session.size("policy_graphs")), learned,
                  [budget], objective,
                  ",".join(seeds[:session.size("policy_seeds") or len(seeds)]))
    return Runs(session, graphs, objective)


def make_solver_runs(session, name, objective, entries):
    """One seed: that of the solver does not determine its plan."""
    graphs = sets.spread(sets.graphs_for(session, name, objective),
                         session.size("cp_sat_graphs"))
    session.say(f"cp-sat: {name}, {objective}, {len(graphs)} graphs")
    session.bench(graphs, [entry.method for entry in entries],
                  [session.size("evaluations")], objective, seeds="1")
    return Runs(session, graphs, objective)


def smaller(score, graphs, seeds):
    """On how many graphs and seeds, where it is not all of them."""
    parts = ([f"{score.graphs} graphs"] if score.graphs != graphs else []) + (
        [f"{score.seeds} of {seeds} seeds"] if score.seeds != seeds else [])
    return f" (on {', '.join(parts)})" if parts else ""


FIELDS = ("method", "graphs", "improvement", "standard_error",
          "deviation_over_seeds", "gap_to_best", "gap_to_bound", "seconds",
          "better", "equal", "worse", "largest", "smallest",
          "paper_improvement", "paper_gap")


def part(session, name, objective, entries, runs, file, seeds):
    """The lines of one column of the paper's table."""
    known = published.TABLE1.get((name, objective), {})
    count = len(runs.keys)
    lines, rows = [], []
    for entry in entries:
        score = runs.score(entry, reference(session))
        if not score:
            continue
        original = re.match(r"[\w-]+", entry.label)[0]
        paper = known.get(original, (None, None))
        rows.append((entry.label, score.graphs, score.improvement, score.error,
                     score.deviation, score.gap, score.bound_gap, score.seconds,
                     score.better, score.equal, score.worse, score.largest,
                     score.smallest, *paper))
        label = entry.label + smaller(score, count, seeds)
        lines.append((label, with_error(score.improvement, score.error),
                      number(score.deviation, "{:.3f}"), number(score.gap),
                      number(score.bound_gap), number(score.seconds, "{:.3f}"),
                      number(paper[0], "{:+.2f}"), number(paper[1]),
                      published.SECONDS.get(original, "")
                      if (name, objective) == ("real", "memory") else ""))
    session.write_csv(file, FIELDS, rows)
    head = ("method", "improvement", "deviation over seeds", "gap to best",
            "gap to bound", "seconds", "paper: improvement", "paper: gap",
            "paper: seconds")
    return (f"**{name}, {objective}**: {count} graphs "
            f"([data](RESULTS/{file}.csv)).\n\n" + table(head, lines))


def largest_peak(session):
    """GiB of any plan of this table for run time: the paper's task has a limit
    of 16."""
    graphs = {(graph.dataset, graph.name) for name in SETS
              for graph in sets.graphs_for(session, name, "runtime")}
    return max(int(row["peak_bytes"]) for row in session.rows()
               if row["objective"] == "runtime" and row["copy"] == "0" and
               (row["dataset"], row["graph"]) in graphs) / 2**30


def make(session):
    parts, seeds = [], len(session.size("seeds").split(","))
    for name, objective in itertools.product(SETS, OBJECTIVES):
        entries = entries_of(session, name, objective)
        parts.append(part(session, name, objective, entries,
                          make_runs(session, name, objective, entries),
                          f"table1_{name}_{objective}", seeds))
    return Section(
        "table1", "Table 1, running times, deviation over seeds",
        f"Seeds {session.size('seeds')}. The deviation is that of the mean "
        "improvement from seed to seed; the paper says below "
        f"{published.DEVIATION}%. Methods below `regal` are not in the paper. "
        "The paper's task for run time has a memory limit of 16 GiB on each "
        "device, which is not set here: the largest peak of any plan is "
        f"{largest_peak(session):.1f} GiB.\n\n" + "\n\n".join(parts), [])


def solver(session):
    """The paper's row of CP-SAT, which takes minutes for each graph, with the
    other methods on the same graphs."""
    title = "Table 1: CP-SAT"
    if not session.size("cp_sat_graphs") or not session.has_cp_sat():
        return Section("cp_sat", title, "`cp-sat` is missing: none was asked "
                       "for, or this build finds no OR-tools library "
                       "([cp-sat.md](cp-sat.md)).", [])
    parts = []
    for name, objective in itertools.product(SETS, OBJECTIVES):
        entries = solver_entries(session, name, objective)
        parts.append(part(session, name, objective, entries,
                          make_solver_runs(session, name, objective, entries),
                          f"cp_sat_{name}_{objective}", 1))
    return Section(
        "cp_sat", title,
        "On graphs that are spread over the sets of Table 1, one seed. The "
        "other methods have the evaluations of Table 1.\n\n" +
        "\n\n".join(parts), [])
