# SPDX-License-Identifier: Apache-2.0
"""Policies that items need and that are not shipped: small ones, trained here.

A policy that is there is not trained again; a training that was stopped resumes
from its checkpoint.
"""
import csv

from session import ROOT


def shipped(name):
    return (ROOT / f"policies/{name}.policy").exists()


def best_shipped(kind, objective):
    """The policy for a set, of the paper's chromosome where there is one."""
    for name in (f"{kind}_{objective}_paper", f"{kind}_{objective}"):
        if shipped(name):
            return name
    return None


def train(session, dataset, name, objective, *options, steps=None):
    """The policy's file."""
    path = session.work / f"{name}.policy"
    done = session.work / f"{name}.done"
    if done.exists():
        session.builds.add(done.read_text().strip())
        return path
    session.say(f"training {name}")
    words = ["train", dataset, "-o", path, "--objective", objective, "--steps",
             steps or session.size("steps"), "--valid-graphs",
             session.size("valid_graphs"), "--valid-evaluations",
             session.size("valid_evaluations"), "--quiet", "--threads",
             session.threads, *options]
    checkpoint = path.with_name(path.name + ".checkpoint")
    session.call(*words, "--resume" if checkpoint.exists() else "--overwrite")
    done.write_text(session.build() + "\n")
    session.builds.add(session.build())
    return path


def log_of(path):
    with path.with_name(path.name + ".csv").open() as log:
        return list(csv.DictReader(log))


def best_validation(path):
    """Improvement over BRKGA in percent, the best of all validations."""
    values = [float(row["valid"]) for row in log_of(path) if row["valid"]]
    return max(values) if values else float("nan")
