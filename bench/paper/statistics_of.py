# SPDX-License-Identifier: Apache-2.0
"""Means over graphs from the table of runs.

An entry is a row or a line of what is made: a label, the method as the table
has it, and its budget. A graph counts once, with its mean over seeds.
"""
import collections
import math

Entry = collections.namedtuple("Entry", "label method budget")
Score = collections.namedtuple(
    "Score", "graphs improvement error deviation gap gap_error bound_gap "
    "seconds better equal worse largest smallest each seeds")


def mean_and_error(values):
    """The mean, and its standard error."""
    if not values:
        return math.nan, math.nan
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    squares = sum((value - mean) ** 2 for value in values)
    return mean, math.sqrt(squares / (len(values) - 1) / len(values))


class Runs:
    """The runs of some graphs for one objective."""

    def __init__(self, session, graphs, objective, copies=0):
        self.keys = [(graph.dataset, graph.name, str(copy))
                     for graph in graphs for copy in range(copies + 1)]
        self.short, self.builds = session.short, session.builds
        wanted = set(self.keys)
        self.costs, self.seconds = {}, {}
        self.best, self.bound = {}, {}
        for row in session.rows():
            key = (row["dataset"], row["graph"], row["copy"])
            if key in wanted and row["objective"] == objective:
                self.take(key, row)

    def take(self, key, row):
        cost = float(row["cost"])
        # tuned has other settings for each set
        method = row["method"].split(" settings=")[0]
        entry = (method, row["budget"])
        self.costs.setdefault(entry, {}).setdefault(key, {})[row["seed"]] = cost
        self.seconds.setdefault(entry, {}).setdefault(key, {})[
            row["seed"]] = float(row["seconds"])
        self.builds.add(row["build"])
        self.best[key] = min(cost, self.best.get(key, cost))
        self.bound[key] = max(float(row["bound"]), self.bound.get(key, 0))

    def name(self, entry):
        return self.short(entry.method), entry.budget

    def costs_of(self, entry):
        return self.costs.get(self.name(entry), {})

    def mean_cost(self, entry, key):
        seeds = self.costs_of(entry).get(key)
        return sum(seeds.values()) / len(seeds) if seeds else None

    def gain(self, entry, reference, key):
        ours, theirs = self.mean_cost(entry, key), self.mean_cost(reference, key)
        return None if not ours or not theirs else 100 * (1 - ours / theirs)

    def deviation(self, entry, reference):
        """Of the mean improvement, from seed to seed."""
        by_seed = collections.defaultdict(list)
        for key, seeds in self.costs_of(entry).items():
            theirs = self.mean_cost(reference, key)
            for seed, cost in seeds.items():
                if theirs:
                    by_seed[seed].append(100 * (1 - cost / theirs))
        means = [sum(values) / len(values) for values in by_seed.values()]
        if len(means) < 2:
            return math.nan
        return mean_and_error(means)[1] * math.sqrt(len(means))

    def score(self, entry, reference):
        """None where there are no runs to compare."""
        gains = {key: self.gain(entry, reference, key) for key in self.keys}
        each = {key: gain for key, gain in gains.items() if gain is not None}
        if not each:
            return None
        values = list(each.values())
        gaps = [100 * (self.mean_cost(entry, key) / self.best[key] - 1)
                for key in each if self.best[key] > 0]
        bounds = [100 * (self.mean_cost(entry, key) / self.bound[key] - 1)
                  for key in each if self.bound[key] > 0]
        seconds = [value for key in each for value in
                   self.seconds[self.name(entry)][key].values()]
        mean, error = mean_and_error(values)
        gap, gap_error = mean_and_error(gaps)
        return Score(len(each), mean, error, self.deviation(entry, reference),
                     gap, gap_error, mean_and_error(bounds)[0],
                     mean_and_error(seconds)[0],
                     sum(value > 1e-9 for value in values),
                     sum(abs(value) <= 1e-9 for value in values),
                     sum(value < -1e-9 for value in values),
                     max(values), min(values), each,
                     max(len(self.costs_of(entry)[key]) for key in each))
