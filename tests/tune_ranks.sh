#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 'regal tune' on 1, 2 and 3 ranks of MPI makes the same settings and the same
# table of runs as alone, and one rank reports: tune_ranks.sh REGAL
source "$(dirname "$0")/support/ranks.sh" "$1"

"$regal" generate set --count 4 --nodes 20 --seed 5 -q >/dev/null
options=(--halving --decoder batched --evaluations 120 --threads 1 -q)
"$regal" tune set -o alone.json "${options[@]}" >/dev/null
for ranks in 1 2 3; do
  mpirun -np $ranks "$regal" tune set -o $ranks.json "${options[@]}" >$ranks.out
  cmp alone.json $ranks.json || fail "$ranks ranks make other settings"
  cmp alone.json.csv $ranks.json.csv || fail "$ranks ranks make other runs"
  [ "$(grep -c ^settings $ranks.out)" = 1 ] || fail "several ranks report"
done
