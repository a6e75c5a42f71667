#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Peaks of modules that JAX compiles now: jax_peaks.sh FOLDER
#
# FOLDER has the extension module of the build. The package's sources are copied
# beside it, as tests/python.sh does. bench/jax_peaks.py says what is checked.
# Exit status 77, skipped: the extension module or JAX is not there.
set -euo pipefail
folder=$1
sources=$(cd "$(dirname "$0")/.." && pwd)
python=${XDG_CACHE_HOME:-$HOME/.cache}/regal/jax/bin/python

if [ ! -e "$folder/_regal.abi3.so" ]; then
  echo "jax_peaks: skipped, the build has no extension module" \
    "(scripts/setup.sh python)"
  exit 77
fi
if ! "$python" -c 'import cffi, jax, numpy' 2>/dev/null; then
  echo "jax_peaks: skipped, JAX is not there (scripts/setup.sh jax)"
  exit 77
fi
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
cp -r "$sources/python/regal" "$package/"
cp "$folder/_regal.abi3.so" "$package/regal/"
PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 \
  "$python" "$sources/bench/jax_peaks.py" --check
