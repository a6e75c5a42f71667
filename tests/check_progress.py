#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the progress line, on a terminal of its own.

  check_progress.py REGAL

The line of a search moves at least five times a second, also where the search
reports nothing, and has a bar, the time, the best plan, its gap and the stage;
the best of a coarser graph falls while that is annealed. The line of training
counts down to --time. Away from a terminal there is no line.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time

COLUMNS = 200


def run_on_terminal(command):
    """The lines that were drawn, each with the time when it came."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("HHHH", 40, COLUMNS, 0, 0))
    frames, rest = [], ""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        if not block:
            break
        rest += block.decode("utf-8", "replace")
        *whole, rest = re.split(r"\x1b\[K", rest)
        frames += [(time.monotonic(), frame.split("\r")[-1])
                   for frame in whole]
    _, status = os.waitpid(child, 0)
    return [f for f in frames if f[1]], os.waitstatus_to_exitcode(status)


def check(holds, what, shown):
    if not holds:
        print(f"check_progress: {what}; it showed:")
        for line in shown[:: max(1, len(shown) // 20)]:
            print("  " + line)
        sys.exit(1)


def check_search(regal, folder):
    subprocess.run([regal, "generate", folder, "--count", "1", "--model",
                    "layered", "--nodes", "4000", "-q"], check=True,
                   stdout=subprocess.DEVNULL)
    graph = next(os.path.join(folder, f) for f in sorted(os.listdir(folder))
                 if f.startswith("graph_"))
    command = [regal, "optimize", graph, "--time", "3", "--bandwidth",
               "25GB/s", "-o", os.path.join(folder, "plan")]
    frames, code = run_on_terminal(command)
    lines = [line for _, line in frames]
    drawn = [f for f in frames if f[1].startswith("[")]
    check(code == 0, f"exit code {code}", lines)
    check(len(drawn) > 5, "no line", lines)
    spent = drawn[-1][0] - drawn[0][0]
    distinct = len({line for _, line in drawn})
    check(distinct >= 5 * spent, f"{distinct} lines in {spent:.1f} s", lines)
    known = [line for _, line in drawn if "best" in line]
    pattern = re.compile(
        r"\[=*>? *\] \d+\.\d s  best \d+\.\d+ \w+  "
        r"(gap \d+\.\d+%|no bound)  [a-z -]+(, \d+ coarse ops: .*)?$")
    for line in known:
        check(pattern.match(line), f"a line of another form: {line}", lines)
    check(any("annealing" in line for line in known), "no stage", lines)
    coarse = [line.split(": ")[-1] for line in known if "coarse" in line]
    check(len(set(coarse)) > 2, "the best of coarse graphs stands still", lines)
    bars = [line.count("=") for _, line in drawn]
    check(bars == sorted(bars) and bars[-1] > 10, "the bar does not grow",
          lines)
    elsewhere = subprocess.run(command[:4] + ["0.2"] + command[5:],
                               stdin=subprocess.DEVNULL, capture_output=True)
    check(b"best" not in elsewhere.stderr, "progress away from a terminal",
          [elsewhere.stderr.decode()])


def check_training(regal, folder):
    graphs = os.path.join(folder, "set")
    subprocess.run([regal, "generate", graphs, "--count", "5", "-q"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([regal, "dataset", "split", graphs, "-q", "-o",
                    graphs + ".zip"], check=True, stdout=subprocess.DEVNULL)
    frames, _ = run_on_terminal(
        [regal, "train", graphs + ".zip", "-o", os.path.join(folder, "p"), "--time",
         "3", "--steps", "100000", "--valid-graphs", "0", "--threads", "1"])
    lines = [line for _, line in frames if "to go" in line]
    check(lines, "no line of training", [line for _, line in frames])
    left = [re.search(r"(\d+):(\d\d) to go", line) for line in lines]
    check(all(m and int(m[1]) == 0 and int(m[2]) <= 3 for m in left),
          "the time to go ignores --time", lines)


def main():
    regal = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        check_search(regal, os.path.join(folder, "search"))
        check_training(regal, folder)
    print("check_progress: good")


if __name__ == "__main__":
    main()
