#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the Python package: python.sh PROGRAM FOLDER PYTHON
#
# FOLDER has the extension module of the build; the package's own sources are
# copied beside it, so that nothing has to be installed. The wheel is tested by
# scripts/test_wheel.sh. Exit status 77, skipped: cffi, numpy or pytest is not
# there.
set -euo pipefail
program=$1
folder=$2
python=$3
sources=$(cd "$(dirname "$0")/.." && pwd)

if [ ! -e "$folder/_regal.abi3.so" ]; then
  echo "python: skipped, the build has no extension module: Python's headers" \
    "or its package cffi were not found (scripts/setup.sh python)"
  exit 77
fi
if ! "$python" -c 'import cffi, numpy, pytest' 2>/dev/null; then
  echo "python: skipped, $python has no cffi, numpy or pytest" \
    "(scripts/setup.sh python)"
  exit 77
fi
rm -rf "$folder/package"
mkdir "$folder/package"
cp -r "$sources/python/regal" "$folder/package/"
cp "$folder/_regal.abi3.so" "$folder/package/regal/"
PYTHONPATH="$folder/package" PYTHONDONTWRITEBYTECODE=1 \
  REGAL_PROGRAM="$program" \
  "$python" -m pytest -q -p no:cacheprovider "$sources/python/tests"
