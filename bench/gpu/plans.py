#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans on a real GPU: bench/gpu/plans.py OUT [--models a,b] [--done DUMP]

For each model, batch size and mode (inference in half precision, training in
single): microseconds per call of eager PyTorch, torch.compile (default,
reduce-overhead, and max-autotune where asked for), and of Inductor's kernels in
one CUDA graph: on one stream, on a stream for each chain (no plan: CUDA's own
scheduling of the whole graph), by heft's plan, and by the plan that
``regal.torch`` keeps. Writes OUT/plans.json after each case; report.py makes
the tables and figures. A run that was stopped goes on with --done OUT/plans.json.

Each case has a process of its own, --jobs at a time, each with one thread that
compiles: this takes longer than measuring. A lock lets one process at a time
measure kernels and try plans; while leading plans are timed again and calls are
timed, the other processes are stopped (they use the GPU to tune kernels). Needs
the packages regal, torch, torchvision and transformers.
"""

import argparse
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
LOCK = os.path.join(tempfile.gettempdir(), "regal-gpu.lock")

#: Models that come first, and for which max-autotune is measured too: it
#: compiles for minutes.
FIRST = ["mmoe", "dlrm", "squeezenet", "googlenet", "bert", "inception_v3",
         "clip", "darts"]


def cases(models, batches, modes):
    """(model, batch, mode), batch 1 inference first, training at batch 8."""
    from models import MODELS

    names = models or FIRST + [name for name in MODELS if name not in FIRST]
    found = []
    for batch in batches:
        if "infer" in modes:
            found += [(name, batch, "infer") for name in names]
    if "train" in modes:
        found += [(name, 8, "train") for name in names]
    return found


# -- One case --------------------------------------------------------------


def time_calls(call, least_s=0.15):
    """Microseconds of a call: the best of five rounds."""
    import torch

    for _ in range(3):
        call()
    torch.cuda.synchronize()
    began = time.perf_counter()
    call()
    torch.cuda.synchronize()
    once = time.perf_counter() - began
    count = max(5, min(200, int(least_s / 5 / max(once, 1e-5))))
    times = []
    for _ in range(5):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / count)
    return min(times)


class Case:
    """A model with the inputs and the step that is timed."""

    def __init__(self, name, batch, mode):
        import models

        self.training = mode == "train"
        self.module, self.inputs = models.on_gpu(name, batch, self.training)
        self.given = [p for p in self.module.parameters() if p.requires_grad]

    def step(self, function):
        """Runs once; returns what is compared with eager's."""
        import torch

        if not self.training:
            with torch.no_grad():
                return [function(*self.inputs)]
        result = function(*self.inputs)
        result.float().square().mean().backward()
        kept = [result.detach()] + [
            p.grad for p in self.given if p.grad is not None
        ]
        for p in self.given:
            p.grad = None
        return kept

    def time(self, function):
        return time_calls(lambda: self.step(function))

    def deterministic(self, function):
        """A step from a fixed state: dropout would differ otherwise."""
        import torch

        for module in self.module.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        return [t.clone() for t in self.step(function)]


def difference(found, expected):
    """The relative difference of two lists of tensors, in norm.

    Half precision with random weights may overflow: numbers that are not
    finite must be so in both.
    """
    import torch

    far = size = 0.0
    for a, b in zip(found, expected):
        a, b = a.double(), b.double()
        if not torch.equal(a.isfinite(), b.isfinite()):
            return float("inf")
        a, b = a.nan_to_num(0, 0, 0), b.nan_to_num(0, 0, 0)
        far += float((a - b).square().sum())
        size += float(b.square().sum())
    return (far / size) ** 0.5 if size else 0.0


def compiled_with(case, **arguments):
    import torch

    return torch.compile(case.module, dynamic=False, **arguments)


def siblings():
    """The processes of other cases."""
    parent = os.getppid()
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        return [pid for pid in map(int, file.read().split()) if pid != os.getpid()]


def signal_all(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


@contextlib.contextmanager
def quiet():
    """Stops the other cases: a GPU that is shared is slower for both."""
    stopped = siblings()
    signal_all(stopped, signal.SIGSTOP)
    time.sleep(0.05)
    try:
        yield
    finally:
        signal_all(stopped, signal.SIGCONT)


@contextlib.contextmanager
def alone():
    """One case at a time tries plans."""
    with open(LOCK, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure_alone():
    """Trials run alone; their leaders are timed again in a quiet place."""
    from regal.streams import trials
    from regal.torch.planned import PlannedGraph

    prepare, time_again = PlannedGraph.prepare, trials.time_again

    def prepare_alone(graph, args):
        with alone():
            prepare(graph, args)

    def time_again_quietly(leaders, time_us):
        with quiet():
            time_again(leaders, time_us)

    PlannedGraph.prepare, trials.time_again = prepare_alone, time_again_quietly


def total(reports, choose):
    """The sum over forward and backward graph, None if one is missing."""
    found = [choose(report) for report in reports]
    return None if not found or None in found else sum(found)


def fastest(report, prefix):
    """Of those that were timed in turn at the end."""
    return min(
        (c.measured_us for c in report.tried
         if c.timed_again and c.label.startswith(prefix)),
        default=None,
    )


def reference(reports, prefix):
    """The sum over graphs; one that is a chain has one stream only."""
    if not any(fastest(r, prefix) for r in reports):
        return None
    return total(
        reports, lambda r: fastest(r, prefix) or fastest(r, "one stream")
    )


def reduced_or_none(case):
    """reduce-overhead; None where its own capture fails."""
    reduced = compiled_with(case, mode="reduce-overhead")
    try:
        for _ in range(3):
            case.step(reduced)
    except RuntimeError as error:
        print(f"reduce-overhead: {error}", flush=True)
        return None
    return reduced


def measure(name, batch, mode):
    from regal.torch import Backend, Settings

    measure_alone()
    case = Case(name, batch, mode)
    expected = case.deterministic(case.module)
    row = {"model": name, "batch": batch, "mode": mode}
    plain = compiled_with(case)
    row["inductor_difference"] = difference(case.deterministic(plain), expected)
    reduced = reduced_or_none(case)
    backend = Backend(Settings(keep_inputs=mode == "infer"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        planned = compiled_with(case, backend=backend)
        row["difference"] = difference(case.deterministic(planned), expected)
        again = difference(case.deterministic(planned), expected)
        row["difference"] = max(row["difference"], again)
    row["warnings"] = sorted(
        {str(w.message) for w in caught if "regal" in str(w.message)}
    )
    with alone(), quiet():
        row["eager_us"] = case.time(case.module)
        row["default_us"] = case.time(plain)
        row["reduce_overhead_us"] = case.time(reduced) if reduced else None
        row["call_us"] = case.time(planned)
        if mode == "infer" and batch == 1:
            row["observed"] = [predictions(g) for g in backend.graphs if g.report]
    row["calls"] = [
        dict(graph.slots.calls) for graph in backend.graphs if graph.slots
    ]
    row.update(of_reports(backend.reports), graphs=len(backend.graphs))
    if mode == "train":
        row["programs"] = [g.traced.program.to_json() for g in backend.graphs]
    return row


def of_reports(reports):
    """The columns that the trials give."""
    return {
        "kernels": total(reports, lambda r: r.kernels),
        "regal_us": total(reports, lambda r: r.chosen.measured_us),
        "one_stream_us": total(reports, lambda r: fastest(r, "one stream")),
        "chains_us": reference(reports, "a stream for each"),
        "heft_us": reference(reports, "heft"),
        "chosen": [r.chosen.label for r in reports],
        "held_bytes": total(reports, lambda r: r.held_bytes),
        "one_stream_bytes": total(reports, lambda r: r.one_stream_bytes),
        "planning_s": total(reports, lambda r: r.measuring_s + r.trying_s),
    }


def predictions(graph):
    """A program, and measured times of plans that were tried."""
    from regal.torch.calibration import observations_of
    from regal.torch.shares import measure_shares

    measure_shares(graph.traced, graph.example_args)
    if graph.report.kernels < 2 or len(graph.report.tried) < 2:
        return observed([])
    return observed(observations_of(graph))


def observed(observations):
    """Observations of one program as JSON."""
    if not observations:
        return {"plans": []}
    return {
        "program": observations[0].program.to_json(),
        "one_stream_us": observations[0].one_stream_us,
        "plans": [
            {
                "label": o.label,
                "measured_us": o.measured_us,
                "searched_us": o.searched_us,
                "launches": [[x.kernel, x.stream] for x in o.schedule.launches],
            }
            for o in observations
        ],
    }


def by_program(observations):
    found = {}
    for o in observations:
        found.setdefault(id(o.program), []).append(o)
    return [observed(group) for group in found.values()]


def tune(name, batch, mode):
    case = Case(name, batch, mode)
    tuned = compiled_with(case, mode="max-autotune")
    with alone():  # it tunes kernels on the device, at the first call
        case.step(tuned)
    with alone(), quiet():
        return {"model": name, "batch": batch, "mode": mode,
                "max_autotune_us": case.time(tuned)}


def one(action, case):
    """A process of its own."""
    import torch
    import torchvision  # noqa: F401
    import transformers  # noqa: F401

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    name, batch, mode = case.split(":")
    row = {"measure": measure, "tune": tune}[action](name, int(batch), mode)
    print("ROW " + json.dumps(row), flush=True)


# -- All cases -------------------------------------------------------------


def in_parallel(action, found, width, end, done):
    """Runs a process per case, `width` at a time, until the time is up."""
    waiting, running = list(found), []
    while running or (waiting and time.time() < end):
        while waiting and len(running) < width and time.time() < end:
            case = ":".join(map(str, waiting.pop(0)))
            running.append((case, subprocess.Popen(
                [sys.executable, __file__, "--one", action, case],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
            )))
        for item in list(running):
            case, process = item
            try:
                text, _ = process.communicate(timeout=0.2)
            except subprocess.TimeoutExpired:
                if time.time() > end + 15:
                    process.kill()
                continue
            running.remove(item)
            if process.returncode:  # it may have left others stopped
                signal_all([p.pid for _, p in running], signal.SIGCONT)
            rows = [x for x in text.splitlines() if x.startswith("ROW ")]
            if rows:
                done(json.loads(rows[0][4:]))
            elif process.returncode:
                print(f"{action} {case} failed:\n{text[-1500:]}", flush=True)


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
          f"planning {row['planning_s'] or 0:.1f} s {row['chosen']} "
          f"{row['calls']} {row['warnings']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", default="results/gpu")
    parser.add_argument("--models", default="")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--modes", default="infer,train")
    parser.add_argument("--tune", action="store_true",
                        help="measure max-autotune at the end")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--done", action="append", default=[], metavar="DUMP",
                        help="leave out the cases that this dump has")
    parser.add_argument("--one", nargs=2, metavar=("ACTION", "CASE"))
    given = parser.parse_args()
    if given.one:
        return one(*given.one)
    end = time.time() + given.seconds
    found = cases(
        [m for m in given.models.split(",") if m],
        [int(b) for b in given.batches.split(",")], given.modes.split(","),
    )
    measured, tuned = known_cases(given.done)
    data = first_data()
    print(f"calibrated: {data['sharing']}, {end - time.time():.0f} s left", flush=True)
    path = os.path.join(given.out, "plans.json")
    os.makedirs(given.out, exist_ok=True)

    def done(row):
        data["rows"].append(row)
        show(row)
        with open(path + ".new", "w") as file:
            json.dump(data, file)
        os.replace(path + ".new", path)

    found = [case for case in found if case not in measured]
    in_parallel("measure", found, given.jobs, end - 20, done)
    if given.tune:
        left = [(n, 1, "infer") for n in FIRST if (n, 1, "infer") not in tuned]
        in_parallel("tune", left, len(left), end - 20, done)


def known_cases(paths):
    """Cases that dumps have: measured ones, and those of max-autotune."""
    measured, tuned = set(), set()
    for path in paths:
        with open(path) as file:
            for row in json.load(file)["rows"]:
                case = row["model"], row["batch"], row["mode"]
                if "regal_us" in row:
                    measured.add(case)
                if "max_autotune_us" in row:
                    tuned.add(case)
    return measured, tuned


def first_data():
    """What describes the run; calibrates the device if it is new."""
    import regal
    import torch
    from regal.streams.sharing import fit
    from regal.torch.calibration import keep, load_calibration, observe

    data = {"device": torch.cuda.get_device_name(),
            "build": f"regal {regal.__build__}, torch {torch.__version__}",
            "rows": []}
    sharing = load_calibration()
    if sharing is None:
        observations = observe()
        data["calibration"] = by_program(observations)
        sharing = fit(observations)
        keep(sharing)
    data["sharing"] = vars(sharing)
    return data


if __name__ == "__main__":
    main()
