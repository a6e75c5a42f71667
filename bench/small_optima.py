#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small random problems with proven optima: how many does a method miss?

  bench/small_optima.py make DIR                 graphs and machines
  bench/small_optima.py prove DIR PROGRAM        optima by cp-sat (docs/cp-sat.md)
  bench/small_optima.py run DIR PROGRAM OPTION.. runs `PROGRAM optimize` with these
                                                 options on each, and lists misses

280 graphs of 5 to 14 ops: blocking and overlapped transfers that cost, on 2, 3 and
4 devices; with memory limits (2 devices), groups, op times and control edges (3
devices). Run times and bytes are small integers, so that plans which differ differ
by whole units. Problems whose optimum is not proven within a minute, or that no plan
fits, are left out.

  bench/small_optima.py make build/small
  bench/small_optima.py prove build/small build/regal
  bench/small_optima.py run build/small build/regal --threads 1 --time 1
"""
import json
import pathlib
import random
import subprocess
import sys

KINDS = [(transfers, devices, extra) for transfers in ("overlapped", "blocking")
         for devices, extra in ((2, "plain"), (3, "plain"), (4, "plain"), (2, "limit"),
                                (3, "group"), (3, "times"), (3, "control"))]
EACH = 20


def draw_op(rng, j, ops, density, most):
    inputs = [i for i in range(max(0, j - 5), j) if rng.random() < density]
    if j and not inputs and rng.random() < .8:
        inputs = [rng.randrange(max(0, j - 5), j)]
    rng.shuffle(inputs)
    return {"name": f"o{j}", "run_ns": rng.randint(1, most),
            "inputs": [[f"o{i}", rng.randrange(len(ops[i]["outputs"]))] for i in inputs],
            "outputs": [rng.randint(1, most) for _ in range(rng.randint(1, 2))]}


def draw(transfers, devices, extra, k):
    rng = random.Random(f"{transfers} {devices} {extra} {k}")
    count = rng.randint(5, 9) if k < EACH * 3 // 4 else rng.randint(10, 14)
    density, most, ops = rng.choice((.25, .4, .6)), rng.choice((5, 10, 20)), []
    for j in range(count):
        ops.append(draw_op(rng, j, ops, density, most))
        if extra == "control" and j and rng.random() < .4:
            ops[j]["control"] = [f"o{rng.randrange(j)}"]
    machine = {"regal_machine": 1, "devices": devices, "transfers": transfers,
               "latency_ns": rng.choice((0, 0, 1, 3)),
               "bandwidth_bytes_per_s": rng.choice((1, 2, 4)) * 10**9}
    if extra == "limit":
        total = sum(sum(op["outputs"]) for op in ops)
        machine["memory_limit_bytes"] = int(total * rng.uniform(.5, .85))
    elif extra == "group":
        ids = rng.sample(range(count), 4)
        machine["groups"] = [ids[:2], ids[2:]]
    elif extra == "times":
        machine["op_times"] = [
            {"id": j, "run_ns": [rng.randint(1, most) for _ in range(devices)]}
            for j in range(count) if rng.random() < .6]
    return {"regal_graph": 1, "ops": ops}, machine


def names():
    return [f"{transfers}_{devices}_{extra}_{k}" for transfers, devices, extra in KINDS
            for k in range(EACH)]


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        transfers, devices, extra, k = name.split("_")
        graph, machine = draw(transfers, int(devices), extra, int(k))
        (folder / f"{name}.json").write_text(json.dumps(graph))
        (folder / f"{name}.machine.json").write_text(json.dumps(machine))


def solve(folder, program, name, options):
    """The run time, its lower bound, and whether the plan fits."""
    out = folder / "out.plan"
    done = subprocess.run([program, "optimize", folder / f"{name}.json", "--machine",
                           folder / f"{name}.machine.json", "-q", "-o", out, *options],
                          check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 3):
        sys.exit(done.returncode)
    plan = json.loads(out.read_text())
    return plan["cost"]["runtime_ns"], plan["bound"]["runtime_ns"], plan["fits"]


def prove(folder, program):
    optima = {}
    for name in names():
        runtime, bound, fits = solve(folder, program, name,
                                     ["--method", "cp-sat", "--time", "60"])
        if fits and runtime == bound:
            optima[name] = runtime
    (folder / "optima.json").write_text(json.dumps(optima))
    print(f"{len(optima)} of {len(names())} proven")


def run(folder, program, options):
    optima, missed = json.loads((folder / "optima.json").read_text()), 0
    for name, optimum in optima.items():
        runtime, _, fits = solve(folder, program, name, options)
        if not fits or runtime > optimum:
            missed += 1
            print(f"{name}: {runtime if fits else 'does not fit'}, optimum {optimum}")
    print(f"missed {missed} of {len(optima)}")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("make", "prove", "run"):
        sys.exit(__doc__)
    where = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "make":
        make(where)
    elif sys.argv[1] == "prove":
        prove(where, sys.argv[3])
    else:
        run(where, sys.argv[3], sys.argv[4:])
