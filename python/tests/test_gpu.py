# SPDX-License-Identifier: Apache-2.0
"""Plans on a real GPU. Everywhere else these tests are skipped."""
import dataclasses
import gc
import threading
import warnings

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

import regal  # noqa: E402
import regal.torch as rt  # noqa: E402
from regal.torch import calibration, cuda, early  # noqa: E402
from torch import nn  # noqa: E402

QUICK = {"seconds": 0.5, "search_seconds": 0.02}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


class Branches(nn.Module):
    """Convolutions side by side, joined by a concatenation."""

    def __init__(self, width=32):
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(width, width, size, padding=size // 2),
                nn.BatchNorm2d(width),
                nn.ReLU(),
            )
            for size in (1, 3, 5, 3)
        )
        self.head = nn.Linear(4 * width, 7)

    def forward(self, x):
        joined = torch.cat([branch(x) for branch in self.branches], 1)
        return self.head(joined.mean((2, 3)))


def images(batch=2):
    return torch.randn(batch, 32, 14, 14, device="cuda")


def steps_of(model, function, batches):
    """Losses and gradients of some steps of gradient descent."""
    found = []
    for x in batches:
        loss = function(x).square().mean()
        loss.backward()
        gradients = [p.grad.clone() for p in model.parameters()]
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None
        found.append((loss.detach().clone(), gradients))
    return found


def assert_close(found, expected, tolerance=2e-3):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def test_a_model_runs_by_its_plan_and_results_are_eagers():
    model = Branches().eval().cuda()
    compiled = rt.compile(model, (images(),), **QUICK)
    (report,) = compiled.regal.reports
    assert len(report.tried) > 5 and report.kernels > 4
    assert report.chosen.measured_us <= report.by_label("one stream")
    with torch.no_grad():
        held = []
        for _ in range(6):
            x = images()
            held.append((x, compiled(x)))
        for x, found in held:  # none was overwritten by a later call
            assert_close(found, model(x))
        x = images(5)
        assert_close(compiled(x), model(x))
    assert len(compiled.regal.reports) == 2  # another shape, another graph


def test_the_backend_has_a_name_and_options():
    model, x = Branches().eval().cuda(), images()
    compiled = torch.compile(model, backend="regal", dynamic=False, options=QUICK)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="regal")
        assert_close(compiled(x), model(x))


def gradient_of(function, x):
    x = x.clone().requires_grad_()
    function(x).square().mean().backward()
    return x.grad


def test_sizes_that_vary_are_planned_when_they_come_again():
    model = Branches().eval().cuda()
    backend = rt.Backend(rt.Settings(**QUICK))
    compiled = torch.compile(model, backend=backend)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="regal")
        for batch in (2, 5, 7, 5, 5, 7):
            x = images(batch)
            assert_close(gradient_of(compiled, x), gradient_of(model, x), 1e-2)
    assert len(backend.reports) == 6  # forward and backward, of three sizes


def test_training_has_the_gradients_and_buffers_of_eager():
    """With a new batch at each step, and weights that change."""
    model, same = Branches().cuda(), Branches().cuda()
    same.load_state_dict(model.state_dict())
    compiled = rt.compile(model, **QUICK)
    batches = [images(4) for _ in range(6)]
    found = steps_of(model, compiled, batches)
    assert_close(found, steps_of(same, same, batches), 1e-2)
    assert_close(list(model.buffers()), list(same.buffers()), 1e-2)
    assert {r.kind for r in compiled.regal.reports} == {"forward", "backward"}


def square(result):
    return result.square().mean()


def test_a_whole_step_is_one_graph_with_the_gradients_of_eager():
    model, same = Branches().cuda(), Branches().cuda()
    same.load_state_dict(model.state_dict())
    step = rt.compile_step(model, (images(),), square, **QUICK)
    optimizers = [torch.optim.SGD(m.parameters(), 0.1) for m in (model, same)]
    losses = []
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="regal")
        for at in range(6):
            x = images()
            if at != 3:  # then gradients are added to those of the step before
                for optimizer in optimizers:
                    optimizer.zero_grad()
            losses.append(step(x))
            expected = square(same(x))
            expected.backward()
            assert_close(losses[-1], expected.detach())
            for p, q in zip(model.parameters(), same.parameters()):
                assert_close(p.grad, q.grad)
            for optimizer in optimizers:
                optimizer.step()
    assert_close(list(model.buffers()), list(same.buffers()))
    assert len(set(map(float, losses))) == len(losses)  # none was overwritten
    (report,) = step.reports
    assert report.kind == "training step" and len(report.tried) > 5


@pytest.mark.parametrize("training", [False, True])
def test_inference_without_guards_returns_what_eager_does(training):
    """Results that are held, an input that comes again or lies otherwise in
    memory, statistics that a call writes."""
    model, same = Branches().cuda(), Branches().cuda()
    same.load_state_dict(model.state_dict())
    model.train(training)
    same.train(training)
    run = rt.compile_inference(model, (images(),), **QUICK)
    held, inputs = [], [images() for _ in range(3)] + [images()] * 3
    inputs.append(images().to(memory_format=torch.channels_last))
    with warnings.catch_warnings(), torch.no_grad():
        warnings.filterwarnings("error", message="regal")
        for x in inputs:
            held.append((run(x), same(x)))
        with torch.inference_mode():
            held.append((run(inputs[0]), same(inputs[0])))
    for found, expected in held:
        assert_close(found, expected)
    assert_close(list(model.buffers()), list(same.buffers()))
    with pytest.raises(ValueError, match="on cpu; .* on cuda:0"):
        run(images().cpu())
    (report,) = run.reports
    assert report.kind == "inference" and len(report.tried) > 5


def test_forward_passes_may_come_before_their_backward_passes():
    model = Branches().cuda()
    compiled = rt.compile(model, **QUICK)
    batches = [images(4) for _ in range(4)]
    for function in (compiled, compiled, model):
        losses = [function(x).square().mean() for x in batches]
        for loss in reversed(losses):
            loss.backward()
        gradients = [p.grad for p in model.parameters()]
        for p in model.parameters():
            p.grad = None
        if function is compiled:
            found = gradients
    assert_close(found, gradients, 1e-2)


def test_random_numbers_differ_from_call_to_call():
    model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5)).cuda()
    compiled = rt.compile(model, **QUICK)
    x = torch.ones(256, 64, device="cuda")
    with torch.no_grad():
        kept = [compiled(x) != 0 for _ in range(3)]
    assert not torch.equal(kept[0], kept[1]) and not torch.equal(kept[1], kept[2])
    for some in kept:
        assert 0.4 < some.float().mean() < 0.6


def test_a_seed_gives_the_same_numbers_whatever_the_trials_draw():
    model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.5)).cuda()
    x = torch.ones(256, 64, device="cuda")
    kept = []
    for seconds in (0.3, 0.6):
        torch._dynamo.reset()
        compiled = rt.compile(model, seconds=seconds, search_seconds=0.02)
        torch.manual_seed(3)
        with torch.no_grad():
            kept.append(compiled(x) != 0)
    assert torch.equal(*kept)


class Attention(nn.Module):
    """In single precision, with dropout. The values are an identity at first: the
    result is the matrix of weights, with zeros where some were dropped."""

    def __init__(self):
        super().__init__()
        self.values = nn.Parameter(torch.eye(32).repeat(2, 4, 1, 1))

    def forward(self, q, k):
        return nn.functional.scaled_dot_product_attention(
            q, k, self.values, dropout_p=0.3
        )


def queries_and_keys():
    return (torch.randn(2, 4, 32, 32, device="cuda", requires_grad=True)
            for _ in range(2))


@pytest.mark.parametrize("in_flight", [1, 4])
def test_gradients_of_attention_drop_what_it_has_dropped(in_flight):
    """Forward passes that are recorded, and those that are launched one by one
    because others are in flight, leave their random state to backward ones."""
    model = Attention().cuda()
    compiled = rt.compile(model, **QUICK)
    dropped = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(4):
            passes = [compiled(*queries_and_keys()) for _ in range(in_flight)]
            for result in passes:
                model.values.grad = None
                gradient = torch.randn_like(result)
                result.backward(gradient)
                assert_close(
                    model.values.grad, result.detach().transpose(2, 3) @ gradient
                )
                dropped.append(result.detach() == 0)
    assert not [w for w in caught if "regal" in str(w.message)]
    assert len(compiled.regal.reports) == 2
    shares = [float(d.float().mean()) for d in dropped]
    assert all(0.25 < share < 0.35 for share in shares)
    assert not any(torch.equal(a, b) for a, b in zip(dropped, dropped[1:]))


def test_inductor_trains_attention_after_a_planned_forward_pass(monkeypatch):
    """Where the backward graph cannot be planned. Its state is on the GPU."""
    from regal.torch import planned

    known = planned._check_inputs

    def check(traced):
        known(traced)
        if any("backward" in str(n.target.__name__) for n in traced.kernels):
            raise planned.Unsupported("a test says so")

    monkeypatch.setattr(planned, "_check_inputs", check)
    model = Attention().cuda()
    compiled = rt.compile(model, **QUICK)
    with pytest.warns(UserWarning, match="a test says so"):
        for _ in range(3):
            model.values.grad = None
            result = compiled(*queries_and_keys())
            result.backward(result.detach())
            assert_close(
                model.values.grad, result.detach().transpose(2, 3) @ result.detach()
            )
    assert len(compiled.regal.reports) == 1


def test_a_step_with_dropout_in_attention_draws_as_eager_does():
    model = Attention().cuda()
    example = tuple(x.detach() for x in queries_and_keys())
    step = rt.compile_step(model, example, lambda r: r.square().mean(), **QUICK)
    for seed in range(4):
        found = []
        for run in (step, lambda *args: model(*args).square().mean()):
            model.values.grad = None
            torch.manual_seed(seed)
            loss = run(*example)
            if loss.requires_grad:
                loss.backward()
            found.append((loss.detach(), model.values.grad))
        assert_close(*found)


def test_an_argument_that_the_model_writes_is_written():
    def function(x, count):
        count.add_(x.sum())
        return x * 2

    compiled = rt.compile(function, **QUICK)
    count = torch.zeros((), device="cuda")
    for step in range(1, 5):
        x = torch.ones(8, device="cuda")
        assert compiled(x, count).tolist() == [2.0] * 8
        assert count.item() == 8.0 * step


class Cache(nn.Module):
    """Of four rows, with a position that each call increments."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("rows", torch.zeros(4, 8))
        self.register_buffer("length", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        at = torch.arange(1, device=x.device) + self.length
        self.length.add_(1)
        self.rows.index_copy_(0, at, self.linear(x))
        return self.rows.sum(0)


def test_trials_leave_a_position_in_a_cache_where_it_is():
    """They would write behind the last row, which ends the process."""
    model, plain = Cache().cuda(), Cache().cuda()
    plain.load_state_dict(model.state_dict())
    compiled = rt.compile(model, **QUICK)
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always")
        for length in range(4):
            x = torch.randn(1, 8, device="cuda")
            assert_close(compiled(x), plain(x))
            assert model.length.item() == length + 1
        assert_close(model.rows, plain.rows)
    assert not [w for w in caught if "regal" in str(w.message)]
    assert len(compiled.regal.reports) == 1


@pytest.mark.parametrize("dtype", [torch.uint64, torch.float8_e4m3fn, torch.int8])
def test_inputs_of_rare_types_are_copied(dtype):
    compiled = rt.compile(lambda x, y: (x + 1, y.view(torch.uint8) + 1), **QUICK)
    for _ in range(4):
        x = torch.rand(8, device="cuda")
        y = torch.randint(2, (8,), device="cuda").to(dtype)
        found = compiled(x, y)
        assert_close(found[0], x + 1)
        assert torch.equal(found[1], y.view(torch.uint8) + 1)


def test_threads_and_streams_may_call_at_the_same_time():
    model = Branches().eval().cuda()
    compiled = rt.compile(model, (images(),), **QUICK)
    wrong = []

    def call(number):
        generator = torch.Generator("cuda").manual_seed(number)
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            for _ in range(30):
                x = torch.randn(2, 32, 14, 14, device="cuda", generator=generator)
                found = compiled(x)
                if not torch.allclose(found, model(x), rtol=1e-2, atol=1e-2):
                    wrong.append(number)

    def call_and_note(number):
        try:
            call(number)
        except Exception as error:
            wrong.append(error)

    threads = [
        threading.Thread(target=call_and_note, args=(n,)) for n in range(4)
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # Each thread can record: none is left with single launches.
    assert not [str(w.message) for w in caught if "regal" in str(w.message)]
    assert not wrong


@pytest.mark.parametrize("why, function", [
    ("values decide", lambda x: x * 2 if x.sum().item() > 0 else x),
    ("on the host", lambda x: x.nonzero()),
])
def test_what_cannot_be_planned_is_left_to_inductor(why, function):
    compiled = rt.compile(function, **QUICK)
    x = torch.ones(8, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            assert torch.equal(compiled(x), function(x)), why


@torch.library.custom_op("regal_tests::by_its_sum", mutates_args=())
def by_its_sum(x: torch.Tensor) -> torch.Tensor:
    """Reads a value on the host, which ends a recording."""
    return x / x.sum().item()


by_its_sum.register_fake(torch.empty_like)


def test_a_recording_that_cuda_ends_leaves_nothing_behind():
    """PyTorch would go on to think that it records."""
    x = torch.rand(8, device="cuda")
    stream = torch.cuda.current_stream()
    compiled = rt.compile(lambda x: by_its_sum(x * 2) + 1, **QUICK)
    with pytest.warns(UserWarning, match="is left to Inductor"):
        found = compiled(x)
    assert_close(found, x / x.sum() + 1)
    assert torch.cuda.current_stream() == stream
    assert torch.rand(8, device="cuda").max() > 0
    torch.cuda.empty_cache()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="regal")
        assert_close(rt.compile(lambda x: x.sin() + 1, **QUICK)(x), x.sin() + 1)


#: Recorded graphs that become garbage while others are recorded.
UNUSED = []


@torch.library.custom_op("regal_tests::with_garbage", mutates_args=())
def with_garbage(x: torch.Tensor) -> torch.Tensor:
    if torch.cuda.is_current_stream_capturing() and UNUSED:
        cycle = [UNUSED.pop()]
        cycle.append(cycle)
        del cycle
        [[] for _ in range(1000)]  # now Python collects, if it may
    return x.clone()


with_garbage.register_fake(torch.empty_like)


def test_garbage_that_is_a_recorded_graph_does_not_end_a_recording():
    x, before = torch.rand(8, device="cuda"), gc.get_threshold()
    for _ in range(20):
        UNUSED.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(UNUSED[-1]):
            torch.zeros(1, device="cuda")
    gc.set_threshold(10)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="regal")
            compiled = rt.compile(lambda x: with_garbage(x * 2) + 1, **QUICK)
            assert_close(compiled(x), x * 2 + 1)
    finally:
        gc.set_threshold(*before)
    assert len(UNUSED) < 20


@pytest.mark.parametrize("level", ["aten", "inductor"])
@pytest.mark.parametrize("train", [False, True])
def test_a_captured_model_runs_on_streams(level, train):
    model, x = Branches().train(train).cuda(), images()
    captured = rt.capture(model, (x,), level=level, train=train)
    assert all(k.run_ns > 0 for k in captured.program.kernels)
    machine = regal.Machine(devices=3, latency="2us", transfers="overlapped")
    plan = regal.optimize(captured.graph, machine, time=0.1)
    run = rt.apply(plan)
    x = images()
    buffers = [b.clone() for b in model.buffers()]
    found = run(x)
    after = [b.clone() for b in model.buffers()]
    with torch.no_grad():
        for buffer, old in zip(model.buffers(), buffers):
            buffer.copy_(old)
    if train:
        loss = model(x).float().square().mean()
        loss.backward()
        expected = [loss.detach(), *(p.grad for p in model.parameters())]
    else:
        with torch.no_grad():
            expected = [model(x)]
    assert_close(found, expected, 1e-2)
    assert_close(after, list(model.buffers()), 1e-2)
    assert run.peak_bytes[0] > 0
    us = rt.predict(plan, rt.Sharing())
    assert 1 < us < 1e5


def test_fused_kernels_need_a_model_on_the_gpu():
    with pytest.raises(ValueError, match="a tensor is on the cpu"):
        rt.capture(nn.Linear(3, 3), (torch.ones(2, 3),), level="inductor")


def test_a_plan_for_several_devices_runs_on_one_gpu():
    model, x = Branches().eval().cuda(), images()
    captured = rt.capture(model, (x,))
    plan = regal.optimize(captured.graph, regal.Machine(devices=2), time=0.1)
    run = rt.apply(plan, on=["cuda:0", "cuda:0"])
    with torch.no_grad():
        for _ in range(5):
            x = images()
            assert_close(run(x)[0], model(x))


def test_a_caller_may_record_calls_in_a_graph():
    model, x = Branches().eval().cuda(), images()
    compiled = rt.compile(model, (x,), **QUICK)
    with torch.no_grad():
        for _ in range(3):
            compiled(x)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            found = compiled(x)
        x.normal_()
        recorded.replay()
        assert_close(found, model(x))
        assert_close(compiled(x), model(x))


def test_memory_does_not_grow_from_call_to_call():
    model = Branches().cuda()
    compiled = rt.compile(model, **QUICK)
    steps_of(model, compiled, [images(4) for _ in range(30)])
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    steps_of(model, compiled, [images(4) for _ in range(60)])
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() <= before + (1 << 20)


class Products(nn.Module):
    """Matrix products whose sums cuBLAS splits, side by side."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(8192, 64) for _ in range(6))

    def forward(self, x):
        return torch.stack([torch.relu(part(x)) for part in self.parts]).sum(0)


class Centred(nn.Module):
    """Sums over rows and columns in turn, in two branches: a kernel that reads
    before the one before it has written is wrong."""

    def forward(self, x):
        y = x * 2
        for _ in range(8):
            x, y = x - x.mean(0), y - y.mean(1, keepdim=True)
            x, y = x + y.mean(0), y + x.mean(1, keepdim=True)
        return x, y


def test_kernels_that_are_launched_early_wait_for_what_they_read():
    model, x = Centred(), torch.randn(1024, 2048, device="cuda")
    compiled = rt.compile(model, (x,), keep_inputs=True, **QUICK)
    (graph,) = compiled.regal.graphs
    names = graph.traced.early_names
    if torch.cuda.get_device_capability() < (9, 0):
        assert not names
        return
    assert len(names) > 4
    (given,) = graph.example_args
    for usual in {id(c.schedule): c.schedule for c in graph.report.tried}.values():
        schedule = dataclasses.replace(usual, launches_early=True)
        captured = cuda.capture(graph.traced, schedule, [given])
        for _ in range(20):
            given.normal_()
            captured.replay()
            assert_close(captured.results, list(model(given)), 1e-4)
    recorded = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(recorded), torch.no_grad():
        graph.traced.gm(given)
    assert early.launch_early(recorded.raw_cuda_graph(), names) > 4
    assert early.launch_early(recorded.raw_cuda_graph(), names) == 0


def test_two_models_run_at_the_same_time():
    """Each has workspaces of cuBLAS of its own."""
    models = [Products().eval().cuda() for _ in range(2)]
    x = torch.randn(16, 8192, device="cuda")
    compiled = [rt.compile(model, (x,), **QUICK) for model in models]
    with torch.no_grad():
        expected = [model(x) for model in models]
        streams = [torch.cuda.Stream() for _ in models]
        found = [[], []]
        torch.cuda.synchronize()
        for _ in range(50):
            for at, stream in enumerate(streams):
                with torch.cuda.stream(stream):
                    found[at].append(compiled[at](x).clone())
        torch.cuda.synchronize()
    for results, right in zip(found, expected):
        for result in results:
            assert_close(result, right, 1e-2)


def test_what_planning_used_is_given_back():
    model, x = Branches().eval().cuda(), images()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    compiled = rt.compile(model, (x,), **QUICK)
    with torch.no_grad():
        compiled(x)
    gc.collect()
    torch.cuda.empty_cache()
    streams = compiled.regal.graphs[0].schedule.streams
    # A workspace of cuBLAS and some blocks for each stream, of two captures.
    assert torch.cuda.memory_reserved() - before < 2 * streams * (64 << 20)


def test_calibration_is_kept_for_the_gpu(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert calibration.load_calibration() is None
    found = rt.calibrate(seconds=0.3)
    assert calibration.load_calibration() == found
    assert found.fill > 0 and found.exponent >= 0 and found.crossing_ns >= 0
