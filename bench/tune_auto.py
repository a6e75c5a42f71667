#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tunes how `auto` anneals: writes src/anneal/schedule_table.h.

  bench/tune_auto.py run [--jobs N] [--seconds S] [--prefix CMD] [--folder DIR]
                         [--kinds ...] [--sizes ...] [--budgets ...]
  bench/tune_auto.py report [--folder DIR]
  bench/tune_auto.py write [--folder DIR] [--output FILE]

A cell is a kind of problem, a class of sizes and a budget: one row of the
table. `run` searches each cell's settings (annealer, hot, cold, fall,
coarse-share, coarsest, fresh) on graphs of the training split of data/torch.zip,
tf.zip and xla.zip and on synthetic ones, with bench_quality and the method
`auto`, whose recipe the settings override. Brackets of successive halving:
the row that is in force, the best of this cell and of its neighbours, variations
of these and random ones begin on a few graphs; the better half goes on to twice
as many. The cell that has had the least time (by its budget's weight) is next.

Every run is kept in DIR/runs.csv, every bracket in DIR/brackets.jsonl: a run
that was stopped goes on where it was, and a longer one starts another bracket.
DIR/made.txt says which commands, builds and machines made them. --prefix is put
before the programs (a loader and its library path, say).

A setting's score is its mean logarithm of cost over graphs, plus a price where
the plan is beyond the memory limit. `write` takes the best of those that went
farthest in their cell if it is better than the row in force by more than two
standard errors, on half of the cell's runs at least; else the row stays.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import math
import os
import pathlib
import platform
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

from archives import ARCHIVES, ROOT, index_of, path_of

TABLE = ROOT / "src/anneal/schedule_table.h"
# Kinds of src/anneal/schedules.h, in its order: the settings of bench_quality
# that stand for each, and the archives that its graphs come from, in turns.
KINDS = {
    "FREE": (("free",), "torch torch xla torch tf"),
    "WIDE": (("free",), "synthetic"),
    "MANY": (("runtime-4",), "torch torch xla torch synthetic tf"),
    "CHEAP": (("blocking-450",), "torch torch xla torch tf"),
    "DEAR": (("blocking-25",), "torch torch xla torch tf"),
    "LINKS": (("overlapped-25",), "torch torch xla torch tf"),
    "LIMITED": (("limited",), "torch torch xla torch tf"),
    "ONE": (("memory-1",), "xla xla torch xla tf"),
    "MEMORY": (("memory-2", "memory-4"), "torch torch xla torch synthetic tf"),
}
ANNEALERS = ("order", "phase", "memory")
COLUMNS = ("kind size budget setting graph seed annealer hot cold fall "
           "coarse_share coarsest fresh cost excess bound ops seconds").split()
FEWEST_GRAPHS, MOST_GRAPHS = 4, 64
BEYOND_LIMIT = 0.2  # what a plan beyond its limit adds to the logarithm
CHUNK_SECONDS = 6  # of one call of bench_quality

Config = collections.namedtuple(
    "Config", "annealer hot cold fall coarse_share coarsest fresh")
Cell = collections.namedtuple("Cell", "kind size budget")
Instance = collections.namedtuple("Instance", "setting graph seed")


def fail(message):
    sys.exit(f"tune_auto.py: {message}")


def rounded(value):
    return float(f"{value:.2g}")


# -- Settings ----------------------------------------------------------------

def ranges(kind):
    """Of hot and cold: in mean run times of ops, or in peaks."""
    if kind in ("ONE", "MEMORY"):
        return (1e-4, 0.1), (1e-6, 1e-3)
    return (0.05, 30), (3e-4, 0.1)


def log_uniform(dice, low, high):
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def random_config(dice, kind, annealers):
    hot, cold = ranges(kind)
    levels = dice.random() < 0.6
    return tidy(Config(dice.choice(annealers), log_uniform(dice, *hot),
                       log_uniform(dice, *cold), dice.uniform(0.3, 0.9),
                       dice.uniform(0.15, 0.85) if levels else 0,
                       log_uniform(dice, 25, 400),
                       dice.choice((0, 0, 0.3, 0.5, 0.7, 1))))


def variation(dice, kind, config, annealers):
    """One to three of its settings changed."""
    other = random_config(dice, kind, annealers)
    changes = {}
    for name in dice.sample(Config._fields, dice.randint(1, 3)):
        value = getattr(config, name)
        if name in ("hot", "cold", "coarsest"):
            changes[name] = value * math.exp(dice.gauss(0, 0.7))
        elif name in ("annealer", "fresh") or not value:
            changes[name] = getattr(other, name)
        else:
            changes[name] = min(0.95, max(0.05, value + dice.gauss(0, 0.15)))
            if name == "coarse_share" and dice.random() < 0.15:
                changes[name] = 0
    return tidy(config._replace(**changes))


def tidy(config):
    hot, cold = rounded(config.hot), rounded(config.cold)
    return Config(config.annealer, hot, min(hot, cold), rounded(config.fall),
                  rounded(config.coarse_share), max(2, int(config.coarsest)),
                  0 if config.coarse_share else config.fresh)


def method_of(config):
    return (f"auto annealer={config.annealer} hot={config.hot:g} "
            f"cold={config.cold:g} fall={config.fall:g} "
            f"coarse-share={config.coarse_share:g} coarsest={config.coarsest} "
            f"fresh={config.fresh:g}")


ROW = re.compile(r'\{REGAL_KIND_(\w+), *(\w+), *([\w.+-]+), *"([\w-]+)", *'
                 r"([\d.e+-]+), *([\d.e+-]+), *([\d.e+-]+), *([\d.e+-]+), *"
                 r"(\d+), *([\d.]+)\},? */\* *(.*?) *\*/")


def read_table(path):
    """[(kind, most_ops, most_seconds, Config, note)]"""
    rows = []
    for kind, ops, seconds, annealer, *rest in ROW.findall(path.read_text()):
        rows.append((kind, math.inf if ops == "UINT32_MAX" else int(ops),
                     math.inf if seconds == "INFINITY" else float(seconds),
                     Config(annealer, *map(float, rest[:4]), int(rest[4]),
                            float(rest[5])), rest[6]))
    return rows


def row_for(rows, cell):
    for kind, ops, seconds, config, _ in rows:
        if kind == cell.kind and cell.size <= ops and cell.budget <= seconds:
            return config
    fail(f"{TABLE.name} has no row for {cell}")


# -- What is kept --------------------------------------------------------------

class Results:
    """cell -> config -> instance -> (cost, excess)"""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.runs = collections.defaultdict(
            lambda: collections.defaultdict(dict))
        self.brackets = collections.defaultdict(list)
        self.seconds = collections.Counter()
        path = self.folder / "runs.csv"
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    if row["seconds"]:  # a line that was cut off has none
                        self.note(row)
        path = self.folder / "brackets.jsonl"
        if path.exists():
            for line in path.read_text().splitlines():
                cell, configs = json.loads(line)
                self.brackets[cell_of(*cell)].append(
                    [Config(*config) for config in configs])

    def note(self, row):
        cell = cell_of(row["kind"], row["size"], row["budget"])
        config = Config(row["annealer"], float(row["hot"]), float(row["cold"]),
                        float(row["fall"]), float(row["coarse_share"]),
                        int(row["coarsest"]), float(row["fresh"]))
        instance = Instance(row["setting"], row["graph"], int(row["seed"]))
        self.runs[cell][config][instance] = (int(row["cost"]),
                                             int(row["excess"]))
        self.seconds[cell] += float(row["seconds"])

    def append(self, rows):
        path = self.folder / "runs.csv"
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows(rows)
        for row in rows:
            self.note(row)

    def append_bracket(self, cell, configs):
        self.brackets[cell].append(configs)
        with (self.folder / "brackets.jsonl").open("a") as file:
            file.write(json.dumps([list(cell), configs]) + "\n")

    def loss(self, cell, config, instance):
        cost, excess = self.runs[cell][config][instance]
        price = BEYOND_LIMIT + 0.05 * math.log(excess) if excess else 0
        return math.log(max(cost, 1)) + price

    def ranking(self, cell, configs, instances):
        """[(mean loss, config)], the best first."""
        return sorted(
            (statistics.fmean(self.loss(cell, config, i) for i in instances),
             config) for config in configs)

    def farthest(self, cell, also=None):
        """Those that went farthest, and what all of them were tried on; `also`
        counts if it went half as far."""
        runs = {config: tried for config, tried in self.runs[cell].items()
                if len(tried) >= FEWEST_GRAPHS}
        if not runs:
            return [], []
        most = max(map(rung_of, runs.values()))
        leaders = [config for config, tried in runs.items()
                   if rung_of(tried) == most
                   or config == also and rung_of(tried) == most - 1]
        common = set.intersection(*(set(runs[config]) for config in leaders))
        return leaders, sorted(common)

    def best(self, cell):
        leaders, common = self.farthest(cell)
        return self.ranking(cell, leaders, common)[0][1] if common else None


def rung_of(tried):
    return int(math.log2(len(tried) / FEWEST_GRAPHS))


def cell_of(kind, size, budget):
    return Cell(kind, float(size), float(budget))


# -- Graphs --------------------------------------------------------------------

class Graphs:
    """Training graphs by archive, families in turns."""

    def __init__(self, regal, folder):
        self.pools = {}
        for archive in ARCHIVES:
            path = path_of(archive)
            self.pools[archive] = [
                (f"{path.relative_to(ROOT)}:{row['name']}", row)
                for row in index_of(path)
                if row["split"] == "train" and not row["reading"]]
        made = pathlib.Path(folder) / "synthetic"
        run_program(regal + ["generate", str(made), "--count", "24", "--seed",
                             "77", "--quiet"])
        with (made / "index.csv").open(newline="") as file:
            self.pools["synthetic"] = [(str(made / row["file"]), row)
                                       for row in csv.DictReader(file)]

    def instances(self, cell, sizes):
        settings, turns = KINDS[cell.kind]
        room = "memory_room" if cell.kind in ("ONE", "MEMORY") \
            else "runtime_room"
        below = max((s for s in sizes if s < cell.size), default=20)
        dice = random.Random(f"{cell.kind} {cell.size}")
        queues = {}
        for name in set(turns.split()):
            fitting = [(path, row.get("family")) for path, row in self.pools[name]
                       if below < int(row["ops"]) <= cell.size
                       and row.get(room) != "no"]
            queues[name] = in_turns(dice, fitting)
        paths = []
        while any(queues.values()) and len(paths) < MOST_GRAPHS:
            for name in turns.split():
                if queues[name]:
                    paths.append(queues[name].pop(0))
        if not paths:
            fail(f"no training graphs of {below} to {cell.size} ops")
        return [Instance(settings[(i + i // len(paths)) % len(settings)],
                         paths[i % len(paths)], 1 + i // len(paths))
                for i in range(MOST_GRAPHS)]


def in_turns(dice, fitting):
    families = collections.defaultdict(list)
    dice.shuffle(fitting)
    for path, family in fitting:
        families[family or path].append(path)
    queue = []
    while families:
        for family in list(families):
            queue.append(families[family].pop())
            if not families[family]:
                del families[family]
    return queue


# -- Running -------------------------------------------------------------------

def run_program(command):
    done = subprocess.run(command, text=True, capture_output=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}: {done.stderr.strip()}")
    return done


class Bench:
    def __init__(self, prefix, programs, clock):
        self.regal = prefix + [f"{programs}/regal"]
        self.quality = prefix + [f"{programs}/bench/bench_quality", "--jobs",
                                 "1", "--clock", clock]

    def run(self, graph, setting, methods, budget, seed):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(graph + "\n")
            file.flush()
            return run_program(self.quality + [
                file.name, setting, ";".join(methods), f"{budget:g}",
                str(seed)])

    def suits(self, annealer, instance):
        try:
            self.run(instance.graph, instance.setting,
                     [f"anneal annealer={annealer} evaluations=8"], 1, 1)
        except RuntimeError as error:
            if "--annealer" in str(error):
                return False
            raise
        return True

    def runs(self, cell, instance, configs):
        """Rows of runs.csv."""
        done = self.run(instance.graph, instance.setting,
                        map(method_of, configs), cell.budget, instance.seed)
        lines = list(csv.DictReader(io.StringIO(done.stdout)))
        of = {line["method"]: line for line in lines}
        rows = []
        for config in configs:
            line = of[method_of(config)]
            rows.append({**cell._asdict(), **instance._asdict(),
                         **config._asdict(),
                         **{name: line[name] for name in
                            ("cost", "excess", "bound", "ops", "seconds")}})
        return rows


def neighbours(cell, cells):
    """Of the same kind, the nearest first."""
    others = [c for c in cells if c.kind == cell.kind and c != cell]
    sizes = sorted({c.size for c in cells} | {cell.size})

    def distance(other):
        steps = abs(sizes.index(other.size) - sizes.index(cell.size))
        return (abs(math.log10(other.budget / cell.budget)) + 1.5 * steps,
                other.budget)
    return sorted(others, key=distance)


def candidates(dice, cell, cells, results, force, annealers):
    """A bracket's configs: those known to be good, variations, random ones."""
    count = 24 if cell.budget <= 0.3 else 16 if cell.budget <= 3 else 8
    good = [force] if force.annealer in annealers else []
    for other in [cell] + neighbours(cell, cells)[:3]:
        best = results.best(other)
        if best and best.annealer in annealers:
            good.append(best)
    configs = list(dict.fromkeys(good)) or [
        random_config(dice, cell.kind, annealers)]
    good = list(configs)
    while len(configs) < count:
        config = variation(dice, cell.kind, dice.choice(good), annealers) \
            if dice.random() < (0.7 if len(results.brackets[cell]) else 0.4) \
            else random_config(dice, cell.kind, annealers)
        if config not in configs:
            configs.append(config)
    return configs


def search_cell(cell, cells, results, force, annealers, instances):
    """Yields work, a list of (instance, configs); goes on when it is done."""
    brackets = results.brackets[cell]
    number = max(0, len(brackets) - 1)  # the last may be unfinished
    while True:
        if number == len(brackets):
            dice = random.Random(f"{cell} {number}")
            results.append_bracket(cell, candidates(dice, cell, cells, results,
                                                    force, annealers))
        configs, graphs = brackets[number], FEWEST_GRAPHS
        while True:
            work = []
            for instance in instances[:graphs]:
                missing = [c for c in configs
                           if instance not in results.runs[cell][c]]
                size = max(1, int(CHUNK_SECONDS / cell.budget))
                work += [(instance, missing[i:i + min(size, 32)])
                         for i in range(0, len(missing), min(size, 32))]
            if work:
                yield work
            if len(configs) <= 2 or graphs == len(instances):
                break
            ranking = results.ranking(cell, configs, instances[:graphs])
            keep = [config for _, config in ranking[:(len(configs) + 1) // 2]]
            configs = keep + [c for c in configs if c == force
                              and c not in keep]
            if len(configs) <= 3 and force in configs and force not in keep:
                configs = keep[:1] + [force]
            graphs = min(2 * graphs, len(instances))
        number += 1


class Scheduler:
    """Keeps all workers busy; the cell that has had least goes first."""

    def __init__(self, bench, results, deadline, jobs):
        self.bench, self.results = bench, results
        self.deadline, self.jobs = deadline, jobs
        self.spent = collections.Counter()
        self.cells = {}  # cell -> [generator, work that waits, runs under way]

    def add(self, cell, generator):
        self.cells[cell] = [generator, list(next(generator)), 0]
        self.spent[cell] = self.results.seconds[cell]

    def next_work(self):
        def had(cell):
            return self.spent[cell] / math.sqrt(cell.budget)
        waiting = [cell for cell in self.cells if self.cells[cell][1]]
        for cell in sorted(waiting, key=had):
            instance, configs = self.cells[cell][1][0]
            needs = len(configs) * cell.budget * 1.1
            if time.monotonic() + needs <= self.deadline:
                self.cells[cell][1].pop(0)
                self.cells[cell][2] += 1
                self.spent[cell] += needs
                return cell, instance, configs
        return None

    def finish(self, cell, rows):
        self.results.append(rows)
        state = self.cells[cell]
        state[2] -= 1
        if not state[1] and not state[2]:
            state[1] = list(next(state[0]))

    def run(self):
        running = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            while True:
                while len(running) < self.jobs:
                    work = self.next_work()
                    if not work:
                        break
                    running[pool.submit(self.bench.runs, *work)] = work[0]
                if not running:
                    return
                done, _ = concurrent.futures.wait(
                    running,
                    return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    self.finish(running.pop(future), future.result())


def describe_machine():
    model = platform.machine()
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores"


def command_run(arguments):
    began = time.monotonic()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(shlex.split(arguments.prefix), arguments.programs,
                  arguments.clock)
    results = Results(folder)
    graphs = Graphs(bench.regal, folder)
    rows = read_table(TABLE)
    sizes = [float(size) for size in arguments.sizes.split(",")]
    budgets = [float(budget) for budget in arguments.budgets.split(",")]
    kinds = arguments.kinds.split(",")
    cells = [Cell(kind, size, budget) for kind in kinds for size in sizes
             for budget in budgets]
    scheduler = Scheduler(bench, results, began + arguments.seconds,
                          arguments.jobs)
    for kind in kinds:
        first = graphs.instances(Cell(kind, sizes[0], budgets[0]), sizes)[0]
        annealers = [name for name in arguments.annealers.split(",")
                     if bench.suits(name, first)]
        print(f"{kind}: annealers {' '.join(annealers) or 'none'}", flush=True)
        for cell in cells:
            if cell.kind == kind and annealers:
                scheduler.add(cell, search_cell(
                    cell, cells, results, row_for(rows, cell), annealers,
                    graphs.instances(cell, sizes)))
    build = run_program(bench.regal + ["--version"]).stdout.strip()
    scheduler.run()
    with (folder / "made.txt").open("a") as file:
        file.write(f"bench/tune_auto.py {shown(sys.argv[1:])}\n"
                   f"{build}; {describe_machine()}\n")
    print(f"{time.monotonic() - began:.0f} s; {folder}/runs.csv")


def shown(words):
    """The command, without the prefix: it is about the machine's paths."""
    text = shlex.join(words)
    return re.sub(r" --prefix[= ]('[^']*'|\S+)", "", text)


# -- The table -----------------------------------------------------------------

def choose(results, cell, force, note):
    """(config, note): the best, if it is better than the row in force by more
    than chance, or that row."""
    leaders, common = results.farthest(cell, force)
    config = results.ranking(cell, leaders, common)[0][1]
    if force not in leaders:
        return config, f"{len(common)} runs"
    gains = [100 * (results.loss(cell, force, i) - results.loss(cell, config, i))
             for i in common]
    gain = statistics.fmean(gains)
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    if gain <= 2 * error or len(common) < MOST_GRAPHS // 2:
        first = note.split("; stayed")[0]
        return force, f"{first}; stayed after {len(common)} runs more"
    return config, f"{len(common)} runs, {gain:.2f}% +- {error:.2f} gained"


def middle(values, value):
    """Where the class of `value` ends: halfway to the next, in logarithms."""
    later = [other for other in values if other > value]
    return rounded(math.sqrt(value * min(later))) if later else math.inf


def table_rows(results, force_rows):
    """[(kind, most ops, most seconds, config, note)], sorted: the rows in force,
    and in their place those of the cells that were run."""
    cells = [cell for cell in results.runs if results.best(cell)]
    table = {row[:3]: row[3:] for row in force_rows}
    for cell in cells:
        budgets = {c.budget for c in cells if c.kind == cell.kind}
        key = cell.kind, cell.size, middle(budgets, cell.budget)
        note = table[key][1] if key in table else "as its neighbour"
        table[key] = choose(results, cell, row_for(force_rows, cell), note)
    kinds = list(KINDS)
    return sorted(((*key, *value) for key, value in table.items()),
                  key=lambda row: (kinds.index(row[0]), *row[1:3]))


def command_report(arguments):
    results = Results(arguments.folder)
    for kind, ops, seconds, config, note in table_rows(results,
                                                       read_table(TABLE)):
        print(f"{kind:8}{ops:>8g}{seconds:>6g} s  {note:40} "
              f"{method_of(config)}")


def command_write(arguments):
    results = Results(arguments.folder)
    made = pathlib.Path(arguments.folder) / "made.txt"
    lines = ["/* Written by bench/tune_auto.py write. Its runs were made by"]
    for line in made.read_text().splitlines() if made.exists() else []:
        lines += textwrap.wrap(line, 72, initial_indent=" *   ",
                               subsequent_indent=" *     ",
                               break_on_hyphens=False)
    lines += [" * on the training split. Sorted; the first row that fits is",
              " * used. Behind each: what it gained over the row before it, and",
              " * whether later runs changed it; \"by hand\": compared with the one",
              " * before by bench_quality on training graphs. */",
              "/* clang-format off */"]
    for kind, ops, seconds, c, note in table_rows(results,
                                                  read_table(TABLE)):
        ops = "UINT32_MAX" if math.isinf(ops) else f"{ops:.0f}"
        most = "INFINITY" if math.isinf(seconds) else f"{seconds:g}"
        lines.append(
            f'    {{REGAL_KIND_{kind}, {ops}, {most}, "{c.annealer}", '
            f"{c.hot:g}, {c.cold:g}, {c.fall:g}, {c.coarse_share:g}, "
            f"{c.coarsest}, {c.fresh:g}}}, /* {note} */")
    lines.append("    /* clang-format on */")
    pathlib.Path(arguments.output).write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "report", "write"):
        command = commands.add_parser(name)
        command.add_argument("--folder", default="build/tune_auto")
        command.set_defaults(function=globals()[f"command_{name}"])
        if name == "write":
            command.add_argument("--output", default=str(TABLE))
        if name != "run":
            continue
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        command.add_argument("--seconds", type=float, default=600)
        command.add_argument("--prefix", default="")
        command.add_argument("--programs", default="build",
                             help="the folder of regal and bench/bench_quality")
        command.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                             help="cpu: fair on a machine with other work")
        command.add_argument("--kinds", default=",".join(KINDS))
        command.add_argument("--sizes", default="300,1000,inf")
        command.add_argument("--budgets", default="0.1,1,10")
        command.add_argument("--annealers", default=",".join(ANNEALERS))
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
