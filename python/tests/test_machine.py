# SPDX-License-Identifier: Apache-2.0
"""Machines: options, presets, files, and calls about devices and ops."""
import copy
import pickle
import time

import numpy as np
import pytest

import regal


def cost(graph, machine, **arguments):
    return regal.evaluate(graph, machine, **arguments).runtime_ns


CROSSING = dict(order=[0, 1, 2, 3], placement=[0, 0, 1, 0])


def test_units_and_numbers_mean_the_same(diamond):
    text = regal.Machine(devices=2, latency="2us", bandwidth="1GB/s")
    number = regal.Machine(devices=2, latency=2000, bandwidth=10**9)
    assert cost(diamond, text, **CROSSING) == cost(diamond, number, **CROSSING)
    # split and left, split's output there (2 us + 4096 ns), right, and back
    assert cost(diamond, text, **CROSSING) == 6000 + 6096 + 5000 + 6096 + 1000


def test_bad_values_are_refused():
    with pytest.raises(regal.InputError, match="devices"):
        regal.Machine(devices=0)
    with pytest.raises(regal.InputError, match="latency"):
        regal.Machine(latency="2 parsecs")
    with pytest.raises(regal.InputError, match="has no unit"):
        regal.Machine(latency="2")
    with pytest.raises(regal.InputError, match="transfers"):
        regal.Machine(transfers="sometimes")
    with pytest.raises(TypeError, match="takes no option 'seed'"):
        regal.Machine(seed=3)


def test_presets(diamond):
    names = [preset.name for preset in regal.presets()]
    assert "h100x8-nvlink" in names
    plan = regal.optimize(diamond, regal.Machine(preset="h100x8-nvlink"),
                          evaluations=100)
    assert plan.devices == 8
    with pytest.raises(regal.FileError, match="no machine has this name"):
        regal.optimize(diamond, regal.Machine(preset="h1000"))
    with pytest.raises(TypeError, match="option 'machine': it is called preset"):
        regal.Machine(machine="h100x8-nvlink")
    assert (repr(regal.Machine(preset="h100x8-nvlink"))
            == "regal.Machine(preset='h100x8-nvlink')")


def test_links(diamond):
    machine = regal.Machine(devices=2, latency=100)
    assert cost(diamond, machine, **CROSSING) == 12200
    machine.link(0, 1, latency="1us", both=False)
    assert cost(diamond, machine, **CROSSING) == 13100
    machine.link(0, 1, bandwidth="4GB/s")  # the latencies stay
    assert cost(diamond, machine, **CROSSING) == 13100 + 2 * 1024


def test_speeds_names_and_times(diamond):
    machine = regal.Machine(devices=2)
    machine.name(1, "fast").speed("fast", 5)
    assert cost(diamond, machine, **CROSSING) == 6000 + 1000 + 1000
    machine.op_time("right", "fast", 70)
    assert cost(diamond, machine, **CROSSING) == 6000 + 70 + 1000
    machine.op_time(2, 1, None)
    with pytest.raises(regal.InvalidPlanError, match="cannot run"):
        cost(diamond, machine, **CROSSING)
    with pytest.raises(regal.InputError, match="there is no device \"slow\""):
        cost(diamond, regal.Machine(devices=2).speed("slow", 1), **CROSSING)
    with pytest.raises(regal.InputError, match="no op matches 'up'; near"):
        cost(diamond, regal.Machine(devices=2).op_time("up", 0, 1), **CROSSING)


def test_a_graph_asks_for_devices_by_name(tmp_path):
    graph = regal.Graph()
    graph.add_op("a", 10, device="fast", group="pair")
    graph.add_op("b", 10, group="pair")
    machine = regal.Machine(devices=2).name(1, "fast")
    machine.save(tmp_path / "m.json", graph)
    for given in (machine, regal.Machine(preset=tmp_path / "m.json")):
        plan = regal.optimize(graph, given, evaluations=10)
        assert plan.placement.tolist() == [1, 1]
    with pytest.raises(regal.InputError, match='there is no device "fast"'):
        regal.optimize(graph, regal.Machine(devices=2))


def test_pins_and_groups(diamond):
    machine = regal.Machine(devices=2, latency=1)
    machine.pin("r*", 1).pin(0, 1).group(["left", "join"]).pin("join", 0)
    plan = regal.optimize(diamond, machine, evaluations=1000)
    assert plan.placement.tolist() == [1, 0, 1, 0]
    together = regal.Machine(devices=2).group("*")
    plan = regal.optimize(diamond, together, evaluations=1000)
    assert len(set(plan.placement.tolist())) == 1
    with pytest.raises(regal.InputError, match="nothing"):
        regal.optimize(diamond, regal.Machine().pin("nothing*", 0))


def test_ops_are_named_by_id_name_or_pattern():
    """A name is no pattern, also where it looks like one."""
    graph = regal.Graph()
    for name in ("x", "w[0]", "w0", "x"):
        graph.add_op(name, 10)
    for op, ids in ((1, [1]), ("w[0]", [1]), ("w?0?", [1]), ("x", [0, 3]),
                    ("w*", [1, 2])):
        pinned = regal.Machine(devices=2).pin("*", 0).pin(op, 1)
        timed = regal.Machine(devices=2).op_time(op, 0, None)
        together = regal.Machine(devices=2).pin(0, 0).group([op]).group([op, 0])
        for machine, device in ((pinned, 1), (timed, 1), (together, 0)):
            plan = regal.optimize(graph, machine, evaluations=10)
            assert (plan.placement[ids] == device).all()
        others = [i for i in range(4) if i not in ids]
        regal.evaluate(graph, timed, placement=[i in ids for i in range(4)])
        plan = regal.optimize(graph, pinned, evaluations=10)
        assert (plan.placement[others] == 0).all()


def test_many_ops_are_pinned_by_name():
    """A name is looked up, not compared with all names."""
    count = 20_000
    graph = regal.Graph.from_arrays([1] * count)
    machine = regal.Machine(devices=2)
    for i in range(count):
        machine.pin(f"op{i}", i % 2)
    began = time.monotonic()
    plan = regal.evaluate(graph, machine, placement=np.arange(count) % 2)
    assert plan.runtime_ns == count // 2
    assert time.monotonic() - began < 10


def test_memory_limits(diamond):
    for limits in ([10000, "1KiB"], np.array([10000, 1024]),
                   (limit for limit in (10000, 1024))):  # as a Series of pandas
        limited = regal.Machine(memory_limit=limits)
        plan = regal.evaluate(diamond, limited, **CROSSING)
        assert plan.devices == 2 and not plan.fits
        assert plan.cost.excess_bytes > 0
    all_same = regal.Machine(devices=2, memory_limit="1MiB")
    assert regal.evaluate(diamond, all_same, **CROSSING).fits
    for devices in (1, "3", 3.0):
        with pytest.raises(regal.MisuseError, match="^memory_limit: found 2 ent"):
            regal.Machine(devices=devices, memory_limit=[1, 2])


def test_a_saved_machine_is_the_same(diamond, tmp_path):
    machine = regal.Machine(devices=2, latency=100, transfers="overlapped")
    machine.speed(1, 2).pin("left", 0).link(0, 1, latency=7)
    path = tmp_path / "machine.json"
    machine.save(path, diamond)
    loaded = regal.Machine(preset=path)
    assert cost(diamond, loaded, **CROSSING) == cost(diamond, machine,
                                                     **CROSSING)


def test_a_copy_of_a_machine_may_be_told_more(diamond):
    machine = regal.Machine(devices=2).speed(1, 5)
    other = copy.copy(machine).speed(1, 10)
    assert cost(diamond, machine, **CROSSING) == 6000 + 1000 + 1000
    assert cost(diamond, other, **CROSSING) == 6000 + 500 + 1000


def test_ops_are_given_as_whole_numbers(diamond):
    for tell in (lambda m: m.pin(-1, 0), lambda m: m.pin(0.5, 0),
                 lambda m: m.group([0, -1])):
        with pytest.raises(regal.MisuseError, match="^op: found"):
            tell(regal.Machine())
    with pytest.raises(regal.MisuseError, match="^ns: found 1.7"):
        regal.Machine().op_time(0, 0, 1.7)


def test_a_machine_serves_several_graphs(diamond, demo):
    machine = regal.Machine(devices=2).speed(1, 2)
    for graph in (diamond, demo):
        assert regal.optimize(graph, machine, evaluations=50).devices == 2


def test_bad_arguments_of_calls_are_refused_at_once():
    machine = regal.Machine()
    with pytest.raises(regal.MisuseError, match="^ops: found 5, expected a l"):
        machine.group(5)
    with pytest.raises(regal.MisuseError, match="^device: found 0.5, expected"):
        machine.pin("*", 0.5)
    with pytest.raises(ValueError, match="fast"):
        machine.speed(0, "fast")
    with pytest.raises(regal.MisuseError, match="^latency: found .1, 2., exp"):
        machine.link(0, 1, latency=[1, 2])
    with pytest.raises(TypeError, match="graph is a NoneType, expected a reg"):
        machine.save("machine.json", None)
    assert repr(machine) == "regal.Machine()"


def test_what_a_group_was_made_of_may_change(diamond):
    ids = [0, 1]
    machine = regal.Machine(devices=2).group(ids).group(i for i in (2, 3))
    ids.append(2)
    for _ in range(2):
        cost(diamond, machine, placement=[0, 0, 1, 1])


def test_a_machine_goes_to_other_processes(diamond, tmp_path):
    told = regal.Machine(devices=3, latency=100).name(2, "cpu").speed("cpu", 2)
    told.pin("left", "cpu").pin(np.int64(0), 1).group([2, "join"])
    told.link(0, 1, bandwidth="1GB/s", both=False).op_time(3, 0, None)
    told.memory_limit(1, "1MiB")
    sent = pickle.loads(pickle.dumps(told))
    assert repr(sent) == repr(told)
    for number, machine in enumerate((told, sent)):
        machine.save(tmp_path / f"{number}.json", diamond)
    assert ((tmp_path / "0.json").read_text()
            == (tmp_path / "1.json").read_text())


def test_whole_numbers_may_be_floats(diamond):
    machine = regal.Machine(devices=2.0, latency=1e2, bandwidth=np.float32(8e9))
    plan = regal.optimize(diamond, machine, evaluations=1e2)
    assert plan.devices == 2 and plan.evaluations <= 100
    with pytest.raises(regal.InputError, match='"1.5" is not whole'):
        regal.Machine(devices=1.5)
    with pytest.raises(regal.MisuseError, match="^devices: found .1, 2., expe"):
        regal.Machine(devices=[1, 2])
    for given in (dict(latency=0.5), dict(bandwidth=25e9 / 3),
                  dict(memory_limit=float("nan"))):
        (name, value), = given.items()
        with pytest.raises(regal.MisuseError, match=(
                f"^{name}: found {value!r}, expected a whole number$")):
            regal.Machine(**given)
    with pytest.raises(regal.InputError, match="is not a duration"):
        regal.Machine(latency=10**400)


def test_repr():
    assert repr(regal.Machine(devices=3, latency="1us")) == (
        "regal.Machine(devices=3, latency='1us')")
    told = regal.Machine().pin("a*", 1).link(0, 1, latency="2us")
    assert repr(told) == ("regal.Machine().pin('a*', '1')"
                          ".link('0', '1', latency=2000, both=True)")
    for i in range(7):
        told.pin(i, 0)
    assert repr(told).endswith(".pin(5, '0') and 1 more calls")
    assert repr(regal.Machine().group(range(10**5))) == (
        "regal.Machine().group([0, 1, 2, 3, 4, 5, 6, 7, ...])")
