#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Best known costs of a set's graphs: bench/real_best.py REGAL SET.zip OBJECTIVE

Prints a CSV of name,cost: 3 seconds of `auto` (or --time) for each graph of
split test (or --split) on two devices. With --known FILE the costs of FILE are
kept, only graphs that it has not are optimized, and graphs that are in no such
split are left out. bench_policy_gain reads it (best=FILE). To make
results/real_best_runtime.csv:

  bench/real_set.py real.zip --ops 2500
  bench/real_best.py build/regal real.zip runtime > results/real_best_runtime.csv
"""
import argparse
import csv
import json
import subprocess
import sys

from archives import index_of


def names_of(path, split):
    return [row["name"] for row in index_of(path) if row["split"] == split]


def known_of(path):
    if not path:
        return {}
    with open(path, newline="") as file:
        return {name: int(cost) for name, cost in csv.reader(file)}


def cost_of(arguments, name):
    done = subprocess.run(
        [arguments.regal, "optimize", f"{arguments.set}:{name}", "--objective",
         arguments.objective, "--time", str(arguments.time), "--threads", "1",
         "--json"], capture_output=True, text=True, check=True)
    cost = json.loads(done.stdout)["cost"]
    if arguments.objective == "runtime":
        return cost["runtime_ns"]
    return max(cost["peak_bytes"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("regal")
    parser.add_argument("set")
    parser.add_argument("objective", choices=("runtime", "memory"))
    parser.add_argument("--split", default="test")
    parser.add_argument("--time", type=float, default=3)
    parser.add_argument("--known")
    arguments = parser.parse_args()
    known = known_of(arguments.known)
    for name in sorted(names_of(arguments.set, arguments.split)):
        cost = known[name] if name in known else cost_of(arguments, name)
        print(f"{name},{cost}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
