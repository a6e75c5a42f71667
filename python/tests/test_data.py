# SPDX-License-Identifier: Apache-2.0
"""data/README.md says how to make graphs of the kinds that it has: it works."""
import re

import pytest

import regal
from conftest import SOURCES

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TEXT = (SOURCES / "data" / "README.md").read_text(encoding="utf-8")
MADE = {
    "torch": ["torchvision"],
    "tensorflow": ["tensorflow"],
    "jax": ["jax"],
}


def test_there_is_code_for_each_archive():
    found = re.findall(r"^import regal\.(\w+)$", TEXT, re.MULTILINE)
    assert sorted(found) == sorted(MADE)


@pytest.mark.parametrize("framework", sorted(MADE))
def test_graphs_of_this_kind(framework, tmp_path, monkeypatch):
    for module in MADE[framework]:
        pytest.importorskip(module, reason=f"{module} is not installed")
    monkeypatch.chdir(tmp_path)
    block, = (b[1] for b in BLOCK.finditer(TEXT)
              if f"import regal.{framework}\n" in b[1])
    exec(compile(block, "data/README.md", "exec"), {})
    made = sorted(tmp_path.glob("*.pb"))
    assert made
    for path in made:
        graph = regal.Graph.load(path)
        assert len(graph) > 2
        assert all(op.run_ns >= 0 for op in graph.ops)
