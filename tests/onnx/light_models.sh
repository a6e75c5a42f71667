#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imports ONNX's light models: light_models.sh REGAL FOLDER
#
# FOLDER is where the Python package onnx is, or is installed, which needs the
# network: without it this fails. See light_models.py for what is checked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
models=$("$here/../../scripts/onnx_models.sh" "$2")
exec "$2/bin/python" "$here/light_models.py" "$1" "$models"
