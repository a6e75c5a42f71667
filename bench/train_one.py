#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ceiling of training: one policy for one graph.

  bench/train_one.py REGAL FOLDER [--graphs N] [--seeds N] [--steps N]
      [--variants NAME,...] [--variant NAME='OPTIONS'] [--jobs N]
      [--time SECONDS] [-- OPTIONS]

Trains a policy on a single graph and validates it on the same graph, so that
nothing has to generalise: what it reaches is the most that the actions and the
training can reach together. The graphs are those nearest to 300 ops of the
training splits of data/, one of each family, with at least 1.5 times as much
work as their critical path. A variant is a set of options of `regal train`; those
after -- are for all of them. A validation is the mean over five seeds of BRKGA.

FOLDER keeps a folder for each run. Runs that are finished are not repeated, one
that was stopped goes on from its checkpoint, so the command may be stopped and
given again, or be given --time. --jobs runs go on side by side, with one thread
each, variant by variant. FOLDER/runs.csv has a row for each finished run:

  gap       what `auto` gains over BRKGA 5K in 3 s, in percent: best known
  first     improvement over BRKGA 5K of the untrained policy, greedy actions
  best      of the best validation, which is too good by the luck of choosing
  last      of the last validation
  closed    last / gap, in percent
  episodes  improvement in the last tenth of the episodes, sampled actions,
            over BRKGA with as many evaluations
  entropy   at the end, in nats for each op

FOLDER/curves.csv has every validation beside the samples of the steps before.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

from archives import ARCHIVES, content_of, index_of, path_of

SEEDS = 5
RECIPE = ("--reward best --episode-evaluations 1000 --samples 16 "
          "--graphs-per-step 1")
VARIANTS = {f"{heads}-{levels}": f"--heads {heads} --schedule-levels {levels}"
            for heads in ("both", "all") for levels in (16, 64)}
Run = collections.namedtuple("Run", "graph variant seed data folder options")
COLUMNS = ("graph", "variant", "seed", "steps", "gap", "first", "best", "last",
           "closed", "episodes", "entropy", "seconds")


def choose_graphs(count):
    rows = [(abs(int(row["ops"]) - 300), archive, row)
            for archive in ARCHIVES for row in index_of(path_of(archive))
            if row["split"] == "train" and not row["reading"] and
            row["runtime_room"] == "yes" and
            int(row["work_ns"]) >= 1.5 * int(row["critical_ns"])]
    chosen, families = [], set()
    for _, archive, row in sorted(rows, key=lambda one: one[:2]):
        if row["family"] not in families:
            families.add(row["family"])
            chosen.append((archive, row))
    return chosen[:count]


def check(*words):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def make_set(folder, archive, row):
    """The graph once to train on, and once for each seed of a validation."""
    if (folder / "index.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    content = content_of(archive, row)
    lines = ["name,file,split"]
    for number in range(SEEDS + 1):
        (folder / f"g{number}.pb").write_bytes(content)
        lines.append(f"g{number},g{number}.pb,{'valid' if number else 'train'}")
    (folder / "index.csv").write_text("\n".join(lines) + "\n")


def gap_of(regal, folder):
    """BRKGA 5K's mean gain if it found the best known plan instead."""
    kept = folder / "gap.json"
    if not kept.exists():
        graph = folder / "g0.pb"
        run = (regal, "optimize", graph, "--json", "--threads", 1)
        cost = lambda *more: json.loads(check(*run, *more))["cost"]["runtime_ns"]
        best = cost("--time", 3)
        costs = [cost("--method", "brkga", "--evaluations", 5000, "--seed", seed)
                 for seed in range(1, SEEDS + 1)]
        gap = sum(100 * (1 - best / one) for one in costs) / SEEDS
        kept.write_text(json.dumps({"best": best, "brkga": costs, "gap": gap}))
    return json.loads(kept.read_text())["gap"]


def log_of(run):
    path = run.folder / "one.policy.csv"
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def train(regal, run, steps, until):
    """The log of the training; nothing if there was no time for all of it."""
    done = run.folder / "done"
    left = until - time.monotonic()
    if not done.exists() and left > 1:
        run.folder.mkdir(parents=True, exist_ok=True)
        policy = run.folder / "one.policy"
        again = policy.with_name("one.policy.checkpoint").exists()
        limit = ["--time", round(left)] if left < float("inf") else []
        check(regal, "train", run.data, "-o", policy, "--seed", run.seed,
              "--steps", steps, "--valid-every", max(1, steps // 10),
              "--valid-graphs", SEEDS, *shlex.split(RECIPE), *run.options,
              "--threads", 1, *limit,
              *(["--resume"] if again else ["--overwrite"]))
        if int(log_of(run)[-1]["step"]) >= steps:
            done.touch()
    return log_of(run) if done.exists() else []


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def curve_of(rows):
    """(step, greedy, sampled, entropy) at each validation."""
    at, since = [], []
    for row in rows:
        if row["valid"]:
            entropy = float(since[-1]["entropy"]) if since else float("nan")
            at.append((int(row["step"]), float(row["valid"]),
                       mean(float(one["improvement"]) for one in since), entropy))
            since = []
        else:
            since.append(row)
    return at


def result_of(run, rows, steps, gap):
    curve = curve_of(rows)
    last = curve[-1][1]
    return (run.graph, run.variant, run.seed, steps, f"{gap:.2f}", curve[0][1],
            max(point[1] for point in curve), last, f"{100 * last / gap:.1f}",
            f"{curve[-1][2]:.2f}", f"{curve[-1][3]:.3f}", rows[-1]["seconds"])


def read_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("regal")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--variant", action="append", default=[],
                        metavar="NAME=OPTIONS")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--time", type=float, default=float("inf"))
    words = sys.argv[1:]
    common = words[words.index("--") + 1:] if "--" in words else []
    arguments = parser.parse_args(words[:len(words) - len(common)
                                        - ("--" in words)])
    variants = {name: VARIANTS[name] for name in arguments.variants.split(",")
                if name}
    variants.update(one.split("=", 1) for one in arguments.variant)
    return arguments, {name: [*shlex.split(options), *common]
                       for name, options in variants.items()}


def runs_of(arguments, variants, graphs):
    """Those of a variant one after the other, so that a variant that was
    stopped has been tried on the first graphs."""
    return [Run(name, variant, seed, arguments.folder / name,
                arguments.folder / "runs" / f"{name}-{variant}-{seed}", options)
            for variant, options in variants.items()
            for seed in range(1, arguments.seeds + 1) for name in graphs]


def write_tables(folder, finished, steps, gaps):
    with open(folder / "runs.csv", "w", newline="") as runs, \
            open(folder / "curves.csv", "w", newline="") as curves:
        out = csv.writer(runs, lineterminator="\n")
        points = csv.writer(curves, lineterminator="\n")
        out.writerow(COLUMNS)
        points.writerow(("graph", "variant", "seed", "step", "greedy",
                         "sampled", "entropy"))
        for run, rows in finished:
            points.writerows((run.graph, run.variant, run.seed, *point)
                             for point in curve_of(rows))
            out.writerow(result_of(run, rows, steps, gaps[run.graph]))


def main():
    arguments, variants = read_arguments()
    until = time.monotonic() + arguments.time
    graphs = {f"{archive}-{row['name']}": (archive, row)
              for archive, row in choose_graphs(arguments.graphs)}
    for name, chosen in graphs.items():
        make_set(arguments.folder / name, *chosen)
    runs = runs_of(arguments, variants, graphs)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        gaps = dict(zip(graphs, pool.map(
            lambda name: gap_of(arguments.regal, arguments.folder / name),
            graphs)))
        logs = pool.map(lambda run: train(arguments.regal, run, arguments.steps,
                                          until), runs)
        finished = []
        for run, rows in zip(runs, logs):
            if rows:
                finished.append((run, rows))
                print(*result_of(run, rows, arguments.steps, gaps[run.graph]),
                      sep=",", flush=True)
    write_tables(arguments.folder, finished, arguments.steps, gaps)


if __name__ == "__main__":
    main()
