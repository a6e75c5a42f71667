#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of the paper, from one command.

  make reproduce               everything, hours
  make reproduce QUICK=1       everything, small: ten minutes on two cores
  bench/paper/reproduce.py build/regal --scale quick [--only table1,limits]

Datasets, policies and the table of runs are in --work (build/paper/SCALE), and
a command that was stopped continues from there. What comes out is in --out
(results/paper): tables and the data of figures as CSV, figures as SVG and PNG;
and --page (docs/paper.md) shows all of it beside the paper's numbers.
"""
import argparse
import pathlib
import sys
import time

sys.dont_write_bytecode = True

import ablation  # noqa: E402
import actions  # noqa: E402
import contest  # noqa: E402
import examples  # noqa: E402
import gains  # noqa: E402
import generalise  # noqa: E402
import limits  # noqa: E402
import page  # noqa: E402
import table1  # noqa: E402
from scales import SCALES  # noqa: E402
from session import ROOT, Session  # noqa: E402

# In the order of the page.
ITEMS = {
    "table1": table1.make,
    "ablation": ablation.heads,
    "limits": limits.make,
    "histograms": gains.histograms,
    "topologies": gains.topologies,
    "train_test": gains.train_test,
    "entropy": actions.entropy,
    "rounds": ablation.rounds,
    "training": ablation.curves,
    "structure": actions.structure,
    "examples": examples.make,
    "generalisation": generalise.make,
    "contest": contest.make,
}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("regal", type=pathlib.Path)
    parser.add_argument("--scale", choices=SCALES, default="full")
    parser.add_argument("--only", help="items, with commas; no page is made")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "results/paper")
    parser.add_argument("--page", type=pathlib.Path,
                        default=ROOT / "docs/paper.md")
    parser.add_argument("--mix", action="store_true",
                        help="continue runs of another build")
    return parser.parse_args()


def make_page(session, sections, arguments):
    build = session.call("--version").stdout.strip()
    builds = sorted({row["build"] for row in session.rows()})
    if len(builds) > 1:
        build += f"; its runs are of commits {' and '.join(builds)}"
    command = {"full": "make reproduce", "quick": "make reproduce QUICK=1",
               "tiny": "make reproduce TINY=1"}[session.scale]
    command += " MIX=1" if session.mix else ""
    folder = page.os.path.relpath(session.out, arguments.page.parent)
    sections = [section._replace(text=section.text.replace("RESULTS", folder))
                for section in sections]
    page.compose(session, sections, build, command, arguments.page)


def main():
    arguments = read_arguments()
    scale = arguments.scale
    session = Session(arguments.regal.resolve(), scale, SCALES[scale],
                      (arguments.work or ROOT / f"build/paper/{scale}").resolve(),
                      arguments.out.resolve(), arguments.mix)
    wanted = arguments.only.split(",") if arguments.only else list(ITEMS)
    unknown = set(wanted) - set(ITEMS)
    if unknown:
        sys.exit(f"reproduce: no item {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(ITEMS)}")
    sections = []
    for name in wanted:
        began = time.monotonic()
        sections.append(ITEMS[name](session))
        session.say(f"{name}: {time.monotonic() - began:.0f} s")
    if not arguments.only:
        arguments.page = arguments.page.resolve()
        make_page(session, sections, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
