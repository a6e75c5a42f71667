# SPDX-License-Identifier: Apache-2.0
"""Table 1 and the running times: every method at equal evaluations."""
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


def regal_entries(session, name, objective, budget):
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
               *regal_entries(session, name, objective, budget),
               Entry("heft", "heft", "none"),
               Entry("climb", "climb", budget),
               Entry("partition", "partition", "none"),
               Entry("auto", "auto", budget)]
    return [entry for entry in entries if entry.method.split()[0] in known]


def cp_sat_entry(session):
    seconds = session.size("cp_sat_seconds")
    return Entry(f"cp-sat, {seconds} s", f"cp-sat time={seconds}s",
                 f"{seconds}s")


def make_runs(session, name, objective, entries, has_cp_sat):
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
    count = session.size("cp_sat_graphs")
    if has_cp_sat and count:
        session.bench(sets.spread(graphs, count),
                      [cp_sat_entry(session).method], [budget], objective,
                      seeds="1")
        entries.append(cp_sat_entry(session))
    return Runs(session, graphs, objective), len(graphs)


def smaller(session, score, graphs):
    """On how many graphs and seeds, where it is not all of them."""
    seeds = len(session.size("seeds").split(","))
    parts = ([f"{score.graphs} graphs"] if score.graphs != graphs else []) + (
        [f"{score.seeds} of {seeds} seeds"] if score.seeds != seeds else [])
    return f" (on {', '.join(parts)})" if parts else ""


FIELDS = ("method", "graphs", "improvement", "standard_error",
          "deviation_over_seeds", "gap_to_best", "gap_to_bound", "seconds",
          "better", "equal", "worse", "largest", "smallest",
          "paper_improvement", "paper_gap")


def part(session, name, objective, has_cp_sat):
    """The lines of one column of the paper's table."""
    entries = entries_of(session, name, objective)
    runs, count = make_runs(session, name, objective, entries, has_cp_sat)
    known = published.TABLE1.get((name, objective), {})
    lines, rows = [], []
    for entry in entries:
        score = runs.score(entry, reference(session))
        if not score:
            continue
        original = re.match(r"[\w-]+", entry.label)[0]
        paper = known.get(original, (None, None))
        rows.append((entry.label, *score[:5], score.gap, score.bound_gap,
                     score.seconds, *score[8:13], *paper))
        label = entry.label + smaller(session, score, count)
        lines.append((label, with_error(score.improvement, score.error),
                      number(score.deviation, "{:.3f}"), number(score.gap),
                      number(score.bound_gap), number(score.seconds, "{:.3f}"),
                      number(paper[0], "{:+.2f}"), number(paper[1]),
                      published.SECONDS.get(original, "")
                      if (name, objective) == ("real", "memory") else ""))
    session.write_csv(f"table1_{name}_{objective}", FIELDS,
                      [(row[0], row[1], *row[2:5], *row[6:]) for row in rows])
    head = ("method", "improvement", "deviation over seeds", "gap to best",
            "gap to bound", "seconds", "paper: improvement", "paper: gap",
            "paper: seconds")
    return (f"**{name}, {objective}**: {count} graphs "
            f"([data](RESULTS/table1_{name}_{objective}.csv)).\n\n" +
            table(head, lines))


def largest_peak(session):
    """GiB of any plan of this table for run time: the paper's task has a limit
    of 16."""
    graphs = {(graph.dataset, graph.name) for name in SETS
              for graph in sets.graphs_for(session, name, "runtime")}
    return max(int(row["peak_bytes"]) for row in session.rows()
               if row["objective"] == "runtime" and row["copy"] == "0" and
               (row["dataset"], row["graph"]) in graphs) / 2**30


def make(session):
    has_cp_sat = session.has_cp_sat()
    parts = [part(session, name, objective, has_cp_sat)
             for name in SETS for objective in OBJECTIVES]
    note = ("" if has_cp_sat else "\n\n`cp-sat` is missing: this build finds no "
            "OR-tools library ([cp-sat.md](cp-sat.md)).")
    return Section(
        "table1", "Table 1, running times, deviation over seeds",
        f"Seeds {session.size('seeds')}. The deviation is that of the mean "
        "improvement from seed to seed; the paper says below "
        f"{published.DEVIATION}%. Methods below `regal` are not of the paper. "
        "The paper's task for run time has a memory limit of 16 GiB on each "
        "device, which is not set here: the largest peak of any plan is "
        f"{largest_peak(session):.1f} GiB.\n\n" + "\n\n".join(parts) + note, [])
