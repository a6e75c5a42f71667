# SPDX-License-Identifier: Apache-2.0
"""Models of all kinds on workers of the CPU: results, gradients, and what a
model writes are those of the model itself."""
import copy
import dataclasses
import gc
import random
import threading
import weakref

import pytest

import regal

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import regal.torch as rt  # noqa: E402
from regal.torch.trace import tensors_of  # noqa: E402
from regal.torch.workers import _DeviceRun  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402


class Calls(nn.Module):
    """A model of a function, which is given the model and the arguments."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, *args):
        return self.function(self, *args)


def tied():
    first, last = nn.Linear(8, 8), nn.Linear(8, 8)
    last.weight = first.weight
    return nn.Sequential(first, nn.ReLU(), last)


def count(model, x):
    model.calls.add_(1)
    return x * model.calls


def remember(model, x):
    """A state, and that of the call before; the order of buffers is the other
    one."""
    model.before.copy_(model.state)
    model.first.copy_(model.state.view(-1)[:8])
    model.state.copy_(x)
    return x + model.before


def like_another(model, x):
    """Views that need a second tensor, which no kernel reads any more."""
    other = x.exp()
    y = other.sin() * 2
    a, b = (y * 4).type_as(other).split(4, 1)
    return (y * 3).type_as(other), y.cos().type_as(other).sum(1), a.sin() + b, b


def classify(model, x):
    """By the last states of both directions."""
    _, (h, c) = model.f(x.view(2, 2, 8))
    return model.g(torch.cat([h[-2], h[-1]], 1)) + c.view(2, -1)


def filtered(model, x):
    spectrum = torch.fft.rfft(model.f(x)) * torch.view_as_complex(model.g.weight)
    return torch.fft.irfft(spectrum, n=8)


torch.manual_seed(0)
X = torch.randn(4, 8)

MODELS = {
    "arguments": (Calls(lambda m, a, b: b - 2 * a), (X, X.sin())),
    "an unused one": (Calls(lambda m, a, b: b.sin()), (X, X + 1)),
    "nested": (
        Calls(lambda m, d, t: {"sum": d["b"] + t[1], "rest": [d["a"], t[0] * 3]}),
        ({"b": X, "a": X + 1}, (X + 2, X + 3)),
    ),
    "numbers": (Calls(lambda m, a, n, none: (a * n, n, none)), (X, 3, None)),
    "in place": (Calls(lambda m, a: (a * 2).add_(1).relu_().mul_(a)), (X,)),
    "views": (Calls(lambda m, a: (a.sin().view(8, 4)[:2], a.t(), a)), (X,)),
    "types as those of another": (Calls(like_another), (X,)),
    "types": (
        Calls(lambda m, a: a.half().double().sum(1).to(torch.int32)), (X,)),
    "tied": (tied(), (X,)),
    "an argument that is written": (Calls(lambda m, a: a.add_(1) * 2), (X,)),
    "buffers that follow each other": (
        Calls(remember, state=torch.zeros(4, 8), before=torch.zeros(4, 8),
              first=torch.zeros(8)), (X,)),
    "a buffer that is written": (Calls(count, calls=torch.zeros(1)), (X,)),
    "batch normalisation": (
        nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).train(), (X,)),
    "no elements": (
        Calls(lambda m, a: torch.cat([a[:0].exp().sin(), a.cos()[:0].exp(), a])),
        (X,)),
    "views of several": (
        Calls(lambda m, a: [t * 2 for t in torch.broadcast_tensors(
            a.sin().cos().exp(), a[0].exp())]), (X,)),
    "several results": (
        Calls(lambda m, a: [v * 2 for v in a.topk(3)] + [a.sort()[0] + 1]),
        (X,)),
    "constants": (
        Calls(lambda m, a: a * torch.tensor([[1.0], [2.0]]).t().expand(4, 2)[
            :, :1] + torch.arange(8)), (X,)),
    "attention": (
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(),
        (X.reshape(1, 4, 8),)),
    "last states": (
        Calls(classify, f=nn.LSTM(8, 4, bidirectional=True), g=nn.Linear(8, 8)),
        (X,)),
    "last states of a projected one": (
        Calls(lambda m, a: m.f(a.view(2, 2, 8))[1], f=nn.LSTM(8, 4, proj_size=3)),
        (X,)),
}


def plans_of(captured, devices):
    """The search's, and one that crosses between devices at random."""
    machine = regal.Machine(devices=devices, latency="1us")
    plan = regal.optimize(captured.graph, machine, evaluations=200, threads=1)
    draw = random.Random(devices)
    yield plan
    yield regal.evaluate(
        captured.graph, machine, order=plan.order,
        placement=[draw.randrange(devices) for _ in plan.order])


@pytest.mark.parametrize("on", ["threads", "devices"])
@pytest.mark.parametrize("name", MODELS)
def test_a_call_does_what_the_model_does(name, on):
    model, args = copy.deepcopy(MODELS[name])
    same = copy.deepcopy(model)
    captured = rt.capture(model, args, costs="h200")
    for devices in (1, 2, 4):
        for plan in plans_of(captured, devices):
            run = rt.apply(plan, "cpu" if on == "threads" else ["cpu"] * devices)
            given, expected_args = copy.deepcopy(args), copy.deepcopy(args)
            found = run(*given)
            with torch.no_grad():
                expected = same(*expected_args)
            torch.testing.assert_close(found, pytree.tree_leaves(expected))
            if on == "devices":
                assert run.peak_bytes == list(plan.peak_bytes)
            torch.testing.assert_close(given, expected_args)
            torch.testing.assert_close(
                list(model.buffers()), list(same.buffers()))


@pytest.mark.parametrize("name", ["a part in two places", "attention"])
def test_devices_hold_what_the_plan_says(name, monkeypatch):
    """After each step each device has the tensors that are counted there, no more."""
    model, args = TRAINED[name]
    captured = rt.capture(model, args, train=True, loss=loss_of, costs="h200")
    steps = []

    def check(run):
        inputs = {storage(v) for v in run.given.values()}
        for env, expected in zip(run.env, run.held.bytes):
            found = {storage(t): t.untyped_storage().nbytes()
                     for value in env.values() for t in tensors_of(value)}
            assert sum(n for s, n in found.items() if s not in inputs) == expected
        steps.append(run)

    for name in ("launch", "send"):
        step = getattr(_DeviceRun, name)
        monkeypatch.setattr(_DeviceRun, name, lambda run, *given, step=step: (
            step(run, *given), check(run)))
    for devices in (1, 2, 4):
        for plan in plans_of(captured, devices):
            run = rt.apply(plan, on=["cpu"] * devices)
            del steps[:]
            run(*args)
            assert run.peak_bytes == list(plan.peak_bytes)
            assert len(steps) == len(plan.steps) - sum(plan.steps["port"][
                plan.steps["kind"] == "send"] < 0)


def storage(tensor):
    return tensor.untyped_storage()._cdata


def frozen():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    model[0].weight.requires_grad_(False)
    return model


def shared():
    model = Calls(lambda m, a: m.f(a) + m.one + m.other, f=nn.Linear(8, 8),
                  one=torch.ones(8))
    model.register_buffer("other", model.one)
    return model


def placed_twice():
    linear, norm = nn.Linear(8, 8), nn.BatchNorm1d(8)
    return nn.Sequential(linear, norm, nn.Sequential(linear, nn.ReLU()), norm)


def replace(model, x):
    """The backward pass needs what the buffers were before."""
    y = model.f(x) * model.mean
    model.mean, model.last = 0.9 * model.mean + y.detach().mean(0), model.mean
    return y * model.mean


def careful(model, x):
    """Looks at values where there are some."""
    if not torch.compiler.is_compiling() and bool((x > 99).any()):
        return x
    return model.f(x)


TRAINED = {
    "recurrent": (
        Calls(lambda m, a: m.f(a)[0], f=nn.LSTM(8, 4, 2, bidirectional=True)),
        (X,)),
    "last states": MODELS["last states"],
    "a filter": (
        Calls(filtered, f=nn.Linear(8, 8), g=nn.Linear(2, 5)), (X,)),
    "equal gradients": (
        Calls(lambda m, a: m.f(a) + m.g.bias, f=nn.Linear(8, 8),
              g=nn.Linear(8, 8)), (X,)),
    "constants": (
        Calls(lambda m, a: m.f(a) * torch.tensor([1.0, 2.0] * 4),
              f=nn.Linear(8, 8)), (X,)),
    "repeated gradients": (
        Calls(lambda m, a: m.f.bias + 0 * a.sum(), f=nn.Linear(8, 8)), (X,)),
    "careful": (Calls(careful, f=nn.Linear(8, 8)), (X,)),
    "batch normalisation": MODELS["batch normalisation"],
    "a part in two places": (placed_twice(), (X,)),
    "buffers that are replaced": (
        Calls(replace, f=nn.Linear(8, 8), mean=torch.ones(8),
              last=torch.zeros(8)), (X,)),
    "tied": MODELS["tied"],
    "frozen": (frozen(), (X,)),
    "a part that is not used": (
        Calls(lambda m, a: m.f(a), f=nn.Linear(8, 8), g=nn.Linear(8, 8)), (X,)),
    "a buffer with two names": (shared(), (X,)),
    "nested": (
        Calls(lambda m, d, n: {"y": m.f(d["b"]) * n - d["a"], "n": n},
              f=nn.Linear(8, 8)),
        ({"b": X, "a": X + 1}, 3)),
    "an argument with a gradient": (
        nn.Linear(8, 4), (X.clone().requires_grad_(),)),
    "attention": (
        nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
        (X.reshape(1, 4, 8),)),
}


def loss_of(result):
    result = result["y"] if isinstance(result, dict) else result
    return (result * result.sin()).sum()


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_step_does_what_the_model_does(name):
    model, args = copy.deepcopy(TRAINED[name])
    same = copy.deepcopy(model)
    with torch.no_grad():  # of no matter for a training step
        captured = rt.capture(model, args, train=True, loss=loss_of,
                              costs="h200")
    for devices in (1, 2, 4):
        for plan in plans_of(captured, devices):
            found = rt.apply(plan, on="cpu")(*args)
            same.zero_grad()
            loss = loss_of(same(*args))
            loss.backward()
            expected = [loss.detach(), *(p.grad for p in same.parameters())]
            assert len(found) == len(expected)
            given = [t for t in found if t is not None]
            storages = {t.untyped_storage().data_ptr() for t in given}
            assert len(storages) == len(given)
            for t in given:
                t.mul_(1)  # gradients may be written to
            for a, b in zip(found, expected):
                assert (a is None) == (b is None)
                if b is not None:
                    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(
                list(model.buffers()), list(same.buffers()))
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_modes_of_the_caller_are_of_no_matter_for_a_training_step(mode):
    model, x = nn.Linear(8, 8), X.clone()
    with mode():
        captured = rt.capture(model, (x,), train=True, costs="h200")
        found = rt.apply(next(plans_of(captured, 1)), on="cpu")(x)
    loss = model(x).square().mean()
    expected = [loss, *torch.autograd.grad(loss, [*model.parameters()])]
    torch.testing.assert_close(found, expected)


def test_a_capture_leaves_the_model_its_tensors():
    model = placed_twice()
    before = list(map(id, [*model.parameters(), *model.buffers()]))
    rt.capture(model, (X,), train=True, costs="h200")
    assert before == list(map(id, [*model.parameters(), *model.buffers()]))


@pytest.mark.parametrize("in_use", [False, True])
def test_a_part_that_is_computed_again_is_written_once(in_use):
    """A part under `checkpoint` runs again in the backward pass, also while the
    model is traced."""
    part = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
    model = Calls(
        lambda m, a: m.g(checkpoint(m.f, a, use_reentrant=False).relu()),
        f=part, g=nn.Linear(8, 8))
    once = copy.deepcopy(part)
    captured = rt.capture(model, (X,), train=True, loss=loss_of, costs="h200")
    if in_use:
        found = rt.apply(next(plans_of(captured, 2)), on="cpu")(X)
        loss = loss_of(model.g(once(X).relu()))
        gradients = torch.autograd.grad(
            loss, [*once.parameters(), *model.g.parameters()])
        torch.testing.assert_close(found, [loss.detach(), *gradients])
    torch.testing.assert_close(list(part.buffers()), list(once.buffers()))


def write(model, x, sums, calls):
    sums[1:3].add_(x[:2])
    calls += 1
    return model.f(x) * calls + sums


def test_a_training_step_writes_its_arguments():
    model = Calls(write, f=nn.Linear(8, 8))
    captured = rt.capture(model, (X, X + 1, torch.ones(())), train=True,
                          loss=loss_of, costs="h200")
    run = rt.apply(next(plans_of(captured, 2)), on="cpu")
    given, same = [X, X + 2, torch.zeros(())], [X, X + 2, torch.zeros(())]
    for _ in range(2):
        loss = loss_of(model(*same))
        expected = [loss, *torch.autograd.grad(loss, list(model.parameters()))]
        torch.testing.assert_close(run(*given), expected)
        torch.testing.assert_close(given, same)


def test_parts_that_are_compiled_are_taken_apart():
    part = nn.Linear(8, 8)
    compiled = torch.compile(part, backend="eager")
    model = Calls(lambda m, a: compiled(a).sin(), f=part)
    captured = rt.capture(model, (X,), train=True, costs="h200")
    run = rt.apply(next(plans_of(captured, 1)), on="cpu")
    loss = part(X).sin().square().mean()
    expected = [loss, *torch.autograd.grad(loss, list(part.parameters()))]
    torch.testing.assert_close(run(X), expected)


class Mixed(nn.Module):
    """A part that autocast converts, and one that it does not."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = self.first(x).float()
        with torch.autocast("cpu", enabled=False):
            return self.second(x)


@pytest.mark.parametrize("train", [False, True])
def test_conversions_of_autocast_are_those_of_the_capture(train):
    model = Mixed()
    with torch.autocast("cpu", torch.bfloat16):
        captured = rt.capture(model, (X,), train=train, costs="h200",
                              loss=loss_of if train else None)
        run = rt.apply(next(plans_of(captured, 1)), on="cpu")
        inside = run(X)
        expected = [loss_of(model(X))] if train else [model(X)]
    if train:
        expected[0].backward()
        expected += [p.grad for p in model.parameters()]
    for found in (inside, run(X)):
        torch.testing.assert_close(found, [t.detach() for t in expected])


def test_autocast_of_a_recurrent_layer_is_refused():
    model = nn.LSTM(8, 4)
    with torch.autocast("cpu", torch.bfloat16):
        with pytest.raises(ValueError, match="autocast for a recurrent layer"):
            rt.capture(model, (X,), costs="h200")
    rt.capture(model, (X,), costs="h200")


class OneImage(nn.Module):
    """Attention's strides before a normalisation: for one image ops differ in
    the stride of its dimension from what they were recorded with."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.GroupNorm(2, 8)

    def forward(self, x):
        x = self.linear(self.norm(x).view(1, 8, 16).transpose(1, 2))
        return self.norm(x.transpose(-1, -2).reshape(1, 8, 4, 4))


class Transposed(nn.Module):
    """Batch normalisation of a transposed tensor, whose kernel for a CPU gives
    its result other strides than tracing says."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.BatchNorm1d(8), nn.Linear(8, 4)

    def forward(self, x):
        x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        return self.linear(x.view(-1, 8) if x.is_contiguous() else x)


@pytest.mark.parametrize("model, x", [
    (OneImage(), torch.randn(1, 8, 4, 4)), (Transposed(), torch.randn(4, 4, 8))])
def test_strides_are_those_that_were_recorded(model, x):
    captured = rt.capture(model, (x,), train=True, loss=loss_of, costs="h200")
    found = rt.apply(next(plans_of(captured, 2)), on="cpu")(x)
    loss = loss_of(model(x))
    loss.backward()
    expected = [loss.detach(), *(p.grad for p in model.parameters())]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_losses_that_give_no_gradients_are_refused():
    model = nn.Linear(8, 4)

    def refused(model, message, **loss):
        with pytest.raises(ValueError, match=message):
            rt.capture(model, (X,), train=True, costs="h200", **loss)

    refused(model, r"shape \(4,\) on cpu, expected a number", loss=lambda y: y.sum(1))
    refused(Calls(lambda m, a: m.f(a).argmax(1), f=model), "no floating tensor")
    refused(Calls(lambda m, a: a * 2, f=model), "depends on no parameter")


def ctc(model, x):
    scores = model.f(x).log_softmax(-1).unsqueeze(1)
    lengths = torch.tensor([4]), torch.tensor([2])
    return nn.functional.ctc_loss(scores, torch.tensor([[1, 2]]), *lengths)


def keeping(model, x):
    """Makes a table at the first call, and keeps scores and counts."""
    if model.table is None:
        model.table = torch.arange(8.0)
    model.calls += 1
    model.scores = model.f(x).detach()
    model.all.append(x + 1)
    return model.f(x) * model.table + model.all[0][0]


@pytest.mark.parametrize("train", [False, True])
def test_attributes_that_are_no_buffers_are_constants(train):
    model = Calls(keeping, f=nn.Linear(8, 8))
    model.table, model.calls, model.all = None, 0, [torch.ones(4, 8)]
    for _ in range(2):
        before = {**vars(model), "all": list(model.all)}
        captured = rt.capture(model, (X,), train=train, costs="h200",
                              loss=loss_of if train else None)
        assert before.keys() == vars(model).keys()
        assert all(vars(model)[k] is v for k, v in before.items() if k != "all")
        assert all(map(torch.Tensor.is_same_size, model.all, before["all"]))
        found = rt.apply(next(plans_of(captured, 2)), on="cpu")(X)
        expected = model(X)  # has a table from now on
        if train:
            loss = loss_of(expected)
            expected = [loss, *torch.autograd.grad(loss, [*model.parameters()])]
            torch.testing.assert_close(found, expected)
        else:
            torch.testing.assert_close(found, [expected.detach()])


class Table:
    """No module, as what makes the angles of Z-Image."""

    def __init__(self):
        self.known, self.rows = None, {}

    def __call__(self, size):
        if self.known is None:
            self.known = torch.arange(float(size))
        self.rows.setdefault(size, self.known + 1)
        return self.known * self.rows[size]


@pytest.mark.parametrize("train", [False, True])
def test_an_object_of_the_model_keeps_no_tensors_without_values(train):
    model = Calls(lambda m, x: m.f(x) * m.table(8), f=nn.Linear(8, 8))
    model.table = Table()
    for _ in range(2):
        held = dict(vars(model.table)), dict(model.table.rows)
        captured = rt.capture(model, (X,), train=train, costs="h200",
                              loss=loss_of if train else None)
        assert held == (vars(model.table), model.table.rows)
        found = rt.apply(next(plans_of(captured, 2)), on="cpu")(X)
        expected = model(X)  # has a table from now on
        torch.testing.assert_close(
            found[0].detach(), (loss_of(expected) if train else expected).detach())


@pytest.mark.parametrize("function", [
    lambda m, a: m.f(a) * m.t.add_(1),
    lambda m, a: m.f(a) * m.all.pop(),
])
@pytest.mark.parametrize("train", [False, True])
def test_a_tensor_that_is_written_is_a_buffer(function, train):
    model = Calls(function, f=nn.Linear(8, 8))
    model.__dict__["t"], model.all = torch.ones(8), [torch.ones(8)]
    with pytest.raises(ValueError, match="buffer"):
        rt.capture(model, (X,), train=train, costs="h200")
    assert len(model.all) == 1


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("function", [
    lambda m, a: m.f(a) if a.sum() > 0 else a,
    lambda m, a: m.f(a)[a[:, 0] > 0],
    ctc,
])
def test_models_that_need_values_are_refused(function, train, capfd):
    model = Calls(function, f=nn.Linear(8, 8))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="a value of a tensor decides"):
        rt.capture(model, (X,), train=train, costs="h200")
    assert vars(model) == before
    assert "def forward" not in capfd.readouterr().err  # what was traced so far


@dataclasses.dataclass
class Pair:
    x: torch.Tensor


class Cache:
    """Has tensors in its parts."""

    def __init__(self):
        self.layers = [Pair(X)]


def register(model, x):
    if not hasattr(model, "table"):
        model.register_buffer("table", torch.arange(8.0))
    return model.f(x) + model.table


REFUSED = {
    "argument 1 is a ndarray, expected a tensor": (
        lambda m, a, b: m.f(a) + torch.as_tensor(b), (X, X.numpy()), (False, True)),
    "registers the buffer table while it runs: call it once before": (
        register, (X,), (False,)),
    "argument 0 is a torch.sparse_coo tensor; a plan needs dense ones": (
        lambda m, a: m.f(a @ m.f.weight), (X.to_sparse(),), (False, True)),
    "argument 0 is a nested tensor": (
        lambda m, a: m.f(a).values(),
        (torch.nested.nested_tensor([X, X[:2]], layout=torch.jagged),),
        (False, True)),
    "argument 0 is a Pair with tensors: register it by torch.export": (
        lambda m, pair: m.f(pair.x), (Pair(X),), (False, True)),
    "the gradient of e.weight is a torch.sparse_coo tensor": (
        lambda m, a: m.f(m.e(a)), (torch.tensor([1, 2, 0, 1]),), (True,)),
    "argument 1 is a Cache with tensors: register it by torch.export": (
        lambda m, a, b: m.f(a) + b.layers[0].x, (X, Cache()), (False, True)),
    "argument 1 is a Linear, a module: make it a part of the model": (
        lambda m, a, g: g(m.f(a)), (X, nn.Linear(8, 8)), (False, True)),
    "the model returns a Pair with tensors: register it by torch.export": (
        lambda m, a: Pair(m.f(a)), (X,), (False,)),
    "the model computes nothing": (lambda m, a: (a, m.last), (X,), (False,)),
    "the model assigns to .data of a tensor, which no graph has": (
        lambda m, a: (setattr(m.last, "data", m.last + 1), m.f(a) + m.last)[1],
        (X,), (False, True)),
    "the model replaces last, .* shape \\(8,\\) on cpu, by None": (
        lambda m, a: (setattr(m, "last", None), m.f(a))[1], (X,), (True,)),
    "no graph of the training step: RuntimeError: Found a graph input that "
    "requires gradients, and received a mutation": (
        lambda m, a: m.f(a) + nn.functional.embedding(
            torch.tensor([1, 2, 0, 1]), m.e.weight, max_norm=1.0), (X,), (True,)),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_graph_is_refused_with_one_message(message):
    function, args, trained = REFUSED[message]
    for train in trained:
        model = Calls(function, f=nn.Linear(8, 8), last=torch.zeros(8),
                      e=nn.Embedding(4, 8, sparse=True))
        with pytest.raises(ValueError, match=message) as refused:
            rt.capture(model, args, train=train, costs="h200")
        assert "\n" not in str(refused.value)


def test_ops_that_have_ops_of_their_own_have_an_estimate():
    """Of attention with a score that is a function, of both branches, and of a
    loop."""
    from torch._higher_order_ops import while_loop
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(
        lambda b, h, i, j: i >= j, None, None, 4, 4, device="cpu")

    def run_ns_of(name, function, *args):
        captured = rt.capture(Calls(function, f=nn.Linear(8, 8)), args, costs="h200")
        return {k.name: k.run_ns for k in captured.program.kernels}[name]

    def attend(model, q):
        return flex_attention(q, q, q, block_mask=mask)

    assert run_ns_of("flex_attention", attend, X.reshape(1, 1, 4, 8)) > 0
    assert run_ns_of("cond", lambda m, a: torch.cond(
        a.sum() > 0, lambda t: m.f(t), lambda t: m.f(t).sin(), (a,)), X) > 0
    assert run_ns_of("while_loop", lambda m, a: while_loop(
        lambda i, t: i < 3, lambda i, t: (i + 1, m.f(t)),
        (torch.tensor(0), a)), X) > 0


def test_other_arguments_than_those_of_the_capture_are_refused():
    model = Calls(lambda m, a, n: a * n)
    captured = rt.capture(model, (X, 3), costs="h200")
    run = rt.apply(regal.optimize(captured.graph, evaluations=10), on="cpu")
    assert torch.equal(run(X, 3)[0], X * 3)
    for args, message in (
        ((X[:2], 3), r"argument 0 is a tensor of torch.float32 and shape "
         r"\(2, 8\) on cpu; the model was captured with .* shape \(4, 8\)"),
        ((X.double(), 3), "argument 0 is a tensor of torch.float64"),
        ((5, 3), "argument 0 is 5; the model was captured with a tensor"),
        ((X, 4), "argument 1 is 4; the model was captured with 3"),
        ((X,), "1 arguments, expected 2"),
    ):
        with pytest.raises(ValueError, match=message):
            run(*args)


@pytest.mark.parametrize("train", [False, True])
def test_an_argument_that_came_twice_is_two(train):
    model = Calls(lambda m, a, b, c: m.f(a) * b + c, f=nn.Linear(8, 8))
    captured = rt.capture(model, (X, X, model.f.bias), costs="h200", train=train)
    run = rt.apply(regal.optimize(captured.graph, evaluations=10), on="cpu")
    args = X.sin(), X.cos(), torch.ones(8)
    expected = model(*args)
    expected = expected.square().mean() if train else expected
    torch.testing.assert_close(run(*args)[0], expected.detach())


def test_arguments_may_lie_otherwise_in_memory():
    """Where they are read: views in a graph have strides built in."""
    given = torch.arange(32.0).reshape(8, 4).t()
    captured = rt.capture(
        Calls(lambda m, a: a.reshape(-1).cumsum(0)), (X,), costs="h200")
    run = rt.apply(regal.optimize(captured.graph, evaluations=10), on="cpu")
    assert torch.equal(run(given)[0], given.reshape(-1).cumsum(0))
    for model, example in (
        (Calls(lambda m, a: a.add_(1)), X.clone()),
        (Calls(lambda m, a: a + 1), X[:1].expand(4, 8)),
    ):
        captured = rt.capture(model, (example,), costs="h200")
        run = rt.apply(regal.optimize(captured.graph, evaluations=10), on="cpu")
        with pytest.raises(ValueError, match=r"strides \(1, 4\).*captured with"):
            run(given)


def test_what_is_no_model_or_no_arguments_is_refused():
    model = nn.Linear(8, 8)
    with pytest.raises(TypeError, match=r"args is a Tensor, expected a tuple"):
        rt.capture(model, X)
    for train in (False, True):
        with pytest.raises(TypeError, match="expected a torch.nn.Module"):
            rt.capture(torch.sin, (X,), train=train)
        with pytest.raises(ValueError, match="give the module that it was made"):
            rt.capture(torch.jit.trace(model, X), (X,), train=train)
    with pytest.raises(TypeError, match='kwargs is a list, expected a dict'):
        rt.capture(model, (), kwargs=[X])
    with pytest.raises(ValueError, match="loss is for a training step: give train"):
        rt.capture(model, (X,), loss=loss_of)
    for function in (lambda m, a: m.f(a) * a.sum().item(),
                     lambda m, a: m.f(a)[a > 0]):
        for train in (False, True):
            with pytest.raises(ValueError, match="a value of a tensor decides"):
                rt.capture(Calls(function, f=model), (X,), train=train)


def test_a_capture_that_nobody_uses_is_forgotten():
    model = nn.Linear(8, 8)
    captured = rt.capture(model, (X,), costs="h200")
    plan = regal.optimize(captured.graph, evaluations=10)
    gone = weakref.ref(captured)
    del captured
    gc.collect()
    assert len(rt.apply(plan, on="cpu")(X)) == 1  # the plan uses it
    del plan
    gc.collect()
    assert gone() is None


def test_workers_leave_the_number_of_threads_as_it_is():
    captured = rt.capture(nn.Linear(8, 8), (X,), costs="h200")
    run = rt.apply(regal.optimize(captured.graph, evaluations=10), on="cpu")
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        run(X)
        found = []
        for _ in range(2):  # new threads ask for the default
            thread = threading.Thread(
                target=lambda: found.append(torch.get_num_threads()))
            thread.start()
            thread.join()
        assert torch.get_num_threads() == 3 and found == [3, 3]
    finally:
        torch.set_num_threads(before)


def test_what_has_no_input_is_made_on_its_device():
    model = Calls(lambda m, a: a + torch.ones(8) + torch.arange(8))
    captured = rt.capture(model, (X,), costs="h200")
    plan = regal.optimize(captured.graph, regal.Machine(devices=2),
                          evaluations=10)
    (found,) = rt.apply(plan, on=["meta", "meta"])(X)
    assert found.device.type == "meta" and found.shape == X.shape


class Keywords(nn.Module):
    """Takes arguments by keyword, as models of transformers do; those of one
    shape must not be exchanged."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, scale=None, mask=None, bias=None):
        found = self.layer(x) * scale - bias
        return found if mask is None else found * mask


@pytest.mark.parametrize("train", [False, True])
def test_arguments_by_keyword(train):
    model = Keywords()
    named = {"scale": X + 1, "bias": X.sin(), "mask": X.cos()}
    captured = rt.capture(model, (X,), kwargs=named, train=train)
    plan = regal.optimize(captured.graph, regal.Machine(devices=2), time=0.05)
    run = rt.apply(plan, on="cpu")
    other = {"bias": X.exp(), "mask": X + 3, "scale": X * 2}  # another order
    expected = model(X, **other)
    if train:
        loss = expected.square().mean()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        torch.testing.assert_close(run(X, **other), [loss, *gradients])
    else:
        torch.testing.assert_close(run(X, **other)[0], expected)
    with pytest.raises(ValueError, match="arguments bias, expected bias, mask, s"):
        run(X, bias=X)
    with pytest.raises(ValueError, match="arguments none, expected bias, mask, s"):
        run(X, X, X, X)
    with pytest.raises(ValueError, match=r"shape \(2, 8\)"):
        run(X, **{**other, "mask": X[:2]})
