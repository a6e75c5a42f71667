#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that dependencies between the rooms of src/ point one way.

  check_dependencies.py                 the #include lines of src/, the names
  check_dependencies.py --symbols A SO  and what libregal.a and .so offer
  check_dependencies.py --self-test     planted violations must be found

A room is a folder of src/, or a folder in one: ROOMS says which rooms each may
use. A name that a header declares means one thing: no other header defines a
type, function, constant or macro of that name. No room has more than MOST_FILES
files, no file more than MOST_LINES lines. The library prints and reads fractions
by base/plain.h alone, which knows no locale.

Every violation is one line on stdout; the exit status is 1 if there is any.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# room: the rooms that it builds on. What those build on is included.
ROOMS = {
    "base": [],
    "base/memory": ["base"],
    "base/options": ["base"],
    "base/parallel": ["base/memory"],
    "graph": ["base/parallel", "base/options"],
    # Pipelined training steps: microbatches and passes.
    "pipeline": ["graph"],
    "cost/model": ["graph"],
    "cost/verify": ["cost/model"],
    "cost/bound": ["cost/model"],
    "decode": ["cost/model"],
    "search": ["decode"],
    # Plans without search; all of them together in the room above.
    "heuristic/list": ["search", "heuristic"],
    "heuristic/cut": ["heuristic/list"],
    "heuristic/partition": ["heuristic/list"],
    "heuristic/pipeline": ["pipeline", "heuristic"],
    "heuristic/fit": ["cost/model"],
    "heuristic/place": ["heuristic/fit", "heuristic/cut",
                        "heuristic/partition"],
    "heuristic": ["search"],
    # Genes. Settings are kept as JSON.
    "evolve": ["search", "format/json"],
    # Moves. `fold` of heuristic/cut ranks ops by layer.
    "anneal/driver": ["search"],
    "anneal/memory": ["cost/model"],
    "anneal/order": ["anneal/driver", "anneal/memory", "heuristic/cut"],
    "anneal/phase": ["anneal/driver", "heuristic/cut"],
    "anneal/peak": ["anneal/driver", "anneal/memory"],
    "anneal/steps": ["anneal/driver"],
    "anneal/levels": ["anneal/driver"],
    "anneal/climb": ["anneal/order", "anneal/peak"],
    "anneal/local": ["search"],
    "anneal": ["anneal/order", "anneal/phase", "anneal/peak", "anneal/steps",
               "anneal/levels", "anneal/climb", "anneal/local",
               "heuristic/list"],
    # All plans of a tiny problem.
    "enumerate": ["search"],
    # A last pass over a plan.
    "tidy": ["search"],
    "auto": ["anneal", "enumerate", "evolve", "heuristic", "tidy"],
    "exact": ["auto"],
    "nn": ["base/parallel"],
    "policy": ["cost/model", "nn"],
    # A policy at work in a search, and its training.
    "learn/guide": ["evolve", "policy"],
    "learn": ["auto", "learn/guide"],
    "format/proto": ["base/memory"],
    "format/json": ["graph"],
    # Run times that a graph file does not have: measured, or by a roofline.
    "format/costs": ["format/json", "base/memory"],
    "format/tensorflow": ["format/costs", "format/proto"],
    # ONNX's own shape inference, in a process of its own.
    "format/onnx_shapes": ["base/parallel"],
    "format/onnx": ["format/costs", "format/proto", "format/onnx_shapes"],
    # XLA's modules: what both of their readers make, and the graph of it.
    "format/hlo": ["format/costs"],
    "format/hlo_proto": ["format/hlo", "format/proto"],
    "format/hlo_text": ["format/hlo"],
    "format/stablehlo": ["format/hlo"],
    # The table of graph formats.
    "format": ["format/tensorflow", "format/json", "format/onnx",
               "format/hlo_proto", "format/hlo_text", "format/stablehlo"],
    "format/plan": ["format/json", "cost/model", "pipeline"],
    "dataset/archive": ["format"],
    "dataset/synthetic": ["graph"],
    "dataset": ["dataset/archive", "dataset/synthetic", "cost/model"],
    # The filter keeps graphs that BRKGA can improve.
    "dataset/generate": ["dataset", "evolve"],
    "tune": ["evolve", "dataset"],
    "report": ["cost/verify", "cost/bound", "format/plan"],
    # The public calls that tie the rooms together.
    "api": ["exact", "heuristic/pipeline", "learn", "tune", "dataset/generate", "report"],
    # Benchmarks call what users call: regal_solve, datasets.
    "bench": ["api"],
    # The program: public headers only.
    "cli": [],
    "cli/bench": ["cli"],
    "cli/dataset": ["cli"],
    "cli/policy": ["cli"],
    "cli/shell": ["cli"],
}
MOST_FILES = 25
MOST_LINES = 450
PUBLIC = {"regal.h", "regal_limits.h", "regal_options.h", "regal_data.h",
          "regal_train.h", "regal_tune.h", "regal_bench.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
DECLARED = re.compile(r"REGAL_API\b[^;{]*?\b(regal_\w+)\s*\(")
# What compilers add by themselves, and sanitizers.
FOREIGN = re.compile(r"^(__|_init$|_fini$|_edata$|_end$)")


def reachable(room, rooms=None):
    rooms = rooms or ROOMS
    found, ahead = set(), list(rooms[room])
    while ahead:
        below = ahead.pop()
        if below not in found:
            found.add(below)
            ahead += rooms[below]
    return found


def check_map(rooms):
    """The map itself has no circle."""
    for room in rooms:
        if room in reachable(room, rooms):
            yield f"the map: {room} builds on itself"


def include_violation(path, room, target):
    """Why the file may not include the target; None when it may."""
    if target in PUBLIC:
        return None
    used, _, name = target.rpartition("/")
    if not used:
        generated = (target == "build_id.h" or
                     target.endswith((".pb-c.h", ".embedded.h")))
        if (generated and room != "cli") or (path.parent / target).exists():
            return None
        return "is neither public, nor generated, nor beside it"
    if used not in ROOMS:
        return "is not of the form room/name.h"
    if used != room and used not in reachable(room):
        return f"but {room} may not use {used}"
    return None


def sources_of(source):
    return sorted(path for path in source.rglob("*.*")
                  if path.suffix in (".c", ".cc", ".h"))


def check_includes(source):
    for path in sources_of(source):
        relative = path.relative_to(source)
        room = str(relative.parent)
        if room not in ROOMS:
            yield f"src/{relative}: not in a room of the map"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            why = match and include_violation(path, room, match[1])
            if why:
                yield f'src/{relative}:{number}: includes "{match[1]}", {why}'


def check_sizes(source):
    rooms = {}
    for path in sources_of(source):
        rooms.setdefault(str(path.parent.relative_to(source)), []).append(path)
        lines = path.read_text().count("\n")
        if lines > MOST_LINES:
            yield (f"src/{path.relative_to(source)}: {lines} lines, more than "
                   f"{MOST_LINES}")
    for room, paths in sorted(rooms.items()):
        if len(paths) > MOST_FILES:
            yield f"src/{room}: {len(paths)} files, more than {MOST_FILES}"


# What the locale of the calling program would change.
LOCALE = re.compile(r"\b(?:strto[df]|atof|v\w*printf)\(|"
                    r"\b\w*printf\([^;]*"
                    r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?[efgEG]")


def check_locale(source):
    for path in sources_of(source):
        relative = path.relative_to(source)
        if relative.parts[0] == "cli" or relative.stem == "plain":
            continue
        text = path.read_text()
        for match in LOCALE.finditer(text):
            yield (f"src/{relative}:{text[:match.start()].count(chr(10)) + 1}: "
                   "a decimal comma is possible here, use base/plain.h")


# What a header defines: functions with a body, types, constants, macros. A
# declaration may be repeated, a definition may not.
DEFINES = [re.compile(pattern, re.M) for pattern in (
    r"^#define (\w+)",
    r"^typedef (?:struct|enum|union) (\w+) \{",
    r"^(?:struct|enum|union) (\w+) \{",
    r"^}\s*(\w+);",
    r"^typedef (?!struct (\w+) \1;|enum|union)[^;{(]*?(\w+);",
    r"^typedef [^;{]*?\(\*(\w+)\)",
    r"^(?:static inline|REGAL_INLINE)[^;{]*?\b(\w+)\([^;{]*\{",
    r"^  (REGAL_[A-Z0-9_]+)(?: = [^,]*)?,?(?: |$)",
)]
DECLARES = re.compile(r"^(?:REGAL_API )?(?:const |struct |unsigned )?\w+ "
                      r"\**(regal_\w+)\([^;{]*\)[^;{]*;", re.M)


def names_of(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = set()
    for pattern in DEFINES:
        found |= {match[match.re.groups] for match in pattern.finditer(text)}
    return found, set(DECLARES.findall(text))


def check_names(headers):
    """headers: (name, text). One meaning for each name that they share."""
    defined, declared = {}, {}
    for name, text in headers:
        defines, declares = names_of(text)
        for word in sorted(defines):
            if defined.setdefault(word, name) != name:
                yield (f"{name}: {word} has another meaning in "
                       f"{defined[word]}")
        for word in sorted(declares):
            if declared.setdefault(word, name) != name:
                yield f"{name}: {word} is declared in {declared[word]} too"


def headers_of(root):
    paths = sorted((root / "include").glob("*.h"))
    paths += sorted(path for path in (root / "src").rglob("*.h")
                    if "cli" not in path.parts)
    return [(str(path.relative_to(root)), path.read_text()) for path in paths]


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
        plant(source, "api/good.c", '  #  include "format/plan/machine.h"')
        plant(source, "heuristic/cut/good.c",
              '#include "heuristic/list/orders.h"')
        plant(source, "cli/good.c", '#include "regal.h"')
        plant(source, "cli/other.c", '#include "good.c"')
        assert list(check_includes(source)) == []
        plant(source, "base/a.c", '#include "graph/graph.h"')
        plant(source, "cli/b.c", '#include "base/context.h"')
        plant(source, "cost/model/c.c", '\n#include "format/plan/machine.h"')
        plant(source, "cost/bound/d.c", '#include "../base/context.h"')
        plant(source, "nn/e.c", '#include "graph/graph.h"')
        plant(source, "other/f.c", "")
        plant(source, "search/g.c", '#include "nowhere.h"')
        assert list(check_includes(source)) == [
            'src/base/a.c:1: includes "graph/graph.h",'
            " but base may not use graph",
            'src/cli/b.c:1: includes "base/context.h",'
            " but cli may not use base",
            'src/cost/bound/d.c:1: includes "../base/context.h",'
            " is not of the form room/name.h",
            'src/cost/model/c.c:2: includes "format/plan/machine.h",'
            " but cost/model may not use format/plan",
            'src/nn/e.c:1: includes "graph/graph.h",'
            " but nn may not use graph",
            "src/other/f.c: not in a room of the map",
            'src/search/g.c:1: includes "nowhere.h",'
            " is neither public, nor generated, nor beside it",
        ], "\n".join(check_includes(source))
        plant(source, "base/plain.c", "a = strtod(text, &end);")
        plant(source, "cli/h.c", 'printf("%.1f%%", a);')
        plant(source, "nn/f.c", 'regal_print(a, b, "%g", c);\n'
                                'printf("%d of %s", a,\n  b);')
        assert list(check_locale(source)) == []
        plant(source, "nn/g.c", "\na = strtod(text, &end);\n"
                                'snprintf(a, b, "%d"\n  " %5.1f%%", c, d);\n'
                                "vsnprintf(a, b, c, d);")
        assert list(check_locale(source)) == [
            f"src/nn/g.c:{line}: a decimal comma is possible here, use "
            "base/plain.h" for line in (2, 3, 5)]
        for name in ("f", "g"):
            (source / "nn" / f"{name}.c").unlink()
        for number in range(MOST_FILES):
            plant(source, f"nn/{number}.c", "")
        plant(source, "graph/long.c", "\n" * MOST_LINES)
        assert list(check_sizes(source)) == [
            f"src/graph/long.c: {MOST_LINES + 1} lines, more than "
            f"{MOST_LINES}",
            f"src/nn: {MOST_FILES + 1} files, more than {MOST_FILES}"]
    assert list(check_map({"a": ["b"], "b": ["c"], "c": ["b"]})) == [
        "the map: b builds on itself", "the map: c builds on itself"]
    assert list(check_names([
        ("a.h", "typedef struct regal_a {\n  int b;\n} regal_a;\n"
                "static inline int regal_c(void) {\n}\n"
                "int regal_d(int);\n#define E 1\n"
                "typedef enum regal_f {\n  REGAL_G,\n} regal_f;\n"),
        ("b.h", "struct regal_a {\n};\n/* regal_c( */\n"
                "bool regal_c(void);\nint regal_d(int);\n"),
        ("c.h", "static inline bool\nregal_c(int a) {\n}\n#define E 2\n"
                "enum {\n  REGAL_G\n};\n")])) == [
        "b.h: regal_a has another meaning in a.h",
        "b.h: regal_d is declared in a.h too",
        "c.h: E has another meaning in a.h",
        "c.h: REGAL_G has another meaning in a.h",
        "c.h: regal_c has another meaning in a.h"]
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
    violations = [*check_map(ROOMS), *check_includes(root / "src"),
                  *check_sizes(root / "src"), *check_locale(root / "src"),
                  *check_names(headers_of(root))]
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
