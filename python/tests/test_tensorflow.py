# SPDX-License-Identifier: Apache-2.0
"""regal.tensorflow: functions and Keras models as measured cost graphs."""
import os

import numpy as np
import pytest

import regal
from conftest import run_page

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

import regal.tensorflow as rt  # noqa: E402


@pytest.fixture(scope="module")
def model():
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Input((16, 16, 3)), layers.Conv2D(8, 3),
        layers.BatchNormalization(), layers.ReLU(), layers.Flatten(),
        layers.Dropout(0.5), layers.Dense(10)])


X = np.ones((4, 16, 16, 3), np.float32)
Y = np.ones((4, 10), np.float32)


def test_a_model_has_measured_times_and_sizes(model, tmp_path):
    captured = rt.capture(model, X)
    ops = {op.name: op for op in captured.graph.ops}
    conv = next(op for name, op in ops.items() if name.endswith(
        "conv2d/BiasAdd") or "conv2d_1/BiasAdd" in name)
    assert conv.run_ns > 0
    # 4 x 14 x 14 x 8 floats, in the allocator's units of 256 bytes.
    assert conv.outputs == [4 * 14 * 14 * 8 * 4]
    kernel = next(op for name, op in ops.items() if name.endswith("Cast/"
                  "ReadVariableOp") and "dense" in name)
    assert 14 * 14 * 8 * 10 * 4 <= kernel.outputs[0] < 14 * 14 * 8 * 40 + 256
    # Sizes were tracked: only what is fed has none.
    notes = [note.text for note in captured.graph.notes]
    assert not [note for note in captured.graph.notes
                if note.kind == "warning"], notes
    assert any(text.startswith("1 output of size 0") for text in notes), notes
    captured.save(tmp_path / "model.pb")
    again = regal.Graph.load(tmp_path / "model.pb")
    assert again.info == captured.graph.info
    regal.optimize(captured.graph, regal.Machine(devices=2), evaluations=100)


def test_a_training_step_leaves_the_model_as_it_was(model):
    model.compile(optimizer="adam", loss="mse")
    before = [w.copy() for w in model.get_weights()]
    inference = rt.capture(model, X, steps=1, warmup=0)
    training = rt.capture(model, X, Y, train=True, steps=2)
    assert len(training.graph) > 2 * len(inference.graph)
    assert any("Conv2DBackpropFilter" in name for name in training.graph.names)
    for old, new in zip(before, model.get_weights()):
        np.testing.assert_array_equal(old, new)
    raw = rt.capture(model, X, Y, train=True, steps=1, optimize=False)
    assert len(raw.graph) > len(training.graph)


def test_functions_with_structures_variables_and_constants():
    kept = tf.Variable(np.eye(3, dtype=np.float32), name="MatMul")
    outer = tf.constant(np.ones((3, 3), np.float32))

    @tf.function
    def step(batch, rounds):
        for _ in range(rounds):
            kept.assign_add(tf.matmul(batch["a"], kept) + outer)
        return kept.read_value(), [batch["b"][0] + 1]

    args = {"a": np.ones((3, 3), np.float32), "b": (tf.ones(5),)}
    captured = rt.capture(step, args, 3, steps=1)
    names = captured.graph.names
    assert sum(n.startswith("AssignAddVariableOp") for n in names) == 3
    assert sum(n.startswith("_retval") for n in names) == 2
    np.testing.assert_array_equal(kept.numpy(), np.eye(3))


def test_what_cannot_be_captured_is_said():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([1], [2]), 0)
    with pytest.raises(ValueError, match="a resource that is no variable"):
        rt.capture(lambda x: table.lookup(x), np.array([1], np.int32))
    with pytest.raises(ValueError, match="needs a compiled Keras model"):
        rt.capture(lambda x: x, X, train=True)
    with pytest.raises(ValueError, match="neither returns a tensor"):
        rt.capture(lambda x: None, X)
    with pytest.raises(TypeError, match="expected a function"):
        rt.capture(3)
    with pytest.raises(ValueError, match="at least one"):
        rt.capture(lambda x: x, X, steps=0)
    with pytest.raises(RuntimeError, match="TensorFlow's session failed"):
        rt.capture(lambda x: tf.debugging.check_numerics(x / 0.0, "bad"), X)


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "captured" in run_page("docs/tensorflow.md")
