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

from archives import ARCHIVES, index_of, pack, path_of


def is_wanted(row, arguments):
    room = f"{arguments.objective}_room"
    return (not row["reading"] and int(row["ops"]) <= arguments.ops and
            arguments.split in (None, row["split"]) and
            (not arguments.objective or row[room] == "yes"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("--ops", type=int, default=10**9)
    parser.add_argument("--archives", default=",".join(ARCHIVES))
    parser.add_argument("--split")
    parser.add_argument("--objective", choices=("runtime", "memory"))
    arguments = parser.parse_args()
    chosen = [(archive, row) for archive in arguments.archives.split(",")
              for row in index_of(path_of(archive)) if is_wanted(row, arguments)]
    pack(arguments.output, chosen)
    print(f"{len(chosen)} graphs")


if __name__ == "__main__":
    main()
