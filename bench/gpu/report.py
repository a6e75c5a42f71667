#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and a figure of what plans.py measured.

  report.py FOLDER DUMP.json... [--sharing used|shipped|DUMP.json]

Writes FOLDER/plans.csv (a row per model, batch and mode), left.csv (cases that
were left to Inductor), predictions.csv (a row per plan that was tried at batch
1), README.md with them as tables, and, by gnuplot, predictions.svg. Of two rows
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
import os
import subprocess

from regal.streams.program import Program
from regal.streams.schedule import make_schedule
from regal.streams.sharing import Observation, Sharing, fit, predict_us

TIMES = ["eager", "default", "reduce_overhead", "max_autotune", "one_stream",
         "chains", "heft", "regal", "call"]
#: What actions measure by themselves, for cases that others have measured.
EXTRA_FIELDS = ["max_autotune_us", "unfolded_us", "step_us", "step_plan_us",
                "step_one_stream_us", "step_host_us", "step_difference",
                "step_planning_s", "step_chosen"]
PLAN_FIELDS = (
    ["model", "batch", "mode", "kernels", "constants"]
    + [t + "_us" for t in TIMES] + ["folded_us", "unfolded_us", "usual_us"]
    + ["replay_before_us", "replay_us", "launch_us", "host_us"]
    + ["speedup", "call_speedup", "difference", "inductor_difference",
       "difference_to_inductor", "held_bytes", "one_stream_bytes", "planning_s",
       "chosen"]
    + [f for f in EXTRA_FIELDS if f.startswith("step")] + ["device", "build"]
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


def read_csv(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def key_of(row):
    return row["model"], int(row["batch"]), row["mode"]


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
        for field in EXTRA_FIELDS:
            kept[field] = kept.get(field) or row.get(field) or ""
    for key, values in extras.items():
        if key in found:
            found[key].update(values)
    order = sorted(found, key=lambda key: (key[2], key[1]))
    return [found[key] for key in order], replaced


def errors(rows, column):
    return [abs(float(r[column]) / float(r["measured_us"]) - 1) for r in rows]


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def number(text):
    return f"{float(text):.0f}" if text != "" else "-"


def plan_table(rows):
    yield ("| model | batch | mode | eager | default | reduce-overhead | "
           "max-autotune | one stream | chains | heft | plan | call | speedup | "
           "of calls |")
    yield "|---" * 14 + "|"
    for row in rows:
        times = " | ".join(number(row[t + "_us"]) for t in TIMES)
        yield (f"| {row['model']} | {row['batch']} | {row['mode']} | {times} | "
               f"{float(row['speedup']):.2f} | {float(row['call_speedup']):.2f} |")


def step_table(rows):
    """Whole training steps: by forward and backward graphs, and as one."""
    yield ("| model | batch | reduce-overhead | call | step | one stream | plan | "
           "of reduce-overhead | planning, s |")
    yield "|---" * 9 + "|"
    for row in rows:
        times = " | ".join(
            number(row[t + "_us"])
            for t in ("reduce_overhead", "call", "step", "step_one_stream",
                      "step_plan")
        )
        ratio = float(row["reduce_overhead_us"]) / float(row["step_us"])
        yield (f"| {row['model']} | {row['batch']} | {times} | {ratio:.2f} | "
               f"{float(row['step_planning_s']):.1f} |")


def earlier_table(plans, earlier):
    """Earlier measurements of the same cases."""
    now = {key_of(row): row for row in plans}
    yield ("| model | batch | mode | reduce-overhead | one stream | plan | call | "
           "planning, s | speedup | speedup above |")
    yield "|---" * 10 + "|"
    for row in earlier:
        times = " | ".join(
            number(row[t + "_us"])
            for t in ("reduce_overhead", "one_stream", "regal", "call")
        )
        yield (f"| {' | '.join(map(str, key_of(row)))} | {times} | "
               f"{float(row['planning_s']):.1f} | {float(row['speedup']):.2f} | "
               f"{float(now[key_of(row)]['speedup']):.2f} |")


def by_build(rows):
    """The build with the most rows first."""
    found = {}
    for row in rows:
        found.setdefault(row["build"], []).append(row)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def prediction_table(rows):
    yield "| model | plans | search's model | with sharing | largest |"
    yield "|---|---|---|---|---|"
    by_model = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    before, after = [], []
    for model, found in by_model.items():
        b, a = errors(found, "searched_us"), errors(found, "predicted_us")
        before.append(mean(b))
        after.append(mean(a))
        yield (f"| {model} | {len(found)} | {mean(b):.1%} | {mean(a):.1%} | "
               f"{max(a):.1%} |")
    yield (f"| mean over models | {len(rows)} | {mean(before):.1%} | "
           f"{mean(after):.1%} | |")


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
    folder, sharing = given.folder, sharing_by(given.sharing)
    rows = merged(given.dumps)
    extras = {
        key: {f: shown(row[f]) for f in EXTRA_FIELDS if row.get(f) is not None}
        for key, row in rows.items()
    }
    plans, replaced = with_earlier(
        list(plan_rows(rows)), read_csv(os.path.join(folder, "plans.csv")), extras
    )
    earlier = read_csv(os.path.join(folder, "earlier.csv")) + replaced
    predictions = (list(prediction_rows(rows, sharing))
                   or read_csv(os.path.join(folder, "predictions.csv")))
    left = list(left_out(rows, read_csv(os.path.join(folder, "left.csv"))))
    write_csv(os.path.join(folder, "left.csv"), LEFT_FIELDS, left)
    write_csv(os.path.join(folder, "plans.csv"), PLAN_FIELDS, plans)
    write_csv(os.path.join(folder, "earlier.csv"), PLAN_FIELDS, earlier)
    write_csv(os.path.join(folder, "predictions.csv"), PREDICTION_FIELDS,
              predictions)
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        print("\n".join(page(plans, earlier, predictions, left)), file=file)
    subprocess.run(["gnuplot"], input=FIGURE, text=True, cwd=folder, check=True)


def page(plans, earlier, predictions, left):
    """The lines of README.md."""
    yield ("# Plans on a GPU\n\nMade by bench/gpu/plans.py and "
           "bench/gpu/report.py; docs/torch.md says what the columns are. "
           "Microseconds.")
    for build, some in by_build(plans).items():
        yield f"\n## {some[0]['device']}, {build}\n"
        yield from plan_table(some)
    yield "\nLeft to Inductor:\n"
    for row in left:
        yield f"- {row['model']}, batch {row['batch']}, {row['mode']}: {row['why']}"
    steps = [row for row in plans if row.get("step_plan_us")]
    if steps:
        yield "\n## Training steps as one graph\n"
        yield from step_table(steps)
    yield ("\n## Predicted and measured\n\nMean relative error of the predicted "
           "times of plans that were tried at batch 1.\n")
    yield from prediction_table(predictions)
    yield "\n![Predicted against measured](predictions.svg)"
    for build, some in by_build(earlier).items():
        yield f"\n## Measured earlier, {build.split(',')[0]})\n"
        yield from earlier_table(plans, some)


if __name__ == "__main__":
    main()
