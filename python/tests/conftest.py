# SPDX-License-Identifier: Apache-2.0
"""What the tests share: where the sources are, a program, small graphs, and
how the code of a page of the documentation is run."""
import os
import pathlib
import re

import pytest

import regal

SOURCES = pathlib.Path(__file__).resolve().parents[2]
DEMO = SOURCES / "data" / "demo" / "hf_gpt_neox_train.pb"

BLOCK = re.compile(
    r"^(<!-- not run[^\n]*\n)?```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run_page(page):
    """Runs the Python code of a page from top to bottom; what it defined."""
    text = (SOURCES / page).read_text(encoding="utf-8")
    blocks = [block for block in BLOCK.finditer(text) if not block[1]]
    assert blocks, page
    names = {}
    for block in blocks:
        line = text[:block.start(2)].count("\n")
        exec(compile("\n" * line + block[2], page, "exec"), names)
    return names


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
