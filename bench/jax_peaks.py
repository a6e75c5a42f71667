#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How close the model's peaks are to XLA's, for modules that JAX compiles now.

  bench/jax_peaks.py [--check] [--evaluations N]

Needs the packages regal and jax (pip install . jax). Compiles the models of
jax_models.py for the CPU, with XLA's memory scheduler, with and without fusion.
For each it prints

- what XLA reports: temporaries + outputs - aliases (memory_analysis());
- how much of that is in use at once, by XLA's own buffer assignment
  (xla_buffers.py), as a ratio;
- the peak of XLA's order in the model over what XLA reports;
- the peak of the order that regal finds over that of XLA's order.

The new order is written as names, read again, verified, and costed by
regal.evaluate. Then come the mean of the model's ratio, its mean absolute
deviation from 1, and for how many modules the model has exactly the bytes that
are in use.

--check fails if a peak in the model is more than 1% off what XLA has in use, if
the mean deviation of the first three models from XLA's report is above that of
the graphs in data/xla.zip (docs/xla-peaks.md), if an order that was found is
worse than XLA's, or if none is better. tests/jax_peaks.sh runs it with the
build's own extension module.
"""
import argparse
import collections
import os
import pathlib
import statistics
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax_models
import regal
import regal.jax
import xla_buffers

KINDS = ("infer", "grad", "train")
#: The mean deviation of the graphs in data/xla.zip with --aliases xla
#: (docs/xla-peaks.md), and the models that must not be further off. Results of
#: the others are most of their memory.
MOST_OFF, COMPARED = 0.051, ("mlp", "transformer", "cnn")
ONE_DEVICE = regal.Machine(devices=1)


def capture(name, kind, fused):
    options = {"xla_cpu_enable_concurrency_optimized_scheduler": False}
    if not fused:
        options["xla_disable_hlo_passes"] = "fusion"
    function, args = jax_models.make(name, kind)
    return regal.jax.capture(function, *args, compiler_options=options)


def read_again(captured, plan):
    """The plan, by way of a file with the names of its ops."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "new.order")
        plan.save(path)
        return regal.evaluate(captured.graph, ONE_DEVICE, plan=path)


class Row:
    """What is measured of one module. Bytes are without arguments and
    constants."""

    def __init__(self, name, kind, fused, evaluations):
        captured = capture(name, kind, fused)
        memory = captured.memory
        self.name, self.kind = name, kind + ("" if fused else " unfused")
        self.ops = len(captured.graph)
        self.reported = memory.temporaries + memory.outputs - memory.aliases
        # Donated arguments are held by ops, the others are resident.
        arguments = captured.graph.info.resident_bytes + memory.aliases
        self.live = xla_buffers.live_bytes(captured.hlo) - memory.aliases
        self.model = captured.peak - arguments
        plan = regal.optimize(captured.graph, ONE_DEVICE, objective="memory",
                              evaluations=evaluations)
        self.found = int(read_again(captured, plan).peak_bytes[0]) - arguments

    def text(self):
        return (f"| {self.name} | {self.kind} | {self.ops} | {self.reported} | "
                f"{self.live / self.reported:.3f} | "
                f"{self.model / self.reported:.3f} | "
                f"{self.found / self.model:.3f} |")


def problems(rows):
    for row in rows:
        where = f"{row.name} {row.kind}"
        if abs(row.model / row.live - 1) > 0.01:
            yield f"{where}: {row.live} bytes in use, {row.model} in the model"
        if row.found > row.model:
            yield f"{where}: {row.found} bytes are more than {row.model}"
    off = deviation([row for row in rows if row.name in COMPARED])
    if off > MOST_OFF:
        yield f"the mean deviation is {off:.3f}, more than {MOST_OFF}"
    if not any(row.found < row.model for row in rows):
        yield "no order is better than XLA's"


def deviation(rows):
    """Mean distance of the model's ratio from 1."""
    return statistics.mean(abs(r.model / r.reported - 1) for r in rows)


def print_means(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.kind].append(row)
    groups[", ".join(COMPARED)] = [r for r in rows if r.name in COMPARED]
    groups["all"] = rows
    print("\n| modules | | as in use | mean ratio | deviation | mean gain |\n"
          "|---|---|---|---|---|---|")
    for title, group in groups.items():
        ratio = statistics.mean(row.model / row.reported for row in group)
        gain = statistics.mean(1 - row.found / row.model for row in group)
        same = sum(row.model == row.live for row in group)
        print(f"| {title} | {len(group)} | {same} | {ratio:.3f} | "
              f"{deviation(group):.3f} | {gain:.1%} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--evaluations", type=int, default=20000)
    given = parser.parse_args()
    print("| model | | ops | XLA's report | in use | model | new order |\n"
          "|---|---|---|---|---|---|---|")
    rows = []
    for fused in (True, False):
        for kind in KINDS:
            for name in jax_models.CASES:
                rows.append(Row(name, kind, fused, given.evaluations))
                print(rows[-1].text(), flush=True)
    print_means(rows)
    wrong = list(problems(rows)) if given.check else []
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
