# SPDX-License-Identifier: Apache-2.0
"""regal.torch where there is no GPU: capture, apply, threads, tracing."""
import collections
import gzip
import json
import pathlib
import re
import types

import pytest

import regal
from conftest import SOURCES, run_page

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import regal.torch as rt  # noqa: E402
from regal.streams.schedule import one_stream  # noqa: E402
from regal.torch.cuda import Captured, Timer  # noqa: E402
from regal.torch.slots import Slots, View, copy_of  # noqa: E402
from torch import nn  # noqa: E402


class Branches(nn.Module):
    """Convolutions side by side, a split, and a concatenation."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.paths = nn.ModuleList(
            nn.Sequential(nn.Conv2d(8, 8, k, padding=k // 2), nn.ReLU())
            for k in (1, 3, 5)
        )
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        x = self.stem(x)
        parts = [path(x) for path in self.paths]
        a, b = torch.cat(parts, 1).chunk(2, 1)
        return self.head(torch.cat([a, b.relu()], 1).mean((2, 3)))


class Normalised(nn.Module):
    """Batch normalisation and dropout: buffers that a training step writes."""

    def __init__(self):
        super().__init__()
        self.f = nn.Linear(6, 8)
        self.norm = nn.BatchNorm1d(8)
        self.g = nn.Linear(8, 4)

    def forward(self, x):
        return self.g(self.norm(self.f(x)).relu())


@pytest.fixture(scope="module")
def branches():
    torch.manual_seed(0)
    model = Branches().eval()
    x = torch.randn(2, 3, 16, 16)
    return model, x, rt.capture(model, (x,))


def plan_of(captured, devices, **options):
    machine = regal.Machine(devices=devices, latency="1us", bandwidth="10GB")
    return regal.optimize(captured.graph, machine, evaluations=2000,
                          threads=1, **options)


def test_a_captured_graph_has_times_and_sizes(branches):
    model, x, captured = branches
    assert len(captured.graph) == len(captured.program.kernels)
    assert all(k.run_ns > 0 for k in captured.program.kernels)
    names = [k.name for k in captured.program.kernels]
    assert sum("conv" in n for n in names) == 4
    # Views are no kernels: neither the two halves nor the weights' transposes.
    assert not any("split" in n or "permute" in n for n in names)


@pytest.mark.parametrize("devices", [1, 2, 3])
def test_threads_give_the_models_result(branches, devices):
    model, x, captured = branches
    run = rt.apply(plan_of(captured, devices), on="cpu")
    for seed in range(3):
        torch.manual_seed(seed)
        y = torch.randn_like(x)
        with torch.no_grad():
            expected = model(y)
        torch.testing.assert_close(run(y)[0], expected)
    assert len(run.peak_bytes) == devices and max(run.peak_bytes) > 0


def test_devices_give_the_models_result(branches):
    model, x, captured = branches
    run = rt.apply(plan_of(captured, 2), on=["cpu", "cpu"])
    with torch.no_grad():
        torch.testing.assert_close(run(x)[0], model(x))


def test_memory_held_is_what_the_model_of_one_device_says(branches):
    model, x, captured = branches
    plan = regal.evaluate(captured.graph, regal.Machine(devices=1),
                          order=range(len(captured.graph)),
                          placement=[0] * len(captured.graph))
    run = rt.apply(plan, on="cpu")
    run(x)
    assert run.peak_bytes[0] == plan.peak_bytes[0]
    assert one_stream(captured.program).held_bytes == run.peak_bytes[0]


def test_a_training_step_gives_the_gradients():
    torch.manual_seed(0)
    model, x = Normalised().train(), torch.randn(5, 6)
    captured = rt.capture(model, (x,), train=True)
    assert len(captured.graph) > 15
    run = rt.apply(plan_of(captured, 2), on="cpu")
    found = run(x)
    before = [b.clone() for b in model.buffers()]
    loss = model(x).float().square().mean()
    loss.backward()
    for buffer, old in zip(model.buffers(), before):
        buffer.data.copy_(old)
    expected = [p.grad for p in model.parameters()]
    got = [t for t in found if isinstance(t, torch.Tensor)][-len(expected):]
    for a, b in zip(got, expected):
        torch.testing.assert_close(a, b)


def test_a_roofline_gives_times_without_running():
    model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU())
    captured = rt.capture(model, (torch.randn(4096, 4096),), costs="a100")
    product = max(k.run_ns for k in captured.program.kernels)
    # 2 * 4096^3 flops at 19.5e12 a second.
    assert product == pytest.approx(2 * 4096**3 / 19.5e3, rel=0.05)


def test_a_failing_kernel_is_reported_and_nothing_hangs():
    model = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 8), nn.ReLU())
    captured = rt.capture(model, (torch.arange(4),))
    run = rt.apply(regal.evaluate(
        captured.graph, regal.Machine(devices=3), placement=[0, 1, 2]), "cpu")
    with pytest.raises(IndexError):
        run(torch.arange(7, 11))


def test_mistakes_have_messages(branches):
    model, x, captured = branches
    plan = plan_of(captured, 2)
    with pytest.raises(ValueError, match="expected 'aten' or 'inductor'"):
        rt.capture(model, (x,), level="onnx")
    with pytest.raises(ValueError, match=(
            "costs is 'trace.json', neither 'measure' nor the file of a trace nor a "
            'roofline: no device "trace.json" is built in')):
        rt.capture(model, (x,), costs="trace.json")
    with pytest.raises(ValueError, match="expected 'streams'"):
        rt.apply(plan, on="tpu")
    for on in (None, torch.device("cpu")):
        with pytest.raises(ValueError, match="or a list of devices"):
            rt.apply(plan, on=on)
    with pytest.raises(ValueError, match="needs a model on a GPU"):
        rt.apply(plan, on="streams")
    with pytest.raises(ValueError, match="devices"):
        rt.apply(plan, on=["cpu"])
    with pytest.raises(ValueError, match="arguments, expected 1"):
        rt.apply(plan, on="cpu")(x, x)
    other = regal.optimize(regal.Graph.from_arrays(run_ns=[1]),
                           evaluations=1)
    with pytest.raises(ValueError, match=r"regal.evaluate\(captured.graph, plan"):
        rt.apply(other)


def test_the_backend_is_registered_and_its_options_are_checked():
    assert "regal" in torch._dynamo.list_backends(exclude_tags=())
    with pytest.raises(ValueError, match="unknown option 'stream'"):
        rt.regal_backend(None, [], options={"stream": 3})
    with pytest.raises(ValueError, match="has no mode 'max-autotune'"):
        rt.regal_backend(None, [], mode="max-autotune")


def test_a_compiled_model_has_the_backend_and_the_model_has_not():
    model = nn.Linear(3, 3)
    first, second = rt.compile(model), rt.compile(model, streams=2)
    assert first.regal is not second.regal
    assert second.regal.settings.streams == 2 and second.regal.reports == []
    assert not hasattr(model, "regal")
    assert rt.compile(lambda x: x + 1).regal.reports == []
    with pytest.raises(TypeError, match="example_args is a Tensor"):
        rt.compile(model, torch.ones(2, 3))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_only_crossings_are_shared(branches):
    _, _, captured = branches
    plan = plan_of(captured, 2)
    assert rt.predict(plan) == rt.predict(plan, rt.Sharing())
    free = rt.predict(plan, rt.Sharing(crossing_ns=0))
    assert plan.expected_ns == round(free * 1e3)
    assert '"expected":' in plan.to_html()
    assert 0 < free <= rt.predict(plan)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_models_are_left_to_inductor():
    """One of a single product: Inductor has no kernel to compile for it."""
    model, x = nn.Linear(8, 4), torch.randn(2, 8)
    compiled = torch.compile(model, backend="regal", dynamic=False)
    with torch.no_grad(), pytest.warns(
            UserWarning, match="left to Inductor: an input is on the cpu$"):
        found = compiled(x)
    with torch.no_grad():
        torch.testing.assert_close(found, model(x), rtol=1e-4, atol=1e-5)


# -- Calls that find their results untouched -----------------------------------


class OnTheCpu:
    """Stands where a CUDA graph does: computes into fixed memory."""

    def __init__(self, inputs):
        self.weight, self.x = inputs
        self.temporary = torch.empty_like(self.x)
        self.result = torch.empty_like(self.x)
        self.replays = 0

    def replay(self):
        self.replays += 1
        torch.mul(self.x, self.weight, out=self.temporary)
        torch.add(self.temporary, 1.0, out=self.result)


def captured_on_the_cpu(made):
    def capture(inputs):
        graph = OnTheCpu(inputs)
        made.append(graph)
        return Captured(graph, [graph.result], inputs)

    return capture


@pytest.mark.parametrize("held", [0, 1, 2, 5])
def test_results_that_are_held_are_never_overwritten(held):
    weight, made = torch.full((4,), 3.0), []
    slots = Slots(captured_on_the_cpu(made), [0], [1], [torch.empty(4)])
    kept = collections.deque(maxlen=max(held, 1))
    for step in range(30):
        (found,) = slots.call((weight, torch.full((4,), float(step))))
        assert found.tolist() == [3.0 * step + 1] * 4
        if held:
            kept.append((step, found))
        del found
        for then, old in kept:
            assert old.tolist() == [3.0 * then + 1] * 4
    # Two whose results are handed out, then one whose results are copied.
    assert slots.calls["plain"] == 0
    assert len(made) <= 2 * min(held + 1, 3)


def test_inputs_at_known_addresses_are_not_copied():
    weight, x, made = torch.ones(4), torch.ones(4), []
    slots = Slots(captured_on_the_cpu(made), [0], [1], [torch.empty(4)])
    for step in range(5):
        x.fill_(step)
        assert slots.call((weight, x))[0].tolist() == [step + 1.0] * 4
    assert slots.calls == {"copying": 1, "direct": 4, "captured": 2}
    assert made[1].x is x


def test_inputs_may_repeat_their_elements():
    """As those of `expand`, which cannot be written as they are."""
    made, weight = [], torch.full((3, 4), 2.0)
    first = torch.rand(3, 1).expand(3, 4)
    own = copy_of(first)
    assert own.stride() == (1, 0) and torch.equal(own, first)
    slots = Slots(captured_on_the_cpu(made), [0], [1], [own])
    for step in range(4):
        x = torch.full((3, 1), float(step)).expand(3, 4)
        (found,) = slots.call((weight, x))
        assert torch.equal(found, 2 * x + 1)
    assert slots.calls["copying"] and made[0].x is own


def test_inputs_of_rare_types_are_copied(monkeypatch):
    """On a GPU `_foreach_copy_` knows no `uint64`."""
    usual = torch._foreach_copy_

    def copy_known(to, given):
        assert all(t.dtype != torch.uint64 for t in to)
        usual(to, given)

    monkeypatch.setattr(torch, "_foreach_copy_", copy_known)
    own = [torch.zeros(2), torch.zeros(2, dtype=torch.uint64)]
    graph = types.SimpleNamespace(replay=lambda: None)
    slots = Slots(lambda given: Captured(graph, [], given), [], [0, 1], own)
    slots.call((torch.ones(2), torch.tensor([3, 4], dtype=torch.uint64)))
    assert [t.tolist() for t in own] == [[1, 1], [3, 4]]


def test_an_input_that_is_written_is_copied_back():
    class Doubling(OnTheCpu):
        def replay(self):
            self.x.mul_(2.0)

    def capture(inputs):
        return Captured(Doubling(inputs), [], inputs)

    weight = torch.ones(4)
    slots = Slots(capture, [0], [1], [torch.empty(4)], copied_back=[0])
    values = [torch.full((4,), float(step)) for step in range(4)]
    for step, x in enumerate(values):
        slots.call((weight, x))
        assert x.tolist() == [2.0 * step] * 4


def test_saved_tensors_in_use_are_not_replaced_by_copies():
    weight, made = torch.ones(4), []
    slots = Slots(captured_on_the_cpu(made), [0], [1], [torch.empty(4)],
                  visible=0)
    saved = [slots.call((weight, torch.ones(4))) for _ in range(4)]
    assert [s is None for s in saved] == [False, False, True, True]
    saved.clear()
    assert slots.call((weight, torch.ones(4))) is not None


class Saving(torch.autograd.Function):
    """Saves what it is given, as a forward pass of AOTAutograd does."""

    @staticmethod
    def forward(ctx, x, saved):
        ctx.save_for_backward(saved)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None


def test_tensors_that_autograd_saves_are_in_use():
    """No holder is in Python, and the tensor is handed out as it is."""
    weight, made = torch.ones(4), []
    slots = Slots(captured_on_the_cpu(made), [0], [1], [torch.empty(4)],
                  visible=0)
    x = torch.ones(4, requires_grad=True)

    def step(value):
        saved = slots.call((weight, torch.full((4,), value)))
        return saved and Saving.apply(x, saved[0])

    first, second = step(1.0), step(2.0)
    assert step(3.0) is None
    for value, result in ((1.0, first), (2.0, second)):
        x.grad = None
        result.sum().backward()
        assert x.grad.tolist() == [value + 1] * 4
    del first, second, result
    assert step(4.0) is not None and len(made) == 2


def test_without_memory_for_another_capture_calls_are_plain():
    slots = Slots(captured_on_the_cpu([]), [0], [1], [torch.empty(4)])
    weight, asked = torch.ones(4), []
    first = slots.call((weight, torch.ones(4)))
    slots.capture = lambda inputs: asked.append(inputs)
    assert [slots.call((weight, torch.ones(4))) for _ in range(3)] == [None] * 3
    assert len(asked) == 1  # not again and again
    assert first[0].tolist() == [2.0] * 4
    del first
    assert slots.call((weight, torch.zeros(4)))[0].tolist() == [1.0] * 4


def test_addresses_that_come_once_are_not_captured():
    made = []
    slots = Slots(captured_on_the_cpu(made), [0], [1], [torch.empty(4)])
    weights = [torch.ones(4) for _ in range(6)]
    x = torch.ones(4)
    assert slots.call((weights[0], x)) is not None
    assert all(slots.call((w, x)) is None for w in weights[1:])
    assert slots.call((weights[5], x)) is not None  # it came again


def test_a_static_input_that_keeps_moving_is_copied():
    """The batch that a forward pass saves is new in each step."""
    made = []

    def capture(inputs):
        graph = OnTheCpu([inputs[1], inputs[2]])
        made.append(graph)
        return Captured(graph, [graph.result], inputs)

    large = torch.zeros(1000)
    slots = Slots(capture, [0, 1], [2], [torch.empty(4)])
    batches = [torch.full((4,), float(step)) for step in range(12)]
    x, served = torch.ones(4), []
    for step, batch in enumerate(batches):
        found = slots.call((large, batch, x))
        served.append(found is not None)
        if found is not None:
            assert found[0].tolist() == [step + 1.0] * 4
        x = x.clone()
    assert not all(served) and all(served[3:])
    assert slots.static == [0] and slots.moving == [2, 1]


def test_a_static_input_with_results_that_are_its_views_does_not_move():
    """The next call would overwrite what a backward pass has not read."""

    def capture(inputs):
        graph = OnTheCpu([inputs[1], inputs[2]])
        return Captured(graph, [graph.result, inputs[1].view(2, 2)], inputs)

    slots = Slots(capture, [0, 1], [2], [torch.empty(4)], fixed={1})
    for step in range(12):
        weight = torch.full((4,), float(step))
        found = slots.call((torch.zeros(1000), weight, torch.ones(4)))
        assert found is None or found[1].data_ptr() == weight.data_ptr()
    assert slots.static == [0, 1] and slots.calls["plain"]


def test_a_written_input_that_starts_to_move_is_copied_back():
    class Counting(OnTheCpu):
        def replay(self):
            self.weight.add_(1.0)

    def capture(inputs):
        return Captured(Counting([inputs[1], inputs[2]]), [], inputs)

    slots = Slots(capture, [0, 1], [2], [torch.empty(4)], protected=[1])
    large = torch.zeros(1000)
    states = [torch.full((4,), float(step)) for step in range(8)]
    for step, state in enumerate(states):
        served = slots.call((large, state, torch.ones(4)))
        expected = step + 1.0 if served is not None else step
        assert state.tolist() == [expected] * 4
    assert served is not None


def test_a_result_may_be_a_view_of_an_input():
    view, weight, made = View(1, (2, 2), (1, 2), 1), torch.ones(6), []
    slots = Slots(captured_on_the_cpu(made), [0], [1], [torch.empty(6)],
                  views={1: view})
    capture = slots.capture

    def with_view(inputs):
        captured = capture(inputs)
        captured.results.append(captured.results[0])
        return captured

    slots.capture = with_view
    for step in range(4):
        x = torch.arange(10.0 + step)[2:8]
        found = slots.call((weight, x))[1]
        assert found.tolist() == x[1:5].reshape(2, 2).t().tolist()
        assert found.data_ptr() == x[1:].data_ptr()


def test_captures_are_kept_to_be_timed_again():
    Plan = collections.namedtuple("Plan", "key")
    captured = []

    def capture(plan):
        captured.append(plan.key)
        return plan

    timer = Timer(capture, lambda plan: float(plan.key), most=8)
    plans = [Plan(key) for key in range(11)]
    assert [timer(p) for p in plans] == [float(k) for k in range(11)]
    assert captured == list(range(11)) and len(timer.kept) == 8
    for plan in plans[5:]:
        timer(plan)
    assert captured == list(range(11))  # all were kept
    timer(plans[0])
    assert captured[11:] == [0]  # too old


# -- Times from the profiler --------------------------------------------------


def profiled(call, path, runs=5):
    from torch.profiler import ProfilerActivity, profile

    call()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
        for _ in range(runs):
            call()
    p.export_chrome_trace(str(path))
    return str(path)


def typical_ratio(found, expected):
    """exp(mean |ln(a / b)|) over ops, each by its share of the time."""
    import math

    total = sum(expected)
    return math.exp(sum(b * abs(math.log(a / b))
                        for a, b in zip(found, expected)) / total)


def copies_of(captured):
    """Where dropout does nothing, torch.export makes a copy (before 2.15)."""
    return [name for name in captured.graph.names if name.endswith("clone")]


@pytest.mark.parametrize("name, ops", [
    ("squeezenet1_1", 64), ("resnet18", 68), ("googlenet", 195),
])
def test_times_of_a_trace_are_those_measured(tmp_path, name, ops):
    torchvision = pytest.importorskip("torchvision")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torchvision.models.get_model(
        name, weights=None, **{"init_weights": False} if "le" in name else {})
    model.eval()
    x = torch.randn(2, 3, 128, 128)

    def call():
        with torch.no_grad():
            model(x)

    trace = profiled(call, tmp_path / "trace.json.gz")
    timed = rt.capture(model, (x,), costs=trace)
    texts = [note.text for note in timed.notes]
    copies = copies_of(timed)
    assert len(copies) <= 1
    total = ops + len(copies)
    assert f"run times of {ops} of {total} ops as measured in" in texts[0]
    assert "calls on the host, the median of 5 runs" in texts[0]
    assert len(texts) == 1 + len(copies)
    for copy in copies:
        assert texts[1].endswith(f' 1 op: "{copy}"; it keeps its own')
    measured = rt.capture(model, (x,), costs="measure")
    found_ns = [k.run_ns for k in timed.program.kernels]
    expected_ns = [k.run_ns for k in measured.program.kernels]
    ratio = typical_ratio(found_ns, expected_ns)
    print(f"{name}: trace against measure {ratio:.2f}")
    # Whatever else the machine does, times of other ops are farther off.
    assert ratio < typical_ratio(found_ns[::-1], expected_ns) / 1.5


def test_times_of_a_trace_of_a_gpu():
    """A trace of SqueezeNet, batch 8, on an H200: three runs."""
    torchvision = pytest.importorskip("torchvision")
    path = pathlib.Path(__file__).parent / "traces/squeezenet_h200.json.gz"
    model = torchvision.models.squeezenet1_1(weights=None).eval()
    timed = rt.capture(model, (torch.randn(8, 3, 224, 224),), costs=str(path))
    texts = [note.text for note in timed.notes]
    total = 64 + len(copies_of(timed))
    assert f"run times of 64 of {total} ops as measured in" in texts[0]
    assert "kernels on the device, the median of 3 runs" in texts[0]
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    expected_us = sum(e["dur"] for e in events if e.get("cat") == "kernel") / 3
    found = [k for k in timed.program.kernels if "clone" not in k.name]
    assert len(found) == 64
    assert sum(k.run_ns for k in found) / 1e3 == pytest.approx(
        expected_us, rel=0.03)


def test_times_of_a_training_step(tmp_path):
    torch.manual_seed(0)
    model, x = Normalised().train(), torch.randn(5, 6)

    def call():
        model(x).float().square().mean().backward()

    trace = profiled(call, tmp_path / "trace.json")
    found = rt.capture(model, (x,), train=True, costs=trace,
                       loss=lambda y: y.float().square().mean())
    texts = " ".join(n.text for n in found.notes)
    count = re.search(r"run times of (\d+) of (\d+) ops", texts)
    assert int(count[1]) >= 0.9 * int(count[2]), texts
    assert all(k.run_ns > 0 for k in found.program.kernels)


def test_a_trace_of_another_model_is_refused(tmp_path):
    trace = profiled(lambda: torch.fft.fft(torch.ones(8)), tmp_path / "t.json")
    with pytest.raises(regal.Error, match="no op of the graph has a time"):
        rt.capture(Normalised().eval(), (torch.randn(5, 6),), costs=trace)


# -- What the documentation shows ---------------------------------------------

def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    monkeypatch.chdir(tmp_path)
    names = run_page("docs/torch.md")
    assert "plan" in names


def test_the_notebook_runs(tmp_path):
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is missing")
    client = pytest.importorskip("nbclient", reason="nbclient is missing")
    path = SOURCES / "examples" / "model_to_plan.ipynb"
    notebook = nbformat.read(path, as_version=4)
    client.NotebookClient(notebook, timeout=120, resources={
        "metadata": {"path": str(tmp_path)}}).execute()
    assert sum(c.cell_type == "code" for c in notebook.cells) >= 4
