#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Policies for the real graphs of data/, and what they are worth:
#
#   bench/train_real.sh BUILD FOLDER SECONDS [RECIPE...]
#
# Trains each recipe for SECONDS on all cores, on the training splits of the
# three archives together, then measures all of them on the test splits:
# FOLDER/gain_runtime.csv and gain_memory.csv. Without a RECIPE all of them:
#
#   paper        the paper's: REINFORCE, 99 augmented copies, 16 rounds, residual,
#                sum, heads for placement and scheduling, episodes of 1000
#                evaluations whose reward is their best cost, no imitation. Only
#                the batch differs (32 graphs, 4 samples of each): 4 graphs with 1
#                sample keep 2 of 16 cores busy
#   perturb      --estimator perturb with our network, the paper's heads
#   perturb-all  the same with a head for transfers
#   draft        reads a draft, actions relative to it, all heads, perturb
#   draft-both   the same with the paper's heads
#   memory       draft, for peak memory
#
# Recipes for run time train on graphs with room only. A recipe that was stopped
# goes on from its checkpoint when the command is given again. Measured on two
# cores: an episode with its share of the network takes 25 to 45 ms of one core
# (docs/training.md has other machines). The learning rate falls to 0 over STEPS
# steps. From the environment: STEPS (3000 of 128 episodes; 600 of the recipes
# with a draft, which learn what they learn in the first hundred), VALID (64)
# graphs of a validation, GRAPHS (100) and SEEDS (3) of the measurement.
set -eu
build=$1 folder=$2 seconds=$3
shift 3
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder"
[ -f "$folder/runtime.zip" ] ||
  python3 "$root/bench/real_set.py" "$folder/runtime.zip" --ops 2500 --objective runtime
[ -f "$folder/real.zip" ] ||
  python3 "$root/bench/real_set.py" "$folder/real.zip" --ops 2500

draft="--features draft --means draft --schedule-levels 3 --variance-levels 8
  --placement-levels 8 --uniform-logit 0.15 --entropy 0 --estimator perturb
  --learning-rate 0.01 --graphs-per-step 12 --samples 8"

recipe() {
  case $1 in
  paper) echo "--features paper --heads both --rounds 16 --update residual
    --aggregation sum --learning-rate 0.0003 --entropy 0.001
    --graphs-per-step 32 --samples 4" ;;
  perturb) echo "--heads both --estimator perturb --learning-rate 0.005
    --graphs-per-step 16 --samples 8" ;;
  perturb-all) echo "--heads all --estimator perturb --learning-rate 0.005
    --graphs-per-step 16 --samples 8" ;;
  draft | memory) echo "--heads all $draft" ;;
  draft-both) echo "--heads both $draft" ;;
  *)
    echo "$0: found recipe $1, expected paper, perturb, perturb-all, draft, draft-both or memory" >&2
    exit 2
    ;;
  esac
}

# Of one recipe: its steps, its set and objective.
steps_of() {
  case $1 in
  draft* | memory) echo "${STEPS:-600}" ;;
  *) echo "${STEPS:-3000}" ;;
  esac
}

train() {
  local name=$1 steps options set=runtime objective=runtime resume=--overwrite
  options=$(recipe "$name")
  steps=$(steps_of "$name")
  [ "$name" != memory ] || set=real objective=memory
  policy=$folder/$name.policy
  [ ! -f "$policy.checkpoint" ] || resume=--resume
  # shellcheck disable=SC2086
  "$build/regal" train "$folder/$set.zip" -o "$policy" --objective $objective --augment 99 \
    --episode-evaluations 1000 --reward best --advantage batch --decay linear \
    --valid-graphs "${VALID:-64}" --valid-every $((steps / 12 + 1)) --steps "$steps" $options \
    --time "$seconds" $resume
}

measure() { # OBJECTIVE POLICY,...
  [ -z "$2" ] ||
    "$build/bench/bench_policy_gain" "$folder/real.zip" "${2#,}" objective="$1" split=test \
      graphs="${GRAPHS:-100}" seeds="${SEEDS:-3}" ties=index \
      best="$root/results/real_best_$1.csv" each="$folder/gain_$1_each.csv" |
    tee "$folder/gain_$1.csv"
}

[ $# -gt 0 ] || set -- paper perturb perturb-all draft draft-both memory
runtime='' memory=''
for name; do
  recipe "$name" > /dev/null
done
for name; do
  train "$name"
  if [ "$name" = memory ]; then memory=,$policy; else runtime=$runtime,$policy; fi
done
measure runtime "$runtime"
measure memory "$memory"
