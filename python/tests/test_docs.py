# SPDX-License-Identifier: Apache-2.0
"""The Python code of the documentation runs, page by page, from top to bottom;
so do the examples in docstrings."""
import doctest
import re
import shutil

import pytest

import regal
from conftest import DEMO, SOURCES

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO, "model.pb")
    text = (SOURCES / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks
    names = {}
    for block in blocks:
        line = text[:block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], page, "exec"), names)


@pytest.mark.parametrize("module", [regal, regal._graph])
def test_docstrings_run(module):
    failed, tried = doctest.testmod(module)
    assert tried and not failed


def test_everything_is_documented():
    for name in regal.__all__:
        thing = getattr(regal, name)
        if name.startswith("__"):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(
                thing, type) else ():
            documented = callable(value) or isinstance(value, property)
            if documented and not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"
