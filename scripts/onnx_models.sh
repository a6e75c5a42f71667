#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the folder of ONNX's light models: scripts/onnx_models.sh FOLDER
#
# They are real networks (ResNet-50, DenseNet-121, VGG-19, ...) whose weights
# are made by ConstantOfShape, and come with the Python package onnx, which is
# installed into a virtual environment in FOLDER unless it is there. The first
# time needs the network and about 15 seconds.
set -euo pipefail

# Pinned: the tests know these files.
package=onnx==1.23.2
folder=$1

if ! [ -e "$folder/installed-$package" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  if ! "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    "$package" >&2; then
    echo "onnx_models: could not install the Python package $package into" \
      "$folder; is there a network?" >&2
    exit 1
  fi
  touch "$folder/installed-$package"
fi
"$folder/bin/python" -c 'import onnx, pathlib
print(pathlib.Path(onnx.__file__).parent / "backend/test/data/light")'
