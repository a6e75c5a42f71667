# SPDX-License-Identifier: Apache-2.0
"""``torch.compile(model, backend="regal")``.

Dynamo and AOTAutograd take the model apart as they do for Inductor; for each
graph (inference, forward, backward) Inductor's kernels arrive here as an FX
graph (inductor.py). At the first call kernels are measured, plans are made and
tried (streams/trials.py), and the fastest is captured as one CUDA graph
(planned.py).

Graphs with sizes that vary have a plan for each set of sizes (sizes.py). Whatever
cannot be planned is left to Inductor, with a warning that says why.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

from ..streams.trials import Settings
from .planned import PlannedGraph, Report, warn
from .sizes import VARYING, BySizes, copy_of_graph, is_any_varying
from .trace import Unsupported

#: The share of the seconds that each graph has of a model that is several.
_PART = 0.375


class Backend:
    """A backend for torch.compile, and the graphs that it has planned."""

    def __init__(self, settings: Optional[Settings] = None, inductor=None):
        self.settings = settings or Settings()
        #: More settings of Inductor, such as {"max_autotune": True}.
        self.inductor = dict(inductor or {})
        self.graphs: List[PlannedGraph] = []

    def __getstate__(self) -> Dict[str, Any]:
        """A copy of a compiled model is compiled anew, as with Inductor."""
        return {**self.__dict__, "graphs": []}

    @property
    def reports(self) -> List[Report]:
        """Of the graphs that have been called."""
        return [g.report for g in self.graphs if g.report is not None]

    def plan(
        self,
        gm: torch.fx.GraphModule,
        example_inputs: Sequence[Any],
        static: Optional[Sequence[int]] = None,
        kind: Optional[str] = None,
        share: float = 1.0,
    ) -> Callable:
        """What runs a graph of known sizes.

        :param static: inputs that keep their addresses; by default those of
            which AOTAutograd says so.
        :param kind: what it is called; by default what AOTAutograd makes of it.
        :param share: of the seconds.
        """
        from .inductor import lower

        compile_one = functools.partial(self._compile_one, share, static, kind)
        return lower(gm, example_inputs, compile_one, self.inductor)

    def __call__(self, gm: torch.fx.GraphModule, example_inputs, **given: Any):
        from .inductor import lower_plainly

        for name in ("mode", "options"):
            if given.get(name):
                raise ValueError(
                    f"{name} of torch.compile: a Backend has its own settings"
                )
        share = _PART if is_part(gm) else 1.0
        if not is_any_varying(example_inputs):
            return self.plan(gm, example_inputs, share=share)
        kept = copy_of_graph(gm)
        compiled = lower_plainly(gm, example_inputs, self.inductor)
        try:
            _check_devices(example_inputs)
        except Unsupported as error:
            warn(VARYING, error)
            return compiled

        def plan_known(
            gm: torch.fx.GraphModule, inputs: Sequence[Any]
        ) -> Optional[Callable]:
            count = len(self.graphs)
            planned = self.plan(gm, inputs, share=share)
            return planned if len(self.graphs) > count else None

        return BySizes(kept, example_inputs, compiled, plan_known)

    def _compile_one(
        self,
        share: float,
        static: Optional[Sequence[int]],
        named: Optional[str],
        gm,
        example_inputs,
        **kwargs: Any,
    ) -> Callable:
        from .inductor import check_recordable, compile_kernels, compile_plainly

        # It does not know this backend, which knows the graphs.
        plainly = functools.partial(
            compile_plainly,
            copy_of_graph(gm),
            example_inputs,
            self.inductor,
            **kwargs,
        )
        kind, visible = _kind_of(kwargs)
        seconds = self.settings.seconds * share
        if kind != "inference":
            seconds /= 2  # forward and backward
        if static is None:
            static = kwargs.get("static_input_idxs") or ()

        def receive(kernels: torch.fx.GraphModule) -> Callable:
            check_recordable(kernels)
            planned = PlannedGraph(
                kernels,
                named or kind,
                static,
                visible,
                self.settings,
                seconds,
                plainly,
            )
            self.graphs.append(planned)
            return planned

        try:
            _check_devices(example_inputs)
            return compile_kernels(receive, gm, example_inputs, **kwargs)
        except Exception as error:  # anything: Inductor itself can do it
            warn(named or kind, error)
            return plainly()


def _check_devices(example_inputs) -> None:
    """Before anything is compiled: Inductor itself would not say it."""
    for value in example_inputs:
        if isinstance(value, torch.Tensor) and not value.is_cuda:
            raise Unsupported(f"an input is on the {value.device.type}")
        if isinstance(value, torch.Generator):  # of what `checkpoint` runs again
            raise Unsupported("it draws random numbers again in the backward pass")


def is_part(gm: torch.fx.GraphModule) -> bool:
    """Whether Dynamo has cut the model: the graph ends at a break, or goes on
    after one."""
    reason = getattr(gm, "compile_subgraph_reason", None)
    if reason is None:
        return False
    return reason.graph_break or any(
        frame.name.startswith("torch_dynamo_resume_in")
        for frame in reason.user_stack
    )


def _kind_of(kwargs: Dict[str, Any]) -> tuple:
    """The kind of the graph, and how many results of a forward pass the
    caller sees; the others are saved for the backward pass. All, if nobody says:
    a result that the caller sees becomes a part of autograd's graph."""
    if kwargs.get("is_backward"):
        return "backward", None
    if kwargs.get("is_inference"):
        return "inference", None
    context = torch._guards.TracingContext.try_get()
    metadata = getattr(context, "fw_metadata", None)
    return "forward", getattr(metadata, "num_forward", sys.maxsize)


def regal_backend(gm: torch.fx.GraphModule, example_inputs, **kwargs: Any):
    """The entry point ``torch_dynamo_backends``.

    ``options`` of torch.compile: the fields of `Settings`, and ``inductor``, a
    dictionary of Inductor's own settings.
    """
    if kwargs.get("mode"):
        raise ValueError(
            f"backend 'regal' has no mode {kwargs['mode']!r}: give Inductor's "
            'settings, such as options={"inductor": {"max_autotune": True}}'
        )
    options = dict(kwargs.get("options") or {})
    inductor = options.pop("inductor", None)
    known = {field.name for field in dataclasses.fields(Settings)}
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(
            f"unknown option {unknown[0]!r} of backend 'regal'; there are: "
            + ", ".join(sorted(known | {"inductor"}))
        )
    return Backend(Settings(**options), inductor)(gm, example_inputs)
