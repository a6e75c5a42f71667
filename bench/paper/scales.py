# SPDX-License-Identifier: Apache-2.0
"""How much of everything: the full reproduction, a quick one, a tiny one.

full    what the paper has, as far as open data go: hours
quick   every table and figure on few, small graphs: ten minutes on two cores
tiny    a smoke test of the driver: its numbers mean nothing

Subsets of graphs are spread over a set, in the order of its index. What the
parts of "full" cost is in docs/benchmarks.md.
"""
import sys

SCALES = {
    "full": {
        "synthetic": None,  # the paper's set: 10000 train, 1000 valid, 1000 test
        "synthetic_graphs": 1000, "real_graphs": 0, "most_ops": 10**9,
        # of Table 1, for methods with a policy; 0: all
        "policy_graphs": 0, "policy_seeds": 0,
        "gas_steps": 1000,  # of policies of GAS that are not shipped; 0: without
        "seeds": "1,2,3", "evaluations": 5000,
        "limits": (1000, 2000, 5000, 10000, 20000, 50000),
        "limit_graphs": 50, "limit_seeds": "1",
        "topologies": 12, "copies": 99,
        "train_graphs": 100,
        "steps": 1000, "sweep_steps": 1000, "valid_graphs": 32,
        "valid_evaluations": 5000, "train_ops": 1000,
        "rounds": (0, 1, 2, 4, 8, 16),
        "contest_times": ("0.01s", "0.1s", "1s", "10s"), "contest_graphs": 12,
        "contest_seeds": "1",
        "cp_sat_seconds": 60, "cp_sat_graphs": 20,
        "example_nodes": 40,
    },
    "quick": {
        "synthetic": 100, "synthetic_graphs": 20, "real_graphs": 20,
        "most_ops": 400, "policy_graphs": 0, "policy_seeds": 0, "gas_steps": 200,
        "seeds": "1,2", "evaluations": 5000,
        "limits": (1000, 2000, 5000, 10000, 20000),
        "limit_graphs": 10, "limit_seeds": "1,2",
        "topologies": 8, "copies": 9,
        "train_graphs": 20,
        "steps": 200, "sweep_steps": 100, "valid_graphs": 8,
        "valid_evaluations": 1000, "train_ops": 250,
        "rounds": (0, 1, 2, 4, 8, 16),
        "contest_times": ("0.01s", "0.1s", "1s"), "contest_graphs": 6,
        "contest_seeds": "1",
        "cp_sat_seconds": 2, "cp_sat_graphs": 4,
        "example_nodes": 40,
    },
    "tiny": {
        "synthetic": 10, "synthetic_graphs": 2, "real_graphs": 3,
        "most_ops": 70, "policy_graphs": 0, "policy_seeds": 0, "gas_steps": 2,
        "seeds": "1,2", "evaluations": 500,
        "limits": (450, 500, 900), "limit_graphs": 2, "limit_seeds": "1",
        "topologies": 2, "copies": 1,
        "train_graphs": 2,
        "steps": 2, "sweep_steps": 1, "valid_graphs": 1,
        "valid_evaluations": 450, "train_ops": 40,
        "rounds": (0, 1),
        "contest_times": ("0.01s", "0.02s"), "contest_graphs": 2,
        "contest_seeds": "1",
        "cp_sat_seconds": 1, "cp_sat_graphs": 0,
        "example_nodes": 20,
    },
}


def changed(sizes, text):
    """The sizes with those of "NAME=NUMBER,..." instead."""
    sizes = dict(sizes)
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if type(sizes.get(name)) is not int or not value.isdigit():
            numbers = [key for key, old in sizes.items() if type(old) is int]
            sys.exit(f"reproduce: found \"{word}\", expected NAME=NUMBER with "
                     f"one of {', '.join(numbers)}")
        sizes[name] = int(value)
    return sizes
