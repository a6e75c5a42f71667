#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real graphs of data/ as one dataset: bench/real_set.py OUTPUT.zip

Packs data/torch.zip, tf.zip and xla.zip together, or those of --archives; names
get their archive in front (torch-hf_gpt2_train), because some are in two. Splits
stay as they are: they were made by topology, family by family. Graphs that need
an option to be read are left out, and so are those above --ops, those of other
splits than --split, and with --objective those that no plan can improve.
"""
import argparse
import csv
import io
import pathlib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def is_wanted(row, arguments):
    room = f"{arguments.objective}_room"
    return (not row["reading"] and int(row["ops"]) <= arguments.ops and
            arguments.split in (None, row["split"]) and
            (not arguments.objective or row[room] == "yes"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("--ops", type=int, default=10**9)
    parser.add_argument("--archives", default="torch,tf,xla")
    parser.add_argument("--split")
    parser.add_argument("--objective", choices=("runtime", "memory"))
    arguments = parser.parse_args()
    rows, columns = [], None
    with zipfile.ZipFile(arguments.output, "w", zipfile.ZIP_DEFLATED) as out:
        for archive in arguments.archives.split(","):
            with zipfile.ZipFile(ROOT / f"data/{archive}.zip") as source:
                text = source.read("index.csv").decode()
                reader = csv.DictReader(io.StringIO(text))
                columns = reader.fieldnames
                for row in reader:
                    if not is_wanted(row, arguments):
                        continue
                    content = source.read(row["file"])
                    row["name"] = f"{archive}-{row['name']}"
                    row["file"] = f"{archive}-{row['file']}"
                    out.writestr(row["file"], content)
                    rows.append(row)
        index = io.StringIO()
        writer = csv.DictWriter(index, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        out.writestr("index.csv", index.getvalue())
    print(f"{len(rows)} graphs")


if __name__ == "__main__":
    main()
