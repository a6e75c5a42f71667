# SPDX-License-Identifier: Apache-2.0
"""Inference as one graph, as far as it needs no GPU: the graph is run op by op,
where Inductor's kernels would be planned."""
import copy
import dataclasses
import gc
import warnings
import weakref

import pytest

torch = pytest.importorskip("torch")

import regal.torch as rt  # noqa: E402
from regal.torch import inductor  # noqa: E402
from test_models import MODELS, X  # noqa: E402
from test_step import op_by_op  # noqa: E402, F401
from torch import nn  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402


@pytest.mark.parametrize("name", MODELS)
def test_a_call_returns_what_the_model_returns(op_by_op, name):  # noqa: F811
    model, args = copy.deepcopy(MODELS[name])
    same = copy.deepcopy(model)
    run = rt.compile_inference(model, args)
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        given, expected_args = copy.deepcopy(args), copy.deepcopy(args)
        with mode():
            found = run(*given)
        with torch.no_grad():
            expected = same(*expected_args)
        torch.testing.assert_close(found, expected)
        assert pytree.tree_structure(found) == pytree.tree_structure(expected)
        torch.testing.assert_close(given, expected_args)
        torch.testing.assert_close(list(model.buffers()), list(same.buffers()))
        for value in pytree.tree_leaves(found):
            if isinstance(value, torch.Tensor):
                assert not value.requires_grad and not value.is_inference()


@dataclasses.dataclass
class Output:
    last: torch.Tensor
    note: str


pytree.register_dataclass(Output)


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x, factor, *, add=None, flag=True):
        return Output(self.linear(x) * factor + add if flag else x, "kept")


def test_results_and_arguments_of_any_kind(op_by_op):  # noqa: F811
    """Those that are no tensors are no inputs or results of the graph."""
    model = Keywords()
    run = rt.compile_inference(
        model, (X, 2.5), example_kwargs={"flag": True, "add": X})
    with torch.no_grad():
        expected = model(X, 2.5, add=3 * X)
    found = run(X, 2.5, add=3 * X, flag=True)
    assert found.note == "kept"
    torch.testing.assert_close(found.last, expected.last)
    with pytest.raises(ValueError, match="argument 1 is 3; .* with 2.5"):
        run(X, 3, add=X, flag=True)
    with pytest.raises(ValueError, match="keyword arguments add, expected add, f"):
        run(X, 2.5, add=X)


def test_parameters_and_buffers_may_move_and_must_stay_alike(op_by_op):  # noqa: F811
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)).eval()
    run = rt.compile_inference(model, (X,))
    with torch.no_grad():
        for part in (model[0].weight, model[1].running_mean):
            part.data = part.detach() + 1
            torch.testing.assert_close(run(X), model(X))
    model.load_state_dict({k: v * 2 for k, v in model.state_dict().items()})
    torch.testing.assert_close(run(X), model(X).detach())
    model[0].weight.data = torch.zeros(8, 8).t()
    with pytest.raises(ValueError, match=r"has strides \(1, 8\).* with \(8, 1\)"):
        run(X)
    model = nn.Linear(8, 8)
    run = rt.compile_inference(model, (X,))
    model.double()
    with pytest.raises(ValueError, match="dtype torch.float64.*torch.float32"):
        run(X)


class Counting(nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return 2 * y


def test_what_the_model_writes_must_not_be_another_argument(op_by_op):  # noqa: F811
    def part(whole, begin):
        return whole.as_strided((2, 3), (6, 1), begin)

    example = torch.zeros(12)  # arguments of calls may lie elsewhere
    run = rt.compile_inference(Counting(), (part(example, 0), part(example, 1)))
    whole = torch.zeros(12)
    assert torch.equal(run(part(whole, 0), part(whole, 3)), torch.zeros(2, 3))
    assert whole.view(2, 2, 3)[:, 0].eq(1).all() and whole.sum() == 6
    for begin in ((0, 0), (0, 1), (3, 2)):
        with pytest.raises(ValueError, match="arguments 0 and 1 share memory"):
            run(*(part(whole, at) for at in begin))
    assert whole.sum() == 6


def test_an_example_may_lie_beside_the_parameters(op_by_op):  # noqa: F811
    model, whole = nn.Linear(8, 8), torch.randn(100)
    model.weight.data, model.bias.data = whole[3:67].view(8, 8), whole[70:78]
    run = rt.compile_inference(model, (whole[81:89].view(1, 8),))
    with torch.no_grad():
        torch.testing.assert_close(run(X[:1]), model(X[:1]))


def test_the_memory_of_the_example_is_not_kept(op_by_op):  # noqa: F811
    example = X.t().clone()
    gone = weakref.ref(example)
    run = rt.compile_inference(nn.Linear(4, 8), (example,))
    del example
    gc.collect()
    assert gone() is None
    assert run(X.t()).shape == (8, 8)


@pytest.fixture
def taken_apart(monkeypatch):
    """By AOTAutograd and Inductor's decompositions, as on a GPU; what is left to
    Inductor runs op by op."""
    monkeypatch.setattr(
        inductor, "compile_plainly", lambda gm, inputs, settings, **kwargs: gm.forward
    )


class Cached(nn.Module):
    """With a cache of keys that is empty yet."""

    def forward(self, x):
        keys = torch.cat([torch.tensor([]), x.transpose(1, 2)], -2)
        return keys.view(6, 5, 8) + 1


@pytest.mark.filterwarnings("ignore:regal")
def test_last_states_of_an_lstm(taken_apart):
    model, args = MODELS["last states of a projected one"]
    run = rt.compile_inference(model, args)
    torch.testing.assert_close(run(*args), model(*args))


def test_a_size_that_values_decide_is_refused(taken_apart):
    class Chosen(nn.Module):
        def forward(self, x):
            return x[x[:, 0] > 0]

    with pytest.raises(ValueError, match="a value of a tensor decides"):
        rt.compile_inference(Chosen(), (X,))


@pytest.mark.filterwarnings("ignore:regal")
def test_views_of_results_whose_strides_inductor_changes(taken_apart):
    x = torch.randn(2, 5, 3, 8)
    run = rt.compile_inference(Cached(), (x,))
    torch.testing.assert_close(run(x), Cached()(x))


def test_a_model_on_the_cpu_is_left_to_inductor_with_one_warning(taken_apart):
    model, args = copy.deepcopy(MODELS["a buffer that is written"])
    same = copy.deepcopy(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = rt.compile_inference(model, args)
        found = [run(*args) for _ in range(3)]
    (warning,) = [w for w in caught if "regal" in str(w.message)]
    assert "inference) is left to Inductor: an input is on the cpu" in str(
        warning.message)
    torch.testing.assert_close(found, [same(*args) for _ in range(3)])
    torch.testing.assert_close(list(model.buffers()), list(same.buffers()))
    assert run.reports == []
