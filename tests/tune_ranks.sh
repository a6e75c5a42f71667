#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 'regal tune' on 1, 2 and 3 ranks of MPI makes the same settings and the same
# table of runs as alone, and one rank reports: tune_ranks.sh REGAL
# Exit status 77 (skipped) without mpirun.
set -euo pipefail
regal=$1
command -v mpirun >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

fail() {
  echo "tune_ranks: $*" >&2
  exit 1
}

"$regal" generate set --count 4 --nodes 20 --seed 5 -q >/dev/null
options=(--halving --decoder batched --evaluations 120 --threads 1 -q)
"$regal" tune set -o alone.json "${options[@]}" >/dev/null
for ranks in 1 2 3; do
  mpirun -np $ranks "$regal" tune set -o $ranks.json "${options[@]}" >$ranks.out
  cmp alone.json $ranks.json || fail "$ranks ranks make other settings"
  cmp alone.json.csv $ranks.json.csv || fail "$ranks ranks make other runs"
  [ "$(grep -c ^settings $ranks.out)" = 1 ] || fail "several ranks report"
done
