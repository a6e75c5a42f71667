#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws docs/img/*.svg, the histograms of docs/data.md: data_figures.sh REGAL
# Needs gnuplot.
set -euo pipefail
regal=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$regal" dataset describe data/torch.zip data/tf.zip data/xla.zip \
  --figures "$work" >/dev/null
mkdir -p docs/img
for figure in "$work"/*.svg; do
  cp "$figure" "docs/img/data_$(basename "$figure")"
done
