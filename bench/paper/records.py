# SPDX-License-Identifier: Apache-2.0
"""Sections that were made, kept as sections.json beside their files.

The sections of a page may come from several calls, days apart and of different
sizes: each record has the command, the size and the commits of its runs.
Publishing copies sections from the folder where they were made to another one
(results/paper). There a section is never replaced by one of a smaller size.
"""
import json
import shutil

from scales import SCALES

SIZES = list(SCALES)[::-1]  # from small to large


def load(folder):
    """{key: record}"""
    path = folder / "sections.json"
    return json.loads(path.read_text()) if path.exists() else {}


def save(folder, records):
    part = folder / "sections.json.part"
    part.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n")
    part.rename(folder / "sections.json")


def record_of(session, section, scale, command):
    return {**section._asdict(), "scale": scale, "command": command,
            "evaluations": session.size("evaluations"),
            "builds": sorted(session.builds) or [session.build()],
            "files": sorted(session.files)}


def smaller(one, other):
    return SIZES.index(one["scale"]) < SIZES.index(other["scale"])


def publish(source, target, keys):
    """Copies these sections; gives those that a larger one was in the way of."""
    target.mkdir(parents=True, exist_ok=True)
    made, there = load(source), load(target)
    kept = [key for key in keys if key in there and
            smaller(made[key], there[key])]
    for key in keys:
        if key in kept:
            continue
        gone = set(there.get(key, {"files": ()})["files"])
        for name in gone - set(made[key]["files"]):
            (target / name).unlink(missing_ok=True)
        for name in made[key]["files"]:
            shutil.copyfile(source / name, target / name)
        there[key] = made[key]
    save(target, there)
    return kept
