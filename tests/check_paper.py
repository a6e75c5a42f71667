#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reproduction of the paper at its tiny sizes: check_paper.py REGAL

Every table and figure must be there and be well formed: CSV files have rows of
equal length, SVG files are XML with something drawn and no text that is cut off,
PNG files have an image, and the page shows each of them. The pictures of
results/paper are checked, too. A second call has nothing left to run, and one
with other sizes is refused. Publishing keeps sections of a larger size.
Exit status 77 (skipped) without gnuplot.
"""
import csv
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/paper"))
sys.dont_write_bytecode = True
import page  # noqa: E402
import records  # noqa: E402
import reproduce  # noqa: E402

SETS = [f"{name}_{objective}" for name in ("synthetic", "real")
        for objective in ("runtime", "memory")]
TABLES = [*(f"table1_{name}" for name in SETS), "ablation", "train_test",
          "generalisation"]
FIGURES = [*(f"limits_{name}" for name in SETS),
           *(f"histogram_{name}" for name in SETS), "topologies", "rounds",
           "rounds_synthetic",
           *(f"entropy_{name}" for name in SETS), "training_runtime",
           "training_memory", "actions_frequency", "actions_memory",
           "example_erdos-renyi", "example_barabasi-albert",
           "example_watts-strogatz", "example_stochastic-block",
           "contest_synthetic_runtime", "contest_synthetic_memory",
           "contest_torch_runtime", "contest_torch_memory"]


def check_csv(path):
    with path.open() as file:
        rows = list(csv.reader(file))
    assert len(rows) > 1, f"{path.name}: has no rows"
    assert all(len(row) <= len(rows[0]) for row in rows), \
        f"{path.name}: has rows that are longer than its head"
    assert not re.search(r"\b(nan|inf|None)\b", path.read_text()), \
        f"{path.name}: has numbers that are none"


def check_svg(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg"), f"{path.name}: not an SVG"
    drawn = [node for node in root.iter()
             if node.tag.split("}")[-1] in ("path", "polygon", "rect", "use",
                                            "image")]
    assert len(drawn) > 10, f"{path.name}: draws nothing"
    width, height = map(float, root.get("viewBox").split()[2:])
    for text, x, y in ends_of_texts(root):
        assert 0 <= x <= width and 0 <= y <= height, \
            f"{path.name}: \"{text}\" is cut off"


def ends_of_texts(root):
    """(text, x, y) of both ends of each text, by the width of wide letters."""
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        text = "".join(group.itertext()).strip()
        placed = re.match(r"translate\(([\d.]+),([\d.]+)\)(?: "
                          r"rotate\((-?[\d.]+)\))?", group.get("transform", ""))
        if not text or not placed or not group.get("font-size"):
            continue
        x, y = float(placed[1]), float(placed[2])
        angle = math.radians(float(placed[3] or 0))
        length = 0.65 * float(group.get("font-size")) * len(text)
        share = {"start": 0, "middle": 0.5, "end": 1}[group.get("text-anchor")]
        for part in (-share, 1 - share):
            yield (text, x + part * length * math.cos(angle),
                   y + part * length * math.sin(angle))


def check_png(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", f"{path.name}: not a PNG"
    width, height = struct.unpack(">II", head[16:24])
    assert width > 300 and height > 200, f"{path.name}: {width} x {height}"


def check_page(path):
    text = path.read_text()
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        if not link.endswith(".md") and ".md#" not in link:
            assert (path.parent / link).exists(), f"{link} is not there"
    for name in FIGURES:
        assert f"{name}.svg" in text, f"the page does not show {name}"
    # numbers of the paper stand beside ours
    for published in ("-55.80", "+4.81", "+3.65", "+7.25", "1.71", "+0.58"):
        assert published in text, f"the page lacks the paper's {published}"
    for key, difference in page.differences().items():
        assert key in reproduce.ITEMS, f"differences.md: no item {key}"
        assert difference in text, f"the page lacks what differs in {key}"


def run(regal, folder, *more, check=True):
    return subprocess.run(
        [sys.executable, ROOT / "bench/paper/reproduce.py", regal, "--scale",
         "tiny", "--work", folder / "work", "--out", folder / "out",
         "--publish", "--results", folder / "published", "--page",
         folder / "paper.md", *more], check=check, text=True,
        stderr=subprocess.PIPE)


def check_other_sizes(regal, folder):
    """What was made with other sizes is not taken for them."""
    for size in ("train_ops=30", "valid_evaluations=500"):
        done = run(regal, folder, "--only", "ablation", "--sizes", size,
                   check=False)
        assert done.returncode and "was made with" in done.stderr, done.stderr


def check_published(folder):
    """The published page has the same sections, and larger ones stay."""
    check_page(folder / "paper.md")
    published = records.load(folder / "published")
    assert list(published) == list(records.load(folder / "out"))
    published["limits"].update(scale="quick", text="a larger one")
    records.save(folder / "published", published)
    left = records.publish(folder / "out", folder / "published",
                           ["limits", "contest"])
    assert left == ["limits"], f"{left} had larger ones in the way"
    assert records.load(folder / "published")["limits"]["scale"] == "quick"


def main():
    if not shutil.which("gnuplot"):
        return 77
    regal = pathlib.Path(sys.argv[1]).resolve()
    for figure in (ROOT / "results/paper").glob("*.svg"):
        check_svg(figure)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        out = folder / "out"
        run(regal, folder)
        for table in TABLES + FIGURES:
            check_csv(out / f"{table}.csv")
        for figure in FIGURES:
            check_svg(out / f"{figure}.svg")
            check_png(out / f"{figure}.png")
        check_page(out / "paper.md")
        check_published(folder)
        before = (folder / "work/runs.csv").read_bytes()
        run(regal, folder)
        assert (folder / "work/runs.csv").read_bytes() == before, \
            "the second call has run something again"
        check_other_sizes(regal, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
