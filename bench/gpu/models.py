# SPDX-License-Identifier: Apache-2.0
"""Models with random weights for measurements on a GPU.

A row of `MODELS` is a function of the batch size that makes (module, inputs).
torchvision's and transformers' models are theirs; the others are small and
written out: DARTS (cells found by architecture search), MMoE (a mixture of
experts with several tasks), DLRM (26 embeddings and two perceptrons), a
two-tower ranker, an ensemble, a decoder (a step of generating text).
"""

import torch
from torch import nn


def _ids(batch, length, vocabulary=1000):
    return torch.randint(0, vocabulary, (batch, length))


# -- Written out -----------------------------------------------------------


def _separable(channels, repeats=2, dilation=1):
    layers = []
    for _ in range(repeats):
        layers += [
            nn.ReLU(),
            nn.Conv2d(
                channels, channels, 3, padding=dilation, dilation=dilation,
                groups=channels, bias=False,
            ),
            nn.Conv2d(channels, channels, 1),
        ]
    return nn.Sequential(*layers)


class DartsCell(nn.Module):
    """The normal cell of DARTS' second search: (operation, input) pairs."""

    EDGES = [("sep", 0), ("sep", 1), ("sep", 0), ("sep", 1),
             ("sep", 1), ("skip", 0), ("skip", 0), ("dil", 2)]

    def __init__(self, before, last, channels):
        super().__init__()
        self.first = nn.Conv2d(before, channels, 1)
        self.second = nn.Conv2d(last, channels, 1)
        make = {
            "sep": lambda: _separable(channels),
            "dil": lambda: _separable(channels, 1, 2),
            "skip": nn.Identity,
        }
        self.edges = nn.ModuleList(make[kind]() for kind, _ in self.EDGES)

    def forward(self, before, last):
        states = [
            self.first(torch.relu(before)), self.second(torch.relu(last))
        ]
        for at in range(0, len(self.EDGES), 2):
            states.append(
                sum(
                    self.edges[e](states[self.EDGES[e][1]])
                    for e in (at, at + 1)
                )
            )
        return torch.cat(states[2:], 1)


class Darts(nn.Module):
    def __init__(self, channels=48, cells=14, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, channels, 3, 4, 1), nn.Conv2d(channels, channels, 3, 2, 1)
        )
        widths = [channels, channels] + [4 * channels] * cells
        self.cells = nn.ModuleList(
            DartsCell(widths[i], widths[i + 1], channels) for i in range(cells)
        )
        self.head = nn.Linear(4 * channels, classes)

    def forward(self, x):
        before = last = self.stem(x)
        for cell in self.cells:
            before, last = last, cell(before, last)
        return self.head(last.mean((2, 3)))


def _perceptron(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers)


class Mmoe(nn.Module):
    def __init__(self, experts=8, tasks=3):
        super().__init__()
        self.experts = nn.ModuleList(
            _perceptron(1024, 1024, 512) for _ in range(experts)
        )
        self.gates = nn.ModuleList(
            nn.Linear(1024, experts) for _ in range(tasks)
        )
        self.towers = nn.ModuleList(
            nn.Sequential(_perceptron(512, 256, 64), nn.Linear(64, 1))
            for _ in range(tasks)
        )

    def forward(self, x):
        said = torch.stack([e(x) for e in self.experts], 1)
        return torch.cat(
            [
                tower((torch.softmax(gate(x), -1)[..., None] * said).sum(1))
                for gate, tower in zip(self.gates, self.towers)
            ],
            -1,
        )


class Dlrm(nn.Module):
    def __init__(self, tables=26, rows=10000, width=64):
        super().__init__()
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables)
        )
        self.bottom = _perceptron(13, 512, 256, width)
        pairs = (tables + 1) ** 2
        self.top = nn.Sequential(
            _perceptron(pairs + width, 512, 256), nn.Linear(256, 1)
        )

    def forward(self, dense, *ids):
        low = self.bottom(dense)
        rows = [table(i) for table, i in zip(self.tables, ids)]
        v = torch.stack([low] + rows, 1)
        return self.top(
            torch.cat([low, (v @ v.transpose(1, 2)).flatten(1)], 1)
        )


class TwoTowers(nn.Module):
    """A ranker: two deep towers of different widths, and their product."""

    def __init__(self):
        super().__init__()
        self.user = _perceptron(512, *[1024] * 6, 128)
        self.item = _perceptron(768, *[768] * 8, 128)

    def forward(self, user, item):
        return self.user(user) @ self.item(item).T


class Ensemble(nn.Module):
    """Four small residual networks on one image."""

    def __init__(self):
        super().__init__()
        import torchvision

        self.members = nn.ModuleList(
            torchvision.models.resnet18(weights=None) for _ in range(4)
        )

    def forward(self, x):
        return sum(member(x) for member in self.members)


class DecoderLayer(nn.Module):
    """Of a language model such as LLaMA, with a cache of keys and values."""

    def __init__(self, batch, width=768, heads=12, groups=4, length=1024):
        super().__init__()
        self.size = width // heads
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.query = nn.Linear(width, width, bias=False)
        self.key, self.value = (
            nn.Linear(width, groups * self.size, bias=False) for _ in range(2)
        )
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 4 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(4 * width, width, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.randn(batch, groups, length, self.size))

    def forward(self, x, position, angles, mask):
        y = self.norms[0](x)
        query, key, value = (
            part(y).unflatten(-1, (-1, self.size)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        self.keys.index_copy_(2, position, rotated(key, angles))
        self.values.index_copy_(2, position, value)
        y = nn.functional.scaled_dot_product_attention(
            rotated(query, angles), self.keys, self.values, mask, enable_gqa=True
        )
        x = x + self.out(y.transpose(1, 2).flatten(2))
        y = self.norms[1](x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def rotated(x, angles):
    """With its position: rotary embeddings."""
    first, second = x.chunk(2, -1)
    turned = torch.cat([-second, first], -1)
    return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)


class Decoder(nn.Module):
    """A token of each row, after others whose keys and values are in a cache."""

    def __init__(self, batch, layers=12, width=768, heads=12, length=1024, words=32000):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(
            DecoderLayer(batch, width, heads, length=length) for _ in range(layers)
        )
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, words, bias=False)
        self.length, self.half = length, width // heads // 2

    def forward(self, ids, position):
        turns = torch.arange(self.half, device=ids.device) / self.half
        angles = position[:, None] * 10000.0 ** -turns
        angles = torch.cat([angles, angles], -1)
        mask = torch.arange(self.length, device=ids.device) <= position[:, None]
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, position, angles, mask)
        return self.head(self.norm(x))


def _decoder(batch):
    return Decoder(batch), (_ids(batch, 1), torch.tensor([700]))


def _dlrm(batch):
    rows = 512 * batch
    ids = tuple(torch.randint(0, 10000, (rows, 4)) for _ in range(26))
    return Dlrm(), (torch.randn(rows, 13),) + ids


def _two_towers(batch):
    rows = 64 * batch
    return TwoTowers(), (torch.randn(rows, 512), torch.randn(rows, 768))


# -- From libraries --------------------------------------------------------


def vision(name, size=224, **arguments):
    def make(batch):
        import torchvision

        module = getattr(torchvision.models, name)(weights=None, **arguments)
        return module, (torch.randn(batch, 3, size, size),)

    return make


def _vit(batch):
    module, inputs = vision("vit_b_16")(batch)
    # torchvision begins with zeros: all results and gradients would be zero.
    nn.init.normal_(module.heads.head.weight, std=0.02)
    return module, inputs


class Part(nn.Module):
    """A model of transformers that takes tensors and returns one."""

    def __init__(self, model, names, result):
        super().__init__()
        self.model, self.names, self.result = model, names, result

    def forward(self, *values):
        out = self.model(**dict(zip(self.names, values)))
        return getattr(out, self.result)


def language(model, config, length=128, **arguments):
    def make(batch):
        import transformers

        settings = getattr(transformers, config)(**arguments)
        module = getattr(transformers, model)(settings)
        part = Part(module, ["input_ids"], "last_hidden_state")
        return part, (_ids(batch, length),)

    return make


def _clip(batch):
    from transformers import CLIPConfig, CLIPModel

    module = Part(
        CLIPModel(CLIPConfig()), ["input_ids", "pixel_values"],
        "logits_per_image",
    )
    return module, (_ids(batch, 77), torch.randn(batch, 3, 224, 224))


def _t5(batch):
    from transformers import T5Config, T5Model

    module = Part(
        T5Model(T5Config(d_model=512, num_layers=6)),
        ["input_ids", "decoder_input_ids"], "last_hidden_state",
    )
    return module, (_ids(batch, 64), _ids(batch, 16))


def _whisper(batch):
    from transformers import WhisperConfig, WhisperModel

    module = Part(
        WhisperModel(WhisperConfig()),
        ["input_features", "decoder_input_ids"], "last_hidden_state",
    )
    return module, (torch.randn(batch, 80, 3000), _ids(batch, 16))


#: name: function of the batch size. The first fifteen are the prototype's.
MODELS = {
    "inception_v3": vision(
        "inception_v3", 299, init_weights=False, aux_logits=True
    ),
    "googlenet": vision("googlenet", init_weights=False, aux_logits=False),
    "darts": lambda batch: (Darts(), (torch.randn(batch, 3, 224, 224),)),
    "mmoe": lambda batch: (Mmoe(), (torch.randn(256 * batch, 1024),)),
    "dlrm": _dlrm,
    "clip": _clip,
    "bert": language("BertModel", "BertConfig"),
    "t5": _t5,
    "resnet50": vision("resnet50"),
    "densenet121": vision("densenet121"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "shufflenet": vision("shufflenet_v2_x1_0"),
    "squeezenet": vision("squeezenet1_1"),
    "regnet": vision("regnet_y_400mf"),
    "swin_t": vision("swin_t"),
    "resnet18": vision("resnet18"),
    "mobilenet_v3": vision("mobilenet_v3_large"),
    "mnasnet": vision("mnasnet1_0"),
    "convnext_tiny": vision("convnext_tiny"),
    "vit_b_16": _vit,
    "maxvit_t": vision("maxvit_t"),
    "gpt2": language("GPT2Model", "GPT2Config"),
    "albert": language("AlbertModel", "AlbertConfig", hidden_size=768,
                       num_attention_heads=12, intermediate_size=3072),
    "roberta": language("RobertaModel", "RobertaConfig"),
    "distilbert": language("DistilBertModel", "DistilBertConfig"),
    "llama": language("LlamaModel", "LlamaConfig", hidden_size=768,
                      intermediate_size=2048, num_hidden_layers=12,
                      num_attention_heads=12, vocab_size=32000),
    "mixtral": language("MixtralModel", "MixtralConfig", hidden_size=512,
                        intermediate_size=1024, num_hidden_layers=4,
                        num_attention_heads=8, num_key_value_heads=8,
                        vocab_size=32000),
    "whisper": _whisper,
    "two_towers": _two_towers,
    "decoder": _decoder,
    "ensemble": lambda batch: (Ensemble(), (torch.randn(batch, 3, 224, 224),)),
}


#: They write what a backward pass would need.
ONLY_INFERENCE = {"decoder"}


def fold(module):
    """Batch normalisation folded into convolutions, as one deploys."""
    try:
        from torch.fx.experimental.optimization import fuse

        return fuse(module)
    except Exception:  # a model that torch.fx cannot trace has none to fold
        return module


def without_chance(module):
    """The module, without dropout and stochastic depth."""
    from torchvision.ops import StochasticDepth

    for part in module.modules():
        if isinstance(part, (nn.Dropout, StochasticDepth)):
            part.p = 0.0
    return module


def on_gpu(name, batch, training=False):
    """Module and inputs in half precision on the GPU, images channels last."""
    torch.manual_seed(0)
    module, inputs = MODELS[name](batch)
    module = module.train() if training else module.eval()
    dtype = torch.float32 if training else torch.float16
    images = inputs[0].dim() == 4
    if images and not training:
        module = fold(module)
    module = module.to("cuda", dtype)
    inputs = [
        x.to("cuda", dtype) if x.is_floating_point() else x.cuda()
        for x in inputs
    ]
    if images:
        module = module.to(memory_format=torch.channels_last)
        inputs = [
            x.to(memory_format=torch.channels_last) if x.dim() == 4 else x
            for x in inputs
        ]
    return module, inputs
