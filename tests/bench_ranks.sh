#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 'regal bench' on 1, 2 and 3 ranks of MPI makes the same rows as alone, apart
# from their times, and one rank reports; a table that is refused ends the job;
# after a rank has died, other ranks go on: bench_ranks.sh REGAL
source "$(dirname "$0")/support/ranks.sh" "$1"

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

# The first rank refuses the table, and the others do not wait for it.
cp alone.csv other.csv
if mpirun -np 2 "$regal" bench set -o other.csv "${options[@]}" --devices 3 \
  >out 2>&1; then
  fail "rows of other settings were taken"
fi
[ "$(grep -c 'other.csv:2: found a run with other settings' out)" = 1 ] ||
  fail "$(cat out)"
cmp alone.csv other.csv || fail "a refused table was changed"

# A rank is killed, and the job with it; three others go on.
options=(--methods brkga --budgets 20000 --seeds 1,2,3,4 --threads 1 -q)
"$regal" bench set -o whole.csv "${options[@]}" >/dev/null
mpirun -np 2 "$regal" bench set -o killed.csv "${options[@]}" >out 2>&1 &
job=$!
until [ -s killed.csv ] && [ "$(wc -l <killed.csv)" -gt 2 ]; do
  kill -0 $job 2>/dev/null || fail "the run ended before its second row"
  sleep 0.005
done
rank=$(pgrep -P $job -x regal | tail -1)
kill -KILL "$rank" || fail "the run ended before a rank was killed"
if wait $job; then
  fail "a job whose rank was killed succeeded"
fi
mpirun -np 3 "$regal" bench set -o killed.csv "${options[@]}" --json >out
grep -q '"resumed": 0,' out && fail "no row of the killed job was kept"
cut -d, -f1-17 killed.csv | cmp - <(cut -d, -f1-17 whole.csv) ||
  fail "the resumed job makes other rows"
