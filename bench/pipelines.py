#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pipelines: `auto` against the schedules that pipelines are run with.

  bench/pipelines.py                    what is missing, then the tables
  bench/pipelines.py --only real        cases whose names contain this
  bench/pipelines.py --fresh            everything anew (about six minutes)

Three sets of cases, one thread each, overlapped transfers:

  pinned   a stage for each device, or two in V shape or interleaved, each pinned;
           run times, latency and activations profiled by Qi et al. (zero bubble
           pipeline parallelism, 2023) for models of 6.2 and 14.6 billion
           parameters; memory for the activations of p microbatches, of 3p / 2
           where stages are interleaved, or of 2p
  free     32 equal layers on 8 devices, where each layer runs is free; weights of
           3.6 GB a layer
  real     training steps of data/torch.zip through `regal pipeline`, with and
           without --split-backward; links of 450 GB/s and 5 us; a limit that
           neither one device nor copies of all weights can meet

Every run is a line of results/pipelines.csv; runs that are there are not
repeated. Plans are verified by the program. The tables go to
results/pipelines.md: bubble rates (1 - work / (devices * run time)), or seconds,
or microbatches per second.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = ("case", "method", "seconds", "runtime_ns", "bubble", "per_second",
          "fits")
# Forward, backward, weight (ns), latency, activations in all and those of W.
PROFILES = {4: (29718, 29444, 19927, 527, 303104, 131072),
            8: (29718, 29444, 19927, 527, 303104, 131072),
            16: (11347, 11248, 8132, 377, 378880, 163840)}
# Bubble rates of the schedulers of Qi et al. for the same times, by (p, m / p).
ZB_AUTO = {(4, 1): .276, (4, 2): .164, (4, 3): .116,
           (8, 1): .308, (8, 2): .186, (8, 3): .132,
           (16, 1): .317, (16, 2): .196, (16, 3): .140}
ZB_V = {(4, 1): .170, (4, 2): .077, (4, 3): .052,
        (8, 1): .203, (8, 2): .088, (8, 3): .061,
        (16, 1): .223, (16, 2): .103, (16, 3): .071}
REAL = (("hf_gpt2_train", {4: "720MiB", 8: "660MiB"}),
        ("hf_gpt_neox_train", {4: "9500MiB", 8: "7250MiB"}),
        ("tv_vit_b_16_train", {4: "600MiB", 8: "480MiB"}))
BASELINES = ("gpipe", "1f1b", "interleaved", "zb-h1")


class Case:
    """A problem: how to make its graph, its machine, and what to run on it."""

    def __init__(self, name, make, machine, runs):
        self.name, self.make, self.machine = name, make, machine
        self.runs = runs  # (method, seconds), 0 for methods of one pass


def pinned(p, k, shape):
    """p devices, m = k p microbatches."""
    f, b, w, latency, mem_f, mem_w = PROFILES[p]
    two = shape in ("v", "i-fused")
    v = 2 if two else 1
    where = {"v": lambda c: c if c < p else 2 * p - 1 - c,
             "i-fused": lambda c: c % p}.get(shape, lambda c: c)
    text = (f"layers={p * v},microbatches={k * p},forward={f // v}ns,"
            f"backward={b // v}ns,weight={w // v}ns,"
            f"activation={mem_f // v - mem_w // v},"
            f"weight-activation={mem_w // v},wire=1"
            + (",fused" if "fused" in shape else ""))
    held = {"2p": 2 * p, "i-fused": 3 * p // 2}.get(shape, p)
    machine = {"regal_machine": 1, "devices": p, "transfers": "overlapped",
               "latency_ns": latency,
               "memory_limit_bytes": held * (mem_f // v) * v + 256,
               "pins": [{"ops": f"*.{c}", "device": where(c)}
                        for c in range(p * v)]}
    runs = [("auto", 1)] + [("auto", 10)] * (shape == "v" and p == 16)
    runs += {"1p": [("zb-h1", 0)], "fused": [("gpipe", 0), ("1f1b", 0)],
             "i-fused": [("interleaved", 0)]}.get(shape, [])
    return Case(f"pinned p={p} m={k * p} {shape}",
                ["generate", "--pipeline", text], machine, runs)


def free(m, gigabytes):
    text = (f"layers=32,microbatches={m},forward=5ms,backward=5ms,weight=4ms,"
            "activation=300MB,weight-activation=270MB,wire=33554432,"
            "parameter=3600MB")
    machine = {"regal_machine": 1, "devices": 8, "transfers": "overlapped",
               "latency_ns": 10000, "bandwidth_bytes_per_s": "50GB",
               "memory_limit_bytes": f"{gigabytes}GB"}
    runs = [(method, 0) for method in BASELINES + ("heft",)] + [("auto", 1)]
    return Case(f"free m={m} {gigabytes}GB",
                ["generate", "--pipeline", text], machine, runs)


def real(name, p, limit, split):
    machine = {"regal_machine": 1, "devices": p, "transfers": "overlapped",
               "latency_ns": "5us", "bandwidth_bytes_per_s": "450GB",
               "memory_limit_bytes": limit}
    make = ["pipeline", f"{ROOT}/data/torch.zip:{name}", "--microbatches",
            str(2 * p)] + ["--split-backward"] * split
    runs = [(method, 0) for method in BASELINES] + [("auto", 1), ("auto", 10)]
    return Case(f"real {name} p={p}" + " split" * split, make, machine, runs)


def all_cases():
    for p in (4, 8, 16):
        for k in (1, 2, 3):
            for shape in ("1p", "2p", "v", "fused", "i-fused"):
                yield pinned(p, k, shape)
    for m, gigabytes in ((8, 80), (8, 36), (16, 80), (16, 36)):
        yield free(m, gigabytes)
    for name, limits in REAL:
        for p, limit in limits.items():
            for split in (False, True):
                yield real(name, p, limit, split)


def run(program, case, method, seconds, folder):
    budget = ["--time", str(seconds)] if seconds else []
    done = subprocess.run(
        [program, "optimize", f"{folder}/graph.json", "--machine",
         f"{folder}/machine.json", "--method", method, "--threads", "1",
         "--json", "-q"] + budget, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):  # 3: it does not fit
        raise SystemExit(f"{case.name}, {method}: {done.stderr}")
    found = json.loads(done.stdout)
    rates = found["pipeline"]
    return {"case": case.name, "method": method, "seconds": str(seconds),
            "runtime_ns": str(found["cost"]["runtime_ns"]),
            "bubble": f"{rates['bubble_rate']:.6f}",
            "per_second": f"{rates['microbatches_per_second']:.6g}",
            "fits": "yes" if found["fits"] else "no"}


def run_case(program, case, rows, save):
    missing = [(method, seconds) for method, seconds in case.runs
               if (case.name, method, str(seconds)) not in rows]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, *case.make, "-q", "-o",
                        f"{folder}/graph.json"], check=True)
        pathlib.Path(folder, "machine.json").write_text(
            json.dumps(case.machine))
        for method, seconds in missing:
            row = run(program, case, method, seconds, folder)
            rows[case.name, method, str(seconds)] = row
            save()
            print(f"{case.name:36} {method:12}{seconds:3} s  bubble "
                  f"{row['bubble']}  {row['per_second']} per s"
                  + ("" if row["fits"] == "yes" else "  does not fit"),
                  flush=True)


# -- Tables ------------------------------------------------------------------

def cell(rows, case, method, seconds, show):
    row = rows.get((case, method, str(seconds)))
    if not row:
        return ""
    return show(row) + ("" if row["fits"] == "yes" else " *")


def bubble(row):
    return f"{float(row['bubble']):.3f}".lstrip("0")


def table(heads, lines):
    return "\n".join(["| " + " | ".join(heads) + " |",
                      "|" + "---|" * len(heads)]
                     + ["| " + " | ".join(line) + " |" for line in lines])


def bound_2p(p, m):
    """No plan has a lower bubble rate: the last device starts late."""
    f, b, w, latency = PROFILES[p][:4]
    work = m * (f + b + w)
    return f"{1 - work / (work + (p - 1) * (f + latency)):.3f}".lstrip("0")


def pinned_table(rows):
    lines = []
    for p in (4, 8, 16):
        for k in (1, 2, 3):
            def at(shape, method, seconds):
                return cell(rows, f"pinned p={p} m={k * p} {shape}", method,
                            seconds, bubble)
            v = at("v", "auto", 1)
            if p == 16:
                v += " / " + at("v", "auto", 10)
            lines.append([
                f"{p}, {k * p}", at("fused", "gpipe", 0),
                at("fused", "1f1b", 0), at("fused", "auto", 1),
                at("i-fused", "interleaved", 0), at("i-fused", "auto", 1),
                at("1p", "zb-h1", 0), f"{ZB_AUTO[p, k]:.3f}".lstrip("0"),
                at("1p", "auto", 1), at("2p", "auto", 1), bound_2p(p, k * p),
                f"{ZB_V[p, k]:.3f}".lstrip("0"), v])
    heads = ("p, m", "gpipe", "1f1b", "`auto`, fused", "interleaved",
             "`auto`, interleaved", "zb-h1", "ZB-auto", "`auto`",
             "`auto`, 2p", "bound, 2p", "ZB-V", "`auto`, V")
    return table(heads, lines)


def free_table(rows):
    def seconds_of(row):
        return f"{int(row['runtime_ns']) / 1e9:.3f}"
    lines = []
    for m, gigabytes in ((8, 80), (8, 36), (16, 80), (16, 36)):
        name = f"free m={m} {gigabytes}GB"
        lines.append([f"{m}, {gigabytes} GB"] + [
            cell(rows, name, method, 0, seconds_of)
            for method in BASELINES + ("heft",)]
            + [cell(rows, name, "auto", 1, seconds_of)])
    return table(("m, memory", *BASELINES, "heft", "`auto`, 1 s"), lines)


def real_table(rows):
    def both(row):
        return f"{bubble(row)}, {float(row['per_second']):.1f}"
    lines = []
    for name, limits in REAL:
        for p, limit in limits.items():
            for split in ("", " split"):
                case = f"real {name} p={p}{split}"
                lines.append(
                    [name.replace("_train", ""), f"{p}", limit,
                     "yes" if split else "no"]
                    + [cell(rows, case, method, 0, both)
                       for method in BASELINES]
                    + [cell(rows, case, "auto", s, both) for s in (1, 10)])
    return table(("graph", "devices", "memory", "split", *BASELINES,
                  "`auto`, 1 s", "`auto`, 10 s"), lines)


def write_page(rows):
    page = f"""# Pipelines

Written by `bench/pipelines.py`; one thread. A star: no plan was found that fits the
memory limit.

## Stages pinned

Bubble rates with p devices and m microbatches, `auto` after one second (V with p = 16: after
1 s / 10 s). "Fused" has one op for both gradients. ZB-auto and ZB-V are the schedulers of Qi
et al. (2023), which know that the graph is a pipeline. "2p" has memory for 2p activations,
interleaved for 3p / 2, which is what that schedule needs, the others for p.

{pinned_table(rows)}

## Layers free

Seconds for 32 layers on 8 devices, and any layer may run anywhere.

{free_table(rows)}

## Training steps of real models

Bubble rate, and microbatches per second; m = 2p.

{real_table(rows)}
"""
    (ROOT / "results/pipelines.md").write_text(page)
    print(page)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/regal"))
    parser.add_argument("--only", default="")
    parser.add_argument("--fresh", action="store_true")
    arguments = parser.parse_args()
    path = ROOT / "results/pipelines.csv"
    rows = {}
    if path.exists():
        with path.open() as file:
            for row in csv.DictReader(file):
                rows[row["case"], row["method"], row["seconds"]] = row
    if arguments.fresh:
        rows = {key: row for key, row in rows.items()
                if arguments.only not in row["case"]}

    def save():
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows.values())

    for case in all_cases():
        if arguments.only in case.name:
            run_case(arguments.program, case, rows, save)
    write_page(rows)


if __name__ == "__main__":
    main()
