#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 'regal train' on 1, 2 and 4 ranks of MPI gives the same policy, and a rank
# that dies ends the job, which then resumes: train_ranks.sh REGAL
source "$(dirname "$0")/support/ranks.sh" "$1"

"$regal" generate plain --count 10 --nodes 30 -q >/dev/null
"$regal" dataset split plain -o set.zip -q >/dev/null
options=(--steps 6 --graphs-per-step 3 --samples 3 --episode-evaluations 20
  --valid-graphs 2 --valid-evaluations 300 --valid-every 4 --state-width 8
  --threads 1 -q)
train() { # RANKS OUTPUT OPTION...
  mpirun -np "$1" "$regal" train set.zip -o "$2" "${options[@]}" "${@:3}"
}

"$regal" train set.zip -o alone.policy "${options[@]}" >/dev/null
for ranks in 1 2 4; do
  train "$ranks" "$ranks.policy" >"$ranks.out"
  cmp alone.policy "$ranks.policy" || fail "$ranks ranks make another policy"
  [ "$(grep -c ^policy "$ranks.out")" = 1 ] || fail "several ranks report"
done

# A rank that ends with an error takes the others with it.
if train 2 broken.policy --checkpoint nowhere/x --resume >out 2>&1; then
  fail "a run without its checkpoint succeeded"
fi
grep -q 'nowhere/x' out || fail "no message about the checkpoint"

# A rank is killed; the run goes on from its checkpoint, on other ranks.
long=(--steps 200 --checkpoint-every 0)
"$regal" train set.zip -o alone.policy "${options[@]}" "${long[@]}" \
  --overwrite >/dev/null
mpirun -np 2 "$regal" train set.zip -o killed.policy "${options[@]}" \
  "${long[@]}" >out 2>&1 &
job=$!
until [ -s killed.policy.checkpoint ]; do
  kill -0 $job 2>/dev/null || fail "the run ended before its first checkpoint"
  sleep 0.05
done
rank=$(pgrep -P $job -x regal | tail -1)
kill -KILL "$rank" || fail "the run ended before a rank was killed"
if wait $job; then
  fail "a job whose rank was killed succeeded"
fi
grep -qi 'killed' out || fail "no message about the rank that was killed"
train 2 killed.policy "${long[@]}" --resume >/dev/null
cmp alone.policy killed.policy || fail "the resumed run makes another policy"
