#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How close the model's peaks are to what XLA reports for its own orders.

  bench/xla_peaks.py [DATA] [--regal PROGRAM] [--graphs]

DATA is a folder or a zip archive (data/xla.zip) with NAME.pb, NAME.order and a
table of what XLA reported (the .csv file with a column reported_temp). For
every graph that XLA compiled for a CPU, and reported its memory for, XLA's
order is evaluated on one device, with --aliases ignore and with --aliases xla,
and its peak without resident bytes is divided by what XLA reported: temporary
bytes + output bytes - bytes of outputs that alias a (donated) parameter.
--graphs prints the ratios of each graph, too.

The first table has for each kind of graph the median ratio and the mean
absolute deviation of the ratio from 1.

In the model a result occupies memory from the step that makes it. In XLA it has
memory of its own from the first step to the last, which temporaries may use
before, where they fit. So the second table asks whether what XLA reported is
between the peak in the model and the same with all results there from the start
and nothing else in their place: how many graphs (within 1%), and how far
outside the others are (the mean over all graphs, as a share of what XLA
reported). docs/xla-peaks.md discusses both.
"""
import argparse
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("ignore", "xla")
KINDS = ("infer", "grad", "train", "infer unfused", "grad unfused")
NODE = re.compile(r"^node \{\n.*?^\}\n", re.M | re.S)
SIZE = re.compile(r"(?<=\bsize: )\d+")


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def without_results(text):
    """The graph with results of 0 bytes, and the bytes that they had."""
    total = 0

    def empty(match):
        nonlocal total
        node = match[0]
        if "is_final: true" not in node:
            return node
        total += sum(map(int, SIZE.findall(node)))
        return SIZE.sub("0", node)

    return NODE.sub(empty, text), total


class Bench:
    def __init__(self, regal, scratch):
        self.regal = regal
        self.emptied = pathlib.Path(scratch, "emptied.pbtxt")

    def peak(self, graph, order, marks):
        plan = json.loads(run(self.regal, "evaluate", graph, order, "--devices",
                              1, "--json", "--quiet", "--aliases", marks))
        return plan["cost"]["peak_bytes"][0]

    def ratios(self, row, graph, order):
        """Peaks over what XLA reported, two for each of MARKS: as the model
        counts, and with all results there from the start."""
        reported = (int(row["reported_temp"]) + int(row["reported_output"]) -
                    int(row["reported_alias"]))
        resident = int(row["resident"])
        text = run(self.regal, "convert", graph, "--format", "text", "--quiet",
                   "-o", "-")
        emptied, results = without_results(text)
        self.emptied.write_text(emptied)
        return [(peak - resident) / reported for marks in MARKS for peak in
                (self.peak(graph, order, marks),
                 self.peak(self.emptied, order, marks) + results)]


def kind(row):
    return row["variant"] + (" unfused" if "unfused" in row["target"] else "")


def reports(folder):
    """The rows of the table that has what XLA reported."""
    for path in sorted(folder.rglob("*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        if rows and "reported_temp" in rows[0]:
            return rows
    sys.exit(f"{folder}: no .csv file has a column reported_temp")


def measure(bench, folder, show):
    """The ratios of all graphs, by kind."""
    found = {name: [] for name in KINDS}
    for row in reports(folder):
        if not row["target"].startswith("cpu") or not row["reported_temp"]:
            continue
        graph, = folder.rglob(row["name"] + ".pb")
        ratios = bench.ratios(row, graph, graph.with_suffix(".order"))
        found[kind(row)].append(ratios)
        if show:
            print(f"{row['name']:28}", *(f"{ratio:7.4f}" for ratio in ratios))
    return found


def distance(low, high):
    """From 1 to the interval."""
    return max(low - 1, 1 - high, 0)


def print_tables(found):
    print("| graphs | | median | deviation | median with marks | deviation |\n"
          "|---|---|---|---|---|---|")
    for name, rows in found.items():
        print(f"| {name} | {len(rows)} |", end="")
        for column in (0, 2):
            ratios = [row[column] for row in rows]
            away = statistics.mean(abs(ratio - 1) for ratio in ratios)
            print(f" {statistics.median(ratios):.3f} | {away:.3f} |", end="")
        print()
    print("\n| graphs | | between | outside by | between with marks "
          "| outside by |\n|---|---|---|---|---|---|")
    for name, rows in found.items():
        print(f"| {name} | {len(rows)} |", end="")
        for column in (0, 2):
            away = [distance(*row[column:column + 2]) for row in rows]
            print(f" {sum(d <= 0.01 for d in away)} | "
                  f"{statistics.mean(away):.3f} |", end="")
        print()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="?", type=pathlib.Path,
                        default=ROOT / "data/xla.zip")
    parser.add_argument("--regal", default=ROOT / "build/regal")
    parser.add_argument("--graphs", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.data
        if folder.is_file():
            folder = pathlib.Path(scratch, "data")
            zipfile.ZipFile(given.data).extractall(folder)
        bench = Bench(given.regal, scratch)
        print_tables(measure(bench, folder, given.graphs))


if __name__ == "__main__":
    main()
