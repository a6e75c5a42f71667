# SPDX-License-Identifier: Apache-2.0
"""Training steps as one graph, as far as they need no GPU: the graph is run op
by op, where Inductor's kernels would be planned."""
import copy
import warnings

import pytest

torch = pytest.importorskip("torch")

import regal.torch as rt  # noqa: E402
from regal.torch import inductor  # noqa: E402
from test_models import TRAINED, Mixed, X, loss_of  # noqa: E402
from torch import nn  # noqa: E402


@pytest.fixture
def op_by_op(monkeypatch):
    def lower(gm, inputs, compile_one, settings=None):
        assert len(inputs) == len(gm.graph.find_nodes(op="placeholder"))
        return gm

    monkeypatch.setattr(inductor, "lower", lower)


def gradients_of(model):
    return [None if p.grad is None else p.grad.clone()
            for p in model.parameters()]


def assert_same_state(model, same):
    for found, expected in zip(gradients_of(model), gradients_of(same)):
        assert (found is None) == (expected is None)
        if expected is not None:
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(list(model.buffers()), list(same.buffers()))


# An LSTM of two layers takes seconds to take apart.
@pytest.mark.parametrize("name", [n for n in TRAINED if n != "recurrent"])
def test_a_step_does_what_forward_and_backward_do(op_by_op, name):
    model, args = copy.deepcopy(TRAINED[name])
    same = copy.deepcopy(model)
    step = rt.compile_step(model, args, loss_of)
    losses = []
    for adds in (False, True, True):  # a second backward() adds to the first
        if not adds:
            model.zero_grad()
            same.zero_grad()
        losses.append(step(*args))
        expected = loss_of(same(*args))
        expected.backward()
        torch.testing.assert_close(losses[-1], expected.detach())
        assert not losses[-1].requires_grad
        assert_same_state(model, same)
    given = [p.grad for p in model.parameters() if p.grad is not None]
    assert len({g.untyped_storage().data_ptr() for g in given}) == len(given)
    for parameter in model.parameters():
        if parameter.grad is not None:
            assert parameter.grad.stride() == parameter.stride()


class Classified(nn.Module):
    """A model that returns its loss, with a label by keyword."""

    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(64, 5))

    def forward(self, x, label):
        return nn.functional.cross_entropy(self.model(x), label)


def test_steps_with_an_optimizer_train_the_model(op_by_op):
    torch.manual_seed(1)
    model = Classified()
    same = copy.deepcopy(model)
    optimizers = [torch.optim.SGD(m.parameters(), 0.1, 0.9) for m in (model, same)]
    step = None
    for _ in range(4):
        x, label = torch.randn(2, 3, 6, 6), torch.randint(5, (2,))
        step = step or rt.compile_step(model, (x,), example_kwargs={"label": label})
        for optimizer in optimizers:
            optimizer.zero_grad()
        found, expected = step(x, label=label), same(x, label=label)
        expected.backward()
        torch.testing.assert_close(found, expected.detach())
        for optimizer in optimizers:
            optimizer.step()
        assert_same_state(model, same)
    torch.testing.assert_close(list(model.parameters()), list(same.parameters()))


def test_a_step_has_the_types_of_autocast_when_it_was_compiled(op_by_op):
    model = Mixed()
    same = copy.deepcopy(model)
    with torch.autocast("cpu", torch.bfloat16):
        step = rt.compile_step(model, (X,), loss_of)
        inside = step(X)
        expected = loss_of(same(X))
    outside = step(X)
    for _ in range(2):
        expected.backward(retain_graph=True)
    assert inside == outside == expected.detach()
    assert_same_state(model, same)


def test_parameters_may_move_and_must_stay_alike(op_by_op):
    model = nn.Linear(8, 4)
    step = rt.compile_step(model, (X,), loss_of)
    model.weight.data = 2 * model.weight.detach()
    torch.testing.assert_close(step(X), loss_of(model(X)).detach())
    model.weight.data = torch.zeros(33)[1:].view(4, 8)
    with pytest.raises(ValueError, match="address modulo 16 4; .* with 0"):
        step(X)
    model.double()
    with pytest.raises(ValueError, match="dtype torch.float64.*torch.float32"):
        step(X)


def test_what_is_not_trained_may_move_too(op_by_op):
    """A frozen parameter, and a buffer that a step writes."""
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
    model[0].requires_grad_(False)
    same = copy.deepcopy(model)
    step = rt.compile_step(model, (X,), loss_of)
    for m in (model, same):
        m[0].weight.data = 2 * m[0].weight.data
        m[1].running_mean.data = m[1].running_mean.data + 1
    found, expected = step(X), loss_of(same(X))
    expected.backward()
    torch.testing.assert_close(found, expected.detach())
    assert_same_state(model, same)


def test_arguments_have_the_layout_of_the_example(monkeypatch):
    """Inductor's kernels have it built in; nothing guards a step's arguments."""
    found = []

    def lower(gm, inputs, compile_one, settings=None):
        def run(*values):
            found.append(values[-1].stride())
            return gm(*values)

        return run

    monkeypatch.setattr(inductor, "lower", lower)
    model = nn.Linear(8, 4)
    step = rt.compile_step(model, (X,), loss_of)
    given = torch.arange(32.0).reshape(8, 4).t()
    torch.testing.assert_close(step(given), loss_of(model(given)).detach())
    assert found == [X.stride()] != [given.stride()]


def test_wrong_arguments_are_refused(op_by_op):
    model = nn.Linear(8, 4)
    with pytest.raises(TypeError, match="expected a torch.nn.Module"):
        rt.compile_step(lambda x: x, (X,))
    with pytest.raises(TypeError, match=r"such as \(x,\)"):
        rt.compile_step(model, X)
    with pytest.raises(ValueError, match="the loss is .*expected a number"):
        rt.compile_step(model, (X,))
    step = rt.compile_step(model, (X,), loss_of)
    for given in (torch.ones(9, 8), X.to("meta")):
        with pytest.raises(ValueError, match="captured with"):
            step(given)


def test_a_step_on_the_cpu_is_left_to_inductor_with_one_warning(monkeypatch):
    """Taken apart by AOTAutograd, as on a GPU; what is left runs op by op."""
    monkeypatch.setattr(
        inductor, "compile_plainly", lambda gm, inputs, settings, **kwargs: gm.forward
    )
    model, args = copy.deepcopy(TRAINED["batch normalisation"])
    same = copy.deepcopy(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step = rt.compile_step(model, args, loss_of)
        found = step(*args)
    (warning,) = [w for w in caught if "regal" in str(w.message)]
    assert "training step) is left to Inductor: an input is on the cpu" in str(
        warning.message)
    expected = loss_of(same(*args))
    expected.backward()
    torch.testing.assert_close(found, expected.detach())
    assert_same_state(model, same)
    assert step.reports == []
