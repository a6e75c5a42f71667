#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds to regal what docs/contributing.md adds by example, and runs it.

  check_extending.py BUILD [--keep FOLDER]

Blocks of the page, by what follows the three backticks:

  c file=PATH              a new source file
  c row=PATH after=TEXT    lines to add to a file, below the one with TEXT
  sh run                   commands that must succeed, in order, in a folder
                           with the extended regal on the PATH, and links to
                           data and tests

BUILD is a build folder of Ninja, in which regal is built. Only the new files,
the changed ones and the sources that expand a changed table are compiled, with
the commands of the build; they are linked before the library, so that they take
the place of its own. Nothing in BUILD or in the repository is written.

The exit status is 1 if something fails, and 77 where BUILD is not of Ninja.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/contributing.md"
# What the page must have an example of: where its file is, or its row.
KINDS = {"a decoder": "src/decode/", "a method": "src/heuristic/",
         "an annealer": "src/anneal/", "a format": "src/format/",
         "a policy feature": "src/policy/"}


class Failure(Exception):
    pass


def blocks(text):
    """(what follows the backticks, text) of each fenced block."""
    return re.findall(r"^```(\S.*)\n((?:.*\n)*?)```$", text, re.M)


def add_row(folder, path, after, row):
    target = folder / path
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((ROOT / path).read_text())
    lines = target.read_text().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if after in line]
    if len(places) != 1:
        raise Failure(f"{path}: {len(places)} lines have {after}, expected 1")
    lines.insert(places[0] + 1, row)
    target.write_text("".join(lines))


def extract(folder):
    """Writes new and changed files to the folder; returns the commands."""
    commands, files = [], []
    for kind, text in blocks(PAGE.read_text()):
        if match := re.fullmatch(r"c file=(\S+)", kind):
            target = folder / match[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            files.append(match[1])
        elif match := re.fullmatch(r"c row=(\S+) after=(.+)", kind):
            add_row(folder, match[1], match[2], text)
        elif kind == "sh run":
            commands.append(text)
    for what, place in KINDS.items():
        if not any(file.startswith(place) for file in files):
            raise Failure(f"docs/contributing.md: no example of {what}")
    return commands


def add_users(folder):
    """Copies the sources that expand a table of a changed header."""
    tables = set()
    for header in folder.rglob("*.h"):
        tables |= set(re.findall(r"#define (\w+)\(ROW\)", header.read_text()))
    for source in (ROOT / "src").rglob("*.c"):
        copy = folder / source.relative_to(ROOT)
        text = source.read_text()
        if not copy.exists() and any(f"{name}(" in text for name in tables):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)


def run(command, **more):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode:
        shown = command if isinstance(command, str) else shlex.join(command)
        raise Failure(f"{shown}\n{done.stdout}")
    return done.stdout


def compile_command(like, folder, source, made):
    """The command that compiled another file, for this one."""
    words = shlex.split(like)
    words[words.index("-c") + 1] = str(source)
    words[words.index("-o") + 1] = str(made)
    words[words.index("-MF") + 1] = str(made) + ".d"
    first = next(i for i, word in enumerate(words) if word.startswith("-I"))
    words.insert(first, f"-I{folder}/src")
    return words


def build(folder, where):
    commands = run(["ninja", "-C", str(where), "-t", "commands", "regal"])
    commands = commands.splitlines()
    compiles = {match[1]: line for line in commands
                if (match := re.search(r" -c \S*?/(src/\S+\.c)$", line))}
    usual = compiles["src/base/context.c"]
    running, objects = [], []
    for source in sorted(folder.rglob("*.c")):
        name = str(source.relative_to(folder))
        objects.append(str(folder / name.replace("/", "_")) + ".o")
        command = compile_command(compiles.get(name, usual), folder, source,
                                  objects[-1])
        running.append(subprocess.Popen(command, cwd=where))
    if any([process.wait() for process in running]):
        raise Failure("the examples of docs/contributing.md do not compile")
    program = folder / "bin/regal"
    program.parent.mkdir()
    link = re.sub(r" -o regal ", f" -o {program} ", commands[-1])
    link = link.replace(" libregal.a ", f" {' '.join(objects)} libregal.a ", 1)
    run(link, shell=True, cwd=where)
    return program


def check(where, folder):
    commands = extract(folder)
    add_users(folder)
    program = build(folder, where)
    work = folder / "work"
    work.mkdir()
    for name in ("data", "tests"):
        (work / name).symlink_to(ROOT / name)
    environment = dict(os.environ,
                       PATH=f"{program.parent}:{os.environ['PATH']}")
    for command in commands:
        run(["bash", "-euc", command], cwd=work, env=environment)


def main(arguments):
    keep = None
    if len(arguments) == 3 and arguments[1] == "--keep":
        keep = pathlib.Path(arguments.pop()).resolve()
        arguments.pop()
    if len(arguments) != 1:
        print(__doc__)
        return 2
    where = pathlib.Path(arguments[0]).resolve()
    if not (where / "build.ninja").exists():
        print(f"{where}: not a build folder of Ninja")
        return 77
    try:
        if keep:
            keep.mkdir(parents=True)
            check(where, keep)
        else:
            with tempfile.TemporaryDirectory() as folder:
                check(where, pathlib.Path(folder))
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
