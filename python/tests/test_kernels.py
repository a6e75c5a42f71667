# SPDX-License-Identifier: Apache-2.0
"""Inductor's kernels, one by one, as far as they need no GPU."""
import types

import pytest

torch = pytest.importorskip("torch")
inductor = pytest.importorskip("regal.torch.inductor")

from regal.torch.captured import _traced  # noqa: E402


def tunable(times):
    """A kernel of Inductor's with several configurations, which take so long;
    its arguments are copied as Inductor copies them. Nothing runs on a GPU."""
    heuristics = pytest.importorskip("torch._inductor.runtime.triton_heuristics")

    class Tunable(heuristics.CachingAutotuner):
        fn = types.SimpleNamespace(arg_names=["in_out_ptr0", "out_ptr1"])
        mutated_arg_names = ("in_out_ptr0",)
        reset_to_zero_arg_names = ()

        def __init__(self):
            self.log = []
            self.launchers = [self.launcher(ns) for ns in times]

        def launcher(self, ns):
            def launch(changed, out, stream):
                changed.add_(1)
                out.copy_(changed)
                self.log.append(ns)

            return launch

        def precompile(self):
            raise AssertionError("it is compiled already")

        def run(self, *args, stream):
            (launcher,) = self.launchers
            launcher(*args, stream=stream)

    return Tunable()


def test_the_fastest_configuration_is_kept(monkeypatch):
    monkeypatch.setattr(inductor, "_current_stream", lambda device: 0)
    noise = iter([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])  # of the fastest, at first

    def time_ns(call):
        call()
        return kernel.log[-1] + next(noise)

    kernel = tunable([12, 11, 13])
    launch = inductor.TritonLaunch("reduction")
    launch.define(kernel)
    changed, out = torch.zeros(3), torch.zeros(3)
    launch.tune([changed, out], time_ns)
    assert torch.equal(changed, torch.zeros(3)), "tuning has changed an argument"
    assert kernel.log == [12, 11, 13] * 2
    launch(changed, out)
    assert kernel.log[-1] == 11 and torch.equal(out, torch.ones(3))
    launch.tune(
        [changed, out], lambda call: pytest.fail("there is nothing to choose")
    )


def test_functions_of_inductors_that_are_no_ops_write_their_result():
    """max-autotune chooses them; they have no schema."""
    function = inductor._own_function("extern_kernels.bias_addmm")
    assert not hasattr(function, "_schema")
    assert hasattr(inductor._own_function("extern_kernels._mm_plus_mm"), "_schema")
    graph = torch.fx.Graph()
    bias, x = (graph.placeholder(name) for name in ("bias", "x"))
    out = graph.call_function(torch.empty, ((3, 3),))
    graph.call_function(function, (bias, x, x), {"out": out})
    graph.output((graph.call_function(torch.ops.aten.relu.default, (out,)),))
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    traced = _traced(module, [torch.ones(3, 3), torch.ones(3, 3)])
    added, rectified = traced.program.kernels
    assert [a.buffer for a in added.writes] == [rectified.reads[0].buffer]
    assert traced.program.dependencies == [[], [0]]


def test_text_that_is_no_op_is_refused():
    """With what it says; other lines are left as they are."""
    for text, arguments in (
        ("buf0.zero_()", ("buf0",)),
        ("buf9.copy_(buf0, False)", ("buf9", "buf0")),
    ):
        assert inductor._as_line(text).arguments == arguments
    line = inductor._as_line(
        "buf8 = workspace_0[1 * (4) * (24) : (1 + 1) * (4) * (24)]"
        ".view(4, 24).amax(dim=0).view([24]).to(torch.bfloat16)"
    )
    assert (line.name, line.workspace) == ("buf8", "workspace_0")
    assert line.size == [4, 24] and line.offset == 96
    assert line.op == torch.ops.aten.amax.default
    assert inductor._as_line(line) is line
    with pytest.raises(inductor.Unsupported, match=r"text: buf0.resize_\(3\)"):
        inductor._as_line("buf0.resize_(3)")


def test_a_copy_that_is_text_may_be_of_a_view():
    gm = torch.fx.GraphModule({}, torch.fx.Graph())
    to, source = (gm.graph.placeholder(name) for name in ("buf6", "buf7"))
    to.meta["val"], source.meta["val"] = torch.empty(2, 3), torch.empty(6)
    gm._register_create_node_hook(lambda node: node.meta.update(to.meta))
    converter = types.SimpleNamespace(
        gm=gm, buffer_to_node={"buf6": to, "buf7": source}
    )
    line = inductor._as_line(
        "buf6.copy_(reinterpret_tensor(buf7, (2, 3), (1, 2), 0), False)"
    )
    line.codegen_fx(converter)(line)
    gm.graph.output(to)
    gm.recompile()
    expected = torch.tensor([[0.0, 2, 4], [1, 3, 5]])
    assert torch.equal(gm(torch.zeros(2, 3), torch.arange(6.0)), expected)
    line = inductor._as_line("buf6.copy_(buf7[0], False)")
    with pytest.raises(inductor.Unsupported, match=r"text: buf7\[0\]"):
        line.codegen_fx(converter)(line)


def test_conditional_parts_are_refused():
    """What decides about them would be read on the host."""
    codegen = object.__new__(inductor.PlannedCodegen)
    codegen.subgms = {"true_graph_0": torch.fx.GraphModule({}, torch.fx.Graph())}
    with pytest.raises(inductor.Unsupported, match="conditional or looping"):
        codegen._generate(is_inference=True)


def test_settings_that_a_plan_cannot_have_are_taken_back(monkeypatch):
    """Inductor's own CUDA graph around a plan, say."""
    from torch._inductor import config

    found = {}

    def compile_fx(gm, inputs, inner_compile, config_patches):
        with config.patch(config_patches):
            found.update(
                cudagraphs=config.triton.cudagraphs, cpp=config.cpp_wrapper,
                autotune=config.max_autotune,
            )

    monkeypatch.setattr(inductor, "compile_fx", compile_fx)
    settings = {"triton.cudagraphs": True, "max_autotune": True}
    with config.patch(cpp_wrapper=True):
        inductor.lower(torch.fx.symbolic_trace(torch.nn.ReLU()), [], None, settings)
    assert found == {"cudagraphs": False, "cpp": False, "autotune": True}


SOURCE = """
@triton.jit
def helper(a, b):
    return a + b

@triton_heuristics.{kind}(
    triton_meta={{'signature': {{}}, 'launch_pdl': {pdl}}},
)
@triton.jit
def {name}(in_ptr0, out_ptr0, XBLOCK : tl.constexpr):
    x = tl.load(in_ptr0)
"""


@pytest.mark.parametrize("kind, pdl, name, is_early", [
    ("pointwise", True, "triton_poi_0", True),
    ("pointwise", False, "triton_poi_0", False),  # an older GPU
    ("user_autotune", True, "triton_poi_0", False),
    ("pointwise", True, "triton_", False),  # whose names are not unique
])
def test_kernels_that_may_be_launched_early(kind, pdl, name, is_early):
    source = SOURCE.format(kind=kind, pdl=pdl, name=name)
    found, is_found = inductor._waiting_first("triton_poi_0", source)
    assert is_found == is_early
    assert "'launch_pdl': False" in found  # the driver does it, or nobody
    lines = found.splitlines()
    body = lines[next(i for i, x in enumerate(lines) if "def triton" in x) + 1:]
    wait = "    tl.extra.cuda.gdc_wait()"
    assert body == [wait] * is_early + ["    x = tl.load(in_ptr0)"]
