#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every libFuzzer target: scripts/fuzz.sh FOLDER SECONDS
#
# Two at a time. New inputs go to build-fuzz/corpus/TARGET; the committed ones
# (TARGET.folders lists where they are) are read, never written. A finding is
# left in build-fuzz/ as TARGET-crash-*, -leak-*, -timeout-* or -oom-*, and the
# exit status is not 0.
set -euo pipefail

folder=$1
seconds=$2
here=$(cd "$(dirname "$0")/.." && pwd)

fuzz_one() {
  local name=$1 corpus=$here/build-fuzz/corpus/$1
  local options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048
    -close_fd_mask=1 -print_final_stats=1 -artifact_prefix="$here/build-fuzz/$name-")
  [ -f "$here/tests/fuzz/$name.dict" ] &&
    options+=(-dict="$here/tests/fuzz/$name.dict")
  local seeds
  mapfile -t seeds <"$folder/$name.folders"
  mkdir -p "$corpus"
  if "$folder/$name" "${options[@]}" "$corpus" "${seeds[@]}" \
    >"$corpus.log" 2>&1; then
    echo "$name: $seconds s," \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log") runs," \
      "nothing found"
  else
    tail -n 40 "$corpus.log"
    echo "$name: FOUND SOMETHING, see $corpus.log"
    return 1
  fi
}
export folder seconds here
export -f fuzz_one

mkdir -p "$here/build-fuzz/corpus"
find "$folder" -maxdepth 1 -name 'fuzz_*' -type f -executable -printf '%f\n' | sort |
  xargs -P 2 -I TARGET bash -c 'fuzz_one TARGET'
