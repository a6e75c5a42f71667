# SPDX-License-Identifier: Apache-2.0
"""Runs a graph in a TensorFlow session that measures: session.py FOLDER

FOLDER has what `write` put there. The cost graph of the measured runs becomes
its file cost_graph.pb. This file is run as a program, in a process of its own,
and imports nothing of regal.
"""
import json
import pathlib
import sys
from typing import Any, Dict, List


def write(folder: pathlib.Path, definition: bytes, tensors: List[bytes],
          settings: Dict[str, Any]) -> None:
    """The GraphDef; the values of `settings["inputs"]`, placeholders and
    variables; and settings: which of these are variables, what is fetched, and
    how it is run."""
    (folder / "graph.pb").write_bytes(definition)
    for place, tensor in enumerate(tensors):
        (folder / f"{place}.tensor").write_bytes(tensor)
    (folder / "settings.json").write_text(json.dumps(settings))


def config_of(settings: Dict[str, Any], v1: Any) -> Any:
    """Ops run one at a time, so that a node's time is its own."""
    config = v1.ConfigProto(inter_op_parallelism_threads=1,
                            intra_op_parallelism_threads=settings["threads"],
                            allow_soft_placement=True)
    config.graph_options.build_cost_model = settings["steps"]
    config.graph_options.build_cost_model_after = settings["warmup"]
    if not settings["optimize"]:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
    return config


def main(folder: pathlib.Path) -> None:
    import tensorflow as tf
    v1 = tf.compat.v1
    settings = json.loads((folder / "settings.json").read_text())
    definition = v1.GraphDef.FromString((folder / "graph.pb").read_bytes())
    nodes = {node.name: node for node in definition.node}
    values = {}
    for place, name in enumerate(settings["inputs"]):
        dtype = tf.as_dtype(nodes[name].attr["dtype"].type)
        values[name] = tf.io.parse_tensor(
            (folder / f"{place}.tensor").read_bytes(), dtype).numpy()
    with tf.Graph().as_default() as graph:
        tf.graph_util.import_graph_def(definition, name="")
        metadata = run(tf, graph, values, settings)
    (folder / "cost_graph.pb").write_bytes(
        metadata.cost_graph.SerializeToString())


def run(tf: Any, graph: Any, values: Dict[str, Any],
        settings: Dict[str, Any]) -> Any:
    """Assigns the variables and runs the graph; TensorFlow's RunMetadata."""
    v1 = tf.compat.v1
    assigns, first = [], {}
    for name in settings["variables"]:
        array = values.pop(name)
        fed = v1.placeholder(array.dtype, array.shape)
        first[fed] = array
        # What is fed has no size in a cost graph; its copy has.
        assigns.append(tf.raw_ops.AssignVariableOp(
            resource=graph.get_tensor_by_name(name + ":0"),
            value=tf.raw_ops.DeepCopy(x=fed)))
    feeds = {name + ":0": value for name, value in values.items()}
    metadata = v1.RunMetadata()
    with v1.Session(graph=graph, config=config_of(settings, v1)) as session:
        session.run(assigns, first)
        for _ in range(settings["warmup"] + settings["steps"]):
            session.run(settings["fetches"], feeds, run_metadata=metadata)
    return metadata


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
