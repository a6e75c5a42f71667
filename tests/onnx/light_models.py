#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports real networks that others wrote and checks what regal makes of them.

  light_models.py REGAL FOLDER

REGAL is the program, FOLDER has ONNX's light models (scripts/onnx_models.sh).
Everything that is expected is computed here, by the Python package onnx and
the rules of docs/onnx.md, or published by others; nothing comes from regal.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, shape_inference

# Published figures: multiply-adds in 10^9, parameters in 10^6, where from.
#
# What regal counts also has the additions of biases, normalisation,
# activations and pooling: a few percent. Parameters also have the running means
# and variances of batch normalisation, which most tables leave out.
TORCHVISION = ("pytorch/vision, torchvision/models/*.py: '_ops' and "
               "'num_params' of the ImageNet weights")
OPEN_MODEL_ZOO = ("openvinotoolkit/open_model_zoo, models/public/index.md: "
                  "GFlops (two for a multiply-add) and mParams")
PUBLISHED = {
    "resnet50": (4.089, 25.557, TORCHVISION),
    "densenet121": (2.834, 7.979, TORCHVISION),
    "vgg19": (19.632, 143.667, TORCHVISION),
    # The light model is SqueezeNet 1.1, not 1.0.
    "squeezenet": (0.349, 1.235, TORCHVISION),
    "inception_v1": (1.498, 6.999,
                     "GoogLeNet: " + TORCHVISION + "; parameters: "
                     + OPEN_MODEL_ZOO),
    "inception_v2": (4.058 / 2, 11.185, "googlenet-v2: " + OPEN_MODEL_ZOO),
    # With 227 x 227 pixels, as the network was published.
    "bvlc_alexnet": (0.727, 60.965,
                     "albanie/convnet-violation, README.md; parameters: "
                     + OPEN_MODEL_ZOO),
    "shufflenet": (0.133, 5.3 / 4,
                   "Zhang et al. 2017 (arXiv 1707.01083), table 1, 4 groups; "
                   "parameters: onnx/models, shufflenet/README.md: 5.3 MB"),
    # No table has the operations of this variant of ZFNet (512 channels).
    "zfnet512": (None, 349 / 4,
                 "parameters: onnx/models, zfnet/README.md: 349 MB"),
}
MOST_OFF = {"operations": 0.04, "parameters": 0.08}
PIXELS = {"bvlc_alexnet": 227}

VIEWS = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout"}
BITS = {TensorProto.FLOAT: 32, TensorProto.DOUBLE: 64, TensorProto.INT32: 32,
        TensorProto.INT64: 64, TensorProto.BOOL: 8}

problems = []


def expect(what, found, expected):
    if found != expected:
        problems.append(f"{what}: regal says {found}, expected {expected}")


def expect_near(what, found, expected, most_off):
    off = found / expected - 1
    print(f"  {what:<11} {found:10.4f}  published {expected:10.4f}  "
          f"{100 * off:+6.2f}%")
    if abs(off) > most_off:
        problems.append(f"{what}: regal says {found}, published is {expected}")


class Model:
    """The graph by the package onnx: its shapes, constants, views and ops."""

    def __init__(self, path):
        self.model = shape_inference.infer_shapes(
            onnx.load(path), strict_mode=True, data_prop=True)
        graph = self.graph = self.model.graph
        self.types = {value.name: value.type.tensor_type for value in
                      [*graph.input, *graph.value_info, *graph.output]}
        self.constants = {tensor.name for tensor in graph.initializer}
        self.inputs = [value.name for value in graph.input
                       if value.name not in self.constants]
        self.shown = {}  # view -> the tensor that it shows
        self.ops = []
        for node in graph.node:
            self.add(node)

    def add(self, node):
        if all(name in self.constants for name in node.input):
            self.constants.update(node.output)
        elif node.op_type in VIEWS:
            self.shown[node.output[0]] = self.root(node.input[0])
        else:
            self.ops.append(node)

    def root(self, name):
        return self.shown.get(name, name)

    def shape(self, name):
        return [dim.dim_value for dim in self.types[name].shape.dim]

    def bytes(self, name):
        bits = BITS[self.types[name].elem_type]
        return math.prod(self.shape(name)) * bits // 8

    def reads(self, node):
        """The tensors, then the constants that a node reads, each once."""
        tensors = [self.root(name) for name in node.input
                   if name not in self.constants]
        constants = [name for name in node.input if name in self.constants]
        return list(dict.fromkeys(tensors)), list(dict.fromkeys(constants))

    def multiply_adds(self):
        total = 0
        for node in self.ops:
            if node.op_type in ("Conv", "Gemm"):
                weights = self.shape(node.input[1])
                kept = {"Conv": weights[1:], "Gemm": None}[node.op_type]
                if kept is None:
                    transposed = any(attribute.name == "transB" and attribute.i
                                     for attribute in node.attribute)
                    kept = [weights[1 if transposed else 0]]
                total += math.prod(self.shape(node.output[0])) * math.prod(kept)
        return total


def resize(path, pixels, folder):
    """The model for pictures of another size."""
    model = onnx.load(path)
    for value in model.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if len(shape) == 4 and shape[0] == 1 and shape[1] == 3:
            for dim in value.type.tensor_type.shape.dim[2:]:
                dim.dim_value = pixels
    resized = pathlib.Path(folder) / f"{path.stem}_{pixels}.onnx"
    onnx.save_model(model, resized)
    return resized


def regal(program, *arguments):
    run = subprocess.run([program, *map(str, arguments)], text=True,
                         capture_output=True)
    if run.returncode:
        sys.exit(f"light_models: regal {' '.join(map(str, arguments))}: exit "
                 f"code {run.returncode}: {run.stderr}")
    return run.stdout


def check_structure(model, graph):
    """Every op, tensor, edge and parameter of a graph in JSON, as the package
    onnx sees them."""
    found = {op["name"]: op for op in graph["ops"]}
    names = [node.name or node.output[0] for node in model.ops]
    expect("ops", sorted(found), sorted(names + ["inputs"]))
    expect("input tensors",
           [output["bytes"] for output in found["inputs"]["outputs"]],
           [model.bytes(name) for name in model.inputs])
    made = {name: ["inputs", port] for port, name in enumerate(model.inputs)}
    resident = set()
    for name, node in zip(names, model.ops):
        op = found.get(name, {})
        for port, output in enumerate(node.output):
            made[output] = [name, port]
        tensors, constants = model.reads(node)
        resident.update(constants)
        expect(f"bytes of {name}",
               [output["bytes"] for output in op.get("outputs", [])],
               [model.bytes(output) for output in node.output])
        expect(f"inputs of {name}", sorted(op.get("inputs", [])),
               sorted(made[tensor] for tensor in tensors))
        expect(f"parameters of {name}",
               sorted(graph["parameters"][index]["bytes"]
                      for index in op.get("parameters", [])),
               sorted(model.bytes(constant) for constant in constants))
    finals = [name for name in map(model.root, (value.name for value in
                                                model.graph.output))]
    expect("final tensors",
           sorted([op["name"], port] for op in graph["ops"]
                  for port, output in enumerate(op.get("outputs", []))
                  if output.get("final")),
           sorted(made[name] for name in finals))
    return sum(model.bytes(name) for name in resident)


def check_numbers(name, model, report, resident):
    expect("ops by inspect", report["ops"], len(model.ops) + 1)
    expect("resident bytes", report["resident_bytes"], resident)
    flops, = [float(match[1]) * 1e9 for note in report["notes"]
              if (match := re.match(r"(\S+) GFLOP in all", note["text"]))]
    least = 2 * model.multiply_adds()
    # Counted to four digits; with a few percent of element-wise work.
    if not 0.9995 * least <= flops <= 1.06 * least:
        problems.append(f"{name}: {flops} FLOPs for {least} of convolutions "
                        f"and matrix products")
    operations, parameters, _ = PUBLISHED[name]
    if operations:
        expect_near("operations", flops / 2e9, operations,
                    MOST_OFF["operations"])
    expect_near("parameters", resident / 4e6, parameters,
                MOST_OFF["parameters"])
    for note in report["notes"]:
        if note["kind"] == "warning":
            problems.append(f"{name}: warning: {note['text']}")


def check_model(program, path, folder):
    name = path.stem.removeprefix("light_")
    print(name)
    if name in PIXELS:
        check_import(program, name, resize(path, PIXELS[name], folder), folder)
    else:
        check_import(program, name, path, folder)


def check_import(program, name, path, folder):
    model = Model(path)
    report = json.loads(regal(program, "inspect", "--json", path))
    converted = pathlib.Path(folder) / f"{name}.json"
    regal(program, "convert", "-q", path, "-o", converted)
    resident = check_structure(model, json.loads(converted.read_text()))
    check_numbers(name, model, report, resident)


def check_plans(program, path, folder):
    """Plans for two devices are valid, and what they cost is what the verifier
    says."""
    plan = pathlib.Path(folder) / f"{path.stem}.plan"
    for objective in ("runtime", "memory"):
        regal(program, "optimize", "-q", path, "--devices", 2, "--objective",
              objective, "--evaluations", 2000, "-o", plan)
        cost = json.loads(plan.read_text())["cost"]
        verdict = json.loads(regal(program, "evaluate", "--json", path, plan))
        expect(f"cost of the {objective} plan of {path.stem}", cost,
               verdict["cost"])
        print(f"  {objective:<8}{cost['runtime_ns'] / 1e3:10.1f} us  "
              f"{[round(peak / 2**20, 1) for peak in cost['peak_bytes']]} MiB")


def check_planned(program, path, folder):
    """The model in the order of a plan is one that onnx accepts: the same
    nodes, each after what it reads, ops with their steps in order."""
    plan = pathlib.Path(folder) / "order.plan"
    planned = pathlib.Path(folder) / "planned.onnx"
    regal(program, "optimize", "-q", path, "--method", "heft", "-o", plan)
    regal(program, "convert", "-q", path, "--plan", plan, "-o", planned)
    onnx.checker.check_model(str(planned), full_check=False)
    before, after = onnx.load(path), onnx.load(planned)
    steps = {step["id"]: number for number, step
             in enumerate(json.loads(plan.read_text())["steps"])
             if "op" in step}
    found = [int(entry.value) for node in after.graph.node
             for entry in node.metadata_props if entry.key == "regal.step"]
    ops = len(before.graph.node)
    expect(f"{path.stem} steps", found,
           sorted(number for id, number in steps.items() if id < ops))
    for node in after.graph.node:
        del node.metadata_props[:]
    expect(f"{path.stem} nodes",
           sorted(node.SerializeToString() for node in after.graph.node),
           sorted(node.SerializeToString() for node in before.graph.node))
    del before.graph.node[:], after.graph.node[:]
    expect(f"{path.stem} without nodes", after, before)


def check_small(program, path, folder):
    """One of the small models beside the light ones; False where it is not of
    tensors of numbers only, which is what this script knows."""
    try:
        model = Model(path)
    except KeyError:
        return False
    types = {model.types[name].elem_type
             for node in model.ops for name in node.output}
    types.update(model.types[name].elem_type for name in model.inputs)
    if not types <= BITS.keys():
        return False
    converted = pathlib.Path(folder) / "small.json"
    regal(program, "convert", "-q", path, "-o", converted)
    before = len(problems)
    check_structure(model, json.loads(converted.read_text()))
    problems[before:] = [f"{path.parent.name}: {problem}"
                         for problem in problems[before:]]
    return True


def check_page(program, folder):
    """The example of docs/onnx.md, which the tests of the pages cannot run,
    because they do not have the models."""
    page = pathlib.Path(__file__).parents[2] / "docs/onnx.md"
    block = re.search(r"```text\n\$ models=.*?\n\$ regal (.*?)\n(.*?)```",
                      page.read_text(), re.S)
    arguments = block[1].replace("$models", str(folder)).split()
    run = subprocess.run([program, *arguments], text=True, capture_output=True)

    def without_clock(text):
        return re.sub(r"(?m)^search .*$", "search", text).splitlines()
    expect("docs/onnx.md", without_clock(run.stderr + run.stdout),
           without_clock(block[2]))


def main(program, folder):
    paths = sorted(pathlib.Path(folder).glob("*.onnx"))
    expect("models", sorted(path.stem.removeprefix("light_")
                            for path in paths), sorted(PUBLISHED))
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            check_model(program, path, scratch)
        for name in ("resnet50", "densenet121"):
            print(f"{name} on two devices")
            check_plans(program, pathlib.Path(folder) / f"light_{name}.onnx",
                        scratch)
        for path in paths:
            check_planned(program, path, scratch)
        check_page(program, folder)
        small = sorted(pathlib.Path(folder).parent.glob("*/*/model.onnx"))
        checked = sum(check_small(program, path, scratch) for path in small)
        print(f"{checked} of {len(small)} small models")
        if checked < 120:
            problems.append(f"only {checked} small models were checked")
    print(*problems[:50], sep="\n", end="\n" if problems else "")
    print(f"{len(paths)} models, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
