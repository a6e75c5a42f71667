# SPDX-License-Identifier: Apache-2.0
"""The hints allow what the documentation does: mypy, where it is installed."""
import pytest

import regal

PROGRAM = """
import pathlib

import numpy as np
import regal


def show(progress: regal.Progress) -> bool:
    return progress.best > progress.bound


graph = regal.Graph()
weight: int = graph.add_parameter(1 << 20)
a = graph.add_op("a", 10, np.array([1, 2]), final=np.array([0]), group=3)
b = graph.add_op("b", 20, [8], inputs=[a, (a, 1)], parameters=[weight])
graph.add_op("c", 20, [8], inputs=[a, b], control=[b], final=True, device=0)
graph.add_op("d", np.int64(20), {8}, inputs=(op for op in (a, np.int64(b))))
regal.Graph.from_arrays(**graph.to_arrays())
regal.Graph.loads(memoryview(b""))
machine = regal.Machine(devices=2, latency=1e3, bandwidth="25GB/s",
                        memory_limit=np.array([1, 2]))
machine.pin(np.int64(0), 0).group(np.array([1, 2])).group({1, 2})
machine.pin("a", 0).group(["a", 1]).speed(0, 2)
machine.link(0, 1, latency=2e3).memory_limit("gpu", 16e9).op_time(b, 1, None)
plan = regal.optimize(graph, machine, time=1.0, progress=show, population=9)
again = regal.evaluate(graph, machine, order=plan.order,
                       placement=plan.placement)
regal.optimize(graph, start=plan.steps, time="1s")
regal.optimize(graph, start=pathlib.Path("a.plan"))
cost: int = again.cost.runtime_ns
page: str = plan.to_html(pathlib.Path("a.html"))
same: bool = plan.cost == again.cost
"""


@pytest.mark.skipif("site-packages" not in regal.__file__,
                    reason="the package is not installed")
def test_a_strict_program_is_right(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    output, errors, status = api.run(
        ["--strict", "--cache-dir", str(tmp_path / "types"), str(program)])
    assert status == 0, output + errors
