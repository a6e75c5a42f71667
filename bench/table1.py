#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The paper's Table 1: every method at 5000 evaluations, against BRKGA.

  bench/table1.py                       200 synthetic graphs and all real ones
  bench/table1.py --synthetic 50 --real 20 --jobs 8
  bench/table1.py --synthetic 60 --real 24 --methods cp-sat --cp-sat 60

Synthetic graphs are generated (filtered as in the paper, from --graph-seed);
real ones are those of split test of data/*.zip, without those that no plan can
improve; --real N takes N of them from all over. Methods that this build does
not have are left out. Policies: rule, and every policies/*.policy that serves
the objective on two devices. tuned has the settings that were tuned for the
graph's set (settings/), of the synthetic one where there are none.

cp-sat runs only with --cp-sat SECONDS, and on --cp-sat-graphs of the graphs. Its
budget is time, not evaluations, and there are two rows of it: as it is, from the
plan that auto finds in a tenth of the time; and from the best list scheduler or
cut, which shows what the solver itself adds.

Every run is a line of results/table1.csv; runs that are there are not repeated,
so that the command can be stopped and started again (--fresh begins anew, with
--methods only those, as it must after a change of a method). Then the tables are
printed as Markdown, also into results/table1.md: for each set and objective

  improvement   over BRKGA on the same graph, in percent of BRKGA's cost: mean
                and standard error over graphs
  gap           to the best plan that any of the methods found, mean in percent
  seconds       mean, on one thread of a machine that may have been busy

with the paper's numbers beside them. Its graphs are others, except for the
synthetic ones, which are of the same distribution. Means are over the graphs
that a method and BRKGA both have; a mean over fewer than all says over how many,
and a line below the table has the other methods' on the same graphs.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = ("set", "graph", "objective", "method", "evaluations", "seed", "cost",
          "bound", "seconds")
KEY = FIELDS[:6]
OBJECTIVES = ("runtime", "memory")

# (improvement, gap) of TF run time, TF memory, synthetic run time.
PAPER = {
    "cp-sat": ((15.85, 1.00), (-1.48, 8.06), (19.50, 0.00)),
    "gp-dfs": ((-37.32, 66.98), (-6.51, 14.77), (-55.8, 93.66)),
    "local": ((-1.66, 22.63), (0.63, 7.24), (0.08, 24.60)),
    "brkga": ((0.00, 20.19), (0.00, 7.98), (0.00, 24.63)),
    "tuned": ((3.20, 16.40), (0.80, 7.11), (3.11, 20.76)),
    "gas": ((3.79, 15.24), (0.16, 7.67), (0.80, 23.48)),
    "idrs": ((-6.87, 28.60), (-3.16, 12.39), (-12.12, 39.72)),
    "regal": ((7.09, 11.04), (3.56, 4.44), (4.81, 18.57)),
}
COLUMN = {("real", "runtime"): 0, ("real", "memory"): 1,
          ("synthetic", "runtime"): 2}
# Those without a policy, in the order of the table.
METHODS = ("gp-dfs", "partition", "local", "climb", "brkga", "tuned", "random",
           "heft", "auto")


def call(*command):
    return subprocess.run([str(word) for word in command], text=True,
                          capture_output=True)


def check(*command):
    done = call(*command)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def machine(objective):
    return ("--devices", 2, "--objective", objective, "--threads", 1, "--json",
            "--quiet")


# -- Graphs -------------------------------------------------------------------


def spread(items, count):
    """So many of them, from all over; all if `count` is 0."""
    if not 0 < count < len(items):
        return items
    return [items[i * len(items) // count] for i in range(count)]


def synthetic_graphs(options):
    """A smaller number is the beginning of a larger one."""
    folder = options.scratch / f"synthetic-{options.graph_seed}"
    index = folder / "index.csv"
    rows = []
    if index.exists():
        rows = list(csv.DictReader(index.open()))
    if len(rows) < options.synthetic:
        check(options.regal, "generate", folder, "--filter", "--count",
              options.synthetic, "--seed", options.graph_seed, "--quiet")
        rows = list(csv.DictReader(index.open()))
    return [(row["name"], folder / row["file"])
            for row in rows[:options.synthetic]]


def real_graphs(options, objective):
    found = []
    for archive in sorted((ROOT / "data").glob("*.zip")):
        room = options.scratch / f"{archive.stem}-{objective}.zip"
        if not room.exists():
            check(options.regal, "dataset", "filter", archive, "--split",
                  "test", "--objective", objective, "-o", room, "--quiet")
        for row in json.loads(check(options.regal, "dataset", "list", room,
                                    "--json")):
            if row["ops"] <= options.most_ops:
                found.append((f"{archive.stem}:{row['name']}",
                              f"{room}:{row['name']}"))
    return spread(found, options.real)


# -- Methods ------------------------------------------------------------------


def policy_methods(options, objective, path, known):
    """(label, arguments) of the methods that the policies serve."""
    yield "regal (rule)", ("--method", "regal", "--policy", "rule")
    yield "idrs (rule)", ("--method", "idrs", "--policy", "rule")
    for policy in sorted((ROOT / "policies").glob("*.policy")):
        for method in ("gas", "regal"):  # gas takes policies of its kind only
            words = ("--method", method, "--policy", policy)
            if method in known and not call(
                    options.regal, "optimize", path, *machine(objective),
                    "--evaluations", 500, *words).returncode:
                yield f"{method} ({policy.stem})", words
                if method == "regal":
                    yield (f"idrs ({policy.stem})",
                           ("--method", "idrs", "--policy", policy))
                break


def all_methods(options, objective, path):
    listed = json.loads(check(options.regal, "methods", "--json"))
    known = {row["name"] for row in listed["methods"]}
    rows = [(name, ("--method", name)) for name in METHODS if name in known]
    if "regal" in known:
        rows += policy_methods(options, objective, path, known)
    if options.cp_sat and "cp-sat" in known:
        words = ("--method", "cp-sat", "--time", options.cp_sat)
        rows.append((f"cp-sat ({options.cp_sat:g} s)", words))
        rows.append((f"cp-sat from heuristics ({options.cp_sat:g} s)",
                     (*words, "--evaluations", 1)))
    return [row for row in rows
            if row[0] == "brkga" or is_chosen(options, row[0])]


def words_for(words, name, graph, objective):
    """The settings that go with the graph's set, for tuned."""
    family = "synthetic" if name == "synthetic" else graph.split(":")[0]
    settings = f"{family}_{objective}"
    if "tuned" not in words or not (
            ROOT / "settings" / f"{settings}.json").exists():
        return words
    return (*words, "--settings", settings)


# -- Runs ---------------------------------------------------------------------


def is_chosen(options, method):
    wanted = (options.methods or "").split(",")
    return (not options.methods or method in wanted or
            method.split(" ")[0] in wanted)


class Results:
    def __init__(self, options):
        path = options.out
        self.path = path
        self.lock = threading.Lock()
        self.rows = {}
        if path.exists():
            for row in csv.DictReader(path.open()):
                if options.fresh and is_chosen(options, row["method"]):
                    continue
                if row["seconds"]:  # a line that was cut short is done anew
                    self.rows[tuple(row[name] for name in KEY)] = row
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as out:
            writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())

    def add(self, row):
        with self.lock:
            self.rows[tuple(row[name] for name in KEY)] = row
            with self.path.open("a", newline="") as out:
                csv.DictWriter(out, FIELDS, lineterminator="\n").writerow(row)


def run(options, results, key, path, words):
    objective = key[2]
    budget = () if "cp-sat" in words else ("--evaluations", key[4])
    done = call(options.regal, "optimize", path, *machine(objective), "--seed",
                key[5], *budget, *words)
    if done.returncode:
        return f"{key[3]} on {key[1]}: {done.stderr.strip()}"
    plan = json.loads(done.stdout)
    if plan["stop"] == "interrupt":
        return f"{key[3]} on {key[1]}: interrupted"
    memory = objective == "memory"
    row = dict(zip(KEY, key))
    row["cost"] = str(max(plan["cost"]["peak_bytes"]) if memory else
                      plan["cost"]["runtime_ns"])
    row["bound"] = str(plan["bound"]["peak_bytes" if memory else "runtime_ns"])
    row["seconds"] = f"{plan['seconds']:.4f}"
    results.add(row)
    return None


def tasks(options, results):
    """Graph by graph, so that an unfinished table means something, too."""
    for name in options.sets.split(","):
        for objective in options.objectives.split(","):
            graphs = (synthetic_graphs(options) if name == "synthetic" else
                      real_graphs(options, objective))
            methods = all_methods(options, objective, graphs[0][1])
            few = set(spread(graphs, options.cp_sat_graphs))
            for graph, path in graphs:
                for method, words in methods:
                    key = (name, graph, objective, method,
                           str(options.evaluations), str(options.seed))
                    if key in results.rows or (method.startswith("cp-sat") and
                                               (graph, path) not in few):
                        continue
                    yield key, path, words_for(words, name, graph, objective)


def run_all(options, results):
    waiting = list(tasks(options, results))
    failures = 0
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    futures = [pool.submit(run, options, results, *task) for task in waiting]
    try:
        for done, future in enumerate(
                concurrent.futures.as_completed(futures), 1):
            if future.result():
                failures += 1
                print(f"table1: {future.result()}", file=sys.stderr)
            if sys.stderr.isatty():
                print(f"\r{done} of {len(futures)} runs\033[K", end="",
                      file=sys.stderr)
    except KeyboardInterrupt:
        print("table1: stopped; the same command goes on from here",
              file=sys.stderr)
    finally:
        pool.shutdown(cancel_futures=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return failures


# -- The tables ---------------------------------------------------------------


def mean_and_error(values):
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    spread = sum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(spread / (len(values) - 1) / len(values))


def collect(options, results):
    """{(set, objective): {method: {graph: row}}}"""
    tables = {}
    for row in results.rows.values():
        if (row["evaluations"], row["seed"]) == (str(options.evaluations),
                                                 str(options.seed)):
            tables.setdefault((row["set"], row["objective"]), {}).setdefault(
                row["method"], {})[row["graph"]] = row
    return tables


def table_order(method):
    name = method.split(" ")[0]
    order = ("cp-sat", "gp-dfs", "local", "brkga", "tuned", "gas", "idrs",
             "regal", "random", "partition", "climb", "heft", "auto")
    return order.index(name) if name in order else len(order), method


def paper_cells(name, objective, method):
    column = COLUMN.get((name, objective))
    known = PAPER.get(method.split(" ")[0])
    if column is None or known is None:
        return "", ""
    improvement, gap = known[column]
    return f"{improvement:+.2f}%", f"{gap:.2f}%"


def improvement(costs, method, graphs):
    return mean_and_error([100 * (1 - costs[method][graph] /
                                  costs["brkga"][graph]) for graph in graphs])


def compare_on(costs, method, graphs):
    """What the methods that have all graphs do on these."""
    others = [f"{other} {improvement(costs, other, graphs)[0]:+.2f}%"
              for other in sorted(costs, key=table_order)
              if not other.startswith("cp-sat") and
              all(graph in costs[other] for graph in graphs)]
    return (f"On the {len(graphs)} graphs of `{method}`: {', '.join(others)}.")


def table_lines(name, objective, methods):
    standard = methods.get("brkga", {})
    costs = {method: {graph: float(row["cost"]) for graph, row in rows.items()}
             for method, rows in methods.items()}
    best = {}
    for of_method in costs.values():
        for graph, cost in of_method.items():
            best[graph] = min(cost, best.get(graph, cost))
    yield f"\n## {name}, {objective}: {len(standard)} graphs\n"
    yield ("| method | improvement | error | gap to best found | seconds | "
           "paper: improvement | paper: gap |")
    yield "|---|---|---|---|---|---|---|"
    notes = {}
    for method in sorted(methods, key=table_order):
        both = [graph for graph in methods[method]
                if costs["brkga"].get(graph, 0) > 0] if standard else []
        if not both:
            continue
        mean, error = improvement(costs, method, both)
        gaps = [100 * (costs[method][graph] / best[graph] - 1)
                for graph in both if best[graph] > 0]
        seconds = [float(methods[method][graph]["seconds"]) for graph in both]
        number = ""
        if len(both) < len(standard):
            number = f" (on {len(both)})"
            notes.setdefault(tuple(sorted(both)), method)
        paper = paper_cells(name, objective, method)
        yield (f"| {method}{number} | {mean:+.2f}% | {error:.2f} | "
               f"{mean_and_error(gaps or [0])[0]:.2f}% | "
               f"{mean_and_error(seconds)[0]:.3f} | {paper[0]} | {paper[1]} |")
    for graphs, method in notes.items():
        yield ""
        yield compare_on(costs, method, graphs)


def write_tables(options, results):
    lines = [f"# Table 1 at {options.evaluations} evaluations, seed "
             f"{options.seed}", "",
             "Written by `bench/table1.py`, which says what the columns are."]
    for (name, objective), methods in sorted(
            collect(options, results).items(),
            key=lambda item: (item[0][0] != "synthetic", item[0][1] != "runtime")):
        lines += table_lines(name, objective, methods)
    text = "\n".join(lines) + "\n"
    options.out.with_suffix(".md").write_text(text)
    print(text, end="")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regal", type=pathlib.Path,
                        default=ROOT / "build" / "regal")
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "results" / "table1.csv")
    parser.add_argument("--scratch", type=pathlib.Path,
                        default=ROOT / "build" / "table1",
                        help="for graphs that are made")
    parser.add_argument("--synthetic", type=int, default=200, metavar="N")
    parser.add_argument("--real", type=int, default=0, metavar="N",
                        help="0: all")
    parser.add_argument("--most-ops", type=int, default=10000, metavar="N",
                        help="of real graphs")
    parser.add_argument("--sets", default="synthetic,real")
    parser.add_argument("--objectives", default="runtime,memory")
    parser.add_argument("--methods", help="only these, and brkga; by commas")
    parser.add_argument("--evaluations", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1, help="of the methods")
    parser.add_argument("--graph-seed", type=int, default=77)
    parser.add_argument("--cp-sat", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--cp-sat-graphs", type=int, default=0, metavar="N",
                        help="of each set; 0: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--tables", action="store_true",
                        help="run nothing, print what is there")
    return parser.parse_args()


def main():
    options = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options.scratch.mkdir(parents=True, exist_ok=True)
    results = Results(options)
    failures = 0 if options.tables else run_all(options, results)
    write_tables(options, results)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
