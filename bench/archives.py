# SPDX-License-Identifier: Apache-2.0
"""Archives of graphs for the scripts of this folder and of bench/paper: those of
data/, and packs of graphs that were chosen from them."""
import csv
import io
import pathlib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHIVES = ("torch", "tf", "xla")


def path_of(archive):
    return ROOT / f"data/{archive}.zip"


def index_of(path):
    """The rows of the index of an archive or a folder."""
    if pathlib.Path(path).is_dir():
        text = (pathlib.Path(path) / "index.csv").read_text()
    else:
        with zipfile.ZipFile(path) as archive:
            text = archive.read("index.csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def content_of(archive, row):
    """The file of a graph of data/."""
    with zipfile.ZipFile(path_of(archive)) as source:
        return source.read(row["file"])


def pack(output, chosen):
    """Writes an archive of (archive, row) pairs of data/. Names get their archive
    in front, because some are in two."""
    rows = []
    part = pathlib.Path(f"{output}.part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as out:
        for archive, row in chosen:
            packed = {**row, "name": f"{archive}-{row['name']}",
                      "file": f"{archive}-{row['file']}"}
            out.writestr(packed["file"], content_of(archive, row))
            rows.append(packed)
        index = io.StringIO()
        writer = csv.DictWriter(index, list(rows[0]) if rows else ["name"],
                                lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        out.writestr("index.csv", index.getvalue())
    part.rename(output)
