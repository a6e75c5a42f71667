#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The quality gate: a small benchmark whose numbers may not get worse.

  bench/gate.py build/regal              runs it and compares with results/gate.csv
  bench/gate.py build/regal --refresh    changes the table: commit that on purpose

Eight real graphs of 88 to 236 ops, three settings, two seeds, and budgets in
evaluations, so that neither the machine nor the number of threads matters. A
number is the geometric mean cost of a method in a setting. Compilers and their
mathematical libraries may round differently, so a number counts as worse from
TOLERANCE on. A number that is better does not fail, but the table should then
be refreshed, so that it cannot be lost again.
"""
import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "results/gate.csv"
TOLERANCE = 0.001
GRAPHS = ("torch.zip:hf_gpt2_infer", "torch.zip:tv_resnet18_train",
          "torch.zip:hf_camembert_train", "tf.zip:graph_network_train",
          "tf.zip:bilstm_attention_infer", "xla.zip:dlrm_grad",
          "xla.zip:unet_infer", "xla.zip:electra_infer")
COMMON = ("brkga", "tuned", "regal policy=rule", "idrs policy=rule", "random",
          "local", "climb", "heft", "gp-dfs", "partition",
          "anneal evaluations=20000",
          "multilevel evaluations=20000", "auto evaluations=20000")
# name: (options of the machine and the objective, further methods)
SETTINGS = {
    "runtime": ((), ("regal policy=real_runtime",)),
    "overlapped": (("--transfers", "overlapped", "--latency", "10us",
                    "--bandwidth", "25GB/s"), ()),
    "memory": (("--objective", "memory"),
               ("regal policy=real_memory", "lpmf", "xla-list")),
}
FIELDS = ("setting", "method", "runs", "mean_cost", "gap_to_bound_percent")


def run(program, setting, folder):
    options, further = SETTINGS[setting]
    table = folder / f"{setting}.csv"
    subprocess.run(
        [program, "bench", *(f"{ROOT}/data/{graph}" for graph in GRAPHS),
         "--methods", ",".join(COMMON + further), "--budgets", "1000",
         "--seeds", "1,2", *options, "-o", table, "--quiet"],
        check=True, stdout=subprocess.DEVNULL)
    return read_table(table)


def read_table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def summarise(setting, rows):
    methods = {}
    for row in rows:
        methods.setdefault(row["method"], []).append(row)
    for method, of_method in methods.items():
        logs = [math.log(int(row["cost"])) for row in of_method]
        gaps = [100 * (int(row["cost"]) / int(row["bound"]) - 1)
                for row in of_method if int(row["bound"])]
        yield {"setting": setting, "method": method, "runs": len(of_method),
               "mean_cost": f"{math.exp(sum(logs) / len(logs)):.7g}",
               "gap_to_bound_percent": f"{sum(gaps) / len(gaps):.3f}"}


def compare(rows, committed):
    """(line, whether it fails) for each number that changed."""
    before = {(row["setting"], row["method"]): row for row in committed}
    for row in rows:
        key = (row["setting"], row["method"])
        old = before.pop(key, None)
        if old is None:
            yield f"{key[0]}, {key[1]}: is not in {TABLE.name}", True
            continue
        ratio = float(row["mean_cost"]) / float(old["mean_cost"])
        if old["runs"] != str(row["runs"]):
            yield f"{key[0]}, {key[1]}: found {row['runs']} runs, expected " \
                  f"{old['runs']}", True
        elif ratio > 1 + TOLERANCE:
            yield f"{key[0]}, {key[1]}: {100 * (ratio - 1):.3f}% worse than " \
                  "the table", True
        elif ratio < 1 - TOLERANCE:
            yield f"{key[0]}, {key[1]}: {100 * (1 - ratio):.3f}% better than " \
                  "the table", False
    for key in before:
        yield f"{key[0]}, {key[1]}: was not run", True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("regal", type=pathlib.Path)
    parser.add_argument("--refresh", action="store_true")
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    options = parser.parse_args()
    program = options.regal.resolve()
    with tempfile.TemporaryDirectory() as folder:
        rows = [line for setting in SETTINGS for line in summarise(
            setting, run(program, setting, pathlib.Path(folder)))]
    if options.refresh:
        with options.table.open("w", newline="") as out:
            writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return 0
    failures = 0
    for line, fails in compare(rows, read_table(options.table)):
        failures += fails
        print(f"gate: {line}")
    if failures:
        print("gate: if that is on purpose, say why in the commit that "
              "changes the table (bench/gate.py REGAL --refresh)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
