#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the heads of source files, and that comments name files that exist.

  check_heads.py              the files of this repository
  check_heads.py --self-test  planted violations must be found

Every source file says its licence in its first line (or after the line #!).
Every C file of src/ then says in a comment what it is for. A file name in a
comment of a C file is that of a file of this repository, or listed in FOREIGN.

Every violation is one line on stdout; the exit status is 1 if there is any.
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ("include", "src", "tests", "bench", "examples", "scripts", "cmake")
C_FILES = (".c", ".h", ".cc")
SUFFIXES = C_FILES + (".py", ".sh", ".cmake", ".proto", ".js", ".css")
DATA = {"cases"}  # folders of scripts of one line, the input of tests
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# Of the build, of libraries, of others' programs; NAME stands for any name.
FOREIGN = {"build_id.h", "cmd_NAME.c", "ctype.h", "cmocka.h",
           "hlo_memory_scheduler.cc"}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FILE_NAME = re.compile(r"(?<![\w./*])((?:\w+/)*\w+\.(?:c|h|cc))\b(?!\.\w|\()")


def sources_of(root):
    return sorted(path for folder in FOLDERS if (root / folder).is_dir()
                  for path in (root / folder).rglob("*")
                  if path.suffix in SUFFIXES and path.is_file()
                  and path.parent.name not in DATA)


def check_heads(root):
    for path in sources_of(root):
        name = path.relative_to(root)
        lines = path.read_text(errors="replace").splitlines() + ["", ""]
        first = 1 if lines[0].startswith("#!") else 0
        if LICENCE not in lines[first]:
            yield f"{name}: the first line does not say \"{LICENCE}\""
        elif (name.parts[0] == "src" and path.suffix in C_FILES
              and not lines[first + 1].startswith("/* ")):
            yield f"{name}: no comment says what the file is for"


def check_names(root):
    sources = sources_of(root)
    known = {str(path.relative_to(root)) for path in sources}
    names = {path.name for path in sources}
    for path in sources:
        if path.suffix not in C_FILES:
            continue
        text = path.read_text(errors="replace")
        for comment in COMMENT.finditer(text):
            for match in FILE_NAME.finditer(comment[0]):
                said = match[1]
                there = (any(file.endswith("/" + said) for file in known)
                         or said in known) if "/" in said else said in names
                if there or said in FOREIGN:
                    continue
                line = text.count("\n", 0, comment.start() + match.start()) + 1
                yield (f"{path.relative_to(root)}:{line}: there is no file "
                       f"{said}")


def self_test():
    head = f"/* {LICENCE} */\n"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {
                "src/base/good.c": head + "/* What it is for: good.h,\n"
                                   " * base/good.h. */\nint a;\n",
                "src/base/good.h": head + "/* As cmocka.h has it. */\n",
                "src/base/bare.c": head + '#include "good.h"\n/* old.c */\n',
                "src/base/none.c": "/* What it is for. */\n",
                "scripts/good.sh": f"#!/bin/sh\n# {LICENCE}\n",
                "scripts/none.py": "#!/bin/sh\nx = 1\n",
                "tests/good.c": head + "int a; /* src/other/good.h */\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        assert sorted(check_heads(root)) == [
            f"scripts/none.py: the first line does not say \"{LICENCE}\"",
            "src/base/bare.c: no comment says what the file is for",
            f"src/base/none.c: the first line does not say \"{LICENCE}\""]
        assert list(check_names(root)) == [
            "src/base/bare.c:3: there is no file old.c",
            "tests/good.c:2: there is no file src/other/good.h"]


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if arguments:
        print(__doc__)
        return 2
    root = pathlib.Path(__file__).resolve().parent.parent
    violations = [*check_heads(root), *check_names(root)]
    print(*violations, sep="\n", end="\n" if violations else "")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
