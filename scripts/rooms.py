#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the rooms of src/: files, lines, lines of code, longest file, median
function.

  rooms.py                      this tree
  rooms.py --before OLD MOVED   and, beside it, those of the commit OLD, whose
                                files are counted for the room to which the
                                commit MOVED moved them

A room is a folder of C sources. A function is measured from the line of its
opening brace to that of its closing brace, both left out. Lines of code are
lines without comments and blank lines.
"""
import pathlib
import re
import statistics
import subprocess
import sys

SUFFIXES = (".c", ".h", ".cc")
# clang-format puts a function's end, and nothing else, on a line "}".
FUNCTION = re.compile(r"^[A-Za-z][^\n;{}]*\([^;{}]*\)[^;{}]*\{\n(.*?)^\}$",
                      re.M | re.S)


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, text=True,
                          capture_output=True).stdout


def tree_here(root):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in SUFFIXES:
            yield str(path.relative_to(root)), path.read_text()


def tree_at(commit, moved):
    """The files of a commit under the names that `moved` gave them."""
    names = {}
    changes = git("diff", "-M40%", "-l9999", "--name-status", commit, moved,
                  "--", "src")
    for line in changes.splitlines():
        kind, *paths = line.split("\t")
        if kind.startswith("R"):
            names[paths[0]] = paths[1]
    for path in git("ls-tree", "-r", "--name-only", commit,
                    "src").splitlines():
        if path.endswith(SUFFIXES):
            yield names.get(path, path), git("show", f"{commit}:{path}")


def code_lines(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip())


def count(files):
    """room: [files, lines, code, longest file], and lengths of functions."""
    rooms, lengths = {}, {}
    for path, text in files:
        room = str(pathlib.PurePath(path).parent.relative_to("src"))
        lines = text.count("\n")
        row = rooms.setdefault(room, [0, 0, 0, 0])
        row[0] += 1
        row[1] += lines
        row[2] += code_lines(text)
        row[3] = max(row[3], lines)
        code = re.sub(r"^/\*.*?\*/\n", "", text, flags=re.M | re.S)
        lengths.setdefault(room, []).extend(
            match[1].count("\n") for match in FUNCTION.finditer(code))
    return rooms, lengths


def median(numbers):
    return statistics.median_low(numbers) if numbers else 0


def main(arguments):
    root = pathlib.Path(git("rev-parse", "--show-toplevel").strip())
    before = {}
    if len(arguments) == 3 and arguments[0] == "--before":
        before, _ = count(tree_at(arguments[1], arguments[2]))
    elif arguments:
        print(__doc__)
        return 2
    rooms, lengths = count(tree_here(root))
    old = "files before | lines before | code before | " if before else ""
    print(f"| room | {old}files | lines | code | longest file | "
          "median function |")
    print("|---|" + "---:|" * (8 if before else 5))
    for room in sorted(rooms.keys() | before.keys()):
        row = rooms.get(room, [0, 0, 0, 0])
        cells = before.get(room, [0, 0, 0])[:3] if before else []
        cells = cells + row + [median(lengths.get(room, []))]
        print(f"| `{room}` | " + " | ".join(map(str, cells)) + " |")
    total = [sum(row[i] for row in rooms.values()) for i in (0, 1, 2)]
    cells = ([sum(row[i] for row in before.values()) for i in (0, 1, 2)]
             if before else [])
    cells += total + [max(row[3] for row in rooms.values()),
                      median([n for part in lengths.values() for n in part])]
    print("| all | " + " | ".join(map(str, cells)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
