#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes data/torch.zip, data/tf.zip and data/xla.zip: pack_data.py REGAL FOLDER

FOLDER has the graphs as they were captured: torch/, tf/ and xla/, each with its
own index.csv. REGAL is the program. What this adds is what people know and
files do not say: the family of each model, how to read it and where it comes
from (data/README.md). Figures, checksums and the split are `regal dataset
split`'s: torch is split first, xla like torch, tf like both, so that no family
is on two sides of the three together. The same input gives the same archives,
byte by byte.
"""
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
SEED = "1"

# Family: the models of its lineage, as patterns of whole names. A model in none
# of them is a family of its own, under its name without a version. Two
# models are of one lineage when one's graph is the other's with changed sizes,
# norms, activations or heads, or contains it whole (a segmentation network on a
# ResNet is a ResNet).
FAMILIES = {
    "bart": r"bart|mbart|plbart|mvp|marian|pegasus.*|bigbird_pegasus|m2m_100|"
            r"nllb_moe",
    "bert": r"bert|bert_generation|bert_small|albert|big_bird|bigbird|camembert|"
            r"data2vec_text|distilbert|dpr|electra|ernie|layoutlm|luke|"
            r"markuplm|rembert|roberta|visual_bert|xlm_roberta",
    "clip": r"(chinese_)?clip_.*|mlcd.*|siglip_.*|sam3_lite_text.*",
    "convnext": r"convnext.*|dinov3_convnext",
    "densenet": r"densenet.*",
    "detr": r"(conditional_|dab_)?detr",
    "efficientnet": r"efficientnet.*",
    "gnn": r"gnn|graph_network",
    "gpt": r"gpt2|gpt_neox?(_japanese)?|gptj|gpt_small",
    "gru": r"gru_.*",
    "inception": r"inception.*",
    "llama": r"apertus|bitnet|cohere2|cosmos3_edge_text|diffllama|doge|"
             r"ernie4_5|exaone4|(vault)?gemma|gemma3n_text|gemma4_.*|glm.*|"
             r"granite|hrm_text|hyperclovax|jais2|llama.*|minicpm3|mistral|"
             r"muse_glimmer_text|nanochat|olmo[23]?|phi3|phi4_.*|"
             r"qwen(2|2_5|3)_vl_text|seed_oss|smollm3|stablelm",
    "lstm": r"lstm.*|bilstm_.*",
    "mamba": r"mamba|zamba2",
    "mixer": r"mixer|mlp_mixer",
    "mobilenet": r"mobilenet.*|mnasnet.*|(deeplabv3|lraspp)_mobilenet.*|"
                 r"gemma3n_vision",
    "nasnet": r"nasnet.*",
    "pp_ocr": r"pp_ocr.*",
    "regnet": r"regnet.*",
    "resnet": r"resnet.*|(deeplabv3|fcn)_resnet.*|mc3_18|r2plus1d_18",
    "sam": r"sam|sam_hq",
    "squeezenet": r"squeezenet.*",
    "swin": r"swin.*",
    "unet": r"u_net|unet|ddpm|diffusion",
    "vgg": r"vgg.*",
    "vit": r"vit.*|deit|beit|dinov2.*|dpt|ijepa|internvl_vision|sam3_vit_model|"
           r"tipsv2_vision_model|yolos",
    "wav2vec2": r"wav2vec2|hubert|sew",
}
VARIANT = re.compile(r"_(infer|train|grad)(_raw|_frozen|_tpu|_unfused)?$")


def family(model):
    model = model.lower().replace("-", "_").replace(".", "_")
    found = [name for name, pattern in FAMILIES.items()
             if re.fullmatch(pattern, model)]
    assert len(found) < 2, (model, found)
    return found[0] if found else re.sub(r"_?v?[0-9].*", "", model)


def rows_of(folder):
    with open(folder / "index.csv", newline="") as file:
        return list(csv.DictReader(file))


def torch_row(row):
    name = row["graph"]
    return {"name": name, "family": family(row["model"]), "source":
            f"{row['library']} {row['model']}, {row['mode']}, "
            f"layers {row['layers'] or 'all'}, batch {row['batch']}"}


def tf_row(row):
    name = row["name"]
    return {"name": name, "family": family(VARIANT.sub("", name)),
            "reading": "loops=cut" if int(row["has_cycle"]) else "",
            "source": f"TensorFlow 2.21 {VARIANT.sub('', name)}, "
                      f"{VARIANT.search(name)[0][1:].replace('_', ', ')}"}


def xla_row(row):
    name = row["name"]
    return {"name": name, "family": family(VARIANT.sub("", name)),
            "source": f"JAX 0.10, XLA for {row['target']}, {row['variant']}"}


def pack(regal, folder, name, make_row, like=()):
    rows = [make_row(row) for row in rows_of(folder)]
    with tempfile.TemporaryDirectory() as temporary:
        stage = pathlib.Path(temporary) / name
        stage.mkdir()
        for row in rows:
            row["file"] = row["name"] + ".pb"
            shutil.copy(folder / row["file"], stage)
        for path in [*folder.glob("*.order"), *folder.glob("sample.txt")]:
            shutil.copy(path, stage)
        if (folder / "untracked").is_dir():
            shutil.copytree(folder / "untracked", stage / "untracked")
        shutil.copy(folder / "index.csv", stage / "captured.csv")
        shutil.copy(DATA / "README.md", stage)
        with open(stage / "index.csv", "w", newline="") as file:
            writer = csv.DictWriter(
                file, ["name", "file", "family", "reading", "source"])
            writer.writeheader()
            writer.writerows(rows)
        follow = [f"--like={DATA / other}.zip" for other in like]
        subprocess.run([regal, "dataset", "split", stage, "--seed", SEED, "-o",
                        DATA / f"{name}.zip", *follow], check=True)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__)
        return 2
    regal, folder = arguments[0], pathlib.Path(arguments[1])
    pack(regal, folder / "torch", "torch", torch_row)
    pack(regal, folder / "xla", "xla", xla_row, like=["torch"])
    pack(regal, folder / "tf", "tf", tf_row, like=["torch", "xla"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
