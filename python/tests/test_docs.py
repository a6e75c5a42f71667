# SPDX-License-Identifier: Apache-2.0
"""The Python code of the documentation runs, page by page, from top to bottom;
so do the examples in docstrings."""
import doctest
import shutil

import pytest

import regal
from conftest import DEMO, run_page

@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO, "model.pb")
    run_page(page)


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
