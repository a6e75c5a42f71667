#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package as its users get it: scripts/test_wheel.sh PROGRAM
#
# Builds the wheel, installs it into a fresh virtual environment, runs the line
# of Python in the README and the package's tests there, and checks its types.
# Then the frameworks are installed whose models it reads, PyTorch last and by
# itself, and what needs them is tested; everything else must work without. Needs a
# network, for the packages that building and testing need. PROGRAM is `regal`,
# whose plans must be the same.
#
# PyTorch takes 5 GB, and its archives 3 GB more while it is installed. Where less
# than that is free on the disk, what needs it is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# PACKAGE...: into the virtual environment. No copies of archives are kept.
install_packages() {
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check \
    --no-cache-dir "$@"
}

# ARGUMENT...: of pytest.
run_tests() {
  REGAL_PROGRAM="$program" "$work/venv/bin/python" -m pytest -q \
    -p no:cacheprovider "$@"
}

python3 -m pip wheel --quiet --no-deps --wheel-dir "$work" .
python3 -m venv "$work/venv"
install_packages "$work"/regal-*.whl pytest networkx mypy

# Nothing of the build may be needed: only what the wheel has, and libc.
needed=$(find "$work/venv" -name '_regal.abi3.so' -exec ldd {} + |
  grep '=> /' | grep -v "$work" |
  grep -vE '/(ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so)' || true)
if [ -n "$needed" ]; then
  printf 'test_wheel: the wheel needs libraries of this machine:\n%s\n' \
    "$needed" >&2
  exit 1
fi

line=$(sed -n 's/^python3* -c \(".*"\)$/\1/p' README.md | head -n 1)
[ -n "$line" ] || { echo "test_wheel: no line of Python in README.md" >&2; exit 1; }
eval "PATH=$work/venv/bin:$PATH python -c $line"
run_tests python/tests
"$work/venv/bin/mypy" --disallow-untyped-defs --cache-dir "$work/types" \
  -m regal._arrays -m regal._graph -m regal._library -m regal._machine \
  -m regal._plan -m regal._networkx -m regal._search -m regal._tables \
  -p regal.streams
"$work/venv/bin/mypy" --disallow-untyped-defs --ignore-missing-imports \
  --cache-dir "$work/types" -m regal.jax -m regal.onnx \
  -p regal.tensorflow

# The versions that the documentation names; for CPUs they take a minute.
install_packages jax==0.10.2 onnx==1.23.2 onnxruntime==1.31.1 sympy \
  tensorflow-cpu==2.21.0
run_tests python/tests/test_jax.py python/tests/test_onnx.py \
  python/tests/test_tensorflow.py python/tests/test_beside.py \
  python/tests/test_data.py

rm -rf "$work/venv"
free_gb=$(($(df --output=avail -k "$work" | tail -n 1) / 1000000))
if [ "$free_gb" -lt 9 ]; then
  echo "test_wheel: SKIPPED what needs PyTorch: $free_gb GB are free, expected 9" >&2
  exit 0
fi

# VERSION-OF-TORCH VERSION-OF-TORCHVISION PACKAGE...: a fresh environment.
install_torch() {
  rm -rf "$work/venv"
  python3 -m venv "$work/venv"
  install_packages "$work"/regal-*.whl pytest networkx torch=="$1" \
    torchvision=="$2" "${@:3}"
}

# Every file that asks for PyTorch; of test_gpu.py only that it is skipped.
mapfile -t torch_tests < <(grep -l 'importorskip("torch"' python/tests/test_*.py)

# The version that was measured (docs/torch.md), and the latest that was tried.
# They need no GPU for this.
install_torch 2.11.0 0.26.0 nbclient nbformat ipykernel
run_tests -p no:logging "${torch_tests[@]}" \
  'python/tests/test_data.py::test_graphs_of_this_kind[torch]'
install_torch 2.15.0 0.29.2
run_tests -p no:logging "${torch_tests[@]}"
