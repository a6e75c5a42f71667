# SPDX-License-Identifier: Apache-2.0
"""Lowers models by Inductor for a GPU that is not there: lowered.py

Run by test_lowering.py, in a process of its own: what asks CUDA for anything is
replaced. Inductor writes its kernels and launches; Triton compiles nothing.
Prints a line of JSON for each model.
"""
import inspect
import json
import types
import warnings

import torch
import torch._inductor.fx_passes.joint_graph as joint_graph
import torch._inductor.fx_passes.post_grad as post_grad
import torch._inductor.runtime.triton_helpers as triton_helpers
import torch._prims_common.wrappers as wrappers
import torch._subclasses.fake_tensor as fake_tensor
import triton
import triton.language as tl
from torch import nn
from torch._higher_order_ops.while_loop import while_loop
from torch._dynamo.device_interface import CudaInterface
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from torch._inductor.select_algorithm import AlgorithmSelectorCache
from torch.nn.attention.flex_attention import flex_attention
from torch.fx.experimental.proxy_tensor import make_fx
from triton.backends.compiler import GPUTarget

GPU = torch.device("cuda:0")
H200 = types.SimpleNamespace(
    name="NVIDIA H200", major=9, minor=0, multi_processor_count=132,
    total_memory=150_000_000_000, regs_per_multiprocessor=65536, warp_size=32,
    max_threads_per_multi_processor=2048, max_threads_per_block=1024,
    shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
    L2_cache_size=60 << 20, gcnArchName="",
)


class Driver:
    """Of Triton, which asks it what to compile for."""

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return GPU


def returning(value):
    return lambda *args, **kwargs: value


class Current:
    """The number of the GPU that is selected."""

    gpu = 0

    @classmethod
    def exchange(cls, number):
        before, cls.gpu = cls.gpu, number if number >= 0 else cls.gpu
        return before


def pretend():
    """Answers for those who ask whether there is a GPU, and which."""
    torch._inductor.config.compile_threads = 1  # in this process
    for name, value in {
        "is_available": True, "is_initialized": True, "device_count": 2,
        "get_device_properties": H200, "get_device_capability": (9, 0),
        "get_device_name": H200.name, "synchronize": None, "_lazy_init": None,
        "get_rng_state": torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": None,
    }.items():
        setattr(torch.cuda, name, returning(value))
    torch.cuda.current_device = lambda: Current.gpu
    torch.cuda._exchange_device = Current.exchange
    torch.cuda._maybe_exchange_device = Current.exchange
    for owner, name, value in (
        (CudaInterface, "is_available", True),
        (CudaInterface, "current_device", 0),
        (CudaInterface, "get_device_properties", H200),
        (CudaInterface, "get_compute_capability", 90),
        (CudaInterface, "get_raw_stream", 0),
        (CudaInterface.Worker, "get_device_properties", H200),
        (CachingAutotuner, "precompile", None),
    ):
        setattr(owner, name, staticmethod(returning(value)))
    torch.utils._triton.has_triton.cache_clear()  # Dynamo has asked
    triton.runtime.driver.set_active(Driver())
    triton_helpers.set_driver_to_gpu = returning(None)
    fake_tensor.init_gpu_context = returning(None)
    # Patterns are made by running them, and constants by computing them.
    for module in (joint_graph, post_grad):
        module.lazy_init = returning(None)
    joint_graph.constant_fold_uniform_value = returning(None)
    wrappers._safe_copy_out = lambda *, copy_to, **_: copy_to
    # The method selects the GPU first.
    torch.Tensor.copy_ = lambda self, other: torch.ops.aten.copy_.default(self, other)


class Odd(nn.Module):
    """Results that are inputs, views, parameters; a buffer that it writes."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)
        self.register_buffer("calls", torch.zeros(8))

    def forward(self, x, factor, y):
        self.calls.add_(1)
        z = self.norm(self.linear(x)) * factor
        return x, x.view(-1), z, z.t(), y, self.linear.weight, z.sum()


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(nn.Conv2d(4, 4, k, padding=k // 2), nn.ReLU())
            for k in (1, 3, 5)
        )

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1).mean((2, 3))


class Weighted(nn.Module):
    """With a constant, and parameters of its shape."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x) * torch.tensor([1.0, 2.0] * 4)


class Numbers(nn.Module):
    """Arguments and results that are no tensors."""

    def forward(self, x, how, factor, none):
        return factor, (x * factor).sum(), none, how, x + 1


@torch.library.custom_op("regal_tests::triple", mutates_args=("to",))
def triple(x: torch.Tensor, to: torch.Tensor) -> None:
    to.copy_(3 * x)


triple.register_fake(lambda x, to: None)


class Tripled(nn.Module):
    """With an op that has no result."""

    def forward(self, x):
        to = torch.zeros_like(x)
        triple(x.sin(), to)
        return to + 1


class Attending(nn.Module):
    """By a template of Inductor's that writes two arguments."""

    def forward(self, x):
        found, logarithm = flex_attention(x.sin(), x.cos(), x, return_lse=True)
        return found, logarithm + 1


class Routed(nn.Module):
    """Scatters an integer, as models with experts in groups do, and converts what
    it is scattered to."""

    def forward(self, x):
        best = x.max(1, keepdim=True).indices
        chosen = torch.zeros_like(x).scatter_(1, best, 1)
        return x.masked_fill(~chosen.bool(), 0.0)


class Caching(nn.Module):
    """Writes a row, where a counter says."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(16, 8))
        self.register_buffer("length", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        at = torch.arange(4) + self.length
        self.length.add_(4)
        self.rows.index_copy_(0, at, x)
        return self.rows.sum(0)


class Looping(nn.Module):
    def forward(self, x):
        return while_loop(
            lambda count, x: count < 3, lambda count, x: (count + 1, 2 * x),
            (torch.tensor(0), x),
        )


class Normed(nn.Module):
    """Writes running means."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(self.linear(x)).square().mean()


def lower(name, model, args, train, inside=False):
    """The fused kernels of the model, as `regal.torch.capture` gets them.

    :param inside: kernels write what the model writes, as in `OneGraph`.
    """
    show(name, fused_on_gpu(*graph_of(model, args, train, inside)))


def graph_of(model, args, train=False, inside=False):
    from regal.torch.calls import Call
    from regal.torch.joint import joint
    from regal.torch.models import exported
    from regal.torch.one_graph import closed

    call = Call(args, None)
    program = joint(model, call, None) if train else exported(model, call)
    return closed(program)[:2] if inside else program[:2]


def fused_on_gpu(gm, values):
    from regal.torch.captured import _fused

    for node in gm.graph.nodes:
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": GPU}
    gm.recompile()
    return _fused(gm, [on_gpu(value) for value in values])


def show(name, traced):
    from regal.torch.attention import OnGpu
    from regal.torch.counters import find_counters
    from regal.torch.trace import is_triton

    program = traced.program
    print(json.dumps({
        "name": name,
        "kernels": [kernel.name for kernel in program.kernels],
        "reads": [[a.buffer for a in kernel.reads] for kernel in program.kernels],
        "writes": [[a.buffer for a in kernel.writes] for kernel in program.kernels],
        "dependencies": program.dependencies,
        "counters": find_counters(traced),
        "states": sum(isinstance(n.target, OnGpu) for n in traced.kernels),
        "fused": sum("triton" in kernel.name for kernel in program.kernels),
        "early": sorted(traced.early_names),
        "inputs": len(traced.placeholders),
        "results": [
            "tensor" if isinstance(r, torch.fx.Node) else r
            for r in traced.result_nodes
        ],
        "written": [
            traced.placeholders.index(node) for node in traced.written_inputs
        ],
        "sources": {
            launch.name: inspect.getsource(launch.kernel.fn.fn)
            for launch in {n.target for n in traced.kernels if is_triton(n)}
        },
    }), flush=True)


def refuse_a_model_on_the_cpu(x):
    import regal.torch

    try:
        regal.torch.capture(nn.Linear(8, 8), (x,), level="inductor")
    except ValueError as error:
        print(json.dumps({"name": "refused", "why": str(error)}), flush=True)


@triton.jit
def shift_and_add(in_ptr0, BLOCK: tl.constexpr, in_ptr1, in_ptr2, n, by):
    """Of a user: writes its first and its last tensor."""
    at = tl.arange(0, BLOCK)
    x = tl.load(in_ptr0 + at, mask=at < n)
    tl.store(in_ptr0 + at, x + by, mask=at < n)
    tl.store(in_ptr2 + at, x + tl.load(in_ptr1 + at, mask=at < n), mask=at < n)


def with_a_kernel_of_the_user(x, y):
    doubled, out = x * 2, torch.empty_like(x)
    launch = torch.library.wrap_triton(shift_and_add)
    launch[(1,)](doubled, 32, y, out, x.numel(), 1.5)
    return [out, doubled + 1]


def lower_function(name, function, args):
    from regal.torch.captured import _fused

    given = [on_gpu(x) for x in args]
    with MODE:
        gm = make_fx(function)(*given)
    show(name, _fused(gm, given))


def attend_with_dropout(q, k, v):
    """Autograd itself would ask CUDA for its context."""
    aten = torch.ops.aten
    found, *kept = aten._scaled_dot_product_efficient_attention(
        q, k, v, None, True, 0.1
    )
    return aten._scaled_dot_product_efficient_attention_backward(
        2 * found, q, k, v, None, found, *kept, 0.1, [True, True, True, False]
    )[:3]


def lower_views_of_a_part(x):
    """Of an argument that lies behind another tensor, and of another type."""
    from regal.torch.captured import _fused

    def products(x):
        product = x.t() @ x
        return [product, product.view(torch.int32)]

    with MODE:
        given = on_gpu(x)
        gm = make_fx(products)(given)
    traced = _fused(gm, [given])
    whole = torch.arange(2.0 * x.numel())
    part = whole[x.numel():].view(x.shape)
    (product,) = [n for n in traced.kernels if "mm" in n.name]
    env = traced.inputs([part])
    print(json.dumps({
        "name": "part",
        "is_right": [
            torch.equal(traced.value(found, env), expected)
            for found, expected in zip(product.args, (part.t(), part))
        ],
        "types": [str(traced.values[r].dtype) for r in traced.result_nodes],
    }), flush=True)


def lower_a_kernel_with_two_orders_of_loops(x):
    """Usual for large tensors; here for any."""
    with torch._inductor.config.patch("triton.mix_order_reduction_non_strict_mode", True):
        lower("two orders", nn.Sequential(nn.Linear(24, 24), nn.LayerNorm(24)), (x,), True)


def tuned(kernels, *args, **kwargs):
    """Times of max-autotune: the first one is the fastest."""
    return {kernel: float(at) for at, kernel in enumerate(kernels)}


def plan_on_another_gpu(x):
    """Than the one that is selected."""
    from regal.torch import Backend

    with MODE:
        x = torch.empty_like(x, device="cuda:1")
        gm = make_fx(lambda x: [x.sin().sum(0) + 1])(x)
    backend = Backend()
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always")
        backend.plan(gm, [x], [], "inference")
    print(json.dumps({
        "name": "another", "gpus": [graph._gpu for graph in backend.graphs],
        "selected": Current.gpu,
        "warnings": [str(w.message) for w in caught if "regal" in str(w.message)],
    }), flush=True)


def lower_with_max_autotune(x):
    AlgorithmSelectorCache.benchmark_in_current_process = staticmethod(tuned)
    settings = {"max_autotune": True, "max_autotune_gemm_backends": "ATEN"}
    with torch._inductor.config.patch(settings):
        lower_function("tuned", lambda x, y: [x @ y + y @ x], (x, x))


def lower_a_reduction_with_settings(x):
    """Of which Inductor makes several kernels, or one whose blocks wait."""
    for name, settings in {
        "cooperative": {
            "triton.cooperative_reductions": True,
            "triton.force_cooperative_reductions": True,
        },
        "multi": {"triton.multi_kernel": 3},
    }.items():
        with torch._inductor.config.patch(settings):
            lower_function(name, lambda x: [x.softmax(-1)], (x,))


class Chosen(nn.Module):
    def forward(self, x):
        return x[(x > 0).nonzero()[:, 0]]


def refuse_a_size_that_values_decide(x):
    try:
        lower("chosen", Chosen(), (x,), False)
    except ValueError as error:
        print(json.dumps({"name": "chosen", "why": str(error)}), flush=True)


def refuse_a_loop(graph):
    try:
        show("looping", fused_on_gpu(*graph))
    except ValueError as error:
        print(json.dumps({"name": "looping", "why": str(error)}), flush=True)


MODE = fake_tensor.FakeTensorMode(allow_non_fake_inputs=True)


def on_gpu(value):
    if not isinstance(value, torch.Tensor):
        return value
    with MODE:
        return torch.empty_strided(
            value.shape, value.stride(), dtype=value.dtype, device=GPU
        )


def main():
    attending = graph_of(Attending(), (torch.randn(1, 2, 128, 16),))  # by Dynamo
    looping = graph_of(Looping(), (torch.randn(4, 8),))  # this one, too
    pretend()
    x, image = torch.randn(4, 8), torch.randn(2, 4, 9, 9)
    refuse_a_model_on_the_cpu(x)
    lower("odd", Odd().train(), (x, 3, torch.ones(3)), False)
    lower("branches", Branches().eval(), (image,), False)
    lower("step", Branches(), (image,), True)
    lower("weighted", Weighted(), (x,), True)
    refuse_a_size_that_values_decide(x)
    refuse_a_loop(looping)
    lower("tripled", Tripled(), (x,), False)
    lower("routed", Routed(), (x,), False)
    lower("numbers", Numbers(), (x, "twice", 3, None), False)
    lower("whole step", Normed(), (x,), True, inside=True)
    lower("whole call", Odd().train(), (x, 3, torch.ones(3)), False, inside=True)
    lower("caching", Caching(), (x,), False, inside=True)
    lower_function("user", with_a_kernel_of_the_user, (x, x))
    show("attending", fused_on_gpu(*attending))
    lower_function("dropping", attend_with_dropout, 3 * (torch.randn(1, 2, 32, 16),))
    lower_views_of_a_part(x)
    lower_function("spectral", lambda x: [torch.fft.fft2(x).real + 1], (x,))
    lower_a_kernel_with_two_orders_of_loops(torch.randn(64, 24))
    plan_on_another_gpu(x)
    lower_with_max_autotune(torch.randn(8, 8))
    lower_a_reduction_with_settings(torch.randn(4, 8192))


if __name__ == "__main__":
    main()
