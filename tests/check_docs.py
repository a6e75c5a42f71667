#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documentation against the repository and the program.

  check_docs.py                    links, paths, symbols and options
  check_docs.py --compile CC       also the C code (```c), with this compiler
  check_docs.py --program REGAL    also the output of commands (```console)
  check_docs.py --program REGAL --refresh   rewrites that output
  check_docs.py --self-test        planted mistakes must be found

Links: a relative link leads to a file, its #part to a heading, and a picture is
there; every page can be reached from README.md. Paths: text in backticks that
begins with a folder of the repository exists. Symbols: a name
`regal_...` occurs in the sources; a name `function` that follows `src/FILE.c`:
or precedes "in `src/FILE.c`" occurs in that file. Rooms: docs/tour.md names
every folder of src with a source file. Options: every `--name` that is given to
regal is in the table of options, and its command accepts it (docs/options.md).
Console blocks: a line "$ COMMAND" (lines that begin with "> " continue it) is
followed by its output; the commands of a page run in sequence in a folder with
links to build/regal, data and tests.

Every mistake is one line on stdout; the exit status is 1 if there is any.
"""
import difflib
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "cmake", "data", "docs", "examples", "include", "policies",
           "python", "results", "scripts", "settings", "src", "tests")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
ROW = re.compile(r"\b(?:INTEGER|REAL|QUANTITY|CHOICE|FLAG|TEXT|LIST)"
                 r'\(\w+, "([a-z-]+)"')
EVERYWHERE = {"--help", "--version"}
SYMBOL = re.compile(r"\bregal_[a-z0-9_]*[a-z0-9]\b")
NAMES = r"(`[a-z_0-9]+`(?:, `[a-z_0-9]+`)*)"
IN_FILE = re.compile(NAMES + r" in `(src/[\w/]+\.[ch])`")
OF_FILE = re.compile(r"`(src/[\w/]+\.[ch])`: " + NAMES)
# What depends on the clock and on the build, and its replacement.
CHANGES = [(re.compile(pattern, re.M), word) for pattern, word in (
    (r"^(search +)[0-9.]+ s, ", r"\1SECONDS s, "),
    (r", [0-9]+ per second$", ", RATE per second"),
    (r'"seconds": [0-9.e+-]+', '"seconds": SECONDS'),
    (r"^regal ([0-9.]+) \(.*\)$", r"regal \1 (BUILD)"))]


class Page:
    """A Markdown file: its text, and its fenced blocks by (line, kind)."""

    def __init__(self, root, path):
        self.root, self.path = root, path
        self.name = str(path.relative_to(root))
        self.lines = path.read_text().splitlines()
        self.blocks = []  # (index of the first line inside, kind, lines)
        self.prose = []  # (line number, line) outside of blocks
        begin = kind = None
        for index, line in enumerate(self.lines):
            if line.lstrip().startswith("```"):
                if begin is None:
                    begin, kind = index + 1, line.strip()[3:].strip()
                else:
                    self.blocks.append((begin, kind, self.lines[begin:index]))
                    begin = None
            elif begin is None:
                self.prose.append((index + 1, line))

    def where(self, number):
        return f"{self.name}:{number}"

    def links(self):
        """(line number, target); the text of a link may have several lines."""
        text = "\n".join(SPAN.sub("", line) for _, line in self.prose)
        for match in LINK.finditer(text):
            number, _ = self.prose[text.count("\n", 0, match.start())]
            yield number, match[1]

    def anchors(self):
        found = set()
        for _, line in self.prose:
            if re.match(r"#+ ", line):
                text = line.lstrip("#").strip().lower()
                text = re.sub(r"[^\w\- ]", "", text.replace("`", ""))
                found.add(text.replace(" ", "-"))
        return found


def pages_of(root):
    names = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    return [Page(root, path) for path in names if path.exists()]


# -- Links and paths ---------------------------------------------------------

def check_links(page):
    for number, target in page.links():
        if re.match(r"[a-z]+:", target):
            continue
        path, _, part = target.partition("#")
        file = (page.path.parent / path).resolve() if path else page.path
        if not file.exists():
            yield f"{page.where(number)}: {target}: no such file"
        elif part and part not in Page(page.root, file).anchors():
            yield f"{page.where(number)}: {target}: no such heading"


def check_linked(pages):
    """Every page can be reached from the README."""
    by_path = {page.path.resolve(): page for page in pages}
    found = {page.path.resolve() for page in pages if page.name == "README.md"}
    ahead = list(found)
    while ahead:
        page = by_path[ahead.pop()]
        for _, target in page.links():
            path = (page.path.parent / target.partition("#")[0]).resolve()
            if path in by_path and path not in found:
                found.add(path)
                ahead.append(path)
    for path, page in by_path.items():
        if path not in found:
            yield f"{page.name}: no link leads here from README.md"


def expand(pattern):
    """a{b,c}d as [abd, acd]."""
    match = re.match(r"(.*?)\{([^}]*)\}(.*)", pattern)
    if not match:
        return [pattern]
    return list(itertools.chain.from_iterable(
        expand(match[1] + middle + match[3])
        for middle in match[2].split(",")))


def check_paths(page):
    for number, line in page.prose:
        for span in SPAN.findall(line):
            word = span.split()[0].split(":")[0] if span.split() else ""
            if word.split("/")[0] not in FOLDERS or "/" not in word:
                continue
            if re.search(r"[A-Z]{3,}", word.replace("README", "").replace(
                    "CMakeLists", "")):
                continue  # a placeholder: tests/unit/test_NAME.c
            for path in expand(word):
                if not list(page.root.glob(path.rstrip("/"))):
                    yield f"{page.where(number)}: `{path}`: no such file"


# -- Symbols -----------------------------------------------------------------

def source_symbols(root):
    found = set()
    for folder in ("bench", "include", "src", "tests"):
        for path in (root / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".cc", ".proto"):
                found.update(SYMBOL.findall(path.read_text(errors="replace")))
    return found


def named_in_files(line):
    """(name, file) for each name that a line says is in a file."""
    for names, path in IN_FILE.findall(line):
        yield from ((name, path) for name in SPAN.findall(names))
    for path, names in OF_FILE.findall(line):
        yield from ((name, path) for name in SPAN.findall(names))


def check_symbols(page, symbols):
    for number, line in page.prose:
        for span in SPAN.findall(line):
            for name in SYMBOL.findall(span):
                if name not in symbols:
                    yield f"{page.where(number)}: `{name}`: no such symbol"
        for name, path in named_in_files(line):
            file = page.root / path
            if file.exists() and not re.search(rf"\b{name}\b",
                                               file.read_text()):
                yield f"{page.where(number)}: `{name}`: not in {path}"


def check_rooms(root):
    tour = root / "docs/tour.md"
    named = set(SPAN.findall(tour.read_text())) if tour.exists() else set()
    rooms = {path.parent.relative_to(root) for path in root.glob("src/**/*.c")}
    for room in sorted(map(str, rooms)):
        if room not in named:
            yield f"docs/tour.md: it does not name the room `{room}`"


# -- Options -----------------------------------------------------------------

def option_table(root):
    """Name: the commands that take it, as docs/options.md says."""
    names = ROW.findall((root / "include/regal_options.h").read_text())
    table = {"--" + name: set() for name in names}
    for line in (root / "docs/options.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "").split("|")]
        name = OPTION.search(cells[1]) if len(cells) > 6 else None
        if name and name[0] in table:
            table[name[0]] = set(re.split(r",\s*", cells[6]))
    return table


def regal_calls(line):
    """The arguments of each call of regal in a line of shell."""
    for part in re.split(r"\|\||&&|[|;]", line):
        words = part.split("#")[0].split()
        while words and (words[0] in ("$", ">", "time") or "=" in words[0]):
            words = words[1:]
        if words and words[0].split("/")[-1] == "regal":
            yield words[1:]


def check_call(table, words):
    command = words[0] if words and not words[0].startswith("-") else None
    if command == "dataset" and len(words) > 1:
        command = " ".join(words[:2])
    for word in words:
        name = OPTION.match(word)
        if not name or name[0] in EVERYWHERE:
            continue
        if name[0] not in table:
            yield f"regal has no option {name[0]}"
        elif command and command.islower() and command not in table[name[0]]:
            yield f"regal {command} does not take {name[0]}"


def check_options(page, table):
    for number, line in page.prose:
        for span in SPAN.findall(line):
            calls = list(regal_calls(span))
            if span.startswith("--"):
                calls = [span.split()]
            for words in calls:
                for mistake in check_call(table, words):
                    yield f"{page.where(number)}: {mistake}"
    for begin, kind, lines in page.blocks:
        if kind not in ("", "sh", "console"):
            continue
        for offset, line in enumerate(lines):
            for words in regal_calls(line):
                for mistake in check_call(table, words):
                    yield f"{page.where(begin + offset + 1)}: {mistake}"


# -- C code ------------------------------------------------------------------

def check_code(page, compiler):
    for begin, kind, lines in page.blocks:
        if kind != "c":
            continue
        code = "\n".join(lines) + "\n"
        if "#include" not in code:
            code = "#include <regal.h>\n#include <stdio.h>\n" \
                   "#include <stdlib.h>\n#include <string.h>\n" + code
        done = subprocess.run(
            [*shlex.split(compiler), "-x", "c", "-std=gnu11", "-Wall",
             "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only",
             f"-I{page.root}/include", f"-I{page.root}/src", "-"],
            input=code, text=True, capture_output=True, check=False)
        if done.returncode:
            yield f"{page.where(begin)}: the code does not compile:\n" \
                  + done.stderr.rstrip()


# -- Console blocks ----------------------------------------------------------

def split_console(lines):
    """A console block as [command, its output's lines] pairs."""
    parts = []
    for line in lines:
        if line.startswith("$ "):
            parts.append([[line[2:]], []])
        elif parts and line.startswith("> ") and not parts[-1][1]:
            parts[-1][0].append(line[2:])
        elif parts:
            parts[-1][1].append(line)
    return parts


def without_clock(lines):
    text = "\n".join(lines)
    for pattern, word in CHANGES:
        text = pattern.sub(word, text)
    return text.splitlines()


def run_console(lines, folder, environment):
    """The block as it should be."""
    made = []
    for command, expected in split_console(lines):
        done = subprocess.run(
            ["bash", "-c", "\n".join(command)], cwd=folder, text=True,
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=120, check=False)
        got = [line.rstrip() for line in done.stdout.splitlines()]
        if without_clock(got) == without_clock(expected):
            got = expected
        made += ["$ " + command[0], *("> " + more for more in command[1:])]
        made += got
    return made


def run_page(page, program, refresh):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "build").mkdir()
        (folder / "build/regal").symlink_to(pathlib.Path(program).resolve())
        for link in ("data", "tests"):
            (folder / link).symlink_to(page.root / link)
        environment = dict(os.environ, LC_ALL="C.UTF-8",
                           PATH=f"{folder}/build:{os.environ['PATH']}")
        lines = list(page.lines)
        for begin, kind, block in reversed([
                (begin, kind, run_console(block, folder, environment))
                for begin, kind, block in page.blocks if kind == "console"]):
            end = lines.index("```", begin)
            if lines[begin:end] != block and not refresh:
                yield f"{page.where(begin)}: the program prints otherwise:\n" \
                    + "\n".join(difflib.unified_diff(
                        lines[begin:end], block, "page", "program",
                        lineterm=""))
            lines[begin:end] = block
        if refresh and lines != page.lines:
            page.path.write_text("\n".join(lines) + "\n")
            print(f"{page.name}: rewritten")


# -- Self-test ---------------------------------------------------------------

PLANTED = """# A page
[good](other.md#two-words) [bad](none.md) [bad](other.md#none), [bad
and long](other.md#gone) ![bad](img/none.svg)
`src/there.c` `src/{there,absent}.c` `src/NAME.c` `--seed 1` `--speed 1`
`regal inspect g --seed 1`, `ctest --preset x`
`regal_here`, `regal_gone`; `here`, `gone` in `src/there.c`
`src/there.c`: `lost`
```sh
regal optimize g --seed 1 --sead 2 | tool --other
```
```c
int f(void) { return 1; }
```
```c
int f(void) { return }
```
```console
$ echo one
one
$ cat <<END
> two
> END
three
```
"""


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("docs", "include", "src", "data", "tests"):
            (root / folder).mkdir()
        (root / "docs/page.md").write_text(PLANTED)
        (root / "docs/other.md").write_text("## `Two` words\n")
        (root / "docs/options.md").write_text(
            "| `--seed` | N | 1 | 0 | help | optimize |\n")
        (root / "include/regal_options.h").write_text(
            'INTEGER(seed, "seed", 1)\n')
        (root / "include/regal.h").write_text("")
        (root / "src/there.c").write_text("void regal_here(void);\nint here;\n")
        page = [page for page in pages_of(root) if "page" in page.name][0]
        assert list(check_links(page)) == [
            "docs/page.md:2: none.md: no such file",
            "docs/page.md:2: other.md#none: no such heading",
            "docs/page.md:2: other.md#gone: no such heading",
            "docs/page.md:3: img/none.svg: no such file"]
        assert list(check_paths(page)) == [
            "docs/page.md:4: `src/absent.c`: no such file"]
        assert list(check_options(page, option_table(root))) == [
            "docs/page.md:4: regal has no option --speed",
            "docs/page.md:5: regal inspect does not take --seed",
            "docs/page.md:9: regal has no option --sead"]
        assert list(check_symbols(page, source_symbols(root))) == [
            "docs/page.md:6: `regal_gone`: no such symbol",
            "docs/page.md:6: `gone`: not in src/there.c",
            "docs/page.md:7: `lost`: not in src/there.c"]
        (root / "README.md").write_text("[page](docs/page.md)\n")
        (root / "docs/alone.md").write_text("[page](page.md)\n")
        assert list(check_linked(pages_of(root))) == [
            "docs/alone.md: no link leads here from README.md",
            "docs/options.md: no link leads here from README.md"]
        (root / "docs/tour.md").write_text("`src`\n")
        assert not list(check_rooms(root))
        (root / "src/room").mkdir()
        (root / "src/room/file.c").write_text("")
        assert list(check_rooms(root)) == [
            "docs/tour.md: it does not name the room `src/room`"]
        code = list(check_code(page, "cc"))
        assert len(code) == 1 and code[0].startswith("docs/page.md:14: "), code
        output = list(run_page(page, "/bin/true", False))
        assert len(output) == 1 and output[0].endswith("-three\n+two"), output
        assert not list(run_page(page, "/bin/true", True))
        fresh = Page(root, page.path)
        assert fresh.lines[-2] == "two" and not list(
            run_page(fresh, "/bin/true", False))


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    compiler = program = None
    refresh = False
    while arguments:
        word = arguments.pop(0)
        if word == "--compile" and arguments:
            compiler = arguments.pop(0)
        elif word == "--program" and arguments:
            program = arguments.pop(0)
        elif word == "--refresh":
            refresh = True
        else:
            print(__doc__)
            return 2
    table, symbols = option_table(ROOT), source_symbols(ROOT)
    pages = pages_of(ROOT)
    mistakes = [*check_rooms(ROOT), *check_linked(pages)]
    for page in pages:
        mistakes += check_links(page)
        mistakes += check_paths(page)
        mistakes += check_symbols(page, symbols)
        mistakes += check_options(page, table)
        if compiler:
            mistakes += check_code(page, compiler)
        if program:
            mistakes += run_page(page, program, refresh)
    print(*mistakes, sep="\n", end="\n" if mistakes else "")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
