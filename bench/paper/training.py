# SPDX-License-Identifier: Apache-2.0
"""Policies that items need and that are not shipped: small ones, trained here.

A policy that is there is not trained again; a training that was stopped resumes
from its checkpoint.
"""
import csv

from session import ROOT


def shipped(name):
    return (ROOT / f"policies/{name}.policy").exists()


def all_shipped(kind, objective):
    """The policies for a set; that of the paper's features and actions first,
    where there is one."""
    return [name for name in (f"{kind}_{objective}_paper", f"{kind}_{objective}")
            if shipped(name)]


def best_shipped(kind, objective):
    """The one that is nearest to the paper."""
    return next(iter(all_shipped(kind, objective)), None)


def labelled(kind, objective):
    """{label of a line: method}"""
    return {"REGAL" if name.endswith("_paper") else "REGAL, our features":
            f"regal policy={name}" for name in all_shipped(kind, objective)}


# What a policy may differ in from the standard one of these trainings.
STANDARD = {"heads": "both", "rounds": 2, "features": "paper",
            "policy-kind": "gnn"}


def path_of(session, dataset, objective, steps, options):
    """Items that need the same policy share it."""
    differs = [f"{name}-{value}" for name, value in options.items()
               if value != STANDARD[name]]
    kind = dataset.stem.replace("train-", "").replace(f"-{objective}", "")
    return session.work / ("-".join([kind, objective, *differs, str(steps)]) +
                           ".policy")


def train(session, dataset, objective, steps=None, **options):
    """The file of a policy with these options, others as STANDARD has them."""
    steps = steps or session.size("steps")
    options = {name.replace("_", "-"): value for name, value in options.items()}
    path = path_of(session, dataset, objective, steps, options)
    done = path.with_suffix(".done")
    if not session.is_made(done, "valid_graphs", "valid_evaluations"):
        run_training(session, dataset, objective, steps, {**STANDARD, **options},
                     path)
        done.write_text(session.build() + "\n")
    session.builds.add(done.read_text().strip())
    return path


def run_training(session, dataset, objective, steps, options, path):
    session.say(f"training {path.stem}")
    words = ["train", dataset, "-o", path, "--objective", objective, "--steps",
             steps, "--valid-graphs", session.size("valid_graphs"),
             "--valid-evaluations", session.size("valid_evaluations"),
             "--quiet", "--threads", session.threads]
    for name, value in options.items():
        words += [f"--{name}", value]
    checkpoint = path.with_name(path.name + ".checkpoint")
    session.call(*words, "--resume" if checkpoint.exists() else "--overwrite")


def log_of(path):
    with path.with_name(path.name + ".csv").open() as log:
        return list(csv.DictReader(log))


def best_validation(path):
    """Improvement over BRKGA in percent, the best of all validations."""
    values = [float(row["valid"]) for row in log_of(path) if row["valid"]]
    return max(values) if values else float("nan")
