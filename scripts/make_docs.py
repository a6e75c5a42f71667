#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites what the documentation takes from the program: make_docs.py PROGRAM

  docs/options.md     what `regal options` prints
  docs/regal.1        its list of options, from the same table
  README.md, docs/    the output in every console block
  docs/img/plan.svg   the plan of the demo, drawn by scripts/plan_figure.py

Run it by `make docs` after a change of the options, of the search or of the
text of a report, and read the difference before it is committed.
tests/check_docs.py and tests/cli/cases/man_page.sh check that the result is
up to date.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRST, LAST = ".\\\" The options begin.\n", ".\\\" The options end.\n"


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def man_option(cells):
    """An option of docs/options.md as a paragraph of the manual page."""
    names, value, default, limits, help_text = cells[:5]
    names = ", ".join(re.findall(r"`([^`]+)`", names))
    flag = roff(names).replace(", ", ' ", " ')
    notes = [limits] if limits else []
    if default:
        notes.append("default " + default)
    text = help_text
    if not re.match(r"[\w-]+:", text):  # "cut: ..." begins with a value
        text = text[0].upper() + text[1:]
    if notes:
        text += f" ({'; '.join(notes)})"
    if value:
        return f".TP\n.BR {flag} \" \\fI{value}\\fR\"\n{roff(text)}.\n"
    macro = ".BR" if '"' in flag else ".B"
    return f".TP\n{macro} {flag}\n{roff(text)}.\n"


def man_options(page):
    """The list of options in the manual page, from docs/options.md."""
    made = []
    for line in page.splitlines():
        if line.startswith("## "):
            made.append(f".SS {line[3:]}\n")
        elif line.startswith("| `"):
            cells = re.split(r" \| |\|$", line[2:].replace("\\|", "\0"))
            made.append(man_option([cell.strip().replace("\0", "|")
                                    for cell in cells]))
    return "".join(made)


def draw_plan(program):
    """The plan at the head of the README, and all ops on one device."""
    demo = ROOT / "data/demo/hf_gpt_neox_train.pb"
    figure = [ROOT / "scripts/plan_figure.py", ROOT / "docs/img/plan.svg"]
    with tempfile.TemporaryDirectory() as folder:
        for title, name, options in (
                ("one device, the file's order", "before",
                 "--devices 1 --method single"),
                ("two devices of 16 GiB, planned by regal", "after",
                 "--memory-limit 16GiB --evaluations 50000")):
            trace = f"{folder}/{name}.json"
            subprocess.run([program, "optimize", demo, *options.split(), "-q",
                            "--trace", trace], check=True,
                           stdout=subprocess.DEVNULL)
            figure.append(f"{title}={trace}")
        subprocess.run([sys.executable, *figure], check=True)


def main(program):
    options = subprocess.run([program, "options"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    (ROOT / "docs/options.md").write_text(options)
    manual = ROOT / "docs/regal.1"
    before, rest = manual.read_text().split(FIRST)
    after = rest.split(LAST)[1]
    manual.write_text(before + FIRST + man_options(options) + LAST + after)
    draw_plan(program)
    return subprocess.run(
        [sys.executable, ROOT / "tests/check_docs.py", "--program", program,
         "--refresh"], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
