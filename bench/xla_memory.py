#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One device, peak memory: XLA's training graphs against XLA's own orders.

  bench/xla_memory.py [--regal PROGRAM] [--seconds S] [--seed N]

For every training graph of data/xla.zip (NAME_train, compiled for a CPU, and
NAME_train_tpu): the peak of XLA's own order (NAME.order), the best of the quick
orders (file, dfs, bfs, lpmf, xla-list), and what `auto` finds in S seconds on
one thread from XLA's order; all by the verifier. Prints the mean reduction in
percent, with resident bytes (parameters) counted and without them, and the gap
to the lower bound.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data/xla.zip"
QUICK = ("single", "dfs", "bfs", "lpmf", "xla-list")


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def peak(found):
    return max(found["cost"]["peak_bytes"])


def measure(arguments, name, order):
    regal, graph = arguments.regal, f"{DATA}:{name}"
    machine = ("--devices", 1, "--objective", "memory", "--json", "--quiet")
    resident = run(regal, "inspect", graph, "--json")["resident_bytes"]
    xla = peak(run(regal, "evaluate", graph, order, *machine))
    quick = min(peak(run(regal, "optimize", graph, "--method", method,
                         *machine)) for method in QUICK)
    best = run(regal, "optimize", graph, "--start", order, "--time",
               arguments.seconds, "--threads", 1, "--seed", arguments.seed,
               *machine)
    return xla, quick, peak(best), best["bound"]["peak_bytes"], resident


def reduction(rows, column, minus):
    return statistics.fmean(
        100 * (1 - (row[2] - minus * row[4]) / (row[column] - minus * row[4]))
        for row in rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--regal", default=ROOT / "build/regal")
    parser.add_argument("--seconds", default="0.5")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    with zipfile.ZipFile(DATA) as archive, \
            tempfile.TemporaryDirectory() as folder:
        archive.extractall(folder)
        print("| graphs | below XLA's order | below the best quick order | "
              "above XLA's | gap to the bound |\n|---|---|---|---|---|")
        for kind in ("train", "train_tpu"):
            rows = [measure(arguments, path.stem, path) for path in
                    sorted(pathlib.Path(folder).glob(f"*_{kind}.order"))]
            for minus, what in ((0, ""), (1, ", without resident bytes")):
                gap = statistics.fmean(
                    100 * ((row[2] - minus * row[4]) /
                           (row[3] - minus * row[4]) - 1) for row in rows)
                print(f"| {len(rows)} {kind}{what} | "
                      f"{reduction(rows, 0, minus):.2f}% | "
                      f"{reduction(rows, 1, minus):.2f}% | "
                      f"{sum(row[2] > row[0] for row in rows)} | {gap:.2f}% |")


if __name__ == "__main__":
    main()
