# SPDX-License-Identifier: Apache-2.0
"""regal.jax: functions as XLA compiles them, on a CPU."""
import os
import re

import pytest

import regal
from conftest import run_page

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="JAX is not installed")

import jax.numpy as jnp  # noqa: E402
import regal.jax as rj  # noqa: E402

WEIGHTS = {"in": jnp.ones((64, 128)), "out": [jnp.ones((128, 64))]}
X = jnp.ones((256, 64))


def model(weights, x):
    return jnp.tanh(x @ weights["in"]) @ weights["out"][0]


def train(weights, x, y, rate=0.1):
    def loss(weights):
        return ((model(weights, x) - y) ** 2).mean()
    gradients = jax.grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - rate * g, weights, gradients)


def entry_names(compiled):
    """Instructions of the entry computation, in XLA's order."""
    entry = re.search(r"^ENTRY [^\n]*\n(.*?)^}", compiled.as_text(),
                      re.M | re.S)[1]
    return re.findall(r"^  (?:ROOT )?%?([\w.-]+) =", entry, re.M)


def test_a_training_step_from_xlas_order_to_a_better_one(tmp_path):
    jitted = jax.jit(train, donate_argnums=0)
    captured = rj.capture(jitted, WEIGHTS, X, X)
    compiled = jitted.lower(WEIGHTS, X, X).compile()
    names = dict(zip(captured.graph.ids, captured.graph.names))
    order = [names[op] for op in captured.order]
    scheduled = entry_names(compiled)
    assert [n for n in scheduled if n in set(order)] == order
    assert len(order) > 5
    stats = compiled.memory_analysis()
    assert captured.memory == (
        stats.temp_size_in_bytes, stats.output_size_in_bytes,
        stats.alias_size_in_bytes, stats.argument_size_in_bytes)
    assert captured.memory.aliases == 2 * 64 * 128 * 4
    assert 0.9 < captured.peak / captured.memory.peak < 1.01

    one = regal.Machine(devices=1)
    plan = regal.optimize(captured.graph, one, objective="memory",
                          start="schedule", evaluations=2000)
    assert plan.before.peak_bytes[0] == captured.peak
    assert plan.peak_bytes[0] <= captured.peak
    plan.save(tmp_path / "step.order")
    written = (tmp_path / "step.order").read_text().splitlines()
    assert written == captured.names(plan)
    assert sorted(written) == sorted(order)
    verified = regal.evaluate(captured.graph, one,
                              plan=tmp_path / "step.order")
    assert verified.peak_bytes[0] == plan.peak_bytes[0]


def test_the_reader_has_xlas_report(tmp_path):
    captured = rj.capture(train, WEIGHTS, X, X, donate_argnums=0)
    info = captured.graph.info
    assert info.has_schedule and info.schedule_peak_bytes == captured.peak
    # Constants are resident, and not in memory_analysis().
    assert captured.memory.peak <= info.reported_peak_bytes
    assert info.reported_peak_bytes < captured.memory.peak + 4096
    with pytest.raises(regal.InputError, match="has no schedule"):
        graph = regal.Graph()
        graph.add_op("a", run_ns=1)
        regal.optimize(graph, start="schedule")


def test_every_stage_of_a_function_gives_the_same_graph():
    jitted = jax.jit(model)
    lowered = jitted.lower(WEIGHTS, X)
    shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype),
                          (WEIGHTS, X))
    found = [rj.capture(model, WEIGHTS, X), rj.capture(jitted, WEIGHTS, X),
             rj.capture(lowered), rj.capture(lowered.compile()),
             rj.capture(model, *shapes), rj.capture(model, WEIGHTS, x=X)]
    assert len({c.graph.info.checksum for c in found}) == 1
    assert len({c.memory for c in found}) == 1


def test_donated_and_static_arguments():
    kept = rj.capture(train, WEIGHTS, X, X)
    donated = rj.capture(train, WEIGHTS, X, X, donate_argnums=(0,))
    assert kept.memory.aliases == 0 and donated.memory.aliases > 0
    assert donated.memory.peak < kept.memory.peak
    assert donated.peak <= kept.peak
    powers = rj.capture(lambda x, n: [x ** k for k in range(2, 2 + n)], X, 3,
                        static_argnums=1)
    assert powers.memory.outputs >= 3 * X.nbytes


def test_options_of_xla_and_of_reading():
    fused = rj.capture(train, WEIGHTS, X, X)
    unfused = rj.capture(train, WEIGHTS, X, X, compiler_options={
        "xla_disable_hlo_passes": "fusion"})
    assert len(unfused.graph) > len(fused.graph)
    slow = rj.capture(train, WEIGHTS, X, X, reading={"roofline": "cpu-core"})
    assert slow.graph.info.work_ns > fused.graph.info.work_ns


def test_a_loop_is_one_op():
    def scan(x):
        return jax.lax.scan(lambda c, _: (jnp.tanh(c @ c.T @ c), c.sum()), x,
                            None, length=7)
    captured = rj.capture(scan, X)
    loop, = [op for op in captured.graph.ops if op.name.startswith("while")]
    assert loop.temporary_bytes >= 256 * 256 * 4


def test_the_module_is_a_file_for_the_program(tmp_path):
    captured = rj.capture(train, WEIGHTS, X, X, donate_argnums=0)
    captured.save(tmp_path / "step.hlo.pb")
    loaded = regal.Graph.load(tmp_path / "step.hlo.pb")
    assert loaded.info == captured.graph.info


def test_what_cannot_be_captured_is_said():
    jitted = jax.jit(model)
    with pytest.raises(ValueError, match="give donate_argnums to jax.jit"):
        rj.capture(jitted, WEIGHTS, X, donate_argnums=1)
    compiled = jitted.lower(WEIGHTS, X).compile()
    with pytest.raises(ValueError, match="it takes no arguments here"):
        rj.capture(compiled, WEIGHTS, X)
    with pytest.raises(ValueError, match="but f is compiled"):
        rj.capture(compiled, compiler_options={})
    with pytest.raises(TypeError, match="expected a function"):
        rj.capture(3)


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_page("docs/jax.md")
    assert names["plan"].peak_bytes[0] < names["captured"].peak
    assert (tmp_path / "step.order").exists()
