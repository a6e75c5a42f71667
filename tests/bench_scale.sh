#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench_scale draws the setting that it is given, whichever that is, and refuses
# one that it does not know: bench_scale.sh BENCH_SCALE
# Exit status 77 (skipped) without gnuplot.
set -euo pipefail
bench=$1
command -v gnuplot >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "bench_scale: $*" >&2
  exit 1
}

# 1: 'auto' gained nothing in so short a time.
"$bench" --sizes 100,200 --seconds .02 --threads 1 --settings blocking-limit \
  >log 2>&1 || [ $? = 1 ] || fail "$(cat log)"
for shown in 'blocking transfers, limited memory' '>heft<' '</svg>'; do
  grep -q -- "$shown" scale/scale.svg || fail "no $shown in the picture"
done
if "$bench" --settings no-such >log 2>&1; then
  fail "an unknown setting was taken"
fi
grep -q 'found no setting in "no-such"' log || fail "$(cat log)"
