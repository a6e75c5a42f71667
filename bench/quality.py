#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and curves from bench_quality's lines, and the best known plans.

  bench/quality.py merge CSV... --plans DIR [--list FILE]
  bench/quality.py table CSV... [--output results/quality.md]
  bench/quality.py curve CSV... [--folder results/curves]

merge   takes what is better than before into results/best_known.csv and its
        plan into results/best_known.zip (SETTING.GRAPH.plan). Both are only
        ever improved, and a plan is taken only if `regal evaluate` gives it the
        cost that the line says, on the machine of the setting. Graphs are
        looked for by name in data/torch.zip, tf.zip and xla.zip, and in --list
        (a list that bench_quality read). --plans is what bench_quality was
        given. A memory limit moves when the bound gets better: what is known is
        then judged under the limit of the new plan.
table   Markdown: for each setting, method and budget the mean gap to the best
        known plan and to the bound, and the gain over one device.
curve   one picture (SVG, by gnuplot) for each setting: gap against time.

Gaps are in percent, first averaged over the seeds of a graph, then over graphs;
+- is the standard error over graphs, "seeds" that of the mean over seeds. A
plan beyond its memory limit counts for the share within the limit alone. Where
a line is better than what is known it counts as known, and a warning says to
merge.
"""
import argparse
import collections
import csv
import io
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import zipfile

from archives import ARCHIVES, ROOT, index_of, path_of

COLUMNS = ("setting graph cost excess bound method seconds seed commit "
           "limit").split()
LARGE = 1000  # graphs of more ops have columns of their own
# The settings of bench/quality.c, as plan files write them: devices, transfers,
# latency in ns, bandwidth in bytes/s, objective.
SETTINGS = {
    "free": (2, "blocking", 0, 0, "runtime"),
    "blocking-25": (2, "blocking", 10000, 25 * 10**9, "runtime"),
    "blocking-450": (2, "blocking", 10000, 450 * 10**9, "runtime"),
    "overlapped-25": (2, "overlapped", 10000, 25 * 10**9, "runtime"),
    "runtime-4": (4, "blocking", 0, 0, "runtime"),
    "memory-2": (2, "blocking", 0, 0, "memory"),
    "memory-4": (4, "blocking", 0, 0, "memory"),
    "limited": (2, "blocking", 0, 0, "runtime"),
    "memory-1": (1, "blocking", 0, 0, "memory"),
}


def fail(message):
    sys.exit(f"quality.py: {message}")


class Line:
    """A line of bench_quality."""

    def __init__(self, row):
        self.setting, self.graph = row["setting"], row["graph"]
        self.method, self.budget = row["method"], row["budget"]
        self.seed = row["seed"]
        self.cost, self.excess = int(row["cost"]), int(row["excess"])
        self.bound, self.before = int(row["bound"]), int(row["before"])
        self.seconds, self.ops = float(row["seconds"]), int(row["ops"])

    @property
    def fitness(self):
        return self.excess, self.cost

    def plan_name(self):
        name = ".".join((self.setting, self.graph, self.method, self.budget,
                         self.seed))
        for character in " /=":
            name = name.replace(character, "_")
        return name + ".plan"


def read_lines(paths):
    lines = []
    for path in paths:
        with open(path, newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                try:
                    lines.append(Line(row))
                except (KeyError, TypeError, ValueError):
                    fail(f"{path}:{number}: not a line of bench_quality")
                if row["setting"] not in SETTINGS:
                    fail(f"{path}:{number}: no such setting: {row['setting']}")
    if not lines:
        fail("no lines")
    return lines


# -- The best known ------------------------------------------------------------

class Known:
    """results/best_known.csv and .zip; (setting, graph) -> row."""

    def __init__(self, folder):
        self.table = pathlib.Path(folder) / "best_known.csv"
        self.archive = pathlib.Path(folder) / "best_known.zip"
        self.rows, self.plans = {}, {}
        if self.table.exists():
            with self.table.open(newline="") as file:
                for row in csv.DictReader(file):
                    self.rows[row["setting"], row["graph"]] = row

    def load_plans(self):
        if self.archive.exists():
            with zipfile.ZipFile(self.archive) as file:
                self.plans = {name: file.read(name) for name in file.namelist()}
        missing = [key for key in self.rows if ".".join(key) + ".plan"
                   not in self.plans]
        if missing:
            fail(f"{self.archive} has no plan for {' '.join(missing[0])}")

    def fitness(self, key):
        row = self.rows.get(key)
        return (int(row["excess"]), int(row["cost"])) if row else None

    def save(self):
        self.table.parent.mkdir(parents=True, exist_ok=True)
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for key in sorted(self.rows):
            writer.writerow(self.rows[key])
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            for key in sorted(self.rows):
                name = ".".join(key) + ".plan"
                # a fixed date: the same plans give the same bytes
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(entry, self.plans[name], compresslevel=9)
        replace(self.archive, packed.getvalue())
        replace(self.table, text.getvalue().encode())


def replace(path, data):
    """All of the new file or all of the old one."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)


class Evaluator:
    """What `regal evaluate` says about a plan."""

    def __init__(self, command, lists):
        self.command = shlex.split(command)
        self.paths = {}
        for archive in ARCHIVES:
            for row in index_of(path_of(archive)):
                self.paths.setdefault(row["name"], []).append(
                    f"{path_of(archive)}:{row['name']}")
        for name in lists:
            for line in pathlib.Path(name).read_text().split("\n"):
                if line:
                    base = line.rsplit(":", 1)[-1] if ":" in line \
                        else line.rsplit("/", 1)[-1]
                    self.paths[base] = [line]

    def program(self, *words):
        return subprocess.run([*self.command, *words], text=True,
                              capture_output=True)

    def build(self):
        return self.program("--version").stdout.strip()

    def evaluate(self, graph, plan, *options):
        """The JSON, or a sentence why there is none."""
        paths = self.paths.get(graph, [])
        if len(paths) != 1:
            return f"{len(paths)} graphs have this name: use --list"
        done = self.program("evaluate", paths[0], str(plan), "--json", *options)
        if done.returncode not in (0, 3):  # 3: beyond the limit, still a cost
            return done.stderr.strip().split("\n")[-1]
        return json.loads(done.stdout)


def limit_of(said):
    """Of each device; 0: none."""
    limits = said["machine"].get("memory_limit_bytes") or []
    return limits if isinstance(limits, list) else [limits]


def cost_of(said):
    """(excess, cost) of what `regal evaluate --json` said."""
    peaks = said["cost"]["peak_bytes"]
    excess = sum(max(0, peak - limit)
                 for peak, limit in zip(peaks, limit_of(said)) if limit)
    cost = max(peaks) if said["objective"] == "memory" \
        else said["cost"]["runtime_ns"]
    return excess, cost


def why_not(line, said):
    """Why the plan does not show what the line says, or None."""
    if isinstance(said, str):
        return said
    machine = said["machine"]
    if not isinstance(machine["devices"], int):
        return "its machine is not that of the setting"
    found = (machine["devices"], machine["transfers"], machine["latency_ns"],
             machine["bandwidth_bytes_per_s"], said["objective"])
    limited = any(limit_of(said)) == (line.setting == "limited")
    if found != SETTINGS[line.setting] or not limited:
        return "its machine is not that of the setting"
    if cost_of(said) != line.fitness:
        return (f"it costs {cost_of(said)[1]} with an excess of "
                f"{cost_of(said)[0]}, not {line.cost} with {line.excess}")
    return None


def known_fitness(known, key, line_limit, evaluator):
    """What is known, under the limit of today: a better bound moves it."""
    row = known.rows.get(key)
    if not row or row["limit"] == line_limit:
        return known.fitness(key)
    with tempfile.NamedTemporaryFile(suffix=".plan") as file:
        file.write(known.plans[".".join(key) + ".plan"])
        file.flush()
        said = evaluator.evaluate(key[1], file.name, "--memory-limit",
                                  line_limit)
    if isinstance(said, str):
        fail(f"the best known plan of {' '.join(key)}: {said}")
    return cost_of(said)


def try_line(known, evaluator, line, plans, commit):
    """True if it was taken; or a sentence why not; False if it is no better."""
    key = line.setting, line.graph
    fitness = known.fitness(key)
    if line.setting != "limited" and fitness and fitness <= line.fitness:
        return False
    path = pathlib.Path(plans) / line.plan_name()
    if not path.exists():
        return f"no plan {path.name}"
    said = evaluator.evaluate(line.graph, path)
    reason = why_not(line, said)
    if reason:
        return reason
    limit = str(max(limit_of(said), default="")) \
        if line.setting == "limited" else ""
    fitness = known_fitness(known, key, limit, evaluator)
    if fitness and fitness <= line.fitness:
        return False
    known.rows[key] = dict(
        setting=line.setting, graph=line.graph, cost=line.cost,
        excess=line.excess, bound=line.bound, method=line.method,
        seconds=line.seconds, seed=line.seed, commit=commit, limit=limit)
    known.plans[".".join(key) + ".plan"] = path.read_bytes()
    return True


def command_merge(arguments):
    evaluator = Evaluator(arguments.regal, arguments.list)
    known = Known(arguments.results)
    known.load_plans()
    commit = arguments.commit or evaluator.build().partition("(")[2] \
        .partition(",")[0]
    groups = collections.defaultdict(list)
    for line in read_lines(arguments.csv):
        groups[line.setting, line.graph].append(line)
    taken = refused = 0
    for key in sorted(groups):
        lines = groups[key]
        once = {line.plan_name(): line for line in lines}.values()
        for line in sorted(once, key=lambda line: line.fitness):
            outcome = try_line(known, evaluator, line, arguments.plans, commit)
            if isinstance(outcome, str):
                refused += 1
                print(f"refused {line.plan_name()}: {outcome}",
                      file=sys.stderr)
                continue
            taken += outcome
            break
        if key in known.rows:  # a higher bound holds for every plan
            known.rows[key]["bound"] = max(
                [int(known.rows[key]["bound"])] + [l.bound for l in lines])
    known.save()
    print(f"{taken} improved, {refused} refused, {len(known.rows)} known")
    return 1 if refused else 0


# -- Figures -------------------------------------------------------------------

class Group:
    """The runs of one method with one budget in one setting."""

    def __init__(self, lines, best, bounds):
        self.lines = lines
        self.fitting = [line for line in lines if not line.excess]
        self.best, self.bounds = best, bounds

    def gaps(self, reference, lines=None):
        """graph -> its lines' gaps to reference[setting, graph], in percent."""
        gaps = collections.defaultdict(list)
        for line in self.fitting if lines is None else lines:
            to = reference.get((line.setting, line.graph))
            if to:
                gaps[line.graph].append((100 * (line.cost / to - 1), line.seed))
        return gaps

    def mean(self, reference, large=None):
        """(mean over graphs, standard error), or None."""
        lines = [line for line in self.fitting
                 if large is None or (line.ops > LARGE) == large]
        means = [statistics.fmean(gap for gap, _ in of)
                 for of in self.gaps(reference, lines).values()]
        return mean_error(means)

    def seed_error(self):
        """Standard error of the mean over seeds; None for one seed."""
        seeds = collections.defaultdict(list)
        for of in self.gaps(self.best).values():
            for gap, seed in of:
                seeds[seed].append(gap)
        found = mean_error([statistics.fmean(of) for of in seeds.values()])
        return found[1] if found and len(seeds) > 1 else None

    def gain(self):
        """Over one device, in percent of its cost."""
        gains = collections.defaultdict(list)
        for line in self.fitting:
            if line.before:
                gains[line.graph].append(100 * (1 - line.cost / line.before))
        return mean_error([statistics.fmean(of) for of in gains.values()])

    def within(self):
        return 100 * len(self.fitting) / len(self.lines)

    def seconds(self):
        return statistics.fmean(line.seconds for line in self.lines)


def mean_error(values):
    if not values:
        return None
    error = statistics.stdev(values) / math.sqrt(len(values)) \
        if len(values) > 1 else 0.0
    return statistics.fmean(values), error


def read_groups(paths, results):
    """setting -> {(method, budget): Group}, in the order of SETTINGS and of
    the lines."""
    lines = read_lines(paths)
    known = Known(results)
    best, bounds, beaten = {}, {}, set()
    for key, row in known.rows.items():
        bounds[key] = int(row["bound"])
        if not int(row["excess"]):
            best[key] = int(row["cost"])
    for line in lines:
        key = line.setting, line.graph
        bounds[key] = max(bounds.get(key, 0), line.bound)
        if not line.excess and line.cost < best.get(key, math.inf):
            best[key] = line.cost
            beaten.add(key)
    if beaten:
        print(f"quality.py: {len(beaten)} graphs have better plans here than "
              "are known: merge them", file=sys.stderr)
    grouped = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in lines:  # a run that was made twice counts once
        grouped[line.setting][line.method, line.budget][
            line.graph, line.seed] = line
    return {setting: {key: Group(list(of.values()), best, bounds)
                      for key, of in grouped[setting].items()}
            for setting in SETTINGS if setting in grouped}


def shown(value, digits=2):
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f"{value[0]:.{digits}f} +- {value[1]:.{digits}f}"
    return f"{value:.{digits}f}"


HEAD = ("method", "budget", "runs", "gap to best known", "seeds",
        f"above {LARGE} ops", f"up to {LARGE} ops", "gap to bound",
        f"bound, above {LARGE}", "gain over one device", "within limit",
        "seconds")


def table_of(groups):
    rows = [HEAD, ("---",) * 2 + ("---:",) * (len(HEAD) - 2)]
    for (method, budget), group in groups.items():
        bound = group.mean(group.bounds)
        large = group.mean(group.bounds, True)
        rows.append((
            method, f"{budget} s" if budget != "own" else "own",
            str(len(group.lines)), shown(group.mean(group.best)),
            shown(group.seed_error()), shown(group.mean(group.best, True)),
            shown(group.mean(group.best, False)), shown(bound and bound[0]),
            shown(large and large[0]), shown(group.gain(), 1),
            f"{group.within():.0f}%", shown(group.seconds())))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def command_table(arguments):
    groups = read_groups(arguments.csv, arguments.results)
    names = " ".join(pathlib.Path(path).name for path in arguments.csv)
    text = ("# Quality\n\nWritten by `bench/quality.py table` from " + names +
            ". Percent; +- is the standard error over graphs, \"seeds\" that "
            "of the mean\nover seeds. Plans beyond the memory limit count for "
            "the share within it alone.\n")
    for setting, of in groups.items():
        any_group = next(iter(of.values()))
        graphs = {line.graph: line.ops for line in any_group.lines}
        large = sum(ops > LARGE for ops in graphs.values())
        text += (f"\n## {setting}\n\n{len(graphs)} graphs, {large} of them "
                 f"above {LARGE} ops.\n\n{table_of(of)}")
    print(text, end="")
    path = pathlib.Path(arguments.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return 0


# -- Curves --------------------------------------------------------------------

# The style of all figures, and what is special about these.
STYLE = (ROOT / "src/bench/style.gp").read_text() + """
set terminal svg size 780,400 dynamic font 'sans,13' background 'white'
set logscale x
set xlabel 'seconds'
set ylabel 'gap to the best known plan, %'
set yrange [0:]
"""


def curves_of(groups):
    """method -> [(seconds, gap, error)], by time."""
    curves = collections.defaultdict(list)
    for (method, budget), group in groups.items():
        mean = group.mean(group.best)
        if mean:
            seconds = group.seconds() if budget == "own" else float(budget)
            curves[method].append((max(seconds, 1e-4), *mean))
    return {method: sorted(points) for method, points in curves.items()}


def command_curve(arguments):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    script = "# gnuplot quality.gp, in this folder\n" + STYLE
    for setting, groups in read_groups(arguments.csv,
                                       arguments.results).items():
        curves = curves_of(groups)
        with (folder / f"{setting}.csv").open("w") as file:
            for method, points in curves.items():  # two empty lines: an index
                file.write(f"# {method}\n" + "".join(
                    f"{seconds:g},{gap:.4f},{error:.4f}\n"
                    for seconds, gap, error in points) + "\n\n")
        plots = [f"'{setting}.csv' index {index} using 1:2:3 with yerrorlines "
                 f"lt {index + 1} title '{method}'"
                 for index, method in enumerate(curves)]
        if plots:
            script += (f"set output '{setting}.svg'\nset title '{setting}' "
                       "noenhanced\nplot " + ", \\\n  ".join(plots) + "\n")
    (folder / "quality.gp").write_text(script)
    try:
        done = subprocess.run(["gnuplot", "quality.gp"], cwd=folder)
    except FileNotFoundError:
        fail(f"gnuplot was not found: {folder} has the data and quality.gp")
    return done.returncode


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("merge", "table", "curve"):
        command = commands.add_parser(name)
        command.set_defaults(function=globals()[f"command_{name}"])
        command.add_argument("csv", nargs="+")
        command.add_argument("--results", default=str(ROOT / "results"))
        if name == "merge":
            command.add_argument("--plans", required=True)
            command.add_argument("--list", action="append", default=[])
            command.add_argument("--regal", default=str(ROOT / "build/regal"))
            command.add_argument("--commit", default="")
        elif name == "table":
            command.add_argument("--output",
                                 default=str(ROOT / "results/quality.md"))
        else:
            command.add_argument("--folder",
                                 default=str(ROOT / "results/curves"))
    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
