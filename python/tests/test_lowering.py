# SPDX-License-Identifier: Apache-2.0
"""Fused kernels as Inductor gives them, without a GPU (lowered.py)."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

SCRIPT = pathlib.Path(__file__).parent / "lowered.py"


@pytest.fixture(scope="module")
def lowered(tmp_path_factory):
    cache = tmp_path_factory.mktemp("inductor")
    found = subprocess.run(
        [sys.executable, SCRIPT], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)},
    )
    assert found.returncode == 0, found.stderr[-3000:]
    rows = map(json.loads, found.stdout.splitlines())
    return {row["name"]: row for row in rows}


def test_a_model_on_the_cpu_is_refused(lowered):
    assert lowered["refused"]["why"].endswith("a tensor is on the cpu")


def test_a_size_that_values_decide_is_refused(lowered):
    assert "a value of a tensor decides" in lowered["chosen"]["why"]


def test_a_loop_is_refused(lowered):
    """What decides when it ends is known on the GPU alone."""
    assert lowered["looping"]["why"].endswith("has conditional or looping parts")


def test_an_op_without_results_waits_and_is_waited_for(lowered):
    tripled = lowered["tripled"]
    (at,) = [
        at for at, name in enumerate(tripled["kernels"]) if name.startswith("triple")
    ]
    assert tripled["dependencies"][at]
    assert at in tripled["dependencies"][-1]


def test_any_result_is_kept(lowered):
    """There are as many inputs and results as before, which `_fused` checks."""
    odd = lowered["odd"]
    assert odd["fused"] >= 3  # the normalisation, the buffer, the sum


def test_arguments_and_results_that_are_no_tensors_stay(lowered):
    numbers = lowered["numbers"]
    assert numbers["inputs"] == 1 and numbers["fused"] >= 1
    assert numbers["results"] == [3, "tensor", None, "twice", "tensor"]


def test_constants_of_a_training_step_are_inputs(lowered):
    assert lowered["weighted"]["fused"] >= 1


def test_branches_are_independent_and_fused(lowered):
    kernels = lowered["branches"]["kernels"]
    dependencies = lowered["branches"]["dependencies"]
    convolutions = [at for at, name in enumerate(kernels) if "triton" not in name]
    assert len(convolutions) == 3
    for at in convolutions:
        assert not set(dependencies[at]) & set(convolutions)
    assert len(kernels) < 12  # bias, relu and concatenation are one each


def test_a_training_step_is_one_graph(lowered):
    step, forward = lowered["step"], lowered["branches"]
    assert len(step["kernels"]) > 2 * len(forward["kernels"]) - 4
    assert any("backward" in name for name in step["kernels"])
    for at, before in enumerate(step["dependencies"]):
        assert all(other < at for other in before)


def test_kernels_of_one_graph_write_what_the_model_writes(lowered):
    """Buffers, after four parameters: three of a step, and one more; the other
    graphs write nothing."""
    assert sorted(lowered["whole step"]["written"]) == [4, 5, 6]
    assert sorted(lowered["whole call"]["written"]) == [4, 5, 6, 7]
    assert all(
        not lowered[name]["written"] for name in ("branches", "step", "weighted")
    )


def test_a_position_in_a_cache_is_a_counter(lowered):
    """Trials must not move it; what BatchNorm counts may count on."""
    assert sorted(lowered["caching"]["written"]) == [0, 1]
    assert lowered["caching"]["counters"] == [1]
    assert lowered["whole step"]["counters"] == []


def test_kernels_wait_before_they_touch_memory(lowered):
    """Those that may be launched early do it first of all."""
    step = lowered["step"]
    assert len(step["early"]) > 4
    for name, source in step["sources"].items():
        assert name in step["early"]
        body = source[source.index("):\n") + len("):\n"):].lstrip()
        assert body.startswith("tl.extra.cuda.gdc_wait()"), source
    said = [s for s in step["sources"].values() if "launch_dependents" in s]
    assert len(said) > 4  # when the next one may be launched


def test_a_kernel_of_the_user_is_waited_for_where_it_writes(lowered):
    """Inductor has read its source; its names say nothing."""
    user = lowered["user"]
    (at,) = [a for a, name in enumerate(user["kernels"]) if "shift" in name]
    doubled, y, out = user["reads"][at]
    assert user["writes"][at] == [doubled, out]
    assert user["dependencies"][at] == [at - 1] and doubled in user["writes"][at - 1]
    assert at in user["dependencies"][-1]
    assert user["written"] == []  # no input


def test_a_template_is_waited_for_where_it_writes(lowered):
    """Attention has a result, and writes an argument that a kernel after it
    reads."""
    kernels = lowered["attending"]["kernels"]
    (at,) = [a for a, name in enumerate(kernels) if name.startswith("triton_tem")]
    writes, reads = lowered["attending"]["writes"], lowered["attending"]["reads"]
    (last,) = [a for a in range(at + 1, len(kernels)) if set(reads[a]) & set(writes[at])]
    assert at in lowered["attending"]["dependencies"][last]
    assert len(writes[at]) == 3 and lowered["attending"]["written"] == []
    q, k, v = reads[at][:3]
    assert not {q, k, v} & set(writes[at])


def test_attention_with_dropout_has_its_state_from_the_forward_pass(lowered):
    """Both are ops of aten's, which take it where they run (test_attention.py)."""
    dropping = lowered["dropping"]
    forward, backward = (
        at for at, name in enumerate(dropping["kernels"]) if "triton" not in name
    )
    assert dropping["states"] == 2 and forward in dropping["dependencies"][backward]
    found = set(dropping["writes"][forward]) & set(dropping["reads"][backward])
    assert len(found) == 4  # the result, sums, and two numbers


def test_types_that_the_export_has_seen_are_not_checked(lowered):
    """Inductor gives a scatter another one."""
    assert len(lowered["routed"]["kernels"]) == lowered["routed"]["fused"] > 0


def test_views_begin_where_their_tensor_does_and_have_a_type(lowered):
    """A parameter may be a part of another tensor."""
    assert lowered["part"]["is_right"] == [True, True]
    assert lowered["part"]["types"] == ["torch.float32", "torch.int32"]


def test_a_copy_of_complex_numbers_is_a_kernel(lowered):
    """Inductor writes it as text."""
    spectral = lowered["spectral"]
    assert spectral["kernels"][0].startswith("copy_")
    (copy,) = spectral["writes"][0]
    assert copy in spectral["reads"][1] and spectral["dependencies"][1] == [0]


def test_rows_that_blocks_have_left_are_summed_up(lowered):
    """Of the gradients of a normalisation: by text, too."""
    orders = lowered["two orders"]
    sums = [at for at, name in enumerate(orders["kernels"]) if name.startswith("sum_")]
    assert len(sums) == 2
    ((workspace,), (same,)) = (orders["reads"][at] for at in sums)
    (writer,) = [
        at for at, found in enumerate(orders["writes"]) if workspace in found
    ]
    assert same == workspace and "triton" in orders["kernels"][writer]
    assert all(orders["dependencies"][at] == [writer] for at in sums)
    assert len({tuple(orders["writes"][at]) for at in sums}) == 2


@pytest.mark.parametrize("setting", ["cooperative", "multi"])
def test_settings_that_no_plan_can_have_are_switched_off(lowered, setting):
    """Blocks that wait for each other, and a choice at each call."""
    assert len(lowered[setting]["kernels"]) == lowered[setting]["fused"] == 1


def test_a_function_that_max_autotune_chooses_writes_its_result(lowered):
    """It is no op of aten."""
    tuned = lowered["tuned"]
    assert len(tuned["kernels"]) == 1 and "_mm_plus_mm" in tuned["kernels"][0]
    ((result,),) = tuned["writes"]
    assert result >= tuned["inputs"]


def test_a_model_may_be_on_another_gpu_than_the_selected_one(lowered):
    """The results of its kernels are there, too."""
    another = lowered["another"]
    assert another["warnings"] == []
    assert another["gpus"] == [1] and another["selected"] == 0
