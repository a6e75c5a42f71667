# SPDX-License-Identifier: Apache-2.0
"""One case of plans.py: a model, a batch size and a mode, in this process.

Cases compile side by side on the CPU. Whatever runs kernels for long has the
GPU alone (`alone`, a lock that the processes share): kernels that are tuned or
timed while another process uses the GPU are slower, and the wrong ones win. In
a run of fourteen processes that tuned side by side, one stream of BERT took 640
us; with kernels that were tuned alone it took 603.
"""

import collections
import contextlib
import fcntl
import functools
import json
import os
import signal
import tempfile
import time
import warnings

LOCK = os.path.join(tempfile.gettempdir(), "regal-gpu.lock")
#: Cases that are to go first share a lock on it while they wait for the other.
FIRST = os.path.join(tempfile.gettempdir(), "regal-gpu-first.lock")
#: Set in the environment of such cases.
GOES_FIRST = "REGAL_GPU_FIRST"
#: A file for each case that runs, named as its process group.
RUNNING = os.path.join(tempfile.gettempdir(), "regal-gpu-cases")


def time_calls(call, least_s=0.15, warming_s=0.3):
    """Microseconds of a call: the best of five rounds.

    The clock of a GPU that was idle, or nearly so, rises within some tenths of a
    second.
    """
    import torch

    warm = time.perf_counter() + warming_s
    while time.perf_counter() < warm:
        call()
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
        results = function(*self.inputs)
        loss_of(results).backward()
        if isinstance(results, torch.Tensor):
            results = [results]
        return [r.detach() for r in results] + self.gradients()

    def gradients(self):
        """Those of the last step, of which nothing is kept."""
        kept = [p.grad for p in self.given if p.grad is not None]
        for p in self.given:
            p.grad = None
        return kept

    def time(self, function):
        return time_calls(lambda: self.step(function))

    def deterministic(self, function):
        """A step without random numbers: they would differ."""
        from models import without_chance

        without_chance(self.module)
        return [t.clone() for t in self.step(function)]


def loss_of(results):
    """Of a training step: the mean square of all results."""
    import torch

    if isinstance(results, torch.Tensor):
        results = [results]
    return sum(r.float().square().mean() for r in results)


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


class _Lock:
    """The file that this process has locked, if it has."""

    file = None


def acquire(file):
    """The lock on the GPU; others wait while a case that goes first does."""
    with open(FIRST, "w") as first:
        if GOES_FIRST in os.environ:
            fcntl.flock(first, fcntl.LOCK_SH)
            fcntl.flock(file, fcntl.LOCK_EX)
            return
        while True:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                fcntl.flock(file, fcntl.LOCK_UN)
            fcntl.flock(first, fcntl.LOCK_EX)
            fcntl.flock(first, fcntl.LOCK_UN)


@contextlib.contextmanager
def alone(once_compiled=False):
    """One process at a time uses the GPU. Its threads go before others.

    :param once_compiled: from the end of the first compilation on.
    """
    if _Lock.file is not None:
        yield
        return
    with open(LOCK, "w") as file:
        if not once_compiled:
            acquire(file)
        _Lock.file = file
        usual = set_priority(-10)
        try:
            yield
        finally:
            set_priority(usual)
            _Lock.file = None


@contextlib.contextmanager
def others_may():
    """Inside `alone`: others may use the GPU meanwhile."""
    file = _Lock.file
    if file is None:
        yield
        return
    _Lock.file = None
    before = set_priority(0)
    fcntl.flock(file, fcntl.LOCK_UN)
    try:
        yield
    finally:
        acquire(file)
        set_priority(before)
        _Lock.file = file


@contextlib.contextmanager
def quiet():
    """Inside `alone`: all other cases are stopped. What the host does for a
    call takes up to twice as long while others compile on its cores."""
    others = [group for group in groups() if group != os.getpgrp()]
    signal_all(others, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(others, signal.SIGCONT)


def groups():
    return [int(name) for name in os.listdir(RUNNING)]


def signal_all(some, number):
    for group in some:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, number)


@contextlib.contextmanager
def noted():
    """Lets others stop this case; it has a process group of its own."""
    os.makedirs(RUNNING, exist_ok=True)
    path = os.path.join(RUNNING, str(os.getpgrp()))
    open(path, "w").close()
    try:
        yield
    finally:
        os.unlink(path)


def set_priority(wanted):
    """Of this thread and those that it starts; returns the one before."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, wanted)
    except PermissionError:  # only root may go before others
        pass
    return usual


def compile_beside_others():
    """Lets others use the GPU while this process compiles: when Dynamo takes a
    function, and when Inductor takes a graph, for backward passes."""
    import torch._dynamo.convert_frame as dynamo
    import torch._inductor.compile_fx as inductor

    def beside(function):
        def call(*args, **kwargs):
            with others_may():
                return function(*args, **kwargs)

        return functools.wraps(function)(call)

    dynamo._compile = beside(dynamo._compile)
    inductor._compile_fx_inner = beside(inductor._compile_fx_inner)


def tuning_alone():
    """max-autotune times kernels while it compiles, and compiles more at the
    first call: only timings have the GPU alone."""
    from torch._inductor.runtime.benchmarking import benchmarker

    kind = type(benchmarker)
    timing = kind.benchmark_gpu

    def but_alone(*args, **kwargs):
        with alone():
            return timing(*args, **kwargs)

    kind.benchmark_gpu = but_alone


class _Compiled(Exception):
    """All of a model's kernels are."""


def nothing_timed():
    """max-autotune compiles all that it would time; then its first kernel
    raises `_Compiled`."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    from torch._inductor.select_algorithm import AlgorithmSelectorCache

    def equal(choices, *args, **kwargs):
        return {choice: 1.0 for choice in choices}

    def stop(*args, **kwargs):
        raise _Compiled

    AlgorithmSelectorCache.benchmark_in_current_process = equal
    CachingAutotuner.run = stop


def total(reports, choose):
    """The sum over forward and backward graph, None if one is missing."""
    found = [choose(report) for report in reports]
    return None if not found or None in found else sum(found)


def fastest(report, prefix):
    """Of those that were timed in turn at the end."""
    return min(
        (c.measured_us for c in report.tried
         if c.timed_again and c.is_by(prefix)),
        default=None,
    )


def usual_us(report):
    """Of the fastest plan without early launches."""
    return min(
        c.measured_us for c in report.tried
        if c.timed_again and not c.schedule.launches_early
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


def measure(name, batch, mode, predict=True):
    from regal.torch import Backend, Settings

    case = Case(name, batch, mode)
    expected = case.deterministic(case.module)
    row = {"model": name, "batch": batch, "mode": mode}
    plain = compiled_with(case)
    inductors = case.deterministic(plain)
    row["inductor_difference"] = difference(inductors, expected)
    reduced = reduced_or_none(case)
    backend = Backend(Settings(keep_inputs=mode == "infer"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        planned = compiled_with(case, backend=backend)
        found = [case.deterministic(planned) for _ in range(2)]
    row["difference"] = max(difference(f, expected) for f in found)
    row["difference_to_inductor"] = max(difference(f, inductors) for f in found)
    row["warnings"] = sorted(
        {str(w.message) for w in caught if "regal" in str(w.message)}
    )
    with quiet():
        row["replay_before_us"] = replay_us(backend.graphs)
        row["eager_us"] = case.time(case.module)
        row["default_us"] = case.time(plain)
        row["reduce_overhead_us"] = None if reduced is None else case.time(reduced)
        row["call_us"] = case.time(planned)
        row["replay_us"] = replay_us(backend.graphs)
        row["launch_us"] = launch_us(backend.graphs)
        row["host_us"] = host_us(lambda: case.step(planned))
    if predict and mode == "infer" and batch == 1:
        row["observed"] = predictions(backend.graphs)
    row["calls"] = [
        dict(graph.slots.calls) for graph in backend.graphs if graph.slots
    ]
    row.update(of_reports(backend.reports), graphs=len(backend.graphs))
    if mode == "train":
        row["programs"] = [g.traced.program.to_json() for g in backend.graphs]
    return row


def serving(graphs):
    """The recorded graphs that serve calls; none if one was not recorded."""
    found = [graph.slots.newest for graph in graphs if graph.slots]
    return [] if None in found else found


def replay_us(graphs):
    """Of the graphs that serve calls, without the host's part."""
    from regal.torch import cuda

    return sum(map(cuda.time_us, serving(graphs))) or None


def launch_us(graphs):
    """What the host needs to launch them, on an idle device."""
    return sum(host_us(c.replay, 1) for c in serving(graphs)) or None


def host_us(call, calls=20):
    """What the host does for a call: the device runs behind."""
    import torch

    best = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - began) * 1e6 / calls)
    torch.cuda.synchronize()
    return best


def of_reports(reports):
    """The columns that the trials give. `one_stream_us` has all of Inductor's
    kernels; all others are without those that are run once."""
    return {
        "kernels": total(reports, lambda r: r.kernels),
        "constants": total(reports, lambda r: r.constants),
        "regal_us": total(reports, lambda r: r.chosen.measured_us),
        "one_stream_us": total(
            reports, lambda r: r.whole_us or fastest(r, "one stream")
        ),
        "folded_us": total(reports, lambda r: fastest(r, "one stream")),
        "usual_us": total(reports, usual_us),
        "chains_us": reference(reports, "a stream for each"),
        "heft_us": reference(reports, "heft"),
        "chosen": [r.chosen.label for r in reports],
        "held_bytes": total(reports, lambda r: r.held_bytes),
        "one_stream_bytes": total(reports, lambda r: r.one_stream_bytes),
        "measuring_s": total(reports, lambda r: r.measuring_s),
        "planning_s": total(reports, lambda r: r.measuring_s + r.trying_s),
    }


def predictions(graphs):
    """Programs, and measured times of plans that were tried."""
    from regal.torch.calibration import observations_of
    from regal.torch.shares import measure_shares

    planned = [g for g in graphs if g.report and len(g.report.tried) > 1]
    found = [observations_of(graph) for graph in planned]
    # After all: kernels are slower in a process that has had a profiler.
    for graph in planned:
        measure_shares(graph.traced, graph.example_args)
    return [observed(observations) for observations in found]


def observed(observations):
    """Observations of one program as JSON."""
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
    tuning_alone()
    case = Case(name, batch, mode)
    from torch._dynamo.utils import counters

    tuned = compiled_with(case, mode="max-autotune")
    case.step(tuned)
    with alone(), quiet():
        us = case.time(tuned)
    return {"model": name, "batch": batch, "mode": mode, "max_autotune_us": us,
            "cudagraph_skips": counters["inductor"]["cudagraph_skips"]}


def warm(name, batch, mode):
    """Compiles what `tune` times, into Triton's cache, on cores that nobody else
    needs."""
    nothing_timed()
    case = Case(name, batch, mode)
    set_priority(19)
    with contextlib.suppress(_Compiled):
        case.step(compiled_with(case, mode="max-autotune"))
    return {"model": name, "batch": batch, "mode": mode, "warm": True}


def unfolded(name, batch, mode):
    """The plan with all of Inductor's kernels, constants among them."""
    from regal.torch import Backend, Settings

    case = Case(name, batch, mode)
    backend = Backend(Settings(fold_constants=False))
    planned = compiled_with(case, backend=backend)
    for _ in range(3):
        case.step(planned)
    us = total(backend.reports, lambda r: r.chosen.measured_us)
    return {"model": name, "batch": batch, "mode": mode, "unfolded_us": us,
            "unfolded_call_us": case.time(planned)}


def again(name, batch, mode, times=6):
    """The plan of an inference, recorded some times in memory of its own: whether
    its time depends on where that lies."""
    from regal.torch import Backend, Settings, cuda

    case = Case(name, batch, mode)
    backend = Backend(Settings(keep_inputs=True))
    planned = compiled_with(case, backend=backend)
    for _ in range(3):
        case.step(planned)
    (graph,) = backend.graphs
    recorded = [graph.record(graph.schedule) for _ in range(times)]
    with quiet():
        found = [min(map(cuda.time_us, [c] * 3)) for c in recorded]
        serving_us = replay_us(backend.graphs)
    return {"model": name, "batch": batch, "mode": mode, "again_us": found,
            "again_plan_us": graph.report.chosen.measured_us,
            "again_serving_us": serving_us}


def one_graph(name, batch, mode):
    """Without guards: `regal.torch.compile_inference`, or `compile_step`; beside
    reduce-overhead, because hosts differ from run to run."""
    from regal.torch import compile_inference, compile_step

    case = Case(name, batch, mode)
    expected = case.deterministic(case.module)
    reduced = reduced_or_none(case)
    inductors = case.deterministic(compiled_with(case) if reduced is None else reduced)
    if case.training:
        run = compile_step(case.module, case.inputs, loss_of)
    else:
        run = compile_inference(case.module, case.inputs)

    def call():
        result = run(*case.inputs)
        return case.gradients() if case.training else [result]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [[t.clone() for t in call()] for _ in range(3)]
    # Gradients come after results, which are larger than most of them.
    expected, inductors = (x[-len(found[0]):] for x in (expected, inductors))
    with quiet():
        us = time_calls(call)
        host = host_us(call)
        reduced_us = None if reduced is None else case.time(reduced)
    (report,) = run.reports or [None]
    row = {
        "us": us, "host_us": host, "reduce_overhead_us": reduced_us,
        "warnings": [str(w.message) for w in caught if "regal" in str(w.message)],
        "difference": max(difference(f, expected) for f in found),
        "inductor_difference": difference(inductors, expected),
    }
    if report is not None:
        row.update(
            plan_us=report.chosen.measured_us,
            one_stream_us=report.whole_us or fastest(report, "one stream"),
            planning_s=report.measuring_s + report.trying_s,
            chosen=report.chosen.label,
        )
    return {"model": name, "batch": batch, "mode": mode,
            **{f"one_graph_{key}": value for key, value in row.items()}}


#: What is run, the column by which a row tells that it was done, and whether all
#: that follows the first compilation has the GPU alone.
Action = collections.namedtuple("Action", "run column is_alone")
ACTIONS = {
    "measure": Action(measure, "regal_us", True),
    "measure-only": Action(
        functools.partial(measure, predict=False), "regal_us", True),
    "unfolded": Action(unfolded, "unfolded_us", True),
    "tune": Action(tune, "max_autotune_us", False),
    "warm": Action(warm, "warm", False),
    "one-graph": Action(one_graph, "one_graph_us", True),
    "again": Action(again, "again_us", True),
}


def one(action, case):
    """A process of its own."""
    import torch
    import torchvision  # noqa: F401
    import transformers  # noqa: F401

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    name, batch, mode = case.split(":")
    compile_beside_others()
    run, _, is_alone = ACTIONS[action]
    lock = alone(once_compiled=True) if is_alone else contextlib.nullcontext()
    with noted(), lock:
        row = run(name, int(batch), mode)
    print("ROW " + json.dumps(row), flush=True)
