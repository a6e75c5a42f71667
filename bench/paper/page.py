# SPDX-License-Identifier: Apache-2.0
"""docs/paper.md: what was made, beside the paper's numbers.

Every item gives a section: a title, a text with its tables, and figures with
captions. What differs from the paper and why is written by people, in
differences.md: the text below the heading "## KEY" goes into the section.
"""
import collections
import math
import os
import pathlib
import re

Section = collections.namedtuple("Section", "key title text figures")
# (file in the output folder, caption)
HERE = pathlib.Path(__file__).resolve().parent


def number(value, form="{:.2f}"):
    return "" if value is None or math.isnan(value) else form.format(value)


def with_error(value, error, form="{:+.2f}"):
    return number(value, form) + (
        "" if error is None or math.isnan(error) else f" ±{error:.2f}")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def differences():
    """{key: text}"""
    text = (HERE / "differences.md").read_text()
    parts = re.split(r"^## (\S+)$", text, flags=re.MULTILINE)
    return {key: part.strip() for key, part in zip(parts[1::2], parts[2::2])}


SIZES = {
    "full": "",
    "quick": "These are the quick sizes: few and small graphs, policies "
             "trained for seconds. They show that everything runs, and roughly "
             "where the numbers are; confidence intervals are wide.",
    "tiny": "These are the tiny sizes, for a test of the driver: the numbers "
            "mean nothing.",
}


def compose(session, sections, build, command, page):
    folder = os.path.relpath(session.out, page.parent)
    texts = differences()
    lines = ["# The paper, table by table", "",
             "<!-- Made by bench/paper/reproduce.py. What differs is written in "
             "bench/paper/differences.md. -->", "",
             "Every table and figure of the paper (Paliwal et al., REGAL, ICLR "
             "2020) on open data, beside the paper's numbers. The paper's "
             "TensorFlow graphs are not public; \"real\" are the test splits of "
             "`data/*.zip`, and \"synthetic\" are graphs of the paper's "
             "generator. Improvements are over BRKGA with "
             f"{session.size('evaluations')} evaluations, in percent of its "
             "cost; ± is the standard error over graphs.", "",
             f"`{command}` made this page with {build}. {SIZES[session.scale]}"
             .strip(), "",
             *(f"- [{section.title}](#{anchor(section.title)})"
               for section in sections), ""]
    for section in sections:
        lines += [f"## {section.title}", "", section.text, ""]
        for file, caption in section.figures:
            data = f"{folder}/{pathlib.Path(file).stem}.csv"
            lines += [f"![{caption}]({folder}/{file})", "",
                      f"*{caption}* ([data]({data}))", ""]
        if section.key in texts:
            lines += [texts[section.key], ""]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines))


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
