# SPDX-License-Identifier: Apache-2.0
"""Models in plain JAX whose memory XLA reports: an MLP, a transformer block, a
CNN, a language model, a mixture of experts and a recurrent network, as
inference, gradients and training step (Adam, parameters donated).

Imported by jax_peaks.py. Parameters and inputs are shapes only: nothing is run.
"""
import jax
import jax.numpy as jnp

BATCH = 64


def shape(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def mlp(weights, x):
    for w, b in weights[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def mlp_case():
    widths = [256, 1024, 1024, 512, 512, 256]
    weights = [(shape(i, o), shape(o)) for i, o in zip(widths, widths[1:])]
    return mlp, weights, shape(BATCH * 8, widths[0]), shape(BATCH * 8, 256)


def normalized(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def attention(p, x, heads=4):
    batch, length, width = x.shape
    q, k, v = (jnp.reshape(x @ p[name], (batch, length, heads, -1))
               for name in ("q", "k", "v"))
    scores = jnp.einsum("bihd,bjhd->bhij", q, k) * (width // heads) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), v)
    return jnp.reshape(mixed, x.shape) @ p["o"]


def transformer(p, x):
    x = x + attention(p, normalized(x, *p["norm1"]))
    hidden = jax.nn.gelu(normalized(x, *p["norm2"]) @ p["up"])
    return x + hidden @ p["down"]


def transformer_case(width=128, length=64):
    p = {name: shape(width, width) for name in ("q", "k", "v", "o")}
    p.update(up=shape(width, 4 * width), down=shape(4 * width, width),
             norm1=(shape(width), shape(width)),
             norm2=(shape(width), shape(width)))
    x = shape(BATCH // 4, length, width)
    return transformer, p, x, x


def convolution(x, w, stride=1):
    return jax.lax.conv_general_dilated(
        x, w, (stride, stride), "SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cnn(p, x):
    x = jax.nn.relu(convolution(x, p["stem"], 2))
    for first, second in p["blocks"]:
        x = x + convolution(jax.nn.relu(convolution(x, first)), second)
    x = jax.nn.relu(convolution(x, p["last"], 2)).mean((1, 2))
    return x @ p["head"]


def cnn_case():
    p = {"stem": shape(3, 3, 3, 32), "last": shape(3, 3, 32, 64),
         "blocks": [(shape(3, 3, 32, 32), shape(3, 3, 32, 32))] * 3,
         "head": shape(64, 10)}
    return cnn, p, shape(BATCH // 4, 32, 32, 3), shape(BATCH // 4, 10)


def language(p, tokens):
    x = p["embedding"][tokens]
    for block in p["blocks"]:
        x = transformer(block, x)
    return x @ p["head"]


def language_case(words=512, length=32):
    block = transformer_case(64, length)[1]
    p = {"embedding": shape(words, 64), "blocks": [block, block],
         "head": shape(64, words)}
    tokens = jax.ShapeDtypeStruct((8, length), jnp.int32)
    return language, p, tokens, shape(8, length, words)


def experts(p, x, chosen=2):
    gates, which = jax.lax.top_k(jax.nn.softmax(x @ p["gate"]), chosen)
    hidden = jax.nn.relu(jnp.einsum("td,edf->tef", x, p["up"]))
    y = jnp.einsum("tef,efd->ted", hidden, p["down"])
    y = jnp.take_along_axis(y, which[..., None], 1)
    return (y * gates[..., None]).sum(1)


def experts_case(count=8, width=64):
    p = {"gate": shape(width, count), "up": shape(count, width, 2 * width),
         "down": shape(count, 2 * width, width)}
    return experts, p, shape(BATCH * 4, width), shape(BATCH * 4, width)


def recurrent(p, x):
    def cell(state, now):
        h, c = state
        i, f, g, o = jnp.split(now @ p["in"] + h @ p["state"] + p["bias"], 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros((x.shape[1], p["state"].shape[0]))
    return jax.lax.scan(cell, (zero, zero), x)[1] @ p["head"]


def recurrent_case(width=64, steps=20):
    p = {"in": shape(width, 4 * width), "state": shape(width, 4 * width),
         "bias": shape(4 * width), "head": shape(width, 100)}
    return recurrent, p, shape(steps, 32, width), shape(steps, 32, 100)


CASES = {"mlp": mlp_case, "transformer": transformer_case, "cnn": cnn_case,
         "language": language_case, "experts": experts_case,
         "recurrent": recurrent_case}


def gradients(model):
    def loss(p, x, y):
        return ((model(p, x) - y) ** 2).mean()
    return jax.value_and_grad(loss)


def training(model):
    """A step of Adam."""
    def step(p, first, second, x, y):
        loss, g = gradients(model)(p, x, y)
        first = jax.tree.map(lambda m, d: 0.9 * m + 0.1 * d, first, g)
        second = jax.tree.map(lambda v, d: 0.999 * v + 0.001 * d * d, second, g)
        p = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8),
                         p, first, second)
        return p, first, second, loss
    return step


def make(name, kind):
    """(jitted function, its arguments) of a model and "infer", "grad" or
    "train"."""
    model, p, x, y = CASES[name]()
    if kind == "infer":
        return jax.jit(model), (p, x)
    if kind == "grad":
        return jax.jit(gradients(model)), (p, x, y)
    return jax.jit(training(model), donate_argnums=(0, 1, 2)), (p, p, p, x, y)
