#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peak of XLA's order by the model, against XLA's own memory_analysis().

    python3 bench/xla_modules.py build/regal [--folder FOLDER]

Compiles programs for a CPU with JAX (pip install jax), with and without fusion,
reads their modules with regal and prints the tables of docs/xla.md. Compared is
what is not a parameter: temporaries + results - donated results. The modules
stay in FOLDER.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

FUSION = "fusion,cpu-instruction-fusion,fusion_cpu"


# -- Programs: compiled in a process of their own, for XLA reads its flags once -

def programs():
    import jax
    import jax.numpy as jnp

    def ones(*shape):
        return jnp.ones(shape) * 0.01

    def mlp(layers, x):
        for w, b in layers[:-1]:
            x = jax.nn.relu(x @ w + b)
        return x @ layers[-1][0] + layers[-1][1]

    sizes = [64, 256, 512, 256, 10]
    layers = [(ones(a, b), ones(b)) for a, b in zip(sizes, sizes[1:])]

    def norm(x, gain):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain

    def block(p, x):
        batch, length, width = x.shape

        def heads(t):
            return t.reshape(batch, length, 4, width // 4).transpose(0, 2, 1, 3)
        q, k, v = jnp.split(norm(x, p["g1"]) @ p["qkv"], 3, -1)
        scores = heads(q) @ heads(k).transpose(0, 1, 3, 2)
        mixed = jax.nn.softmax(scores / jnp.sqrt(width / 4), -1) @ heads(v)
        x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["out"]
        return x + jax.nn.gelu(norm(x, p["g2"]) @ p["up"]) @ p["down"]

    def transformer(blocks, x):
        for p in blocks:
            x = block(p, x)
        return x

    blocks = [{"qkv": ones(64, 192), "out": ones(64, 64), "up": ones(64, 256),
               "down": ones(256, 64), "g1": ones(64), "g2": ones(64)}
              for _ in range(3)]

    def cnn(weights, x):
        for w in weights[:-1]:
            x = jax.nn.relu(jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC")))
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1),
                                      (1, 2, 2, 1), "VALID")
        return x.reshape(x.shape[0], -1) @ weights[-1]

    kernels = [ones(3, 3, 3, 16), ones(3, 3, 16, 32), ones(8 * 8 * 32, 10)]

    def scan(w, x):
        def body(state, _):
            state = jnp.tanh(state @ w)
            return state, state.sum()
        return jax.lax.scan(body, x, None, length=20)

    def cond(which, x):
        return jax.lax.cond(which, lambda t: jnp.sort(t @ t, 0),
                            lambda t: t * 2 + 1, x)

    def scatter(table, rows, x):
        return table.at[rows].add(x), (table ** 2).sum()

    models = {"mlp": (mlp, layers, ones(128, 64)),
              "transformer": (transformer, blocks, ones(4, 32, 64)),
              "cnn": (cnn, kernels, ones(8, 32, 32, 3))}
    for name, (model, weights, x) in models.items():
        def loss(weights, x, model=model):
            return jnp.mean(model(weights, x) ** 2)

        def train(weights, x, loss=loss):
            return jax.tree.map(lambda w, g: w - 0.1 * g, weights,
                                jax.grad(loss)(weights, x))
        yield "infer", name, model, (weights, x), ()
        yield "grad", name, jax.grad(loss), (weights, x), ()
        yield "train", name, train, (weights, x), (0,)
    yield "other", "scan", scan, (ones(64, 64), ones(32, 64)), ()
    yield ("other", "scan_grad",
           jax.grad(lambda w, x: scan(w, x)[1].sum()),
           (ones(64, 64), ones(32, 64)), ())
    yield "other", "cond", cond, (True, ones(64, 64)), ()
    yield ("other", "scatter", scatter,
           (ones(1024, 64), jnp.arange(4), ones(4, 64)), (0,))


def compile_all(folder):
    import jax
    report = []
    for kind, name, function, arguments, donated in programs():
        compiled = jax.jit(function, donate_argnums=donated).lower(
            *arguments).compile()
        memory = compiled.memory_analysis()
        module = compiled.runtime_executable().hlo_modules()[0]
        file = folder / f"{name}_{kind}.hlopb"
        file.write_bytes(module.as_serialized_hlo_module_proto())
        report.append({"kind": kind, "name": name, "file": str(file),
                       "temp": memory.temp_size_in_bytes,
                       "output": memory.output_size_in_bytes,
                       "alias": memory.alias_size_in_bytes})
    (folder / "report.json").write_text(json.dumps(report))


# -- Comparison ----------------------------------------------------------------

def compiled(folder, fused):
    folder.mkdir(parents=True, exist_ok=True)
    flags = "" if fused else f"--xla_disable_hlo_passes={FUSION}"
    subprocess.run([sys.executable, __file__, "compile", str(folder)],
                   env={**os.environ, "JAX_PLATFORMS": "cpu",
                        "XLA_FLAGS": flags}, check=True)
    return json.loads((folder / "report.json").read_text())


def ratio(regal, program):
    info = json.loads(subprocess.run(
        [regal, "inspect", program["file"], "--json"], check=True,
        capture_output=True, text=True).stdout)
    model = (info["schedule_peak_bytes"] - info["resident_bytes"] -
             program["alias"])
    return model / (program["temp"] + program["output"] - program["alias"])


def print_table(rows):
    print("| programs | | mean | median | deviation | least | most |")
    print("|---|---|---|---|---|---|---|")
    kinds = list(dict.fromkeys(kind for kind, _ in rows))
    for kind in [*kinds, "all"]:
        of = [r for k, r in rows if kind in (k, "all")]
        print(f"| {kind} | {len(of)} | {statistics.mean(of):.3f} | "
              f"{statistics.median(of):.3f} | "
              f"{statistics.mean(abs(r - 1) for r in of):.3f} | "
              f"{min(of):.3f} | {max(of):.3f} |")


def main():
    if sys.argv[1:2] == ["compile"]:
        compile_all(pathlib.Path(sys.argv[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("regal")
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp())
    rows = []
    for name, fused in (("", True), (" unfused", False)):
        for program in compiled(folder / (name.strip() or "fused"), fused):
            rows.append((program["kind"] + name,
                         ratio(arguments.regal, program)))
    print_table(rows)


main()
