# SPDX-License-Identifier: Apache-2.0
"""What the tests share: where the sources are, a program, small graphs."""
import os
import pathlib

import pytest

import regal

SOURCES = pathlib.Path(__file__).resolve().parents[2]
DEMO = SOURCES / "data" / "demo" / "hf_gpt_neox_train.pb"


@pytest.fixture
def demo():
    """A training step of a real model."""
    return regal.Graph.load(DEMO)


@pytest.fixture
def diamond():
    """split -> left, right -> join: two devices help."""
    graph = regal.Graph()
    split = graph.add_op("split", run_ns=1000, outputs=[4096])
    left = graph.add_op("left", run_ns=5000, outputs=[4096], inputs=[split])
    right = graph.add_op("right", run_ns=5000, outputs=[4096],
                         inputs=[split])
    graph.add_op("join", run_ns=1000, outputs=[64], final=True,
                 inputs=[left, right])
    return graph


@pytest.fixture
def program():
    """The path of the program `regal`, which REGAL_PROGRAM names."""
    path = os.environ.get("REGAL_PROGRAM")
    if not path:
        pytest.skip("REGAL_PROGRAM does not name the program regal")
    return path
