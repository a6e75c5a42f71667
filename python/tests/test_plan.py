# SPDX-License-Identifier: Apache-2.0
"""Searches and evaluations: what they return, and what they refuse."""
import copy
import os
import pickle
import re

import numpy as np
import pytest

import regal
from conftest import SOURCES

MACHINE = dict(devices=2, latency="100ns")


@pytest.fixture
def plan(diamond):
    return regal.optimize(diamond, regal.Machine(**MACHINE), evaluations=2000)


def test_the_plan_is_optimal(plan):
    assert plan.runtime_ns == 7200
    assert plan.cost.runtime_ns == 7200
    assert plan.before.runtime_ns == 12000
    assert plan.bound.runtime_ns <= 7200
    assert plan.gap == pytest.approx(7200 / plan.bound.runtime_ns - 1)
    assert plan.fits and plan.shortage is None
    assert plan.method == "auto" and plan.seed == 1
    assert plan.stop in ("budget", "bound") and plan.account
    assert plan.peak_bytes.shape == (2,)
    assert plan.cost.max_peak_bytes == plan.peak_bytes.max()
    assert plan.seconds >= 0 and plan.evaluations > 0 and plan.threads >= 1
    assert plan.rates.microbatches == 0


def test_history(demo):
    plan = regal.optimize(demo, regal.Machine(devices=2), evaluations=3000)
    bests = [point.at.best for point in plan.history]
    assert bests and bests == sorted(bests, reverse=True)
    assert bests[-1] == plan.runtime_ns
    assert any(point.stage for point in plan.history)


def test_steps(plan):
    steps = plan.steps
    runs = steps[steps["kind"] == "run"]
    sends = steps[steps["kind"] == "send"]
    assert len(runs) == 4 and len(sends) == 2
    assert steps["end_ns"].max() == plan.runtime_ns
    assert (steps["start_ns"] <= steps["end_ns"]).all()
    assert (runs["to"] == runs["device"]).all() and (runs["port"] == -1).all()
    assert (sends["to"] != sends["device"]).all()
    assert sends["port"].tolist() == [0, 0]
    assert plan.order.tolist() == runs["op"].tolist()
    assert plan.placement[runs["op"]].tolist() == runs["device"].tolist()
    with pytest.raises(ValueError):
        steps["op"] = 0


def test_objectives(diamond):
    machine = regal.Machine(devices=2)
    small = regal.optimize(diamond, machine, objective="memory",
                           evaluations=2000)
    assert small.objective == "memory"
    assert small.gap == small.cost.max_peak_bytes / small.bound.peak_bytes - 1
    with pytest.raises(regal.InputError, match="objective"):
        regal.optimize(diamond, machine, objective="beauty")


def test_a_gap_that_means_nothing_is_none(diamond):
    """The program prints no quality there either."""
    tight = regal.Machine(devices=2, memory_limit=100)
    plan = regal.optimize(diamond, tight, evaluations=100)
    assert not plan.fits and np.isnan(plan.gap)
    assert "on 2 devices, beyond the memory limits, by" in repr(plan)
    model = SOURCES / "tests" / "onnx" / "shapes" / "domains.onnx"
    assumed = regal.Graph.load(model, assume_unknown_bytes="1MiB",
                               roofline="a100")
    plan = regal.optimize(assumed, regal.Machine(1), evaluations=100)
    assert plan.bound == (0, 0) and np.isnan(plan.gap)
    assert "on 1 device, no bound is known, by" in repr(plan)
    idle = regal.Graph()
    idle.add_op()
    assert regal.optimize(idle).gap == 0


def test_targets(demo):
    """A number is in the unit of the objective."""
    machine = regal.Machine(devices=2)
    for target in (60_000_000, "60ms"):
        plan = regal.optimize(demo, machine, time=60, target=target)
        assert plan.stop == "target" and plan.runtime_ns <= 60_000_000
    plan = regal.optimize(demo, machine, objective="memory", time=60,
                          target=15 << 30)
    assert plan.stop == "target"
    assert plan.cost.max_peak_bytes <= 15 << 30


def test_methods_and_options(diamond):
    heft = regal.optimize(diamond, method="heft")
    assert heft.method == "heft" and heft.stop == "bound"
    regal.optimize(diamond, method="brkga", population=20, evaluations=100)
    regal.optimize(diamond, method="brkga", decoder="paper", evaluations=100)
    with pytest.raises(regal.InputError, match="population"):
        regal.optimize(diamond, population=-3)
    with pytest.raises(regal.InputError, match="no_such|no-such"):
        regal.optimize(diamond, no_such=1)
    with pytest.raises(TypeError, match="takes no option 'latency'"):
        regal.optimize(diamond, latency=3)
    with pytest.raises(regal.InputError, match="there is no method"):
        regal.optimize(diamond, method="magic")


def test_orders(diamond):
    machine = regal.Machine(**MACHINE)
    given = regal.evaluate(diamond, machine, order=[0, 2, 1, 3],
                           placement=[0, 0, 1, 0])
    assert given.method == "given"
    assert given.order.tolist() == [0, 2, 1, 3]
    assert given.placement.tolist() == [0, 0, 1, 0]
    assert regal.evaluate(diamond, machine, order=[0, 1, 2, 3]
                          ).runtime_ns == 12000
    assert regal.evaluate(diamond, machine, placement=[1, 1, 1, 1]
                          ).runtime_ns == 12000


@pytest.mark.parametrize("arguments, message", [
    (dict(order=[0, 1, 2]), "order: 1 of 4 ops is missing, the first is "
     '"join" .id 3.'),
    (dict(order=[0, 3, 1, 2]), 'order.1.: op "join" .id 3. comes before'),
    (dict(order=[0, 1, 1, 2]), "there is twice|is there twice"),
    (dict(order=[0, 1, 2, 9]), "there is no op with id 9"),
    (dict(order=[0, 1, 2, -1]), "order: found -1, expected 0 to 4294967295"),
    (dict(order=[0, 1, 2, 3.5]), "order: found an array of 1 dimensions and "
     "type float64, expected"),
    (dict(order=[[0, 1], [2, 3]]), "order: found an array of 2 dimensions"),
    (dict(placement=[0, 0, 0, 0.7]), "placement: found an array of 1 dim"),
    (dict(placement=[0, 0, 0, 5]), "device 5 is out of range"),
    (dict(placement=[0, 0]), "placement: found 2 entries, expected 4"),
    (dict(), "evaluate needs a plan"),
])
def test_bad_orders_are_refused(diamond, arguments, message):
    with pytest.raises(regal.Error, match=message):
        regal.evaluate(diamond, regal.Machine(**MACHINE), **arguments)


def test_plans_and_steps_are_evaluated(diamond, plan):
    machine = regal.Machine(**MACHINE)
    for given in (plan, plan.steps):
        again = regal.evaluate(diamond, machine, given)
        assert again.runtime_ns == plan.runtime_ns
        assert (again.steps == plan.steps).all()
    assert regal.evaluate(diamond, plan=plan).runtime_ns == plan.runtime_ns
    slow = regal.Machine(devices=2, latency="1us")
    assert regal.evaluate(diamond, slow, plan).runtime_ns > plan.runtime_ns


def test_bad_steps_are_refused(diamond, plan):
    machine = regal.Machine(**MACHINE)
    with pytest.raises(regal.InvalidPlanError, match="^step"):
        regal.evaluate(diamond, machine, plan.steps[::-1])
    wrong = plan.steps.copy()
    for op in (99, -1, 1 << 40):
        wrong["op"][1] = op
        with pytest.raises(regal.InvalidPlanError,
                           match=f"^step 1: there is no op with id {op}$"):
            regal.evaluate(diamond, machine, wrong)
    with pytest.raises(TypeError, match="structured array"):
        regal.evaluate(diamond, machine, np.zeros(3))


@pytest.mark.parametrize("field, value, message", [
    ("kind", "Run", "steps: found Run as kind, expected run or send"),
    ("device", 1 << 16, 'steps["device"]: found 65536, expected 0 to 65535'),
    ("to", -1, 'steps["to"]: found -1, expected 0 to 65535'),
    ("port", -2, 'steps["port"]: found -2, expected -1 to 2147483647'),
])
def test_steps_that_c_cannot_hold_are_refused(diamond, plan, field, value,
                                              message):
    wrong = plan.steps.copy()
    wrong[field][0] = value
    with pytest.raises(regal.MisuseError, match=f"^{re.escape(message)}$"):
        regal.evaluate(diamond, regal.Machine(**MACHINE), wrong)


def test_steps_are_whole_numbers_in_one_dimension(diamond, plan):
    fields = [(name, float if name == "device" else kind)
              for name, kind in plan.steps.dtype.descr]
    wrong = plan.steps.astype(fields)
    with pytest.raises(regal.MisuseError, match=r'^steps\["device"\]: found an'):
        regal.evaluate(diamond, plan=wrong)
    with pytest.raises(regal.MisuseError, match="^steps: found an array of 2 d"):
        regal.evaluate(diamond, plan=plan.steps.reshape(2, -1))


def test_costs_are_compared(diamond, plan):
    again = regal.evaluate(diamond, plan=plan)
    assert again.cost == plan.cost and not again.cost != plan.cost
    assert plan.before != plan.cost and plan.cost != 7200


def test_a_plan_keeps_the_machine_that_it_is_for(diamond):
    machine = regal.Machine(**MACHINE)
    plan = regal.optimize(diamond, machine, evaluations=200)
    machine.speed(0, 100).speed(1, 100)
    assert (regal.evaluate(diamond, plan=plan).runtime_ns == plan.runtime_ns
            != regal.evaluate(diamond, machine, plan).runtime_ns)


def test_what_is_no_graph_or_machine_is_refused(diamond):
    for call in (regal.optimize, lambda *a: regal.evaluate(*a, order=[0])):
        with pytest.raises(TypeError, match="graph is a str, expected a regal"):
            call("model.pb")
        with pytest.raises(TypeError, match="machine is a int, expected a reg"):
            call(diamond, 2)


def test_a_copy_of_a_plan_is_the_plan(plan):
    assert copy.copy(plan) is plan and copy.deepcopy(plan) is plan
    with pytest.raises(TypeError, match="regal.Plan cannot be pickled"):
        pickle.dumps(plan)


def test_start(diamond, plan, tmp_path):
    machine = regal.Machine(**MACHINE)
    path = tmp_path / "p.plan"
    plan.save(path)
    for start in (plan, plan.steps, path, str(path)):
        single = regal.optimize(diamond, machine, method="single", start=start)
        assert single.runtime_ns == plan.runtime_ns
    with pytest.raises(regal.InvalidPlanError):
        regal.optimize(diamond, machine, start=plan.steps[:2])


def test_a_file_with_a_bad_plan_is_named(diamond, tmp_path):
    path = tmp_path / "p.plan"
    path.write_text('{"regal_plan": 1, "steps": [{"id": 1, "op": "left", '
                    '"device": 0}]}')
    for use in (lambda: regal.evaluate(diamond, plan=path),
                lambda: regal.optimize(diamond, start=path)):
        with pytest.raises(regal.InvalidPlanError,
                           match=f"^{re.escape(str(path))}: step 1: "):
            use()


def test_a_plan_brings_its_machine(diamond, tmp_path):
    machine = regal.Machine(devices=3, latency="7us").speed(2, 3)
    plan = regal.optimize(diamond, machine, method="heft")
    path = tmp_path / "p.plan"
    plan.save(path)
    for start in (plan, path):
        again = regal.optimize(diamond, start=start, objective="memory",
                               evaluations=10)
        assert again.devices == 3 and again.objective == "memory"
        assert "speed" in again.summary()
        assert regal.evaluate(diamond, plan=start).runtime_ns == plan.runtime_ns
    order = tmp_path / "bare.order"
    order.write_text("0\n1\n2 1\n3\n")
    assert regal.evaluate(diamond, plan=order).devices == 2


def test_files(diamond, plan, tmp_path):
    path = tmp_path / "p.plan"
    plan.save(path)
    again = regal.evaluate(diamond, plan=path)  # on the file's own machine
    assert again.runtime_ns == 7200 and again.devices == 2
    plan.save_trace(tmp_path / "p.trace.json")
    assert (tmp_path / "p.trace.json").stat().st_size > 100
    with pytest.raises(regal.FileError):
        plan.save(tmp_path / "absent" / "p.plan")


def test_pictures(plan, tmp_path):
    plan.draw(tmp_path / "g.svg")
    assert "<svg" in (tmp_path / "g.svg").read_text()
    plan.draw(tmp_path / "g.dot")
    assert (tmp_path / "g.dot").read_text().startswith("digraph")
    with pytest.raises(regal.Error):  # the graph is of no model
        plan.save_onnx(tmp_path / "o.onnx", tmp_path / "absent.onnx")


def test_onnx(tmp_path):
    model = SOURCES / "tests" / "graphs" / "onnx" / "transformer.onnx"
    graph = regal.Graph.load(model, roofline="a100")
    assert graph.notes and len(graph) > 10
    plan = regal.optimize(graph, regal.Machine(devices=2), evaluations=500)
    plan.save_onnx(tmp_path / "o.onnx", model)
    assert len(regal.Graph.load(tmp_path / "o.onnx")) == len(graph)


def test_texts(plan):
    assert "run time" in plan.summary()
    assert "device 0" in plan.timeline(columns=60)
    with pytest.raises(regal.MisuseError, match="^columns: found 1099511627776"):
        plan.timeline(1 << 40)
    assert "critical chain" in plan.explain()
    assert repr(plan).startswith("<regal.Plan: 7200 ns, peak ")


def test_pages(plan, tmp_path):
    page = plan.to_html()
    assert page.lower().startswith("<!doctype html>") and "split" in page
    path = tmp_path / "page.html"
    assert plan.to_html(path, title="four ops") == path.read_text()
    assert "four ops" in path.read_text()
    frame = plan._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and "sandbox=" in frame
    assert frame.count("<") == 2, "the page inside is escaped"
    with pytest.raises(regal.FileError):
        plan.to_html(tmp_path / "absent" / "page.html")


def test_a_notebook_shows_the_summary_of_a_large_plan(plan, monkeypatch):
    monkeypatch.setattr("regal._plan._MOST_IN_NOTEBOOK", 3)
    shown = plan._repr_html_()
    assert "<iframe" not in shown and len(shown) < 2000
    assert "The page of 4 ops" in shown and "run time" in shown


def test_a_page_on_stdout(plan, capfd):
    assert plan.to_html("-") == plan.to_html() == capfd.readouterr().out


def test_a_page_in_what_cannot_be_read(plan):
    assert plan.to_html(os.devnull) == plan.to_html()


def test_a_page_shows_what_the_caller_expects(plan):
    assert plan.expected_ns == 0
    assert '"expected":' not in plan.to_html()
    plan.expected_ns = 9000
    assert plan.expected_ns == 9000
    assert '"expected":["9.00 us",9000]' in plan.to_html()
    for wrong in (-1, 1 << 63, 1.5):
        with pytest.raises(regal.MisuseError, match="expected_ns: found"):
            plan.expected_ns = wrong
    plan.expected_ns = 0


def test_a_plan_outlives_everything(demo):
    plan = regal.optimize(demo, regal.Machine(), evaluations=100)
    del demo
    import gc
    gc.collect()
    assert plan.summary() and len(plan.steps)


def test_pipeline(demo):
    pipeline = demo.pipeline(2)
    assert len(pipeline) > len(demo)
    plan = regal.optimize(pipeline, regal.Machine(), evaluations=100)
    assert plan.rates.microbatches == 2 and plan.rates.bubble >= 0


def test_tables():
    assert "auto" in [method.name for method in regal.methods()]
    options = {option.name: option for option in regal.options()}
    assert options["objective"].choices == ["runtime", "memory"]
    assert options["devices"].default == "2"
    assert options["devices"].type == "integer"
    assert regal.__version__.count(".") == 2


def test_errors_are_also_pythons_own():
    assert issubclass(regal.InputError, ValueError)
    assert issubclass(regal.FileError, OSError)
    assert issubclass(regal.OutOfMemoryError, MemoryError)
    assert issubclass(regal.InvalidPlanError, regal.Error)
