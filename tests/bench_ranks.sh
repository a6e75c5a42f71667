#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 'regal bench' on 1, 2 and 3 ranks of MPI makes the same rows as alone, apart
# from their times, and one rank reports: bench_ranks.sh REGAL
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
  echo "bench_ranks: $*" >&2
  exit 1
}

"$regal" generate set --count 5 --nodes 20 --seed 5 -q >/dev/null
options=(--methods 'brkga,heft' --budgets 100,200 --seeds 1,2,3 --threads 1 -q)
"$regal" bench set -o alone.csv "${options[@]}" >/dev/null
cut -d, -f1-17 alone.csv >alone
head -n 12 alone.csv >2.csv # an interrupted one
for ranks in 1 2 3; do
  mpirun -np $ranks "$regal" bench set -o $ranks.csv "${options[@]}" >$ranks.out
  cut -d, -f1-17 $ranks.csv | cmp - alone || fail "$ranks ranks make other rows"
  [ "$(grep -c ^table $ranks.out)" = 1 ] || fail "several ranks report"
done
