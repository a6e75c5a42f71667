#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Policies for run time on the real graphs of data/, and what they are worth:
#
#   bench/train_real.sh BUILD FOLDER SECONDS [RECIPE...]
#
# Trains each recipe for SECONDS on all cores, on the training splits of the
# three archives together, graphs with room only, then measures all of them on
# the test splits: FOLDER/gain.csv. Without a RECIPE all of them:
#
#   paper        the paper's: REINFORCE, 99 augmented copies, 16 rounds, residual,
#                sum, heads for placement and scheduling, episodes of 1000
#                evaluations whose reward is their best cost, no imitation. Only
#                the batch differs (32 graphs, 4 samples of each): 4 graphs with 1
#                sample keep 2 of 16 cores busy
#   perturb      --estimator perturb with our network, the paper's heads
#   perturb-all  the same with a head for transfers
#
# A recipe that was stopped goes on from its checkpoint when the command is given
# again. Measured on two cores: an episode with its share of the network takes 25
# to 30 ms of one core, so 16 cores run 400,000 episodes in about 15 minutes. The
# learning rate falls to 0 over STEPS steps of 128 episodes. From the environment:
# STEPS (3000), VALID (64) graphs of a validation, GRAPHS (100) and SEEDS (3) of the
# measurement.
set -eu
build=$1 folder=$2 seconds=$3
shift 3
root=$(cd "$(dirname "$0")/.." && pwd)
steps=${STEPS:-3000}
mkdir -p "$folder"
[ -f "$folder/runtime.zip" ] ||
  python3 "$root/bench/real_set.py" "$folder/runtime.zip" --ops 2500 --objective runtime
[ -f "$folder/real.zip" ] ||
  python3 "$root/bench/real_set.py" "$folder/real.zip" --ops 2500

common="--augment 99 --episode-evaluations 1000 --reward best --advantage batch
  --decay linear --valid-graphs ${VALID:-64} --valid-every $((steps / 12 + 1)) --steps $steps"

recipe() {
  case $1 in
  paper) echo "--heads both --rounds 16 --update residual --aggregation sum
    --learning-rate 0.0003 --entropy 0.001 --graphs-per-step 32 --samples 4" ;;
  perturb) echo "--heads both --estimator perturb --learning-rate 0.005
    --graphs-per-step 16 --samples 8" ;;
  perturb-all) echo "--heads all --estimator perturb --learning-rate 0.005
    --graphs-per-step 16 --samples 8" ;;
  *)
    echo "$0: found recipe $1, expected paper, perturb or perturb-all" >&2
    exit 2
    ;;
  esac
}

[ $# -gt 0 ] || set -- paper perturb perturb-all
policies=
for name; do
  options=$(recipe "$name")
  policy=$folder/$name.policy
  resume=--overwrite
  [ ! -f "$policy.checkpoint" ] || resume=--resume
  # shellcheck disable=SC2086
  "$build/regal" train "$folder/runtime.zip" -o "$policy" $common $options \
    --time "$seconds" $resume
  policies=$policies,$policy
done
"$build/bench/bench_policy_gain" "$folder/real.zip" "${policies#,}" split=test \
  graphs="${GRAPHS:-100}" seeds="${SEEDS:-3}" ties=index best="$root/results/real_best_runtime.csv" \
  each="$folder/gain_each.csv" | tee "$folder/gain.csv"
