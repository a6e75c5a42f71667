#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites what the documentation takes from the program.

  make_docs.py PROGRAM           rewrites:
    docs/options.md              what `regal options` prints
    docs/regal.1                 its list of options, from the same table
    docs/img/plan.svg            the plan of the demo (scripts/plan_figure.py)
    docs/paper.md                sections of results/paper, bench/paper/differences.md
    README.md, docs/*.md         the output in every console block
  make_docs.py PROGRAM --check   fails if one of the first four is out of date
                                 (tests/check_docs.py checks the last)

Run `make docs` after a change of the options, of the search or of the text of a
report, and read the difference before you commit it.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ among the scripts
import plan_figure  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench/paper"))
import reproduce  # noqa: E402

FIRST, LAST = ".\\\" The options begin.\n", ".\\\" The options end.\n"
DEMO = ROOT / "data/demo/hf_gpt_neox_train.pb"
PLANS = (("one device, the file's order", "--devices 1 --method single"),
         ("two devices of 16 GiB, planned by regal",
          "--memory-limit 16GiB --evaluations 50000"))


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def man_option(cells):
    """An option of docs/options.md as a paragraph of the manual page."""
    names, value, default, limits, text = cells[:5]
    flag = roff(", ".join(re.findall(r"`([^`]+)`", names)))
    flag = flag.replace(", ", ' ", " ')
    notes = [limits] * bool(limits) + ["default " + default] * bool(default)
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


def man_page(options):
    before, rest = (ROOT / "docs/regal.1").read_text().split(FIRST)
    after = rest.split(LAST)[1]
    return before + FIRST + man_options(options) + LAST + after


def draw_plans(program):
    """The plan at the head of the README, and all ops on one device."""
    drawn = []
    with tempfile.TemporaryDirectory() as folder:
        for title, options in PLANS:
            trace = f"{folder}/{len(drawn)}.json"
            subprocess.run([program, "optimize", DEMO, *options.split(), "-q",
                            "--trace", trace], check=True,
                           stdout=subprocess.DEVNULL)
            drawn.append((title, plan_figure.read_trace(trace)))
    return plan_figure.draw(drawn)


def paper_page():
    """docs/paper.md from the sections that were published."""
    made = reproduce.records.load(ROOT / "results/paper")
    return reproduce.page.text_of(
        [made[key] for key in reproduce.ITEMS if key in made], "../results/paper")


def make_files(program):
    """The text of each file that is made."""
    options = subprocess.run([program, "options"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return {ROOT / "docs/options.md": options,
            ROOT / "docs/regal.1": man_page(options),
            ROOT / "docs/img/plan.svg": draw_plans(program),
            ROOT / "docs/paper.md": paper_page()}


def main(program, check):
    stale = [(path, text) for path, text in make_files(program).items()
             if not path.exists() or path.read_text() != text]
    if check:
        for path, _ in stale:
            print(f"{path.relative_to(ROOT)}: out of date, run 'make docs'")
        return 1 if stale else 0
    for path, text in stale:
        path.write_text(text)
        print(f"{path.relative_to(ROOT)}: rewritten")
    return subprocess.run(
        [sys.executable, ROOT / "tests/check_docs.py", "--program", program,
         "--refresh"], check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] in ([], ["--help"]) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], "--check" in sys.argv))
