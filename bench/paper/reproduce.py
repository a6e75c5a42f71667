#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table and figure of the paper, from one command.

  make reproduce               everything, hours
  make reproduce QUICK=1       everything, small: ten minutes on two cores
  bench/paper/reproduce.py build/regal --scale quick [--only table1,limits]
      [--sizes limit_graphs=20,limit_seeds=1]

Datasets, policies and the table of runs are in --work (build/paper/SCALE), and
a command that was stopped continues from there. What comes out is in --out
(WORK/out): tables and the data of figures as CSV, figures as SVG and PNG, and
paper.md, which shows all sections that have been made beside the paper's
numbers. --publish also puts each section into results/paper, and makes
docs/paper.md of what is there.
"""
import argparse
import pathlib
import resource
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
import records  # noqa: E402
import table1  # noqa: E402
from scales import SCALES, changed  # noqa: E402
from session import ROOT, Session  # noqa: E402

# In the order of the page.
ITEMS = {
    "table1": table1.make,
    "cp_sat": table1.solver,
    "ablation": ablation.heads,
    "limits": limits.make,
    "histograms": gains.histograms,
    "topologies": gains.topologies,
    "train_test": gains.train_test,
    "entropy": actions.entropy,
    "rounds": ablation.rounds,
    "rounds_synthetic": ablation.synthetic_rounds,
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
    parser.add_argument("--only", help="items, with commas")
    parser.add_argument("--sizes", default="", metavar="NAME=VALUE,...",
                        help="other sizes than those of the scale (scales.py)")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--mix", action="store_true",
                        help="continue runs of another build")
    parser.add_argument("--publish", action="store_true",
                        help="put what was made into results/paper and docs")
    parser.add_argument("--results", type=pathlib.Path,
                        default=ROOT / "results/paper")
    parser.add_argument("--page", type=pathlib.Path,
                        default=ROOT / "docs/paper.md")
    return parser.parse_args()


def command_of(arguments, name):
    """What makes this section again."""
    words = ["make reproduce", {"full": "", "quick": "QUICK=1",
                                "tiny": "TINY=1"}[arguments.scale],
             f"ONLY={name}" if arguments.only else "",
             f"SIZES={arguments.sizes}" if arguments.sizes else ""]
    return " ".join(word for word in words if word)


def make_page(folder, path):
    made = records.load(folder)
    page.compose([made[key] for key in ITEMS if key in made], path, folder)


def cpu_seconds():
    """Of the programs that were run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_item(session, arguments, name):
    began, used = time.monotonic(), cpu_seconds()
    session.begin_item()
    section = ITEMS[name](session)
    made = records.load(session.out)
    made[name] = records.record_of(session, section, arguments.scale,
                                   command_of(arguments, name))
    records.save(session.out, made)
    make_page(session.out, session.out / "paper.md")
    session.say(f"{name}: {time.monotonic() - began:.0f} s, "
                f"{cpu_seconds() - used:.0f} s of CPU")


def publish(session, arguments, name):
    for key in records.publish(session.out, arguments.results.resolve(), [name]):
        session.say(f"{key}: {arguments.results} has a larger one, which stays")
    make_page(arguments.results.resolve(), arguments.page.resolve())


def main():
    arguments = read_arguments()
    work = (arguments.work or ROOT / f"build/paper/{arguments.scale}").resolve()
    session = Session(arguments.regal.resolve(),
                      changed(SCALES[arguments.scale], arguments.sizes), work,
                      (arguments.out or work / "out").resolve(), arguments.mix,
                      arguments.threads)
    wanted = arguments.only.split(",") if arguments.only else list(ITEMS)
    unknown = set(wanted) - set(ITEMS)
    if unknown:
        sys.exit(f"reproduce: no item {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(ITEMS)}")
    for name in wanted:
        make_item(session, arguments, name)
        if arguments.publish:
            publish(session, arguments, name)
    session.say(f"the page is {session.out / 'paper.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
