# SPDX-License-Identifier: Apache-2.0
"""docs/paper.md: what was made, beside the paper's numbers.

Every item gives a section: a title, a text with its tables, and figures with
captions; its record (records.py) adds where it comes from. What differs from the
paper and why is written by people, in differences.md: the text below the heading
"## KEY" goes into the section. `make docs` puts a change of it into docs/paper.md.
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


SIZE_TEXTS = {
    "full": "full size",
    "quick": "quick size: few and small graphs, policies trained for seconds, "
             "wide confidence intervals",
    "tiny": "tiny size, a test of the driver: the numbers mean nothing",
}


def origin(record):
    """Where a section comes from, in a line."""
    commits = ", ".join(record["builds"])
    changed = ", but for SIZES" if "SIZES=" in record["command"] else ""
    return (f"*`{record['command']}` ({SIZE_TEXTS[record['scale']]}{changed}), "
            f"commit{'s' if len(record['builds']) > 1 else ''} {commits}.*")


def compose(records, page, folder):
    """Writes the page of the sections whose files are in `folder`."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text_of(records, os.path.relpath(folder, page.parent)))


def text_of(records, folder):
    """The page; `folder` as seen from it."""
    texts = differences()
    lines = ["# The paper, table by table", "",
             "<!-- Made by bench/paper/reproduce.py. What differs is written in "
             "bench/paper/differences.md. -->", "",
             "Every table and figure of the paper (Paliwal et al., REGAL, ICLR "
             "2020) on open data, beside the paper's numbers. The paper's "
             "TensorFlow graphs are not public; \"real\" are the test splits of "
             "`data/*.zip`, and \"synthetic\" are graphs of the paper's "
             "generator. Improvements are over BRKGA with "
             f"{records[0]['evaluations']} evaluations, in percent of its cost; "
             "± is the standard error over graphs. Each section says which "
             "command made it, at which size, and the commits of its runs "
             "([benchmarks.md](benchmarks.md#the-paper)).", "",
             *(f"- [{record['title']}](#{anchor(record['title'])})"
               for record in records), ""]
    for record in records:
        lines += [f"## {record['title']}", "", origin(record), "",
                  record["text"].replace("RESULTS", folder), ""]
        for file, caption in record["figures"]:
            data = f"{folder}/{pathlib.Path(file).stem}.csv"
            lines += [f"![{caption}]({folder}/{file})", "",
                      f"*{caption}* ([data]({data}))", ""]
        if record["key"] in texts:
            lines += [texts[record["key"]], ""]
    return "\n".join(lines)


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
