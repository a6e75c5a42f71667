#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Policies once more, in PyTorch and double precision, straight from the
paper's equations: what tests/unit/test_policy_parity.c compares with.

  python3 -m venv VENV && VENV/bin/pip install torch
  VENV/bin/python tests/parity/policy_reference.py [--check] [FOLDER]

writes FOLDER/CASE.txt (by default into this folder), one for each kind of
policy: configuration, graphs, weights, actions; logits, log-probabilities,
entropies, baselines, the loss, and its gradient by every weight. A file is a
sequence of named arrays: NAME COUNT NUMBER... . With --check nothing is
written, but the exit status is 1 when a file there differs. Shares no code
with regal; only the names and shapes of weights are regal's.
"""
import pathlib
import sys

import torch

torch.set_default_dtype(torch.float64)

KINDS = ["gnn", "gas", "autoregressive", "experts", "blind"]
UPDATES = ["residual", "mlp", "gru"]
DOMAINS = ["graph", "node", "tensor"]
NODE_FEATURES, EDGE_FEATURES = 11, 3
# name, domain, genes, mean levels, variance levels, bias levels
HEADS = [("affinity", "node", 2, 2, 3, 0), ("priority", "node", 1, 4, 3, 2),
         ("transfer", "tensor", 2, 2, 2, 0), ("global", "graph", 1, 3, 2, 0)]
SAMPLES = 3
ENTROPY_WEIGHT, BASELINE_WEIGHT = 0.25, 0.5
# case: kind, update, mean aggregation, rounds, width, experts, heads, seed
CASES = {
    "gnn_gru_mean": ("gnn", "gru", 1, 2, 6, 0, HEADS, 1),
    "gnn_residual_sum": ("gnn", "residual", 0, 3, 6, 0, HEADS, 2),
    "gnn_mlp_mean": ("gnn", "mlp", 1, 2, 8, 0, HEADS[:2], 3),
    "gnn_no_rounds": ("gnn", "gru", 1, 0, 6, 0, HEADS, 4),
    "gas": ("gas", "gru", 1, 1, 6, 0, HEADS, 5),
    "autoregressive": ("autoregressive", "gru", 1, 1, 6, 0, HEADS, 6),
    "experts": ("experts", "gru", 1, 1, 6, 3, HEADS, 7),
    "blind": ("blind", "gru", 1, 0, 4, 0, HEADS, 8),
}


class Graph:
    """A random graph: tensors with 0 to 2 readers, and a control edge."""

    def __init__(self, nodes, generator):
        def below(n):
            return int(torch.randint(n, (1,), generator=generator))
        self.nodes, self.source, self.target = nodes, [], []
        self.tensor_node, self.tensor_edge = [], []
        for v in range(nodes):
            for _ in range(below(3)):
                self.tensor_node.append(v)
                self.tensor_edge.append(len(self.source))
                for _ in range(below(3) if v + 1 < nodes else 0):
                    self.source.append(v)
                    self.target.append(v + 1 + below(nodes - v - 1))
        self.tensor_edge.append(len(self.source))
        self.source.append(0)
        self.target.append(nodes - 1)
        self.x = rounded(torch.randn(nodes, NODE_FEATURES, generator=generator))
        self.xe = rounded(
            torch.randn(len(self.source), EDGE_FEATURES, generator=generator))

    def items(self, domain):
        return {"graph": 1, "node": self.nodes,
                "tensor": len(self.tensor_node)}[domain]


def rounded(values):
    """To the three decimals that are written."""
    return torch.round(values * 1000) / 1000


class Weights:
    """Makes weights as they are asked for, in the order of regal's blocks."""

    def __init__(self, generator):
        self.generator, self.blocks = generator, {}

    def __call__(self, name, rows, columns):
        if name not in self.blocks:
            values = 0.5 * torch.randn(rows, columns, generator=self.generator)
            self.blocks[name] = rounded(values).requires_grad_()
        return self.blocks[name]


def mlp(weights, name, sizes, x):
    a, hidden, b = sizes
    first = weights(f"{name}/0/weight", a, hidden)
    first_bias = weights(f"{name}/0/bias", 1, hidden)
    second = weights(f"{name}/1/weight", hidden, b)
    second_bias = weights(f"{name}/1/bias", 1, b)
    return torch.relu(x @ first + first_bias) @ second + second_bias


def gru(weights, name, w, x, h):
    i = (x @ weights(f"{name}/input/weight", w, 3 * w)
         + weights(f"{name}/input/bias", 1, 3 * w))
    s = (h @ weights(f"{name}/state/weight", w, 3 * w)
         + weights(f"{name}/state/bias", 1, 3 * w))
    r = torch.sigmoid(i[:, :w] + s[:, :w])
    z = torch.sigmoid(i[:, w:2 * w] + s[:, w:2 * w])
    n = torch.tanh(i[:, 2 * w:] + r * s[:, 2 * w:])
    return (1 - z) * n + z * h


def one_round(weights, part, case, graph, h, he):
    """Messages edge by edge, both ways; then the node update."""
    _, update, mean, _, w, *_ = case
    first = weights(f"{part}/message/0/weight", 3 * w, 2 * w)
    first_bias = weights(f"{part}/message/0/bias", 1, 2 * w)[0]
    second = weights(f"{part}/message/1/weight", 2 * w, w)
    second_bias = weights(f"{part}/message/1/bias", 2, w)
    inbox = [[] for _ in range(graph.nodes)]
    for e, (s, t) in enumerate(zip(graph.source, graph.target)):
        x = torch.cat([h[s], h[t], he[e]])
        for way, (arrives, columns) in enumerate(
                [(t, slice(0, w)), (s, slice(w, 2 * w))]):
            hidden = torch.relu(x @ first[:, columns] + first_bias[columns])
            inbox[arrives].append(
                hidden @ second[way * w:(way + 1) * w] + second_bias[way])
    m = torch.stack([sum(box, torch.zeros(w)) /
                     (len(box) if mean and box else 1) for box in inbox])
    if update == "gru":
        return gru(weights, f"{part}/update", w, m, h)
    change = mlp(weights, f"{part}/update", (2 * w, w, w),
                 torch.cat([h, m], dim=1))
    return h + change if update == "residual" else change


def gnn(weights, part, case, graph, rounds, needs_edges):
    """States of nodes and edges."""
    w = case[4]
    h = mlp(weights, f"{part}/node", (NODE_FEATURES, w, w), graph.x)
    he = None
    if rounds or needs_edges:
        he = mlp(weights, f"{part}/edge", (EDGE_FEATURES, w, w), graph.xe)
    for _ in range(rounds):
        h = one_round(weights, part, case, graph, h, he)
    return h, he


def experts(weights, case, graph, needs_edges):
    w, count = case[4], case[5]
    states = [gnn(weights, f"expert{i}", case, graph, case[3], needs_edges)
              for i in range(count)]
    hidden = torch.relu(
        graph.x @ weights("policy/gate_node/weight", NODE_FEATURES, w)
        + weights("policy/gate_node/bias", 1, w))
    gate = torch.softmax(mlp(weights, "policy/gate", (w, w, count),
                             hidden.mean(0, keepdim=True))[0], 0)
    h = sum(g * s[0] for g, s in zip(gate, states))
    he = sum(g * s[1] for g, s in zip(gate, states)) if needs_edges else None
    return h, he


def one_hot(head, actions):
    _, _, genes, *levels = head
    parts = [n for n in levels if n]
    rows = []
    for choice, level in enumerate(actions):
        row = torch.zeros(parts[choice % len(parts)])
        row[level] = 1
        rows.append(row)
    return torch.cat(rows)


def lstm(weights, w, inputs, extra=None, extra_size=0):
    """Outputs, one after the other; extra(v) is what node v reads besides."""
    wx = weights("policy/sequence/input/weight", w, 4 * w)
    b = weights("policy/sequence/input/bias", 1, 4 * w)[0]
    wh = weights("policy/sequence/state/weight", w, 4 * w)
    wa = (weights("policy/sequence/action/weight", extra_size, 4 * w)
          if extra_size else None)
    h, c, out = torch.zeros(w), torch.zeros(w), []
    for v, x in enumerate(inputs):
        sums = x @ wx + b + h @ wh
        if extra_size and v:
            sums = sums + extra(v) @ wa
        i, f, g, o = sums.split(w)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        out.append(h)
    return torch.stack(out)


def head_logits(weights, case, head, graph, h, he):
    """[items, logits]"""
    kind, w = case[0], case[4]
    name, domain, genes, *levels = head
    count, items = genes * sum(levels), graph.items(domain)
    if kind == "blind":
        bias = weights(f"policy/head_{name}/1/bias", 1, count)
        return bias.expand(items, count)
    x = h
    if domain == "graph":
        x = h.mean(0, keepdim=True)
    if domain == "tensor":
        rows = []
        for t, v in enumerate(graph.tensor_node):
            a, b = graph.tensor_edge[t:t + 2]
            edges = he[a:b].mean(0) if b > a else torch.zeros(w)
            rows.append(torch.cat([h[v], edges]))
        x = torch.stack(rows)
    return mlp(weights, f"policy/head_{name}", (x.shape[1], w, count), x)


def score(head, logits, actions):
    """Log-probability of actions [items, choices], and the entropy."""
    _, _, genes, *levels = head
    log_p = entropy = torch.zeros(())
    parts = [n for n in levels if n]
    for item, chosen in enumerate(actions):
        at = 0
        for choice, level in enumerate(chosen):
            n = parts[choice % len(parts)]
            row = torch.log_softmax(logits[item, at:at + n], 0)
            log_p = log_p + row[level]
            entropy = entropy - (row.exp() * row).sum()
            at += n
    return log_p, entropy


def policy(weights, case, graph, samples):
    """Logits of each head (of the first sample), and (log p, entropy) of each
    sample; a sample is a list of [items][choices], head by head."""
    kind, _, _, rounds, w, _, heads, _ = case
    needs_edges = any(head[1] == "tensor" for head in heads)
    h = he = None
    if kind == "experts":
        h, he = experts(weights, case, graph, needs_edges)
    elif kind != "blind":
        h, he = gnn(weights, "policy", case, graph,
                    0 if kind == "gas" else rounds, needs_edges)
    if kind == "gas":
        h = lstm(weights, w, h)
    in_order = [i for i, head in enumerate(heads) if head[1] == "node"]
    size = sum(heads[i][2] * sum(heads[i][3:]) for i in in_order)
    first, scores = None, []
    for sample in samples:
        def before(v):
            return torch.cat([one_hot(heads[i], sample[i][v - 1])
                              for i in in_order])
        reads = lstm(weights, w, h, before, size) \
            if kind == "autoregressive" else h
        logits = [head_logits(weights, case, head, graph,
                              reads if head[1] == "node" else h, he)
                  for head in heads]
        first = first or logits
        parts = [score(head, row, chosen)
                 for head, row, chosen in zip(heads, logits, sample)]
        scores.append([sum(part[j] for part in parts) for j in range(2)])
    return first, scores


def baseline(weights, case, graph):
    w = case[4]
    h, _ = gnn(weights, "baseline", case, graph, case[3], False)
    pooled = mlp(weights, "baseline/pooled_node", (w, w, w), h)
    return mlp(weights, "baseline/value", (w, w, 1),
               pooled.mean(0, keepdim=True))[0, 0]


def random_sample(case, graph, generator):
    def below(n):
        return int(torch.randint(n, (1,), generator=generator))
    return [[[below(n) for _ in range(genes) for n in levels if n]
             for _ in range(graph.items(domain))]
            for _, domain, genes, *levels in case[6]]


def flat(nested):
    return [x for row in nested for x in flat(row)] \
        if isinstance(nested, list) else [nested]


def compute(case):
    """All arrays of a case: (name, numbers, format)."""
    kind, update, mean, rounds, w, count, heads, seed = case
    generator = torch.Generator().manual_seed(seed)
    weights = Weights(generator)
    graphs = [Graph(n, generator) for n in (6, 4)]
    samples = [[random_sample(case, g, generator) for _ in range(SAMPLES)]
               for g in graphs]
    advantages = rounded(torch.randn(2, SAMPLES, generator=generator))
    targets = rounded(torch.randn(2, generator=generator))
    results = [policy(weights, case, g, s) for g, s in zip(graphs, samples)]
    values = [baseline(weights, case, g) for g in graphs]
    terms = [torch.zeros(()) for _ in range(3)]
    for g, graph in enumerate(graphs):
        for s in range(SAMPLES):
            log_p, entropy = results[g][1][s]
            terms[0] = terms[0] - advantages[g, s] * log_p / (2 * SAMPLES)
            terms[1] = terms[1] - (ENTROPY_WEIGHT * entropy / graph.nodes
                                   / (2 * SAMPLES))
        terms[2] = terms[2] + BASELINE_WEIGHT * (values[g] - targets[g])**2 / 2
    sum(terms).backward()
    loss = [term.item() for term in terms]

    out = [("config", [KINDS.index(kind), UPDATES.index(update), mean, rounds,
                       w, count, len(heads), SAMPLES], "d"),
           ("weights", [ENTROPY_WEIGHT, BASELINE_WEIGHT], "g")]
    for name, domain, *rest in heads:
        out.append((f"head/{name}", [DOMAINS.index(domain), *rest], "d"))
    for g, graph in enumerate(graphs):
        logits, scores = results[g]
        out += [(f"{g}/node", graph.x.flatten().tolist(), "g"),
                (f"{g}/edge", graph.xe.flatten().tolist(), "g"),
                (f"{g}/from", graph.source, "d"), (f"{g}/to", graph.target, "d"),
                (f"{g}/tensor_node", graph.tensor_node, "d"),
                (f"{g}/tensor_edge", graph.tensor_edge, "d"),
                (f"{g}/actions", flat(samples[g]), "d"),
                (f"{g}/advantages", advantages[g].tolist(), "g"),
                (f"{g}/target", [targets[g].item()], "g"),
                (f"{g}/baseline", [values[g].item()], ".9g"),
                (f"{g}/log_p", [s[0].item() for s in scores], ".9g"),
                (f"{g}/entropy", [s[1].item() for s in scores], ".9g")]
        for (name, domain, *_), rows in zip(heads, logits):
            if kind != "autoregressive" or domain != "node":
                out.append((f"{g}/logits/{name}", rows.flatten().tolist(),
                            ".7g"))
    out.append(("loss", loss, ".9g"))
    for name, block in weights.blocks.items():
        out.append((f"value/{name}", block.flatten().tolist(), "g"))
        out.append((f"gradient/{name}", block.grad.flatten().tolist(), ".7g"))
    return out


def text(arrays):
    lines = []
    for name, numbers, form in arrays:
        lines.append(f"{name} {len(numbers)}")
        words = [format(x, form) for x in numbers]
        lines += [" ".join(words[i:i + 12]) for i in range(0, len(words), 12)]
    return "\n".join(lines) + "\n"


def main(arguments):
    check = "--check" in arguments
    folders = [a for a in arguments if a != "--check"]
    folder = pathlib.Path(folders[0] if folders else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    different = 0
    for name, case in CASES.items():
        path, made = folder / f"{name}.txt", text(compute(case))
        if not check:
            path.write_text(made)
        elif not path.exists() or not close(path.read_text(), made):
            print(f"{path}: differs")
            different = 1
    return different


def close(old, new):
    """Same words, numbers within what another version of PyTorch may differ."""
    old, new = old.split(), new.split()
    return len(old) == len(new) and all(
        a == b or abs(float(a) - float(b)) <= 1e-6 * (1 + abs(float(b)))
        for a, b in zip(old, new))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
