# SPDX-License-Identifier: Apache-2.0
"""Plans for PyTorch: models as graphs, and plans that run.

- ``compile``, or ``torch.compile(model, backend="regal")``: the fused kernels
  of torch.compile on several CUDA streams inside one CUDA graph.
- ``compile_inference``, ``compile_step``: a model's result, or loss and gradients
  of a training step, in one such graph without guards.
- ``capture`` and ``apply``: a model as a graph for the search, and its plan run
  on streams, on several devices, or on threads of the CPU.
- ``calibrate`` and ``predict``: how long a plan takes when streams share a GPU.

docs/torch.md explains them.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Union

try:
    import torch as _torch
except ImportError as _missing:  # the package itself needs no torch
    raise ImportError(
        "regal.torch needs PyTorch: pip install torch"
    ) from _missing

from .backend import Backend, regal_backend
from .calibration import calibrate, load_calibration
from .captured import Capture, apply, capture, capture_of
from .inference import Inference, compile_inference
from .planned import PlannedGraph, Report
from .refusals import check_arguments
from .step import Step, compile_step
from ..streams.sharing import Sharing, predict_us
from ..streams.schedule import make_schedule
from ..streams.trials import Settings

__all__ = [
    "Backend",
    "Capture",
    "Inference",
    "PlannedGraph",
    "Report",
    "Settings",
    "Sharing",
    "Step",
    "apply",
    "calibrate",
    "capture",
    "compile",
    "compile_inference",
    "compile_step",
    "predict",
    "regal_backend",
]


def compile(
    model: Any,
    example_args: Optional[Sequence[Any]] = None,
    streams: Union[str, int, Sequence[int]] = "auto",
    inductor: Optional[dict] = None,
    example_kwargs: Optional[Dict[str, Any]] = None,
    **settings: Any,
) -> Any:
    """``torch.compile`` with kernels planned on streams.

    :param example_args: if given, the model is called with them at once (without
        gradients), so that plans are made now; ``example_kwargs`` by keyword.
    :param streams: how many to try: a number, several, or ``"auto"``.
    :param inductor: settings of Inductor, such as ``{"max_autotune": True}``.
    :param settings: other fields of `Settings`.

    The result has the `Backend` as ``regal``, whose ``reports`` say what was
    measured and chosen for each graph.
    """
    given = () if example_args is None else example_args
    check_arguments(given, example_kwargs, "example_args")
    backend = Backend(Settings(streams=streams, **settings), inductor)
    compiled = _torch.compile(model, backend=backend, dynamic=False)
    # Set as usual, it would be an attribute of the model itself.
    compiled.__dict__["regal"] = backend
    if example_args is not None or example_kwargs is not None:
        with _torch.no_grad():
            compiled(*given, **(example_kwargs or {}))
    return compiled


def predict(
    plan: Any,
    sharing: Optional[Sharing] = None,
) -> float:
    """Microseconds of a plan on streams of the GPU at hand. From then on the
    plan's page has them, too (`Plan.expected_ns`).

    :param plan: for a graph of `capture`.
    :param sharing: by default what `calibrate` found for this GPU.

    On a GPU the grids of the kernels and the time of one stream are measured
    first; elsewhere kernels share nothing but the price of crossings.
    """
    captured = capture_of(plan)
    program = captured.program
    if captured.needs_shares:
        captured.measure_shares()
    schedule = make_schedule(
        program,
        [int(k) for k in plan.order],
        [int(d) for d in plan.placement],
    )
    found = sharing or load_calibration() or Sharing()
    us = predict_us(program, schedule, found, captured.one_stream_us)
    plan.expected_ns = round(us * 1e3)
    return us
