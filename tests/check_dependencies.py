#!/usr/bin/env python3
"""Checks that dependencies between folders of src/ point one way.

  check_dependencies.py                 the #include lines of src/
  check_dependencies.py --symbols A SO  and what libregal.a and .so offer
  check_dependencies.py --self-test     planted violations must be found

Every violation is one line on stdout; the exit status is 1 if there is any.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# folder: the folders that it builds on. What those build on is included.
FOLDERS = {
    "base": [],
    "graph": ["base"],
    "cost": ["graph"],
    "decode": ["cost"],
    "search": ["decode"],
    "exact": ["search"],
    "nn": ["base"],
    "policy": ["graph", "nn"],
    "learn": ["search", "policy"],
    "formats": ["cost"],
    "data": ["cost"],
    "report": ["cost"],
    # The public calls that tie the parts together.
    "api": ["search", "exact", "learn", "formats", "data", "report"],
    # The program: public headers only.
    "cli": [],
}
PUBLIC = {"regal.h", "regal_options.h", "regal_data.h", "regal_train.h",
          "regal_tune.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
DECLARED = re.compile(r"REGAL_API\b[^;{]*?\b(regal_\w+)\s*\(")
# What compilers add by themselves, and sanitizers.
FOREIGN = re.compile(r"^(__|_init$|_fini$|_edata$|_end$)")


def reachable(folder):
    found = set()
    for below in FOLDERS[folder]:
        found |= {below} | reachable(below)
    return found


def include_violation(path, folder, target):
    """Why the file may not include the target; None when it may."""
    parts = pathlib.PurePosixPath(target).parts
    if target in PUBLIC:
        return None
    if len(parts) == 1:
        generated = (target == "build_id.h" or
                     target.endswith((".pb-c.h", ".embedded.h")))
        if (generated and folder != "cli") or (path.parent / target).exists():
            return None
        return "is neither public, nor generated, nor beside it"
    if len(parts) != 2 or parts[0] not in FOLDERS:
        return "is not of the form folder/name.h"
    if parts[0] != folder and parts[0] not in reachable(folder):
        return f"but {folder} may not use {parts[0]}"
    return None


def check_includes(source):
    for path in sorted(path for path in source.rglob("*.*")
                       if path.suffix in (".c", ".cc", ".h")):
        relative = path.relative_to(source)
        folder = relative.parts[0]
        if folder not in FOLDERS or len(relative.parts) != 2:
            yield f"src/{relative}: not in a folder of the map"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            why = match and include_violation(path, folder, match[1])
            if why:
                yield f'src/{relative}:{number}: includes "{match[1]}", {why}'


def nm(*arguments):
    return subprocess.run(["nm", *arguments], check=True, text=True,
                          capture_output=True).stdout


def check_archive(listing):
    """`nm -A -g --defined-only`: all names of ours start with regal_. What
    a C++ compiler shares between object files is not ours."""
    for line in listing.splitlines():
        place, kind, name = line.partition(" ")[0], *line.split()[-2:]
        member = place.split(":")[1]
        if kind in "WVu" and name.startswith(("_Z", "DW.ref.")):
            continue
        if not name.startswith("regal_") and not FOREIGN.match(name):
            yield f"{member}: external symbol {name} lacks the prefix regal_"


def check_exports(listing, headers):
    """`nm -D --defined-only`: exactly what the headers mark REGAL_API."""
    declared = set(DECLARED.findall(headers))
    exported = {line.split()[-1] for line in listing.splitlines()}
    exported = {name for name in exported if not FOREIGN.match(name)}
    for name in sorted(exported - declared):
        yield f"libregal.so: exports {name}, which is no REGAL_API function"
    for name in sorted(declared - exported):
        yield f"libregal.so: lacks {name}, which the header promises"


def public_headers(root):
    text = "\n".join((root / "include" / name).read_text()
                     for name in sorted(PUBLIC))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def plant(source, name, line):
    path = source / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line + "\n")


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        plant(source, "graph/good.c", '#include "base/context.h"')
        plant(source, "search/good.c", '#include "graph/graph.h"')
        plant(source, "api/good.c", '  #  include "formats/formats.h"')
        plant(source, "cli/good.c", '#include "regal.h"')
        plant(source, "cli/other.c", '#include "good.c"')
        assert list(check_includes(source)) == []
        plant(source, "base/a.c", '#include "graph/graph.h"')
        plant(source, "cli/b.c", '#include "base/context.h"')
        plant(source, "cost/c.c", '\n#include "formats/formats.h"')
        plant(source, "cost/d.c", '#include "../base/context.h"')
        plant(source, "nn/e.c", '#include "graph/graph.h"')
        plant(source, "other/f.c", "")
        plant(source, "search/g.c", '#include "nowhere.h"')
        assert list(check_includes(source)) == [
            'src/base/a.c:1: includes "graph/graph.h",'
            " but base may not use graph",
            'src/cli/b.c:1: includes "base/context.h",'
            " but cli may not use base",
            'src/cost/c.c:2: includes "formats/formats.h",'
            " but cost may not use formats",
            'src/cost/d.c:1: includes "../base/context.h",'
            " is not of the form folder/name.h",
            'src/nn/e.c:1: includes "graph/graph.h",'
            " but nn may not use graph",
            "src/other/f.c: not in a folder of the map",
            'src/search/g.c:1: includes "nowhere.h",'
            " is neither public, nor generated, nor beside it",
        ], "\n".join(check_includes(source))
    archive = ("lib.a:a.c.o:0000000000000000 T regal_one\n"
               "lib.a:a.c.o:0000000000000000 T two\n"
               "lib.a:a.cc.o:0000000000000000 W _ZNSt3setIiE4findERKi\n"
               "lib.a:a.cc.o:0000000000000000 T _Z4fourv\n"
               "lib.a:a.c.o:0000000000000000 B __odr_asan.three\n")
    assert list(check_archive(archive)) == [
        "a.c.o: external symbol two lacks the prefix regal_",
        "a.cc.o: external symbol _Z4fourv lacks the prefix regal_"]
    header = "REGAL_API const char *regal_one(void);\n" \
             "REGAL_API int\nregal_two(int (*call)(int));\n"
    assert list(check_exports("0 T regal_one\n0 T regal_three\n", header)) == [
        "libregal.so: exports regal_three, which is no REGAL_API function",
        "libregal.so: lacks regal_two, which the header promises"]


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    if arguments == ["--self-test"]:
        self_test()
        return 0
    violations = list(check_includes(root / "src"))
    if len(arguments) == 3 and arguments[0] == "--symbols":
        violations += check_archive(
            nm("-A", "-g", "--defined-only", arguments[1]))
        violations += check_exports(
            nm("-D", "--defined-only", arguments[2]), public_headers(root))
    elif arguments:
        print(__doc__)
        return 2
    print(*violations, sep="\n", end="\n" if violations else "")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
