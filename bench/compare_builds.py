#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of regal: the same plans, and as fast?

  bench/compare_builds.py plans OLD NEW [--only TEXT]
  bench/compare_builds.py speed OLD NEW [--rounds N] [--only TEXT]
  bench/compare_builds.py list

OLD and NEW are programs (build/regal). `plans` runs a fixed list of graphs,
machines, methods, seeds and evaluation budgets with both and compares what they
write, byte for byte; only the seconds that a search took, and its version, are
left out. `speed` runs some long cases in turn with both and prints the ratio of
their evaluations per second, each the best of all rounds. For a change that
must not change any result. Run it from the root of the repository.

The exit status of `plans` is 1 if a single case differs.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TORCH = "tests/graphs/torch/"
XLA = "tests/graphs/xla/"
TF = "tests/graphs/tf/"
GRAPHS = {
    "albert": TORCH + "hf_albert_train.pb",
    "resnet": TORCH + "tv_resnet18_infer.pb",
    "gpt2": XLA + "gpt2_train.pb",
    "pinn": XLA + "pinn_grad_tpu.pb",
    "vae": TF + "vae_train.pb",
    "swin": "data/torch.zip:hf_swin_train",
    "neox": "data/demo/hf_gpt_neox_train.pb",
    "onnx": "tests/graphs/onnx/transformer.onnx",
    "synthetic": "WORK/synthetic.pbtxt",
    "layered": "WORK/layered.pbtxt",
}
MACHINES = {
    "free": "",
    "slow": "--bandwidth 25GB",
    "fast": "--bandwidth 450GB --latency 2us",
    "overlapped": "--transfers overlapped --bandwidth 25GB",
    "four": "--devices 4",
    "four-slow": "--devices 4 --bandwidth 25GB",
    "four-overlapped": "--devices 4 --transfers overlapped --bandwidth 100GB",
    "eight": "--devices 8 --bandwidth 100GB",
    "control": "--control transfer",
    "limit": "--memory-limit LIMIT",
    "limit-slow": "--memory-limit LIMIT --bandwidth 25GB",
    "limit-overlapped":
        "--memory-limit LIMIT --bandwidth 25GB --transfers overlapped",
    "limit-four": "--memory-limit LIMIT --devices 4",
    "memory": "--objective memory",
    "memory-one": "--objective memory --devices 1",
    "memory-four": "--objective memory --devices 4",
    "unequal": "--machine WORK/unequal.json",
    "unequal-memory": "--machine WORK/unequal.json --objective memory",
}
# Bytes, as --memory-limit: about what the best plans for memory need, and a
# little more.
LIMITS = {"albert": "5GiB", "resnet": "700MiB", "gpt2": "40MiB",
          "pinn": "8MiB", "vae": "2MiB", "swin": "9GiB", "neox": "10GiB",
          "onnx": "30MiB", "synthetic": "500MB", "layered": "4GB"}
UNEQUAL = {"regal_machine": 1, "devices": [
    {"speed": 1}, {"speed": 2}, {"speed": 0.5}],
    "latency_ns": 1000, "bandwidth_bytes_per_s": 50000000000,
    "links": [{"from": 0, "to": 1, "bandwidth_bytes_per_s": 200000000000,
               "both": True}],
    "op_times": [{"id": 5, "run_ns": ["1us", None, "20us"]}],
    "groups": [[3, 4], [10, 20, 21]]}
METHODS = ("brkga tuned regal gas idrs direct anneal multilevel local climb "
           "random single heft cut split gp-dfs partition dfs bfs lpmf xla-list "
           "xla-dfs").split()
DECODERS = "paper paper-late batched clock eft closure".split()

ANNEALED = {
    "order": "free slow fast overlapped four four-slow four-overlapped eight "
             "control limit limit-slow limit-overlapped limit-four unequal",
    "phase": "free slow fast four four-slow eight control",
    "memory": "memory memory-one memory-four",
}


def case(graph, machine, more):
    limit = LIMITS[graph]
    return (f"{graph} {machine} {more}",
            ["optimize", GRAPHS[graph], "-o", "-", "-q"] +
            MACHINES[machine].replace("LIMIT", limit).split() + more.split())


def cases():
    for graph in GRAPHS:
        for machine in MACHINES:
            if graph != "onnx" or "unequal" not in machine:  # ops by number
                yield case(graph, machine, "--evaluations 4000")
    for method in METHODS:
        for graph in ("albert", "pinn", "synthetic"):
            for machine in ("free", "slow", "memory"):
                if method == "gas" and machine != "free":
                    continue
                yield case(graph, machine, f"--method {method} "
                           "--evaluations 1500 --seed 7")
    for method in ("brkga", "anneal", "multilevel", "local", "climb", "heft",
                   "cut", "split", "gp-dfs", "partition"):
        for machine in ("four-overlapped", "eight", "limit", "limit-overlapped",
                        "limit-four", "memory-four", "memory-one", "unequal",
                        "unequal-memory", "control", "overlapped"):
            yield case("albert", machine,
                       f"--method {method} --evaluations 3000 --seed 3")
    for decoder in DECODERS:
        for machine in ("fast", "overlapped", "four", "limit", "memory-four",
                        "unequal", "control"):
            yield case("vae", machine, f"--method brkga --decoder {decoder} "
                       "--evaluations 1000 --threads 2")
    for annealer, machines in ANNEALED.items():
        for machine in machines.split():
            yield case("resnet", machine, f"--annealer {annealer} "
                       "--method anneal --evaluations 20000")
    for more in ("--islands 3 --exchange 2 --restart 4 --method brkga",
                 "--islands 2 --method brkga --decoder eft --threads 2",
                 "--hot 2 --cold 0.01 --fall 0.4 --method multilevel",
                 "--coarsest 40 --coarse-share 0.5 --method multilevel",
                 "--fresh 0.5 --method anneal", "--fresh 1 --method anneal",
                 "--climb-restart 20 --method climb",
                 "--send eager --method local", "--send eager --method gp-dfs",
                 "--partitioner metis --method partition",
                 "--settings torch_runtime --method tuned",
                 "--policy rule", "--policy rule-depth",
                 "--policy real_runtime", "--policy real_runtime_paper",
                 "--policy real_runtime_paper --actions sample",
                 "--policy synthetic_runtime",
                 "--start WORK/start.plan",
                 "--objective memory --target 80000000"):
        yield case("albert", "free", more + " --evaluations 3000 --seed 5")
    for machine in ("free", "slow", "overlapped", "four", "limit", "memory",
                    "memory-one", "limit-overlapped", "four-overlapped"):
        yield case("swin", machine, "--evaluations 60000 --threads 2")
    for graph in ("albert", "gpt2", "synthetic", "layered"):
        yield case(graph, "free", "--threads 1")  # the default budget
    yield ("xla start", ["optimize", XLA + "gnn_grad_unfused.pb", "-o", "-",
                         "-q", "--devices", "1", "--objective", "memory",
                         "--start", XLA + "gnn_grad_unfused.order"])
    yield ("aliases", ["optimize", XLA + "vit_train.pb", "-o", "-", "-q",
                       "--aliases", "xla", "--objective", "memory",
                       "--evaluations", "4000"])
    for name, graph in GRAPHS.items():
        for form in ("json", "text", "binary"):
            yield (f"convert {name} {form}",
                   ["convert", graph, "--format", form, "-o", "-", "-q"])
        yield (f"inspect {name}", ["inspect", graph, "--json"])
    yield ("evaluate", ["evaluate", TORCH + "hf_albert_train.pb",
                        "WORK/start.plan", "--json"])
    for more in ("", "--objective memory", "--policy-kind experts",
                 "--policy-kind autoregressive", "--policy-kind gas",
                 "--decoder eft", "--imitate 2", "--bias-levels 4"):
        yield (f"train {more}", ["train", "WORK/split", "--steps", "4",
                                 "--valid-graphs", "2", "--valid-every", "2",
                                 "--valid-evaluations", "600", "-q", "-o",
                                 "OUT/policy", "--graphs-per-step", "2",
                                 "--samples", "2", "--episode-evaluations",
                                 "300"] + more.split())
    yield ("tune", ["tune", "WORK/split", "--graphs", "2", "--halving", "-q",
                    "--evaluations", "300", "-o", "OUT/settings"])
    yield ("generate", ["generate", "OUT/set", "--count", "3", "--seed", "4",
                        "--filter", "-q"])


# What a run may write that is not the same twice. The file of a policy names
# its features since they are a table: `train` is compared by its log.
LEFT_OUT = re.compile(rb'"seconds": [0-9.e+-]+|"version": "[^"]*"|'
                      rb'"(?:rate|made|provenance)": [^\n]*|'
                      rb'(?m:^time +[0-9.]+ s$)')


def prepare(program, work):
    (work / "unequal.json").write_text(json.dumps(UNEQUAL))
    for command in (
            ["generate", f"{work}/set", "--count", "12", "--seed", "2"],
            ["generate", f"{work}/layered", "--count", "1", "--model",
             "layered", "--nodes", "3000"],
            ["dataset", "split", f"{work}/set", "-o", f"{work}/split"],
            ["optimize", TORCH + "hf_albert_train.pb", "--evaluations", "200",
             "-o", f"{work}/start.plan"]):
        subprocess.run([program, *command, "-q"], check=True,
                       capture_output=True)
    for name in ("set", "layered"):
        graph = min((work / name).glob("graph_*"))
        target = "synthetic" if name == "set" else name
        (work / f"{target}.pbtxt").write_bytes(graph.read_bytes())


def log_columns(text):
    """A log without what it says of time. The first line of a table of tuning
    has a checksum of the options, by name."""
    rows = [line.split(",") for line in text.splitlines()
            if not line.startswith(("#", "regal_tune,"))]
    kept = [i for i, name in enumerate(rows[0])
            if not re.search("second|rate|time", name)] if rows else []
    return "\n".join(",".join(row[i] for i in kept if i < len(row))
                     for row in rows).encode()


def outcome(program, work, arguments):
    """What the program wrote, less what differs from run to run."""
    with tempfile.TemporaryDirectory() as out:
        arguments = [word.replace("WORK", str(work)).replace("OUT", out)
                     for word in arguments]
        run = subprocess.run([program, *arguments], capture_output=True)
        files = sorted(path for path in pathlib.Path(out).rglob("*")
                       if path.is_file())
        found = [b"exit %d" % run.returncode]
        if run.returncode not in (0, 3):
            found.append(run.stderr)
        if arguments[0] not in ("train", "tune"):
            found.append(LEFT_OUT.sub(b"", run.stdout))
        for path in files:
            if path.suffix == ".csv":
                found.append(log_columns(path.read_text()))
            elif arguments[0] != "train":
                found.append(LEFT_OUT.sub(b"", path.read_bytes()))
        return [part.replace(out.encode(), b"OUT") for part in found]


def compare_plans(old, new, only):
    different = failed = 0
    chosen = [row for row in cases() if not only or only in row[0]]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        prepare(old, work)
        for name, arguments in chosen:
            before = outcome(old, work, arguments)
            after = outcome(new, work, arguments)
            if before[0] not in (b"exit 0", b"exit 3"):
                failed += 1
                print("REFUSED", name, before[1].decode().strip())
            if before != after:
                different += 1
                print("DIFFERENT", name, before[0].decode(), after[0].decode(),
                      "regal", *arguments)
                sys.stdout.flush()
    print(f"{len(chosen)} cases, {different} different, "
          f"{failed} refused by both or by the old program")
    return different


SPEED = [
    ("brkga paper", "albert", "slow",
     "--method brkga --decoder paper --evaluations 10000"),
    ("brkga batched", "albert", "free",
     "--method brkga --decoder batched --evaluations 10000"),
    ("brkga clock", "albert", "free",
     "--method brkga --decoder clock --evaluations 6000"),
    ("brkga eft", "albert", "overlapped",
     "--method brkga --decoder eft --evaluations 6000"),
    ("brkga closure", "albert", "memory",
     "--method brkga --decoder closure --evaluations 5000"),
    ("order, two devices", "swin", "slow",
     "--method anneal --annealer order --evaluations 300000"),
    ("order, four devices", "swin", "four-slow",
     "--method anneal --annealer order --evaluations 200000"),
    ("order, links", "swin", "overlapped",
     "--method anneal --annealer order --evaluations 100000"),
    ("order, limit", "swin", "limit",
     "--method anneal --annealer order --evaluations 200000"),
    ("order, limit, links", "swin", "limit-overlapped",
     "--method anneal --annealer order --evaluations 20000"),
    ("phase, two devices", "swin", "free",
     "--method anneal --annealer phase --evaluations 1000000"),
    ("phase, four devices", "swin", "four-slow",
     "--method anneal --annealer phase --evaluations 500000"),
    ("memory, one device", "swin", "memory-one",
     "--method anneal --annealer memory --evaluations 1500000"),
    ("memory, four devices", "swin", "memory-four",
     "--method anneal --annealer memory --evaluations 700000"),
    ("local, run time", "albert", "free", "--method local --evaluations 20000"),
    ("local, memory", "albert", "memory", "--method local --evaluations 20000"),
    ("climb, run time", "albert", "free", "--method climb --evaluations 20000"),
    ("climb, memory", "albert", "memory", "--method climb --evaluations 20000"),
    ("multilevel", "swin", "overlapped",
     "--method multilevel --evaluations 100000"),
    ("regal", "albert", "free", "--policy real_runtime --evaluations 6000"),
    ("auto", "swin", "free", "--evaluations 300000"),
    ("auto, limit", "swin", "limit", "--evaluations 200000"),
]


def rate(program, arguments):
    run = subprocess.run([program, *arguments], capture_output=True, text=True)
    found = json.loads(run.stdout)
    return found["evaluations"] / found["seconds"]


def compare_speed(old, new, rounds, only):
    print(f"{'case':24}{'old/s':>12}{'new/s':>12}{'ratio':>8}")
    for name, graph, machine, more in SPEED:
        if only not in name:
            continue
        _, arguments = case(graph, machine, more + " --threads 1 --json")
        arguments.remove("-o")
        arguments.remove("-")
        best = [0, 0]
        for number in range(rounds):
            for which in ((0, 1) if number % 2 else (1, 0)):
                best[which] = max(best[which],
                                  rate((old, new)[which], arguments))
        print(f"{name:24}{best[0]:12.0f}{best[1]:12.0f}"
              f"{best[1] / best[0]:8.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("plans", "speed", "list"))
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if given.what == "list":
        for name, arguments in cases():
            print(name, "| regal", *arguments)
        return 0
    if len(given.programs) != 2:
        parser.error("two programs are compared: OLD NEW")
    if given.what == "plans":
        return 1 if compare_plans(*given.programs, given.only) else 0
    compare_speed(*given.programs, given.rounds, given.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
