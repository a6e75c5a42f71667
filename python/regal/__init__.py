# SPDX-License-Identifier: Apache-2.0
"""regal: places and schedules the ops of a neural network's computation graph.

>>> import regal
>>> g = regal.Graph()
>>> a = g.add_op("a", run_ns=1000, outputs=[4096])
>>> b = g.add_op("b", run_ns=5000, outputs=[4096], inputs=[a])
>>> c = g.add_op("c", run_ns=5000, outputs=[4096], inputs=[a])
>>> d = g.add_op("d", run_ns=1000, outputs=[64], final=True, inputs=[b, c])
>>> plan = regal.optimize(g, regal.Machine(devices=2, latency="100ns"))
>>> plan.runtime_ns
7200

The package is the C library with names of its own (docs/python.md); all of its
logic is in C.
"""
from ._graph import Graph, GraphInfo, Note, Op
from ._library import (Error, FileError, InputError, InternalError,
                       InvalidPlanError, MisuseError, OutOfMemoryError)
from ._library import decode as _decode
from ._library import lib as _lib
from ._machine import Machine
from ._plan import Bound, Cost, Plan, Point, Progress, Rates
from ._search import evaluate, optimize
from ._tables import (MethodInfo, OptionInfo, Preset, methods, options,
                      presets, roofline_ns)

for _error in (Error, FileError, InputError, InternalError, InvalidPlanError,
               MisuseError, OutOfMemoryError):
    _error.__module__ = "regal"  # as messages should name them
del _error

__version__ = _decode(_lib.regal_version()) or ""
#: One line: version, commit, compiler and flags of the library.
__build__ = _decode(_lib.regal_build_id()) or ""

__all__ = [
    "Bound", "Cost", "Error", "FileError", "Graph", "GraphInfo", "InputError",
    "InternalError", "InvalidPlanError", "Machine", "MethodInfo", "MisuseError",
    "Note", "Op", "OptionInfo", "OutOfMemoryError", "Plan", "Point", "Preset",
    "Progress", "Rates", "evaluate", "methods", "optimize", "options",
    "presets", "roofline_ns", "__version__",
]
