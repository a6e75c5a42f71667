#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `regal optimize` takes with its default budget: CPU seconds of the
whole program on one thread, reading, bounds, verification and reports included.

  bench/default_budget.py PROGRAM [GRAPH ..]

The graphs (default: large ones of data/) run on two and eight devices with
free, blocking and overlapped transfers, for run time and for memory, without a
memory limit and with limits of 1.15 and 2.5 times the bound of peak memory. One
line for each, and the longest at the end.
"""
import json
import os
import subprocess
import sys

GRAPHS = ["data/torch.zip:hf_rwkv_infer", "data/torch.zip:hf_mamba_train",
          "data/tf.zip:NASNetLarge_train", "data/tf.zip:DenseNet121_train_raw",
          "data/torch.zip:hf_hrm_text_infer",
          "data/torch.zip:tv_densenet201_train",
          "data/torch.zip:tv_efficientnet_v2_l_train",
          "data/torch.zip:hf_albert_train"]
COSTS = ["--latency", "10us", "--bandwidth", "25GB"]
MACHINES = {"free": [], "blocking": COSTS,
            "overlapped": [*COSTS, "--transfers", "overlapped"]}
LIMITS = (None, 1.15, 2.5)


def run(program, graph, options):
    """CPU seconds, and what it printed."""
    before = os.times()
    done = subprocess.run(
        [program, "optimize", graph, "--json", "-q", "--threads", "1", *options],
        check=False, capture_output=True, text=True)
    after = os.times()
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    seconds = (after.children_user + after.children_system
               - before.children_user - before.children_system)
    return seconds, json.loads(done.stdout)


def cases(program, graph):
    """Names and options."""
    for devices in ("2", "8"):
        memory = ["--devices", devices, "--objective", "memory"]
        _, plan = run(program, graph, [*memory, "--method", "single"])
        bound = plan["bound"]["peak_bytes"]
        yield f"{devices} memory", memory
        for name, machine in MACHINES.items():
            for limit in LIMITS:
                options = ["--devices", devices, *machine]
                if limit:
                    options += ["--memory-limit", str(int(limit * bound))]
                yield f"{devices} {name} {limit or ''}", options


def main(program, graphs):
    longest = []
    for graph in graphs or GRAPHS:
        for name, options in cases(program, graph):
            seconds, plan = run(program, graph, options)
            longest.append((seconds, graph, name))
            print(f"{seconds:6.2f} s  {plan['graph']['ops']:6} ops  {graph}  "
                  f"{name}", flush=True)
    seconds, graph, name = max(longest)
    print(f"longest: {seconds:.2f} s, {graph}, {name}")


if __name__ == "__main__":
    if sys.argv[1:2] in ([], ["--help"], ["-h"]):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
