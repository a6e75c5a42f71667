#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and a figure of what plans.py measured.

  report.py FOLDER DUMP.json... [--sharing used|shipped|DUMP.json]

Writes FOLDER/plans.csv (a row per model, batch and mode), left.csv (cases that
were left to Inductor), predictions.csv (a row per plan that was tried at batch
1), their tables by tables.py, and, by gnuplot, predictions.svg. Of two rows
for one case the later dump's counts. What the folder has of cases that are not
in the dumps stays, and so do times of max-autotune; rows of cases that were
measured again go to earlier.csv. The dumps themselves have every plan of every
model and are not kept. Predicted times are made here, by the package regal:
with the numbers that the run's calibration found, with those that the package
ships, or with those that fit what another dump's calibration observed.
"""
import argparse
import csv
import json
import pathlib
import subprocess

import tables
from regal.streams.program import Program
from regal.streams.schedule import make_schedule
from regal.streams.sharing import Observation, Sharing, fit, predict_us
from tables import TIMES, key_of, read_csv

#: What actions measure by themselves, for cases that others have measured.
EXTRA_FIELDS = ["max_autotune_us", "unfolded_us"] + [
    "one_graph_" + name for name in
    ("us", "reduce_overhead_us", "plan_us", "one_stream_us", "host_us",
     "difference", "inductor_difference", "planning_s", "chosen")]
PLAN_FIELDS = (
    ["model", "batch", "mode", "kernels", "constants"]
    + [t + "_us" for t in TIMES] + ["folded_us", "unfolded_us", "usual_us"]
    + ["replay_before_us", "replay_us", "launch_us", "host_us"]
    + ["speedup", "call_speedup", "difference", "inductor_difference",
       "difference_to_inductor", "held_bytes", "one_stream_bytes", "planning_s",
       "chosen"]
    + [f for f in EXTRA_FIELDS if f.startswith("one_graph")] + ["device", "build"]
)
LEFT_FIELDS = ["model", "batch", "mode", "why"]
PREDICTION_FIELDS = ["model", "plan", "measured_us", "searched_us",
                     "predicted_us", "crossings"]


def merged(paths):
    """All rows by case, the later dump's first."""
    rows = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            dump = json.load(file)
        for row in dump["rows"]:
            key = row["model"], row["batch"], row["mode"]
            known = rows.setdefault(key, {})
            known.update(row)
            if "regal_us" in row or "device" not in known:
                known["device"], known["build"] = dump["device"], dump["build"]
                known["sharing"] = dump["sharing"]
    return rows


def speedup(row):
    """Of the plan over the better of reduce-overhead and one stream."""
    others = [row.get("reduce_overhead_us"), row.get("one_stream_us")]
    others = [t for t in others if t]
    return min(others) / row["regal_us"] if others and row.get("regal_us") else None


def call_speedup(row):
    """Of a call over one of reduce-overhead."""
    return row["reduce_overhead_us"] and row["reduce_overhead_us"] / row["call_us"]


def bounded(row):
    """A call replays the plan, so no replay takes longer than a call.

    Trials of chains are short, and the GPU's clock may not have risen yet.
    """
    found = dict(row, regal_us=min(row["regal_us"], row["call_us"]))
    is_chain = all(label == "one stream" for label in row["chosen"])
    if is_chain and not row.get("constants"):
        found["one_stream_us"] = found["regal_us"]
    return found


def plan_rows(rows):
    for row in rows.values():
        if not row.get("regal_us") or row.get("warnings"):
            continue
        row = bounded(row)
        row.update(speedup=speedup(row), call_speedup=call_speedup(row),
                   chosen="; ".join(row["chosen"]))
        yield {f: shown(row.get(f)) for f in PLAN_FIELDS}


def left_out(rows, known):
    """Cases that were left to Inductor, with the reason; those of `known` that
    were not run again stay."""
    yield from (
        row for row in known if "warnings" not in rows.get(key_of(row), ())
    )
    for (model, batch, mode), row in rows.items():
        for warning in row.get("warnings", ()):
            yield {"model": model, "batch": batch, "mode": mode, "why": warning}


def shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else value


def sharing_by(name):
    """The numbers to predict with; None: those of each row."""
    if name == "used":
        return None
    if name == "shipped":
        return Sharing()
    with open(name, encoding="utf-8") as file:
        graphs = json.load(file)["calibration"]
    observations = []
    for graph in graphs:
        program = Program.from_json(graph["program"])
        observations += [
            Observation(program, schedule_of(program, plan), plan["measured_us"],
                        graph["one_stream_us"])
            for plan in graph["plans"]
        ]
    return fit(observations)


def schedule_of(program, plan):
    return make_schedule(
        program, [k for k, _ in plan["launches"]], dict(plan["launches"])
    )


def prediction_rows(rows, sharing):
    """Plans of the search: those have a prediction of its own model too."""
    for (model, _, _), row in rows.items():
        for graph in row.get("observed", ()):
            for plan in graph["plans"]:
                if plan["searched_us"]:
                    numbers = predicted(
                        graph, plan, sharing or Sharing(**row["sharing"])
                    )
                    yield {
                        "model": model, "plan": plan["label"],
                        **{f: shown(numbers[f]) for f in PREDICTION_FIELDS[2:]},
                    }


def predicted(graph, plan, sharing):
    """The numbers of one plan, with the time that sharing predicts."""
    program = Program.from_json(graph["program"])
    schedule = schedule_of(program, plan)
    us = predict_us(program, schedule, sharing, graph["one_stream_us"])
    return dict(plan, predicted_us=us, crossings=schedule.crossings)


def write_csv(path, fields, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n",
                                extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def with_earlier(new, known, extras):
    """All rows, and those of `known` that new ones take the place of.

    Of a case that is only in `extras` nothing else was measured.
    """
    found = {key_of(row): row for row in new}
    replaced = [
        row for row in known
        if key_of(row) in found and row["build"] != found[key_of(row)]["build"]
    ]
    for row in known:
        kept = found.setdefault(key_of(row), row)
        if kept is not row and row["one_graph_us"]:
            # What it was compared with then, not what is measured now.
            row["one_graph_reduce_overhead_us"] = tables.reduced_of(row)
        for field in EXTRA_FIELDS:
            kept[field] = kept.get(field) or row.get(field) or ""
    for key, values in extras.items():
        if key in found:
            found[key].update(values)
    order = sorted(found, key=lambda key: (key[2], key[1]))
    return [found[key] for key in order], replaced


FIGURE = """set terminal svg size 860,420 font 'sans-serif,13'
set output 'predictions.svg'
set datafile separator ','
set logscale xy
set xlabel 'measured, us'
set key off
set grid lc rgb '#dddddd'
set multiplot layout 1,2
set ylabel 'predicted, us'
set title "the search's model"
plot x lc rgb '#888888', 'predictions.csv' every ::1 using 3:4 \
  pt 7 ps .5 lc rgb '#0072b2'
set title 'with sharing, fitted to other networks'
plot x lc rgb '#888888', 'predictions.csv' every ::1 using 3:5 \
  pt 7 ps .5 lc rgb '#d55e00'
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("dumps", nargs="+")
    parser.add_argument("--sharing", default="used")
    given = parser.parse_args()
    folder, sharing = pathlib.Path(given.folder), sharing_by(given.sharing)
    rows = merged(given.dumps)
    extras = {
        key: {f: shown(row[f]) for f in EXTRA_FIELDS if row.get(f) is not None}
        for key, row in rows.items()
    }
    plans, replaced = with_earlier(
        list(plan_rows(rows)), read_csv(folder / "plans.csv"), extras
    )
    earlier = read_csv(folder / "earlier.csv") + replaced
    predictions = (list(prediction_rows(rows, sharing))
                   or read_csv(folder / "predictions.csv"))
    left = list(left_out(rows, read_csv(folder / "left.csv")))
    write_csv(folder / "left.csv", LEFT_FIELDS, left)
    write_csv(folder / "plans.csv", PLAN_FIELDS, plans)
    write_csv(folder / "earlier.csv", PLAN_FIELDS, earlier)
    write_csv(folder / "predictions.csv", PREDICTION_FIELDS, predictions)
    tables.write(folder)
    subprocess.run(["gnuplot"], input=FIGURE, text=True, cwd=folder, check=True)


if __name__ == "__main__":
    main()
