# SPDX-License-Identifier: Apache-2.0
"""Attention with dropout: its random state is where the op reads it.

The ops need a GPU. `Ops` takes their place, with PyTorch's rule for states; results
and gradients are checked where there is one (test_gpu.py).
"""
import operator
import types

import pytest

torch = pytest.importorskip("torch")

from regal.torch import attention  # noqa: E402

ATEN = torch.ops.aten
FORWARD = ATEN._scaled_dot_product_efficient_attention.default
BACKWARD = ATEN._scaled_dot_product_efficient_attention_backward.default
STATES = [7, 8]
HOST, GPU = torch.device("cpu"), torch.device("cuda:0")


class Value:
    """What of a tensor matters here: where it is."""

    def __init__(self, device):
        self.device, self.is_cuda = device, device.type == "cuda"

    def to(self, device):
        return Value(torch.device(device))

    def cpu(self):
        return self.to(HOST)


@pytest.fixture
def recording(monkeypatch):
    now = types.SimpleNamespace(is_on=False)
    monkeypatch.setattr(
        torch.cuda, "is_current_stream_capturing", lambda: now.is_on)
    return now


def forward(recording):
    """PyTorch's: the state is on the GPU while it records."""
    where = GPU if recording.is_on else HOST
    return Value(GPU), Value(GPU), Value(where), Value(where)


def backward(recording, args):
    """PyTorch's; elsewhere the process would end."""
    assert all(args[at].is_cuda == recording.is_on for at in STATES)
    return tuple(Value(GPU) for _ in range(4))


class Op:
    """With the schema of aten's."""

    def __init__(self, like, run):
        self.__name__, self.run = like.__name__, run
        self._schema, self.tags = like._schema, like.tags

    def __call__(self, *args, **kwargs):
        return self.run(args)


def pair(recording):
    return (
        attention.OnGpu(Op(FORWARD, lambda args: forward(recording))),
        attention.OnGpu(Op(BACKWARD, lambda args: backward(recording, args))),
    )


def args_with(seed, offset):
    return [Value(GPU)] * 7 + [seed, offset, 0.1, [True] * 4]


@pytest.mark.parametrize("is_first_recorded", [False, True])
@pytest.mark.parametrize("is_second_recorded", [False, True])
def test_a_state_is_right_wherever_both_run(
    recording, is_first_recorded, is_second_recorded
):
    run, run_back = pair(recording)
    recording.is_on = is_first_recorded
    results = run()
    assert all(value.device == GPU for value in results)
    recording.is_on = is_second_recorded
    assert len(run_back(*args_with(*results[2:]))) == 4


def test_a_state_on_the_host_is_not_recorded(recording):
    """Of a forward pass that is Inductor's: the graph is left to Inductor, too."""
    _, run_back = pair(recording)
    args = args_with(*forward(recording)[2:])
    run_back(*args)
    recording.is_on = True
    with pytest.raises(RuntimeError, match="dropout is on the host"):
        run_back(*args)


@pytest.mark.parametrize("is_planned", [False, True])
def test_inductors_own_backward_pass_may_follow_a_planned_one(
    recording, is_planned
):
    run, _ = pair(recording)
    results = run() if is_planned else forward(recording)
    plainly = attention.with_states(
        lambda args: backward(recording, args), STATES)
    assert plainly._boxed_call
    plainly(args_with(*results[2:]))


def graph_of(op, args, **kwargs):
    """Of one op, with inputs where `args` has True."""
    graph = torch.fx.Graph()
    graph.placeholder("unused")
    given = [
        graph.placeholder(f"x{at}") if value is True else value
        for at, value in enumerate(args)
    ]
    results = graph.call_function(op, tuple(given), kwargs)
    graph.output((graph.call_function(operator.getitem, (results, 0)),))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def target_of(gm):
    attention.keep_states_on_gpu(gm)
    first = next(n for n in gm.graph.nodes if n.op == "call_function")
    return first.target


def test_only_attention_with_dropout_that_is_trained_has_a_state():
    trained = [True, True, True, None, True, 0.1]
    found = target_of(graph_of(FORWARD, trained))
    assert found.op is FORWARD and found._schema is FORWARD._schema
    assert torch.Tag.nondeterministic_seeded in found.tags
    assert found is target_of(graph_of(FORWARD, trained))
    for args in ([True, True, True, None, True], [True, True, True, None, False, 0.1]):
        assert target_of(graph_of(FORWARD, args)) is FORWARD
    known = graph_of(FORWARD, [True, True, True, None, True], dropout_p=0.1)
    assert target_of(known).op is FORWARD


def test_states_are_found_among_the_inputs_of_a_backward_pass():
    args = [True] * 4 + [None] + [True] * 4 + [0.1, [False] * 4]
    gm = graph_of(BACKWARD, args)
    assert attention.states_among_inputs(gm) == [7, 8]
    args[9] = 0.0
    assert attention.states_among_inputs(graph_of(BACKWARD, args)) == []


def test_inductors_code_for_any_size_takes_states_where_they_are_read(monkeypatch):
    """Compiled autograd makes one graph of the backward passes of several graphs,
    one of which may be planned."""
    inductor = pytest.importorskip("regal.torch.inductor")
    found = []

    def compile_fx_inner(gm, example_inputs, **kwargs):
        def call(args):
            found.extend(args)
            return gm(*args)

        call._boxed_call = True
        return call

    monkeypatch.setattr(inductor, "compile_fx_inner", compile_fx_inner)
    moved = []
    monkeypatch.setattr(
        attention, "_where_it_is_read", lambda state: moved.append(state) or state)
    gm = graph_of(BACKWARD, [True] * 4 + [None] + [True] * 4 + [0.1, [False] * 4])
    q, sums = torch.randn(1, 2, 32, 16), torch.randn(1, 2, 32)
    seed, offset = torch.tensor(3), torch.tensor(4)
    compiled = inductor.lower_plainly(gm, [q, q, q, q, q, q, sums, seed, offset])
    with pytest.raises(NotImplementedError, match="CPU"):  # there is no such op
        compiled(q, q, q, q, q, q, sums, seed, offset)
    assert [state.item() for state in moved] == [3, 4]
    assert len(found) == 9
