# SPDX-License-Identifier: Apache-2.0
"""Archives of graphs for the scripts of this folder: those of data/, and packs of
graphs that were chosen from them."""
import csv
import io
import pathlib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHIVES = ("torch", "tf", "xla")


def path_of(archive):
    return ROOT / f"data/{archive}.zip"


def index_of(path):
    """The rows of an archive's index."""
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
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as out:
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
