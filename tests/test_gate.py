#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/gate.py: what makes the gate fail, and what does not."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import gate  # noqa: E402


def row(method, cost, runs=16):
    return {"setting": "runtime", "method": method, "runs": runs,
            "mean_cost": str(cost)}


def outcome(now, before):
    committed = [{**line, "runs": str(line["runs"])} for line in before]
    return list(gate.compare(now, committed))


class Compare(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(outcome([row("auto", 100)], [row("auto", 100)]), [])

    def test_rounding_does_not_matter(self):
        self.assertEqual(outcome([row("auto", 100.05)], [row("auto", 100)]), [])

    def test_worse_fails(self):
        self.assertEqual(
            outcome([row("auto", 101)], [row("auto", 100)]),
            [("runtime, auto: 1.000% worse than the table", True)])

    def test_better_does_not_fail(self):
        self.assertEqual(
            outcome([row("auto", 99)], [row("auto", 100)]),
            [("runtime, auto: 1.000% better than the table", False)])

    def test_missing_and_new(self):
        self.assertEqual(
            outcome([row("new", 1)], [row("auto", 100)]),
            [("runtime, new: is not in gate.csv", True),
             ("runtime, auto: was not run", True)])

    def test_other_runs(self):
        self.assertEqual(
            outcome([row("auto", 100, 8)], [row("auto", 100)]),
            [("runtime, auto: found 8 runs, expected 16", True)])


class Summary(unittest.TestCase):
    def test_geometric_mean(self):
        rows = [{"method": "auto", "cost": "100", "bound": "100"},
                {"method": "auto", "cost": "400", "bound": "200"}]
        made = list(gate.summarise("runtime", rows))
        self.assertEqual(made, [{"setting": "runtime", "method": "auto",
                                 "runs": 2, "mean_cost": "200",
                                 "gap_to_bound_percent": "50.000"}])


if __name__ == "__main__":
    unittest.main()
