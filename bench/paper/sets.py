# SPDX-License-Identifier: Apache-2.0
"""Graphs: the synthetic set, and the splits of the real archives."""
import collections

from session import ARCHIVES, index_of, pack, path_of

# `path:name` is the graph; `dataset` is what the table of runs calls the path.
Graph = collections.namedtuple("Graph", "path dataset name ops")


def spread(items, count):
    """So many of them, from all over; all if `count` is 0."""
    if not 0 < count < len(items):
        return list(items)
    return [items[i * len(items) // count] for i in range(count)]


def synthetic_set(session):
    """The folder or archive with splits; made if it is not there."""
    count = session.size("synthetic")
    if count is None:
        folder = session.work / "synthetic"
        done = session.work / "synthetic.done"
        if not done.exists():
            session.say("generating the paper's set")
            session.call("generate", folder, "--paper", "--seed", 1, "--quiet")
            done.touch()
        return folder
    archive = session.work / "synthetic.zip"
    if not session.is_made(archive, "synthetic"):
        folder = session.work / "drawn"
        session.call("generate", folder, "--count", count, "--seed", 1,
                     "--filter", "--quiet")
        session.call("dataset", "split", folder, "-o", archive, "--quiet")
    return archive


def graphs_of(path, split, objective, most_ops=10**9):
    """Those that a plan can improve: a generated set has no others."""
    return [Graph(path, path.name.split(".")[0], row["name"], int(row["ops"]))
            for row in index_of(path)
            if row["split"] == split and
            row.get(f"{objective}_room", "yes") == "yes" and
            int(row["ops"]) <= most_ops]


def synthetic_graphs(session, objective, count=None, split="test"):
    found = graphs_of(synthetic_set(session), split, objective)
    return spread(found, count or session.size("synthetic_graphs"))


def real_graphs(session, objective, count=None, split="test",
                archives=ARCHIVES):
    found = [graph for archive in archives
             for graph in graphs_of(path_of(archive), split, objective,
                                    session.size("most_ops"))]
    return spread(found, session.size("real_graphs") if count is None else count)


def graphs_for(session, name, objective, count=None, split="test"):
    if name == "synthetic":
        return synthetic_graphs(session, objective, count, split)
    return real_graphs(session, objective, count, split)


def real_training_set(session, objective, archives=ARCHIVES):
    """One archive of small real graphs with their splits, for training."""
    path = session.work / f"train-{'-'.join(archives)}-{objective}.zip"
    if session.is_made(path, "train_ops"):
        return path
    pack(path, [(archive, row) for archive in archives
                for row in index_of(path_of(archive))
                if not row["reading"] and row[f"{objective}_room"] == "yes" and
                row["split"] in ("train", "valid") and
                int(row["ops"]) <= session.size("train_ops")])
    return path
