# SPDX-License-Identifier: Apache-2.0
"""Figures by gnuplot, in the one style of the project (src/bench/style.gp).

Data are CSV files that stay beside the pictures; titles and labels are ours, so
nothing of a user's gets into a script.
"""
import math
import subprocess
import sys

from session import ROOT

STYLE = (ROOT / "src/bench/style.gp").read_text()
TERMINALS = (("svg", "svg size {0} dynamic font 'sans,13' background 'white'"),
             ("png", "pngcairo size {0} font 'sans,10' background 'white'"))

# The line of a method is the same in all figures.
LINE_TYPES = {"BRKGA": 1, "REGAL": 2, "REGAL, our features": 3, "auto": 4,
              "local": 5, "heft": 6, "cp-sat": 7}


def draw(session, name, commands, size="820,420"):
    """Runs the commands for NAME.svg and NAME.png, in the output folder."""
    for ending, terminal in TERMINALS:
        session.files.add(f"{name}.{ending}")
        script = (STYLE + f"set terminal {terminal.format(size)}\n"
                  f"set output '{name}.{ending}'\n" + commands + "\n")
        try:
            done = subprocess.run(["gnuplot", "-"], input=script, text=True,
                                  capture_output=True, cwd=session.out)
        except FileNotFoundError:
            sys.exit("reproduce: gnuplot was not found (scripts/setup.sh)")
        if done.returncode:
            sys.exit(f"reproduce: gnuplot failed on {name}: {done.stderr}")
    return f"{name}.svg"


def head(title, xlabel, ylabel, *more):
    return "\n".join((f"set title '{title}'", f"set xlabel '{xlabel}'",
                      f"set ylabel '{ylabel}'", *more)) + "\n"


def lines(session, name, title, xlabel, ylabel, curves, more=(), size="820,420"):
    """curves: {label: [(x, y, error)]}; NAME.csv has them line by line."""
    rows = [(number, label, x, y, 0 if math.isnan(error) else error)
            for number, (label, points) in enumerate(curves.items(), 1)
            for x, y, error in points]
    session.write_csv(name, ("line", "label", "x", "y", "standard_error"), rows)
    plots = [f"'{name}.csv' every ::1 using ($1=={number}?$3:1/0):4:5 with "
             f"{style_of(points)} lt {LINE_TYPES.get(label, number)} "
             f"title '{label}'"
             for number, (label, points) in enumerate(curves.items(), 1)]
    return draw(session, name, head(title, xlabel, ylabel, *more) + "plot " +
                ", ".join(plots), size)


def style_of(points):
    """Bars only where there are errors, points only where there are few."""
    if any(error > 0 for _, _, error in points):
        return "yerrorlines"
    return "lines" if len(points) > 50 else "linespoints"


def boxes(session, name, title, xlabel, groups):
    """groups: {label: values}; quartiles in NAME.csv. As those of a report
    (src/bench/figures.c)."""
    rows = []
    for number, (label, values) in enumerate(groups.items(), 1):
        ordered = sorted(values)
        rows.append((number, label, *(quantile(ordered, q / 4)
                                      for q in range(5))))
    session.write_csv(name, ("box", "label", "smallest", "quarter", "median",
                             "three_quarters", "largest"), rows)
    return draw(session, name, head(
        title, xlabel, "", "unset key", "set ytics noenhanced",
        "set style fill solid 0.25", "set yzeroaxis lc '#888888' dt 2",
        f"set yrange [{len(rows)}.5:0.5]",
        f"set lmargin {max(map(len, groups)) + 3}") +
        f"plot '{name}.csv' every ::1 using 5:1:3:7:ytic(2) with xerrorbars "
        "lt 1 pt 0, '' every ::1 using 5:1:4:6:($1-0.25):($1+0.25) with "
        "boxxyerror lt 1, '' every ::1 using 5:($1-0.25):(0):(0.5) with "
        "vectors nohead lt 2 lw 3", f"820,{140 + 36 * len(rows)}")


def quantile(ordered, share):
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def histogram(session, name, title, xlabel, values, width, signed=True,
              total=None, more=()):
    """Percent of `total` in each bin; below zero in another colour."""
    total = total or max(1, len(values))
    bins = {}
    for value in values:
        bins[int(value // width)] = bins.get(int(value // width), 0) + 1
    span = range(min(bins, default=0), max(bins, default=0) + 1)
    session.write_csv(name, ("from", "to", "percent"),
                      [(number * width, (number + 1) * width,
                        100 * bins.get(number, 0) / total)
                       for number in span])
    middle = f"($1+{width / 2})"
    plot = (f"plot '{name}.csv' every ::1 using ($1>=0?{middle}:1/0):3 with "
            "boxes fs solid 0.8 lt 3 title 'better', '' every ::1 using "
            f"($1<0?{middle}:1/0):3 with boxes fs solid 0.8 lt 2 title 'worse'"
            if signed else
            f"plot '{name}.csv' every ::1 using {middle}:3 with boxes fs solid "
            "0.8 lt 1 notitle")
    return draw(session, name, head(title, xlabel, "% of the graphs",
                                    "set yrange [0:]",
                                    f"set boxwidth {0.9 * width}", *more) + plot)
