#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was measured on GPUs, as tables of Markdown.

  tables.py           writes results/gpu/README.md, and the tables of docs/torch.md
  tables.py --check   says what differs there from the CSV files of results/gpu

report.py makes these CSV files of what plans.py has measured. A table of
docs/torch.md follows a line that names it: <!-- bench/gpu/tables.py: NAME -->.
"""
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results/gpu"
DOCS = ROOT / "docs/torch.md"

TIMES = ["eager", "default", "reduce_overhead", "max_autotune", "one_stream",
         "chains", "heft", "regal", "call"]
#: Builds of rows that are still in plans.csv.
WITHOUT_EARLY_LAUNCHES = ["41414503f96c"]
#: A table's marker, and the lines of the table.
MARKED = re.compile(r"(?<=<!-- bench/gpu/tables\.py: )([\w-]+) -->\n\n((?:\|.*\n)*)")


def read_csv(path):
    path = pathlib.Path(path)
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def key_of(row):
    return row["model"], int(row["batch"]), row["mode"]


def errors(rows, column):
    return [abs(float(r[column]) / float(r["measured_us"]) - 1) for r in rows]


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def number(text):
    return f"{float(text):.0f}" if text != "" else "-"


def ratio(a, b):
    return f"{float(a) / float(b):.2f}" if a and b else "-"


def table(head, rows):
    """Lines of Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"


def filled(head, rows):
    """A table without the columns that have no number."""
    rows = list(rows)
    kept = [at for at in range(len(head)) if any(row[at] != "-" for row in rows)]
    return table([head[at] for at in kept], ([row[at] for at in kept] for row in rows))


def numbers_of(row, names):
    return [number(row[name + "_us"]) for name in names]


# -- results/gpu/README.md -----------------------------------------------------


def plan_table(rows):
    head = ["model", "batch", "mode", "eager", "default", "reduce-overhead",
            "max-autotune", "one stream", "chains", "heft", "plan", "call",
            "speedup", "of calls"]
    return table(head, (
        [*key_of(row), *numbers_of(row, TIMES),
         ratio(row["speedup"], 1), ratio(row["call_speedup"], 1)]
        for row in rows
    ))


def one_graph_table(rows):
    head = ["model", "batch", "mode", "reduce-overhead", "one graph",
            "one stream", "plan", "of reduce-overhead", "planning, s"]
    times = ["one_graph", "one_graph_one_stream", "one_graph_plan"]
    return table(head, (
        [*key_of(row), number(reduced_of(row)), *numbers_of(row, times),
         one_graph_ratio(row), f"{float(row['one_graph_planning_s']):.1f}"]
        for row in rows
    ))


def reduced_of(row):
    """reduce-overhead to compare one graph with: of the same run, if it has
    that."""
    return row.get("one_graph_reduce_overhead_us") or row["reduce_overhead_us"]


def earlier_table(plans, earlier):
    """Earlier measurements of the same cases."""
    now = {key_of(row): row for row in plans}
    head = ["model", "batch", "mode", "reduce-overhead", "one stream", "plan",
            "call", "planning, s", "speedup", "speedup above"]
    times = ["reduce_overhead", "one_stream", "regal", "call"]
    return table(head, (
        [*key_of(row), *numbers_of(row, times),
         f"{float(row['planning_s']):.1f}", ratio(row["speedup"], 1),
         ratio(now[key_of(row)]["speedup"], 1)]
        for row in earlier
    ))


def by_build(rows):
    """The build with the most rows first."""
    found = {}
    for row in rows:
        found.setdefault(row["build"], []).append(row)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def prediction_table(rows):
    by_model = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    lines, before, after = [], [], []
    for model, found in by_model.items():
        b, a = errors(found, "searched_us"), errors(found, "predicted_us")
        before.append(mean(b))
        after.append(mean(a))
        lines.append([model, len(found), f"{mean(b):.1%}", f"{mean(a):.1%}",
                      f"{max(a):.1%}"])
    lines.append(["mean over models", len(rows), f"{mean(before):.1%}",
                  f"{mean(after):.1%}", ""])
    head = ["model", "plans", "search's model", "with sharing", "largest"]
    return table(head, lines)


def page(plans, earlier, predictions, left):
    """The lines of README.md."""
    yield ("# Plans on a GPU\n\nAll measurements of PyTorch models on a GPU, in "
           "microseconds. [docs/torch.md](../../docs/torch.md#measured) "
           "explains the columns and discusses the results. Made by "
           "bench/gpu/plans.py and bench/gpu/report.py.")
    for build, some in by_build(plans).items():
        yield f"\n## {some[0]['device']}, {build}\n"
        yield from plan_table(some)
    yield "\nLeft to Inductor:\n"
    for row in left:
        yield f"- {row['model']}, batch {row['batch']}, {row['mode']}: {row['why']}"
    yield "\n## As one graph, without guards\n"
    yield from one_graph_table(r for r in plans if r["one_graph_plan_us"])
    yield ("\n## Predicted and measured\n\nMean relative error of the predicted "
           "times of plans that were tried at batch 1.\n")
    yield from prediction_table(predictions)
    yield "\n![Predicted against measured](predictions.svg)"
    for build, some in by_build(earlier).items():
        yield f"\n## Measured earlier, {build.split(',')[0]})\n"
        yield from earlier_table(plans, some)


# -- docs/torch.md -------------------------------------------------------------


def of_kind(plans, batch, mode):
    """The largest speedup first."""
    found = [row for row in plans if key_of(row)[1:] == (batch, mode)]
    return sorted(found, key=lambda row: -float(row["speedup"]))


def is_before_early_launches(row):
    return any(commit in row["build"] for commit in WITHOUT_EARLY_LAUNCHES)


def marked(row):
    """The model's name, with a star if its plans had no early launches."""
    return row["model"] + " *" * is_before_early_launches(row)


def inference(plans, batch):
    head = ["model", "eager", "reduce-overhead", "max-autotune", "one stream",
            "chains", "heft", "plan", "call", "speedup", "of calls"]
    times = [t for t in TIMES if t != "default"]
    return filled(head, (
        [marked(row), *numbers_of(row, times), *ratios_of(row)]
        for row in of_kind(plans, batch, "infer")
    ))


def inference_as_one_graph(plans):
    """Each row is of one run, with its reduce-overhead."""
    head = ["model", "reduce-overhead", "one stream", "plan", "one graph",
            "of one graph"]
    names = ["reduce_overhead", "one_stream", "plan"]
    times = ["one_graph_" + name for name in names] + ["one_graph"]
    return table(head, (
        [row["model"], *numbers_of(row, times), one_graph_ratio(row)]
        for row in of_kind(plans, 1, "infer") if row["one_graph_us"]
    ))


def ratios_of(row):
    """Speedups of the plan, and of calls."""
    return [ratio(row["speedup"], 1), ratio(row["call_speedup"], 1)]


def one_graph_ratio(row):
    """The speedup of calls without guards."""
    return ratio(reduced_of(row), row["one_graph_us"])


def training(plans, batch):
    head = ["model", "reduce-overhead", "one stream", "chains", "heft", "plan",
            "call", "one graph", "speedup", "of calls", "of one graph",
            "planning, s"]
    times = ["reduce_overhead", "one_stream", "chains", "heft", "regal", "call",
             "one_graph"]
    return filled(head, (
        [marked(row), *numbers_of(row, times), *ratios_of(row),
         one_graph_ratio(row), f"{float(row['planning_s']):.1f}"]
        for row in of_kind(plans, batch, "train")
    ))


def rounding(plans):
    """How far gradients of steps as one graph are from eager's, and how far
    rounding alone moves them (rounding.py)."""
    steps = {row["model"]: row["one_graph_difference"] for row in plans
             if key_of(row)[1:] == (1, "train")}
    rows = sorted(read_csv(FOLDER / "rounding.csv"),
                  key=lambda row: -float(row["rounded"]))
    head = ["model", "one graph, to eager's", "rounded by hand", "noise of 1e-6"]
    return table(head, (
        [row["model"], f"{float(steps[row['model']]):.2g}", row["rounded"],
         row["noisy"]]
        for row in rows if steps.get(row["model"])
    ))


#: By the names of their markers.
TABLES = {
    "inference-1": lambda plans: inference(plans, 1),
    "inference-8": lambda plans: inference(plans, 8),
    "inference-one-graph": inference_as_one_graph,
    "training-1": lambda plans: training(plans, 1),
    "training-8": lambda plans: training(plans, 8),
    "rounding": rounding,
}


def with_tables(text, plans):
    """A page with its tables made anew."""
    def made(match):
        lines = TABLES[match[1]](plans)
        return f"{match[1]} -->\n\n" + "".join(f"{line}\n" for line in lines)

    return MARKED.sub(made, text)


def pages(folder=FOLDER):
    """Each file that has tables, and what must be in it."""
    plans, earlier, predictions, left = (
        read_csv(folder / f"{name}.csv")
        for name in ("plans", "earlier", "predictions", "left")
    )
    found = {
        folder / "README.md":
            "\n".join(page(plans, earlier, predictions, left)) + "\n",
    }
    if folder.resolve() == FOLDER:
        found[DOCS] = with_tables(DOCS.read_text(encoding="utf-8"), plans)
    return found


def write(folder=FOLDER):
    for path, text in pages(folder).items():
        path.write_text(text, encoding="utf-8")


def main():
    if sys.argv[1:] == ["--check"]:
        old = [path for path, text in pages().items()
               if path.read_text(encoding="utf-8") != text]
        for path in old:
            print(f"{path.relative_to(ROOT)} is not what results/gpu says: run "
                  "bench/gpu/tables.py")
        return len(old)
    if sys.argv[1:]:
        sys.exit(__doc__)
    return write()


if __name__ == "__main__":
    sys.exit(main())
