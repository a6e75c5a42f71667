#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The settings that come with regal (settings/*.json), tuned anew:
#
#   bench/tune_settings.sh sets FOLDER     training sets, for the two objectives:
#                                          synthetic graphs, and of each archive
#                                          of data/ those of split train
#   bench/tune_settings.sh tune FOLDER [NAME...]
#                                          FOLDER/NAME.json and .json.csv, such
#                                          as torch_runtime, from the sets there
#
# Copy FOLDER/*.json to settings/ and build again. About half an hour of CPU time
# in all; what was stopped goes on where it was. REGAL is the program (with words
# before it, if need be), SECONDS_EACH a limit on each tuning.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
read -ra regal <<<"${REGAL:-$root/build/regal}"
names=(synthetic_runtime torch_runtime xla_runtime tf_runtime
  synthetic_memory torch_memory xla_memory tf_memory)

# Graphs that are not those of results/table1.csv (seed 77), and not large ones:
# time goes into settings and graphs, not into ops.
sets() {
  mkdir -p "$1"
  cd "$1"
  "${regal[@]}" generate synthetic --filter --count 64 --seed 4001 -q
  "${regal[@]}" dataset pack synthetic -o synthetic_runtime.zip -q
  cp synthetic_runtime.zip synthetic_memory.zip
  rm -r synthetic
  for archive in torch tf xla; do
    for objective in runtime memory; do
      python3 "$root/bench/real_set.py" ${archive}_$objective.zip --archives $archive \
        --split train --objective $objective --ops 400
    done
  done
}

# Of tf there are fewer.
tune() {
  cd "$1"
  shift
  for name in "${@:-${names[@]}}"; do
    graphs=(--graphs 32)
    case $name in
    synthetic_*) graphs=(--graphs 64) ;;
    tf_*) graphs=(--graphs 16) ;;
    esac
    timeout -s INT "${SECONDS_EACH:-36000}" "${regal[@]}" tune $name.zip \
      --objective "${name#*_}" "${graphs[@]}" --halving -o $name.json -q
  done
}

case ${1:-} in
sets | tune) "$@" ;;
*)
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 1
  ;;
esac
