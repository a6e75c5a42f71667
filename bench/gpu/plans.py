#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans on a real GPU: bench/gpu/plans.py OUT [--models a,b] [--actions a,b]

For each model, batch size and mode (inference in half precision, training in
single): microseconds per call of eager PyTorch, torch.compile (default,
reduce-overhead), and of Inductor's kernels in one CUDA graph: on one stream, on a
stream for each chain (no plan: CUDA's own scheduling of the whole graph), by
heft's plan, and by the plan that ``regal.torch`` keeps. Writes OUT/plans.json
after each case; report.py makes the tables and figures. A run that was stopped
goes on with --done OUT/plans.json; --done results/gpu/plans.csv leaves only what
is not in the tables, or was measured before early launches. Actions:

  measure       all of these, and what report.py makes predictions of
  measure-only  all of these
  unfolded      the plan without folded constants
  one-graph     calls without guards (regal.torch.compile_inference, compile_step)
  again         the plan, recorded six times in memory of its own
  tune          max-autotune: it compiles for minutes; what it has chosen is in
                Inductor's cache, a folder for each case in
                TORCHINDUCTOR_CACHE_DIR, for the next run, if this one is stopped
  warm          compiles what tune will time, on idle cores beside other actions

Each case has a process of its own, --jobs at a time, each with --threads that
compile. A lock lets one process at a time use the GPU, to tune and measure
kernels, try plans and time calls. On an H200 with 16 cores a case of inference
takes 18 s, one of training 33 s, and one to tune about two minutes. Needs the
packages regal, torch, torchvision and transformers.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from case import ACTIONS, GOES_FIRST, alone, by_program, one, signal_all  # noqa: E402
from tables import is_before_early_launches, key_of, read_csv  # noqa: E402


#: Models that come first.
FIRST = ["mmoe", "dlrm", "squeezenet", "googlenet", "bert", "inception_v3",
         "clip", "darts"]

#: Actions that compile some twenty variants of each product and convolution.
TUNING = ("tune", "warm")


def cases(models, batches, modes):
    """(model, batch, mode), inference first."""
    from models import MODELS, ONLY_INFERENCE

    names = models or FIRST + [name for name in MODELS if name not in FIRST]
    return [
        (name, batch, mode)
        for mode in ("infer", "train") if mode in modes
        for batch in batches
        for name in names
        if mode == "infer" or name not in ONLY_INFERENCE
    ]


def in_parallel(action, found, width, end, done, threads=1):
    """Runs a process per case, `width` at a time, until the time is up."""
    waiting, running = list(found), {}
    try:
        while running or (waiting and time.time() < end):
            while waiting and len(running) < width and time.time() < end:
                case = ":".join(map(str, waiting.pop(0)))
                running[case] = start(action, case, threads)
            for case, process in list(running.items()):
                try:
                    text, _ = process.communicate(timeout=0.2)
                except subprocess.TimeoutExpired:
                    if time.time() > end + 15:
                        signal_all([process.pid], signal.SIGKILL)
                    continue
                del running[case]
                # If it was killed, others may have been left stopped.
                signal_all([p.pid for p in running.values()], signal.SIGCONT)
                rows = [x for x in text.splitlines() if x.startswith("ROW ")]
                if rows:
                    done(json.loads(rows[0][4:]))
                elif process.returncode:
                    print(f"{action} {case} failed:\n{text[-1500:]}", flush=True)
    finally:
        signal_all([p.pid for p in running.values()], signal.SIGKILL)


def start(action, case, threads):
    """A process for a case, with a group of its own: see `case.quiet`."""
    settings = {"TORCHINDUCTOR_COMPILE_THREADS": str(threads)}
    if action in TUNING:
        # Timings are in one file, of which each process writes back what it has
        # read, and its own: processes that share it lose each other's.
        folder = os.path.join(
            os.environ.get("TORCHINDUCTOR_CACHE_DIR")
            or os.path.join(tempfile.gettempdir(), "regal-tuned"),
            case.replace(":", "-"),
        )
        settings["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, action)
        settings["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
    return subprocess.Popen(
        [*(["nice", "-n", "19"] if action == "warm" else []),
         sys.executable, __file__, "--one", action, case],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, **settings}, start_new_session=True,
    )


def show(row):
    if "regal_us" not in row:
        print(row, flush=True)
        return
    numbers = " ".join(
        f"{key} {row[key + '_us']:.0f}" if row[key + "_us"] else f"{key} -"
        for key in ("eager", "default", "reduce_overhead", "one_stream",
                    "chains", "heft", "regal", "call")
    )
    print(f"{row['model']}:{row['batch']}:{row['mode']} {numbers} "
          f"difference {row['difference']:.1e} ({row['inductor_difference']:.1e}) "
          f"planning {row['planning_s'] or 0:.1f} s, of which "
          f"{row['measuring_s'] or 0:.1f} s measuring, {row['chosen']} "
          f"{row['calls']} {row['warnings']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", default="results/gpu")
    parser.add_argument("--models", default="")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--modes", default="infer,train")
    parser.add_argument("--cases", default="",
                        help="model:batch:mode,... instead of the three above")
    parser.add_argument("--actions", default="measure", help=", ".join(ACTIONS))
    parser.add_argument("--jobs", type=int,
                        help="cases at a time; default: 12, or 2 to tune, because "
                        "their kernels are timed in turn and none would end soon")
    parser.add_argument("--threads", type=int,
                        help="that compile, of each case; default: all cores, "
                        "shared by the cases that run at a time, or 4 to tune")
    parser.add_argument("--first", action="store_true",
                        help="before cases of other runs that wait for the GPU: "
                        "for cases that compile for long")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--done", action="append", default=[], metavar="FILE",
                        help="leave out the cases that this dump, or table, has")
    parser.add_argument("--one", nargs=2, metavar=("ACTION", "CASE"))
    given = parser.parse_args()
    if given.one:
        return one(*given.one)
    if given.first:
        os.environ[GOES_FIRST] = "1"
    actions = given.actions.split(",")
    for action in actions:
        if action not in ACTIONS:
            parser.error(f"action {action!r}, expected some of {', '.join(ACTIONS)}")
    end = time.time() + given.seconds
    found = [
        (model, int(batch), mode)
        for model, batch, mode in
        (case.split(":") for case in given.cases.split(",") if case)
    ] or cases(
        [m for m in given.models.split(",") if m],
        [int(b) for b in given.batches.split(",")], given.modes.split(","),
    )
    known = known_cases(given.done)
    data = first_data("measure" in actions)
    print(f"{data['sharing']}, {end - time.time():.0f} s left", flush=True)
    path = os.path.join(given.out, "plans.json")
    os.makedirs(given.out, exist_ok=True)

    def done(row):
        data["rows"].append(row)
        show(row)
        with open(path + ".new", "w") as file:
            json.dump(data, file)
        os.replace(path + ".new", path)

    for action in actions:
        left = [case for case in found if case not in known[action]]
        jobs = given.jobs or (2 if action == "tune" else 12)
        width = min(jobs, max(1, len(left)))
        threads = given.threads or (
            4 if action in TUNING else max(1, os.cpu_count() // width)
        )
        in_parallel(action, left, width, end - 20, done, threads)


def known_cases(paths):
    """Of each action: cases that dumps, or tables, have."""
    known = {action: set() for action in ACTIONS}
    for path in paths:
        for row in rows_of(path):
            for name, action in ACTIONS.items():
                if action.column in row:
                    known[name].add(key_of(row))
    return known


def rows_of(path):
    """Of a dump or, without what is to be measured again, of a table."""
    if not path.endswith(".csv"):
        with open(path) as file:
            return json.load(file)["rows"]
    return [
        {
            column: value
            for column, value in row.items()
            if value and not (column == "regal_us" and is_before_early_launches(row))
        }
        for row in read_csv(path)
    ]


def first_data(is_predicted):
    """What describes the run; calibrates the device if it is new, and if plans
    are to be predicted."""
    import regal
    import torch
    from regal.streams.sharing import Sharing, fit
    from regal.torch.calibration import keep, load_calibration, observe

    data = {"device": torch.cuda.get_device_name(),
            "build": f"{regal.__build__}, torch {torch.__version__}",
            "rows": []}
    sharing = load_calibration()
    if sharing is None and is_predicted:
        with alone():
            observations = observe()
        data["calibration"] = by_program(observations)
        sharing = fit(observations)
        keep(sharing)
    data["sharing"] = vars(sharing or Sharing())
    return data


if __name__ == "__main__":
    main()
