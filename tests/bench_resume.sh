#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A benchmark that is killed goes on where it was, and ends with the rows of an
# unbroken one, apart from their times: bench_resume.sh REGAL
set -euo pipefail
regal=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "bench_resume: $*" >&2
  exit 1
}

rows() {
  if [ -f "$1" ]; then wc -l <"$1"; else echo 0; fi
}

"$regal" generate set --count 4 --nodes 60 --seed 5 -q >/dev/null
bench=("$regal" bench set --methods 'brkga,regal policy=rule' --budgets
  1000,4000 --seeds 1,2,3 -q --threads 2)
"${bench[@]}" -o whole.csv >/dev/null

# Without its first rows there would be nothing to continue.
"${bench[@]}" -o killed.csv >/dev/null 2>&1 &
victim=$!
for _ in $(seq 12000); do
  [ "$(rows killed.csv)" -ge 5 ] && break
  sleep 0.005
done
kill -9 $victim 2>/dev/null || true
wait $victim 2>/dev/null || true
before=$(rows killed.csv)
[ "$before" -ge 5 ] || fail "no rows while it ran"
# It may have been done already: then some rows go, the last of them partly.
if [ "$before" -gt 40 ]; then
  head -n 20 killed.csv >cut.csv
  sed -n 21p killed.csv | head -c 60 >>cut.csv
  mv cut.csv killed.csv
  before=20
fi

resumed=$("${bench[@]}" -o killed.csv --json | sed 's/.*"resumed": \([0-9]*\).*/\1/')
[ "$resumed" -ge $((before - 2)) ] || fail "$resumed of $before rows counted"
[ "$resumed" -lt 48 ] || fail "nothing was left to do"
cut -d, -f1-17 whole.csv >whole
cut -d, -f1-17 killed.csv >killed
cmp whole killed || fail "other rows than an unbroken run"
