#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/quality.py on made-up lines and plans.

A stand-in for regal reads the "plan", which is the JSON that `regal evaluate`
would print, so that every cost here is known.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "bench/quality.py"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
import quality  # noqa: E402

STAND_IN = """import json, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("regal 0.1.0 (abc123, GNU)")
    sys.exit()
assert words[0] == "evaluate" and words[3] == "--json", words
said = json.load(open(words[2]))
if said == "broken":
    print("regal: step 1: no such op", file=sys.stderr)
    sys.exit(2)
if "--memory-limit" in words:
    said["machine"]["memory_limit_bytes"] = [int(words[-1])] * 2
print(json.dumps(said))
"""
HEAD = ("setting,graph,method,budget,seed,cost,excess,bound,before,"
        "before_excess,evaluations,seconds,ops\n")


def line(cost, graph="small", method="auto", budget="1", seed=1,
         setting="free", excess=0, ops=100, bound=100, before=400):
    return (f"{setting},{graph},{method},{budget},{seed},{cost},{excess},"
            f"{bound},{before},0,10,0.5,{ops}\n")


def said(cost, limit=0, peaks=(10, 10), transfers="blocking"):
    return {"machine": {"devices": 2, "transfers": transfers,
                        "latency_ns": 0, "bandwidth_bytes_per_s": 0,
                        "memory_limit_bytes": [limit, limit]},
            "objective": "runtime",
            "cost": {"runtime_ns": cost, "peak_bytes": list(peaks)}}


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.results = self.folder / "results"
        (self.folder / "regal.py").write_text(STAND_IN)
        (self.folder / "list").write_text("x/small\na.zip:big\n")

    def lines(self, *lines):
        path = self.folder / "runs.csv"
        path.write_text(HEAD + "".join(lines))
        return str(path)

    def plan(self, name, content):
        (self.folder / f"{name}.plan").write_text(json.dumps(content))

    def call(self, *words):
        return subprocess.run([sys.executable, "-B", str(SCRIPT), *words],
                              text=True, capture_output=True)

    def merge(self, *lines):
        return self.call("merge", self.lines(*lines), "--plans",
                         str(self.folder), "--results", str(self.results),
                         "--list", str(self.folder / "list"), "--regal",
                         f"{sys.executable} {self.folder}/regal.py")

    def known(self):
        with (self.results / "best_known.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        with zipfile.ZipFile(self.results / "best_known.zip") as file:
            plans = {name: json.loads(file.read(name))
                     for name in file.namelist()}
        return rows, plans

    def groups(self, *lines):
        return quality.read_groups([self.lines(*lines)], self.results)


class Merge(Case):
    def test_takes_the_best_and_only_improves(self):
        self.plan("free.small.auto.1.1", said(120))
        self.plan("free.small.auto.1.2", said(110))
        done = self.merge(line(120), line(110, seed=2))
        self.assertEqual(done.stdout, "1 improved, 0 refused, 1 known\n")
        rows, plans = self.known()
        self.assertEqual(rows, [{
            "setting": "free", "graph": "small", "cost": "110", "excess": "0",
            "bound": "100", "method": "auto", "seconds": "0.5", "seed": "2",
            "commit": "abc123", "limit": ""}])
        self.assertEqual(plans, {"free.small.plan": said(110)})
        before = (self.results / "best_known.zip").read_bytes()
        done = self.merge(line(120, bound=105))
        self.assertEqual(done.stdout, "0 improved, 0 refused, 1 known\n")
        rows, _ = self.known()
        self.assertEqual((rows[0]["cost"], rows[0]["bound"]), ("110", "105"))
        self.assertEqual(before, (self.results / "best_known.zip").read_bytes())

    def test_refuses_what_is_not_confirmed(self):
        self.plan("free.small.auto.1.1", said(101))
        self.plan("free.small.auto.1.2", "broken")
        self.plan("free.small.auto.1.3", said(92, transfers="overlapped"))
        self.plan("free.small.auto.1.4", said(93, limit=7))
        self.plan("free.small.auto.1.6", said(120))
        done = self.merge(line(90), line(91, seed=2), line(92, seed=3),
                          line(93, seed=4), line(94, seed=5),
                          line(120, seed=6))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "1 improved, 5 refused, 1 known\n")
        self.assertEqual(done.stderr.splitlines(), [
            "refused free.small.auto.1.1.plan: it costs 101 with an excess of "
            "0, not 90 with 0",
            "refused free.small.auto.1.2.plan: regal: step 1: no such op",
            "refused free.small.auto.1.3.plan: its machine is not that of the "
            "setting",
            "refused free.small.auto.1.4.plan: its machine is not that of the "
            "setting",
            "refused free.small.auto.1.5.plan: no plan "
            "free.small.auto.1.5.plan"])
        self.assertEqual(self.known()[0][0]["cost"], "120")

    def test_fitting_comes_before_cheap(self):
        self.plan("limited.small.auto.1.1", said(90, 9, (11, 9)))
        self.plan("limited.small.auto.1.2", said(130, 9, (9, 9)))
        self.merge(line(90, setting="limited", excess=2))
        self.assertEqual(self.known()[0][0]["excess"], "2")
        self.merge(line(130, setting="limited", seed=2))
        row = self.known()[0][0]
        self.assertEqual((row["cost"], row["excess"], row["limit"]),
                         ("130", "0", "9"))

    def test_a_limit_that_moved(self):
        """What is known is judged under the limit of the new line."""
        self.plan("limited.small.auto.1.1", said(90, 9, (11, 9)))
        self.merge(line(90, setting="limited", excess=2))
        self.plan("limited.small.auto.1.2", said(130, 20))
        done = self.merge(line(130, setting="limited", seed=2))
        self.assertEqual(done.stdout, "0 improved, 0 refused, 1 known\n")

    def test_a_plan_that_is_gone(self):
        self.plan("free.small.auto.1.1", said(120))
        self.merge(line(120))
        os.remove(self.results / "best_known.zip")
        done = self.merge(line(120))
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no plan for free small", done.stderr)


class Table(Case):
    def test_means_and_errors(self):
        of = self.groups(
            line(110), line(130, seed=2),  # mean gap of small: 9.09%
            line(200, graph="big", ops=2000, bound=160),
            line(240, graph="big", ops=2000, bound=160, seed=2))
        group = of["free"]["auto", "1"]
        small, big = 100 * (120 / 110 - 1), 10.0
        mean, error = group.mean(group.best)
        self.assertAlmostEqual(mean, (small + big) / 2)
        self.assertAlmostEqual(error, abs(small - big) / 2)
        self.assertAlmostEqual(group.mean(group.best, True)[0], big)
        self.assertAlmostEqual(group.mean(group.best, False)[0], small)
        self.assertAlmostEqual(group.mean(group.bounds)[0],
                               (20 + 100 * (220 / 160 - 1)) / 2)
        self.assertAlmostEqual(group.gain()[0], (70 + 45) / 2)
        # means of the seeds are 0 and (2 * small + 2 * big) / 2
        self.assertAlmostEqual(group.seed_error(), (small + big) / 2)

    def test_best_known_is_the_reference(self):
        self.plan("free.small.auto.1.1", said(100))
        self.merge(line(100, method="auto"))
        group = self.groups(line(150, method="heft"))["free"]["heft", "1"]
        self.assertAlmostEqual(group.mean(group.best)[0], 50)

    def test_beyond_the_limit(self):
        group = self.groups(
            line(100, setting="limited", excess=5),
            line(120, setting="limited", seed=2))["limited"]["auto", "1"]
        self.assertEqual(group.within(), 50)
        self.assertEqual(group.mean(group.best), (0, 0))

    def test_twice_is_once(self):
        group = self.groups(line(100), line(100))["free"]["auto", "1"]
        self.assertEqual(len(group.lines), 1)

    def test_written(self):
        done = self.call("table", self.lines(line(100), line(
            150, method="brkga evaluations=5000", budget="own")),
            "--results", str(self.results), "--output",
            str(self.results / "quality.md"))
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.results / "quality.md").read_text()
        self.assertEqual(text, done.stdout)
        self.assertIn("## free\n\n1 graphs, 0 of them above 1000 ops.\n", text)
        self.assertIn("| auto | 1 s | 1 | 0.00 +- 0.00 |  |  | 0.00 +- 0.00 | "
                      "0.00 |  | 75.0 +- 0.0 | 100% | 0.50 |\n", text)
        self.assertIn("| brkga evaluations=5000 | own | 1 | 50.00 +- 0.00 |",
                      text)

    def test_lines_that_are_none(self):
        path = self.folder / "runs.csv"
        path.write_text(HEAD + "free,small,auto\n")
        done = self.call("table", str(path))
        self.assertEqual((done.returncode, done.stderr), (
            1, f"quality.py: {path}:2: not a line of bench_quality\n"))
        done = self.call("table", self.lines(line(1, setting="fast")))
        self.assertEqual((done.returncode, done.stderr), (
            1, f"quality.py: {path}:2: no such setting: fast\n"))


class Curve(Case):
    def test_points(self):
        groups = self.groups(line(110, budget="1"), line(100, budget="10"),
                             line(150, method="heft", budget="own"))["free"]
        curves = quality.curves_of(groups)
        self.assertEqual(list(curves), ["auto", "heft"])
        self.assertEqual([p[0] for p in curves["auto"]], [1, 10])
        self.assertAlmostEqual(curves["auto"][0][1], 10)
        self.assertEqual(curves["heft"][0][0], 0.5)  # its own seconds


class Settings(unittest.TestCase):
    def test_those_of_the_bench(self):
        """The script knows every setting of bench/quality.c."""
        source = (ROOT / "bench/quality.c").read_text()
        table = source.split("settings[] = {")[1].split("};")[0]
        names = [part.split('"')[1] for part in table.split("{")[1:]]
        self.assertEqual(names, list(quality.SETTINGS))


if __name__ == "__main__":
    unittest.main()
