# SPDX-License-Identifier: Apache-2.0
"""Inductor's fused kernels as an FX graph.

Inductor can write its wrapper as an FX graph instead of Python source
(``WrapperFxCodegen``). Some things of that converter are replaced here:

- It launches a Triton kernel by Triton's own function with the block sizes of
  the first configuration, and loses the number of warps. Here a node launches
  Inductor's ``CachingAutotuner`` itself, as the generated Python code does, with
  the same configurations. `TritonLaunch.tune` chooses among them.
- It waits for each kernel's compilation before it submits the next one. Here
  kernels are submitted while the graph is made, and awaited at its end.
- It looks for the result of an op of the user's that has none.
- It allocates on the GPU that is selected.
- It takes views from where the memory of a tensor begins, as of the tensor's type.
  Here they are from where the tensor begins, and have a type of their own.
- It knows no lines of text, such as copies of complex numbers and sums of what the
  blocks of a kernel have added up.
- It takes no functions of Inductor's own that are no ops (`bias_addmm`, which
  max-autotune may choose), and no kernels of the user's with floating arguments.

Everything that depends on Inductor's internals is in this file. What it cannot
convert raises ``Unsupported``; the caller then uses plain Inductor.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import re
import threading
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

import torch
from torch._functorch import config as functorch
from torch._inductor import config, ir, utils
from torch._inductor.codecache import LambdaFuture, PyCodeCache
from torch._inductor.codegen import common, wrapper, wrapper_fxir
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.select_algorithm import extern_kernels
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensor

from .attention import states_among_inputs, with_states
from .recurrent import right_states
from .trace import Unsupported

#: Each buffer is written once, by name, so that what a kernel reads and writes
#: follows from its arguments; checks of sizes would be lines of Python.
SETTINGS = {
    "fx_wrapper": True,
    "inplace_buffers": False,
    "allow_buffer_reuse": False,
    "size_asserts": False,
    "alignment_asserts": False,
    "triton.cudagraphs": False,
    "graph_partition": False,
    "triton.enable_pdl": True,
    "memory_planning": False,
    # Blocks that wait for others of their kernel wait forever if blocks of
    # another stream, which wait as well, have taken the place of these.
    "triton.cooperative_reductions": False,
    "triton.force_cooperative_reductions": False,
    # Python that chooses one of several kernels at a call.
    "triton.multi_kernel": 0,
}

#: Whatever the user has set: a plan is recorded here, not by Inductor around it,
#: and its graph is no C++.
_NEVER = {"triton.cudagraphs": False, "cpp_wrapper": False}

#: In a kernel that waits before it touches memory (see `_waiting_first`).
_WAIT = "tl.extra.cuda.gdc_wait()"
#: In the source of a kernel that the user wrote.
_USERS_OWN = "@triton_heuristics.user_autotune"

#: How names of a template's arguments begin.
_OF_TEMPLATE = "arg_"

#: What Inductor's own timing chose is not taken over: see `TritonLaunch.tune`.
#: For max-autotune the same cache keeps what took minutes.
UNTUNED = {"autotune_local_cache": False}

#: Each configuration is timed so often, in turn.
_ROUNDS = 2

_COMPILING = threading.RLock()


class TritonLaunch:
    """Launches one of Inductor's Triton kernels on the current stream."""

    def __init__(
        self, name: str, can_be_early: bool = False, is_users: bool = False
    ):
        self.__name__ = self.name = name
        #: Whether it waits for those before it, if it is launched early.
        self.can_be_early = can_be_early
        #: Whether the user has written it: names say nothing of its arguments,
        #: and its signature has more of them than a launch.
        self.is_users = is_users
        #: Places of arguments that it writes and whose names do not say so.
        self.written: Set[int] = set()
        self._kernel: Any = None

    def define(self, kernel: Any) -> None:
        self._kernel = kernel

    @property
    def kernel(self) -> Any:
        if isinstance(self._kernel, LambdaFuture):
            self._kernel = self._kernel.result()
        return self._kernel

    def __call__(self, *args: Any) -> None:
        device = next(a.device for a in args if isinstance(a, torch.Tensor))
        if any(isinstance(a, FakeTensor) for a in args):
            return
        self.kernel.run(*args, stream=_current_stream(device))

    def tune(self, args: Sequence[Any], time_ns: Callable) -> None:
        """Keeps the fastest of the kernel's configurations, as `time_ns` has
        the nanoseconds of a call.

        Inductor would time them at the first call, one launch at a time from
        Python and for a tenth of a second each. Small kernels run for less time
        than a launch takes, and now and then a slow configuration wins (12 us
        instead of 5 for a reduction of MMoE).
        """
        kernel = self.kernel
        if not kernel.launchers:
            kernel.precompile()
        if len(kernel.launchers) < 2 or kernel.reset_to_zero_arg_names:
            return  # nothing to choose, or a matter of what was there before
        own, _ = kernel.clone_args(*args)  # what it changes in place
        device = next(a.device for a in own if isinstance(a, torch.Tensor))

        def time_one(launcher: Any) -> float:
            return time_ns(
                lambda: launcher(*own, stream=_current_stream(device))
            )

        best = [float("inf")] * len(kernel.launchers)
        for _ in range(_ROUNDS):
            best = list(map(min, best, map(time_one, kernel.launchers)))
        kernel.launchers = [kernel.launchers[best.index(min(best))]]

    def roles(self, count: int) -> List[str]:
        """"r", "w", "rw" or "" for each of the first `count` arguments."""
        if self.is_users:
            return ["rw" if at in self.written else "r" for at in range(count)]
        names = list(self.kernel.triton_meta["signature"])[:count]
        mutated = set(getattr(self.kernel, "mutated_arg_names", ()))
        mutated |= {
            name
            for at, name in enumerate(names)
            if at in self.written and name.startswith(_OF_TEMPLATE)
        }
        return [_role(name, mutated) for name in names]


def _current_stream(device: torch.device) -> int:
    return torch._C._cuda_getCurrentRawStream(device.index)


def _role(name: str, mutated: set) -> str:
    if name.startswith("in_out_ptr") or name in mutated:
        return "rw"
    if name.startswith("out_ptr"):
        return "w"
    if name.startswith(("in_ptr", _OF_TEMPLATE, "seed", "load_seed")):
        return "r"
    return "rw"


class _OpLine(wrapper.WrapperLine):
    """An op that Inductor writes as text, and its arguments, which are text, too."""

    def __init__(self, op: Any, *arguments: str):
        self.op, self.arguments = op, arguments

    def codegen_fx(self, converter):
        def generate(line: "_OpLine") -> None:
            nodes = [_node_of(converter, text) for text in line.arguments]
            if len({node.meta["val"].device for node in nodes}) > 1:
                raise Unsupported(f"{line.arguments[1]} is copied to another device")
            converter.gm.graph.call_function(line.op, tuple(nodes))

        return generate


#: A view, as text.
_VIEW = re.compile(r"reinterpret_tensor\((\w+), (\([^)]*\)), (\([^)]*\)), (\d+)\)")


def _node_of(converter: Any, text: str) -> torch.fx.Node:
    view = _VIEW.fullmatch(text)
    node = converter.buffer_to_node.get(view[1] if view else text)
    if node is None:
        raise Unsupported(f"Inductor has as text: {text}")
    if view is None:
        return node
    size, stride, offset = map(ast.literal_eval, view.groups()[1:])
    dtype = node.meta["val"].dtype
    return converter.gm.graph.call_function(
        part_of, (node, size, stride, offset, dtype)
    )


class _PartialsLine(wrapper.WrapperLine):
    """One of the reductions of a kernel with two orders of loops: each of its
    blocks has left a row of partial results in the kernel's workspace."""

    def __init__(
        self, name: str, workspace: str, place: str, rows: str, columns: str,
        kind: str,
    ):
        self.name, self.workspace, self.op = name, workspace, _REDUCTIONS[kind]
        self.size = [int(rows), int(columns)]
        self.offset = int(place) * int(rows) * int(columns)

    def codegen_fx(self, converter):
        return functools.partial(type(self)._generate, converter=converter)

    def _generate(self, converter: Any) -> None:
        layout = V.graph.get_buffer(self.name).get_output_spec()
        if isinstance(layout, ir.NonOwningLayout):
            raise Unsupported(f"{self.name}, a part of a buffer, is summed up")
        call, aten = converter.gm.graph.call_function, torch.ops.aten
        workspace = converter.buffer_to_node[self.workspace]
        rows = (self.size, [self.size[1], 1], self.offset, torch.float32)
        partials = call(part_of, (workspace, *rows))
        node = call(self.op, (partials, 0))
        if layout.dtype != torch.float32:
            node = call(aten._to_copy.default, (node,), {"dtype": layout.dtype})
        sizes = converter._generate_sym_nodes(layout.size)
        node = call(aten.view.default, (node, sizes))
        node.name = self.name
        converter.buffer_to_node[self.name] = node


_REDUCTIONS = {
    "sum": torch.ops.aten.sum.dim_IntList,
    "prod": torch.ops.aten.prod.dim_int,
    "amin": torch.ops.aten.amin.default,
    "amax": torch.ops.aten.amax.default,
}

#: Text by what it means.
_TEXT: Dict[str, Callable] = {
    r"(\w+)\.zero_\(\);?": functools.partial(
        _OpLine, torch.ops.aten.zero_.default
    ),
    r"(\w+)\.copy_\((.+), (?:True|False)\);?": functools.partial(
        _OpLine, torch.ops.aten.copy_.default
    ),
    r"(\w+) = (\w+)\[(\d+) \* \(?(\d+)\)? \* \(?(\d+)\)? : [^]]*\]"
    r"\.view\(\d+, \d+\)\.(sum|prod|amin|amax)\(dim=0\).*": _PartialsLine,
}


def _as_line(line: Any) -> Any:
    """Text that has a meaning for us, as a line that can be converted."""
    if isinstance(line, str):
        for pattern, make in _TEXT.items():
            match = re.fullmatch(pattern, line.strip())
            if match:
                return make(*match.groups())
        raise Unsupported(f"Inductor writes it as text: {line.strip()}")
    return line


def _waiting_first(name: str, body: str) -> Tuple[str, bool]:
    """The source of a kernel, with a wait as its first instruction, and whether
    there is one.

    Inductor writes kernels for early launches if asked to (``enable_pdl``): they
    say when the next one may be launched, but wait only if they need what the
    kernel before them has written, in Inductor's order. In ours another one may
    be before them. They are launched as usual; early.py changes that. A user's
    own kernels stay as they are.
    """
    launched, usual = "'launch_pdl': True", "'launch_pdl': False"
    head = re.search(rf"^def {name}\(.*\):\n", body, re.MULTILINE)
    can_be_early = (
        launched in body and head is not None and _USERS_OWN not in body
    )
    if can_be_early:
        first = f"    {_WAIT}\n"
        body = body[: head.end()] + first + body[head.end() :]
    return body.replace(launched, usual), can_be_early


def _written_places(line: Any) -> Iterator[int]:
    """Places of arguments that a kernel of the user's writes, as Inductor has
    found in its source."""
    (kernel,) = (
        op
        for op in V.graph.operations
        if isinstance(op, ir.UserDefinedTritonKernel)
        and op.fx_node.name == line.original_fxnode_name
    )
    written = {arg.get_name() for arg in kernel.mutable_args}
    for place, arg in enumerate(line.raw_args):
        if isinstance(arg, ir.IRNode) and arg.get_name() in written:
            yield place


def _places_of_template(line: Any) -> Iterator[int]:
    """Places of arguments that a kernel from a template writes: attention leaves
    its sums of exponents in an argument. A name that another template of the graph
    writes counts, too."""
    written = {
        name
        for op in V.graph.operations
        if isinstance(op, ir.TemplateBuffer)
        for output in op.get_outputs()
        for name in output.get_mutation_names()
    }
    for place, arg in enumerate(line.call_args):
        if not written.isdisjoint(re.findall(r"\w+", str(arg))):
            yield place


def _own_function(name: str) -> Callable:
    """Of Inductor, by the name that its wrapper would call it by."""
    function = getattr(extern_kernels, name.rpartition(".")[2])
    return getattr(function, "default", function)


def part_of(
    tensor: torch.Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """A view; the tensor may be a part of another one, as parameters are that lie
    side by side."""
    part = tensor.as_strided(size, stride, tensor.storage_offset() + offset)
    return part.view(dtype)


class _Converter(wrapper_fxir.FxConverter):
    def _generate_kernel_definition(self, line: Any) -> None:
        body, can_be_early = _waiting_first(line.kernel_name, line.kernel_body)
        code = wrapper.PythonWrapperCodegen._format_kernel_definition(
            line.kernel_name, body, metadata=line.metadata
        )
        module = PyCodeCache.load("\n".join([self.prologue, code]))
        launch = TritonLaunch(
            line.kernel_name, can_be_early, _USERS_OWN in line.kernel_body
        )
        launch.define(getattr(module, line.kernel_name))
        self.kernels[line.kernel_name] = launch

    def _generate_allocate(self, line: Any) -> None:
        """On the GPU that the buffer is for; the converter takes the one that is
        selected."""
        buffer = line.node
        sizes = (buffer.get_size(), buffer.get_stride())
        node = self.gm.graph.call_function(
            torch.empty_strided,
            tuple(map(self._generate_sym_nodes, sizes)),
            {"dtype": buffer.get_dtype(), "device": buffer.get_device()},
        )
        node.name = buffer.get_name()
        self._record_allocation(buffer, node)

    def _generate_reinterpret_helper(
        self, input_buffer: Any, result_buffer: Any, layout: Any
    ) -> None:
        sizes = (layout.size, layout.stride)
        if isinstance(layout, ir.NonOwningLayout):
            layout = layout.view.get_layout()
        node = self.gm.graph.call_function(
            part_of,
            (
                self.buffer_to_node[input_buffer.get_name()],
                *map(self._generate_sym_nodes, sizes),
                self._generate_sym_node(layout.offset),
                layout.dtype,
            ),
        )
        node.name = result_buffer.get_name()
        self._record_allocation(result_buffer, node)

    def _generate_kernel_call(self, line: Any) -> None:
        if not line.triton:
            raise Unsupported(f"{line.kernel_name} runs on the CPU")
        super()._generate_kernel_call(line)

    def _generate_triton_call(self, line: Any) -> None:
        launch = self.kernels[line.kernel_name]
        raw_args = line.raw_args or ()
        if len(raw_args) != len(line.call_args):
            raw_args = [None] * len(line.call_args)
        places = _written_places if launch.is_users else _places_of_template
        launch.written.update(places(line))
        self.gm.graph.call_function(
            launch, tuple(map(self._argument, line.call_args, raw_args))
        )

    def _generate_unbacked_symbol_defs(self, line: Any) -> None:
        """Of an op with no result, such as one of the user's that only writes
        its arguments, there is nothing to take sizes of."""
        if line.unbacked_bindings:
            super()._generate_unbacked_symbol_defs(line)

    def _generate_extern_kernel_common(self, kernel: Any, out: Any) -> None:
        if kernel.op_overload is None:
            kernel.op_overload = _own_function(kernel.python_kernel_name)
        super()._generate_extern_kernel_common(kernel, out)

    def _argument(self, arg: Any, raw_arg: Any) -> Any:
        """An argument of a launch: the node of a buffer, or a number. Text that
        names no buffer is a view, which `raw_arg` describes."""
        if isinstance(arg, wrapper.SymbolicCallArg):
            arg = arg.inner_expr
        if isinstance(arg, (bool, float)):
            return arg
        if not isinstance(arg, str):
            return self._generate_sym_node(arg)
        if arg in self.buffer_to_node:
            return self.buffer_to_node[arg]
        if not isinstance(raw_arg, ir.IRNode):
            raise Unsupported(f"a kernel has the argument {arg}")
        return self._generate_buffer(raw_arg)


class PlannedCodegen(wrapper_fxir.WrapperFxCodegen):
    """Hands the FX graph of Inductor's kernels to `receiver`."""

    #: Makes a callable of the graph; set by `compiling`.
    receiver: Optional[Callable[[torch.fx.GraphModule], Callable]] = None

    def _generate(self, is_inference: bool):
        if self.subgms:  # a recording cannot read what decides about them
            raise Unsupported("the graph has conditional or looping parts")
        self.run_wrapper_ir_passes(is_inference)
        prologue = "\n".join([self.imports.getvalue(), self.header.getvalue()])
        gm = _Converter(
            lines=[_as_line(line) for line in self.lines],
            prologue=prologue,
            graph_inputs=self.get_fx_graph_inputs(),
            graph_outputs=self.get_graph_outputs(),
            subgms=self.subgms,
            is_subgraph=self.is_subgraph,
        ).generate()
        return common.FileBackedGraphModule(gm, self.compile_graph(gm)), None

    def compile_graph(self, gm: torch.fx.GraphModule) -> Callable:
        for node in gm.graph.nodes:
            if isinstance(node.target, TritonLaunch):
                node.target.kernel  # waits for its compilation
        return type(self).receiver(gm)


def check_recordable(kernels: torch.fx.GraphModule) -> None:
    """Refuses ops that read values on the host, as far as Inductor knows them: a
    recording of such an op fails."""
    is_unsafe = getattr(utils, "is_cudagraph_unsafe_fx_node", lambda node: False)
    for node in kernels.graph.nodes:
        if node.op == "call_function" and is_unsafe(node):
            raise Unsupported(f"{node.name} cannot be recorded in a CUDA graph")


def lower(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    compile_one: Callable,
    settings: Optional[Dict[str, Any]] = None,
) -> Callable:
    """Takes a graph apart as `torch.compile` does, and gives each of the graphs
    that come of it (inference, or forward and backward) to `compile_one`."""
    _let_views_copy(gm)
    _forget_checks(gm)
    # AOTAutograd's cache would return what plain Inductor has compiled.
    with functorch.patch(enable_autograd_cache=False), right_states():
        return compile_fx(
            gm,
            example_inputs,
            inner_compile=compile_one,
            config_patches={**(settings or {}), **_NEVER},
        )


def _let_views_copy(gm: torch.fx.GraphModule) -> None:
    """A graph of aten's ops has views for the strides that it was made with.
    Inductor gives some results other strides: a concatenation of an empty cache
    and new keys has those of the keys. Then the elements must be copied."""
    for part in gm.modules():
        if isinstance(part, torch.fx.GraphModule):
            views = part.graph.find_nodes(
                op="call_function", target=torch.ops.aten.view.default
            )
            for node in views:
                node.target = torch.ops.aten.reshape.default
            if views:
                part.recompile()


def _forget_checks(gm: torch.fx.GraphModule) -> None:
    """torch.export has the types of tensors that are converted checked. Inductor
    forgets such checks, but only after it has replaced some scatters by kernels
    whose results have the type of the number that is scattered."""
    checks = gm.graph.find_nodes(
        op="call_function", target=torch.ops.aten._assert_tensor_metadata.default
    )
    for node in checks:
        gm.graph.erase_node(node)
    if checks:
        gm.recompile()


def lower_plainly(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    settings: Optional[Dict[str, Any]] = None,
) -> Callable:
    """Inductor's own code for a graph."""
    own = dict(settings or {})
    # AOTAutograd's cache would return code without `with_states`.
    with _COMPILING, functorch.patch(enable_autograd_cache=False):
        return compile_fx(
            gm,
            example_inputs,
            inner_compile=functools.partial(compile_plainly, settings=own),
            config_patches={**own, **_NEVER},
        )


def compile_plainly(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    settings: Dict[str, Any],
    **kwargs: Any,
) -> Callable:
    """Inductor's own code for a graph that AOTAutograd has made; also at a call,
    where no settings are left."""
    states = states_among_inputs(gm)
    with _COMPILING, config.patch({**settings, **_NEVER}):
        compiled = compile_fx_inner(gm, example_inputs, **kwargs)
    return with_states(compiled, states) if states else compiled


def compile_kernels(
    receiver: Callable[[torch.fx.GraphModule], Callable],
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    **kwargs: Any,
) -> Callable:
    """What `receiver` makes of Inductor's kernels of a lowered graph."""
    with compiling(receiver):
        return compile_fx_inner(
            gm, example_inputs, **{**kwargs, "fx_wrapper": True}
        )


def fused_kernels(
    gm: torch.fx.GraphModule, example_inputs: Sequence[Any]
) -> torch.fx.GraphModule:
    """Inductor's kernels of a graph that writes no input, with the same inputs
    and results."""
    found: List[torch.fx.GraphModule] = []

    def receive(kernels: torch.fx.GraphModule) -> Callable:
        found.append(kernels)
        return kernels.forward

    with torch.no_grad():
        lower(gm, example_inputs, functools.partial(compile_kernels, receive))
    return found[0]


def _settings() -> Dict[str, Any]:
    is_thorough = config.max_autotune or config.max_autotune_gemm
    return SETTINGS if is_thorough else {**SETTINGS, **UNTUNED}


@contextlib.contextmanager
def compiling(receiver: Callable[[torch.fx.GraphModule], Callable]):
    """Inside, Inductor's graphs for CUDA go to `receiver`.

    A class attribute has the receiver, and the settings are those of the
    process: threads take turns, for autograd's may compile a backward graph
    while another compiles a forward one.
    """
    with _COMPILING, _sent_to(receiver):
        yield


@contextlib.contextmanager
def _sent_to(receiver: Callable[[torch.fx.GraphModule], Callable]):
    common.init_backend_registration()
    usual = common.device_codegens["cuda"]
    before = PlannedCodegen.receiver
    common.device_codegens["cuda"] = dataclasses.replace(
        usual, fx_wrapper_codegen=PlannedCodegen
    )
    PlannedCodegen.receiver = staticmethod(receiver)
    try:
        with config.patch(_settings()):
            yield
    finally:
        PlannedCodegen.receiver = before
        common.device_codegens["cuda"] = usual
