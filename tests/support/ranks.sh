# SPDX-License-Identifier: Apache-2.0
# For tests of several ranks, to be sourced with the program as the argument:
# goes to an empty folder, sets $regal, defines fail. mpirun may start more ranks
# than there are cores, and as root. Exit status 77 (skipped) without mpirun.
set -euo pipefail
regal=$1
command -v mpirun >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

fail() {
  echo "$(basename "$0" .sh): $*" >&2
  exit 1
}

cd "$folder"
