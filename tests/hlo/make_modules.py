#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes good/: small modules, compiled by XLA for a CPU through JAX.

    python3 make_modules.py FOLDER

NAME.hlo.pb is an HloProto of --xla_dump_to, with XLA's buffer assignment;
NAME.pb the bare HloModuleProto that JAX returns, NAME.txt the same module as
text. `report.json` has XLA's memory_analysis() of each. `before` is a module
before optimizations: it has no schedule. Made with jax 0.10.2.
"""
import glob
import json
import os
import pathlib
import shutil
import sys
import tempfile

DUMP = tempfile.mkdtemp()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = (f"--xla_dump_to={DUMP} --xla_dump_hlo_as_proto "
                           "--xla_force_host_platform_device_count=1")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

# No paths of this machine.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def mlp(weights, x):
    for w in weights[:-1]:
        x = jnp.tanh(x @ w)
    return x @ weights[-1]


def step(weights, x, y):
    def loss(weights):
        return jnp.mean((mlp(weights, x) - y) ** 2)
    gradients = jax.grad(loss)(weights)
    return [w - 0.1 * g for w, g in zip(weights, gradients)]


def scan(w, x):
    def body(state, _):
        state = jnp.tanh(state @ w)
        return state, state.sum()
    return jax.lax.scan(body, x, None, length=20)


def cond(which, x):
    return jax.lax.cond(which, lambda t: jnp.sort(t @ t, 0),
                        lambda t: t * 2 + 1, x)


def update(cache, row, at):
    cache = jax.lax.dynamic_update_slice(cache, row, (at, 0))
    return cache, cache.sum()


def outputs(x, y):
    total = x + y
    return jnp.exp(total), total.sum(0), jnp.argsort(x[0])


WEIGHTS = [jnp.ones((32, 64)), jnp.ones((64, 64)), jnp.ones((64, 8))]
PROGRAMS = {
    "step": (step, (WEIGHTS, jnp.ones((16, 32)), jnp.ones((16, 8))), (0,)),
    "infer": (mlp, (WEIGHTS, jnp.ones((16, 32))), ()),
    "scan": (scan, (jnp.ones((16, 16)), jnp.ones((8, 16))), ()),
    "cond": (cond, (True, jnp.ones((16, 16))), ()),
    "update": (update, (jnp.ones((64, 16)), jnp.ones((1, 16)), 3), (0,)),
    "outputs": (outputs, (jnp.ones((8, 16)), jnp.ones((8, 16))), ()),
}


def write(folder, name, function, arguments, donated):
    def named(*arguments):
        return function(*arguments)
    named.__name__ = name
    lowered = jax.jit(named, donate_argnums=donated).lower(*arguments)
    compiled = lowered.compile()
    module = compiled.runtime_executable().hlo_modules()[0]
    (folder / f"{name}.pb").write_bytes(
        module.as_serialized_hlo_module_proto())
    (folder / f"{name}.txt").write_text(module.to_string())
    dump, = glob.glob(f"{DUMP}/*.jit_{name}.cpu_after_optimizations.hlo.pb")
    shutil.copy(dump, folder / f"{name}.hlo.pb")
    if name == "step":
        before = lowered.compiler_ir("hlo")
        (folder / "before.pb").write_bytes(
            before.as_serialized_hlo_module_proto())
        (folder / "before.txt").write_text(before.as_hlo_text())
    memory = compiled.memory_analysis()
    return {"temp": memory.temp_size_in_bytes,
            "output": memory.output_size_in_bytes,
            "alias": memory.alias_size_in_bytes}


def main():
    folder = pathlib.Path(sys.argv[1])
    report = {name: write(folder, name, *program)
              for name, program in PROGRAMS.items()}
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    shutil.rmtree(DUMP)


main()
