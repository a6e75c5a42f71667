# SPDX-License-Identifier: Apache-2.0
"""A reproduction under way: the program, its folders, its table of runs.

All runs are rows of one table, work/runs.csv, that `regal bench` continues: a
row that one item needs and another has made is not made again. Datasets and
policies are in the work folder, too; what is there already is not made again,
and a training that was stopped resumes.

While an item is made, the session notes which builds its runs are of and which
files it writes, for the page and for publishing.
"""
import csv
import json
import math
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from archives import (  # noqa: E402,F401: for all of this folder
    ARCHIVES, ROOT, index_of, pack, path_of)

OBJECTIVES = ("runtime", "memory")


class Session:
    def __init__(self, regal, sizes, work, out, mix=False, threads=0):
        self.regal, self.sizes = regal, sizes
        self.work, self.out, self.mix, self.threads = work, out, mix, threads
        self.table = work / "runs.csv"
        self.known = None
        self.builds, self.files = set(), set()
        work.mkdir(parents=True, exist_ok=True)
        out.mkdir(parents=True, exist_ok=True)

    def begin_item(self):
        self.builds, self.files = set(), set()

    def say(self, text):
        print(f"reproduce: {text}", file=sys.stderr, flush=True)

    def call(self, *words, check=True):
        done = subprocess.run([self.regal, *map(str, words)], text=True,
                              capture_output=True, cwd=self.work)
        if check and done.returncode:
            sys.exit(f"reproduce: regal {' '.join(map(str, words))}: "
                     f"{done.stderr.strip()}")
        return done

    def size(self, name):
        return self.sizes[name]

    def is_made(self, path, *sizes):
        """Whether this file of the work folder is there. Its name does not say
        the sizes that it was made with: for others it is refused."""
        note = path.with_name(f"{path.name}.sizes")
        now = {name: self.size(name) for name in sizes}
        if not path.exists():
            note.write_text(json.dumps(now) + "\n")
            return False
        made = json.loads(note.read_text()) if note.exists() else now
        if made != now:
            sys.exit(f"reproduce: {path} was made with {json.dumps(made)}, "
                     f"these are {json.dumps(now)}: remove it, or give another "
                     "--work")
        return True

    # -- What this build can do ----------------------------------------------

    def build(self):
        """The commit, as the table of runs has it."""
        return self.call("--version").stdout.split("(")[1].split(",")[0]

    def methods(self):
        listed = json.loads(self.call("methods", "--json").stdout)
        return {row["name"] for row in listed["methods"]}

    def has_cp_sat(self):
        demo = ROOT / "data/demo/hf_gpt_neox_train.pb"
        return not self.call("optimize", demo, "--method", "cp-sat", "--time",
                             "0.01", "--quiet", check=False).returncode

    # -- Runs ------------------------------------------------------------------

    def short(self, method):
        """As the table has it: files of the work folder without their folder,
        so that the folder can be moved."""
        return method.replace(f"{self.work}/", "")

    def bench(self, graphs, methods, budgets, objective, seeds=None, copies=0):
        """Makes sure that the table has these runs; graphs as sets.py has
        them."""
        by_path = {}
        for graph in graphs:
            by_path.setdefault(graph.path, []).append(graph)
        for path, members in by_path.items():
            words = ["bench", *chosen(path, members), "--methods",
                     self.short(",".join(self.for_archive(methods, path,
                                                          objective))),
                     "--budgets", ",".join(map(str, budgets)), "--seeds",
                     seeds or self.size("seeds"), "--objective", objective,
                     "-o", self.table, "--quiet", "--threads", self.threads]
            if copies:
                words += ["--augment", copies]
            if self.mix:
                words += ["--mix"]
            self.call(*words)
        self.known = None

    def for_archive(self, methods, path, objective):
        """tuned has the settings that were tuned for the set."""
        name = f"{pathlib.Path(path).stem}_{objective}"
        if not (ROOT / f"settings/{name}.json").exists():
            return methods
        return [f"tuned settings={name}" if method == "tuned" else method
                for method in methods]

    def rows(self):
        if self.known is None:
            with self.table.open() as table:
                self.known = list(csv.DictReader(table))
        return self.known

    # -- What comes out ----------------------------------------------------------

    def write_csv(self, name, fields, rows):
        self.files.add(f"{name}.csv")
        with (self.out / f"{name}.csv").open("w", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(fields)
            writer.writerows([plain(value) for value in row] for row in rows)


def chosen(path, graphs):
    """The words that choose these graphs: the split, if they are all of it.
    Names of a large set are slower, one by one."""
    names = {graph.name for graph in graphs}
    rows = [row for row in index_of(path) if row["split"]]
    splits = {row["split"] for row in rows if row["name"] in names}
    whole = {row["name"] for row in rows if row["split"] in splits}
    if len(splits) == 1 and whole == names:
        return [path, "--split", *splits]
    return [f"{path}:{graph.name}" for graph in graphs]


def plain(value):
    """Nothing for what is not known, six digits of the rest."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value
