#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build or test regal: scripts/setup.sh SET...
#
#   build   compiler, CMake, Ninja and the libraries that regal links
#   onnx    libonnx and a C++ compiler: with them regal infers the shapes that
#           an ONNX model does not carry
#   metis   METIS, for --partitioner metis
#   mpi     OpenMPI: with it 'mpirun regal train', tune and bench use several
#           machines
#   ortools OR-tools, for --method cp-sat: its Python package, whose library
#           serves, in a virtual environment in the user's cache
#   browser chromium and node, for the tests of the page, and from npm what these
#           need, into the user's cache
#   python  Python's headers, and a virtual environment in the user's cache with
#           what builds and tests the Python package (cffi, numpy, pytest, ...)
#   jax     a virtual environment in the user's cache with JAX, for the slow test
#           that compares peaks with XLA's
#   test    cmocka, Clang with its sanitizers, and what the tests call; and onnx,
#           metis
#
# Debian 12 is the reference; later Debian and Ubuntu work too. What is there is
# left alone: when nothing is missing, this neither asks for root nor touches
# the network.
set -euo pipefail

# PACKAGE, or PACKAGE:COMMAND where any source of the command will do.
# (libprotobuf-dev has the file that protobuf-c's own .proto file imports.)
build_packages=(gcc:cc libc6-dev cmake:cmake ninja-build:ninja
  pkg-config:pkg-config libprotobuf-c-dev protobuf-c-compiler:protoc-c
  libprotobuf-dev zlib1g-dev libzstd-dev libzip-dev)
onnx_packages=(libonnx-dev g++:c++)
metis_packages=(libmetis-dev)
mpi_packages=(libopenmpi-dev openmpi-bin:mpirun)
browser_packages=(chromium:chromium nodejs:node npm:npm)
python_packages=(python3:python3 python3-venv python3-dev)
test_packages=("${onnx_packages[@]}" "${metis_packages[@]}" libcmocka-dev libjansson-dev
  clang:clang clang-format:clang-format llvm:llvm-symbolizer
  protobuf-compiler:protoc valgrind:valgrind gzip:gzip zstd:zstd
  python3:python3 python3-venv gnuplot-nox:gnuplot locales)

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

is_there() {
  local package=${1%%:*} command=${1#*:}
  is_installed "$package" ||
    { [ "$command" != "$1" ] && command -v "$command" >/dev/null; }
}

# Runs apt-get as root, without questions.
apt() {
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: not root and no sudo; as root, run: apt-get $*" >&2
      exit 1
    fi
    root=(sudo)
  fi
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get \
    -o DPkg::Lock::Timeout=120 "$@"
}

updated=no
install_packages() {
  if [ $updated = no ]; then
    apt update -qq
    updated=yes
  fi
  echo "setup: installing $*"
  apt install -y -qq --no-install-recommends "$@" >/dev/null
}

# Clang's sanitizer runtimes carry Clang's version in their package's name.
install_clang_runtimes() {
  local version
  version=$(dpkg-query -W -f='${Depends}' clang 2>/dev/null |
    sed -n 's/.*clang-\([0-9]*\).*/\1/p')
  if [ -n "$version" ] && ! is_installed "libclang-rt-$version-dev"; then
    install_packages "libclang-rt-$version-dev"
  fi
}

# Where regal looks for it, too (src/exact/library.c).
ortools_folder=${XDG_CACHE_HOME:-$HOME/.cache}/regal/ortools
ortools_package=ortools==9.15.6755

# Where CMake looks for it, too (cmake/python.cmake).
python_folder=${XDG_CACHE_HOME:-$HOME/.cache}/regal/python
python_modules=(scikit-build-core cffi numpy pytest networkx)

# Where tests/jax_peaks.sh looks for it, too. The version that was measured.
jax_folder=${XDG_CACHE_HOME:-$HOME/.cache}/regal/jax
jax_modules=(jax==0.10.2 cffi numpy)

# FOLDER PACKAGE...: a virtual environment with these, unless it is there.
install_venv() {
  local folder=$1
  shift
  local mark="$folder/installed-$*"
  if [ -e "$mark" ]; then
    return
  fi
  echo "setup: installing $* into $folder"
  rm -rf "$folder"
  python3 -m venv "$folder"
  if ! "$folder/bin/python" -m pip install --quiet \
    --disable-pip-version-check "$@"; then
    echo "setup: could not install the Python packages $*; is there a" \
      "network?" >&2
    exit 1
  fi
  touch "$mark"
}

# Where tests/page/run.sh looks for it, too.
browser_folder=${XDG_CACHE_HOME:-$HOME/.cache}/regal/browser

install_browser_modules() {
  local list
  list=$(dirname "$0")/../tests/page/package.json
  if cmp -s "$list" "$browser_folder/installed.json"; then
    return
  fi
  echo "setup: installing the packages of tests/page into $browser_folder"
  rm -rf "$browser_folder"
  mkdir -p "$browser_folder"
  cp "$list" "$browser_folder/package.json"
  if ! npm install --prefix "$browser_folder" --no-audit --no-fund \
    --no-package-lock --loglevel=error >/dev/null; then
    echo "setup: could not install from npm; is there a network?" >&2
    exit 1
  fi
  cp "$list" "$browser_folder/installed.json"
}

wanted=()
for set in "${@:-build}"; do
  case $set in
  build) wanted+=("${build_packages[@]}") ;;
  onnx) wanted+=("${onnx_packages[@]}") ;;
  metis) wanted+=("${metis_packages[@]}") ;;
  mpi) wanted+=("${mpi_packages[@]}") ;;
  ortools) wanted+=(python3:python3 python3-venv) ;;
  browser) wanted+=("${browser_packages[@]}") ;;
  python) wanted+=("${python_packages[@]}") ;;
  jax) wanted+=(python3:python3 python3-venv) ;;
  test) wanted+=("${test_packages[@]}") ;;
  *)
    echo "setup: no set of packages '$set'; there are: build onnx metis" \
      "mpi ortools browser python jax test" >&2
    exit 1
    ;;
  esac
done

install_missing() {
  local missing=() item
  for item in "${wanted[@]}"; do
    is_there "$item" || missing+=("${item%%:*}")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    install_packages "${missing[@]}"
  fi
  case " $* " in
  *" test "*) install_clang_runtimes ;;
  esac
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  install_missing "$@"
else
  echo "setup: no apt here, so nothing is installed; needed are (Debian's" \
    "names): ${wanted[*]%%:*}" >&2
fi
case " $* " in
*" ortools "*) install_venv "$ortools_folder" "$ortools_package" ;;
esac
case " $* " in
*" python "*) install_venv "$python_folder" "${python_modules[@]}" ;;
esac
case " $* " in
*" jax "*) install_venv "$jax_folder" "${jax_modules[@]}" ;;
esac
case " $* " in
*" browser "*) install_browser_modules ;;
esac
