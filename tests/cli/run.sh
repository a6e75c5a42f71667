#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Golden tests of the command line.
#
#   tests/cli/run.sh REGAL [--refresh] [NAME ...]
#
# Each cases/NAME.sh is run by bash in an empty folder, with `regal` on the PATH
# and these links beside it: graphs (tests/cli/graphs), samples (tests/graphs),
# docs and data. Its exit code, stdout and stderr must be those in NAME.exit,
# NAME.stdout and NAME.stderr (no file: 0, or nothing), once what depends on the
# clock and on the build is replaced by words. --refresh writes these files
# anew: look at the difference before you commit it.
set -u
export LC_ALL=C

if [ $# -lt 1 ] || [ ! -x "$1" ]; then
  echo "usage: $0 REGAL [--refresh] [NAME ...]" >&2
  exit 2
fi
regal=$(realpath "$1")
shift
refresh=
if [ "${1:-}" = --refresh ]; then
  refresh=1
  shift
fi

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/got" "$work/links"
ln -s "$regal" "$work/bin/regal"
ln -s "$here/graphs" "$root/docs" "$root/data" "$work/links"
ln -s "$root/tests/graphs" "$work/links/samples"
echo 0 > "$work/zero"
export PATH="$work/bin:$PATH"
# A sanitizer's report must not look like an exit code of ours.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99"

normalize() {
  sed -E -i \
    -e 's/^(search +)[0-9.]+ s, /\1SECONDS s, /' \
    -e 's/, [0-9]+ per second$/, RATE per second/' \
    -e 's/"seconds": [0-9.e+-]+/"seconds": SECONDS/' \
    -e 's/^(memory used: )[0-9.]+ MiB/\1SIZE MiB/' \
    -e 's/^regal ([0-9.]+) \(.*\)$/regal \1 (BUILD)/' \
    -e 's/  [0-9.]+ s$/  SECONDS s/' \
    "$@"
}

# Runs one case and leaves $work/got/{exit,stdout,stderr}.
run_case() {
  local folder="$work/run"
  rm -rf "$folder"
  mkdir "$folder"
  cp -P "$work"/links/* "$folder"
  (cd "$folder" && timeout 300 bash "$1" < /dev/null \
    > "$work/got/stdout" 2> "$work/got/stderr")
  echo $? > "$work/got/exit"
  normalize "$work/got/stdout" "$work/got/stderr"
}

# Sets `expected`: the file, or what stands for it when there is none.
expect() {
  if [ -e "$1.$2" ]; then
    expected=$1.$2
  elif [ "$2" = exit ]; then
    expected=$work/zero
  else
    expected=/dev/null
  fi
}

check_case() {
  local good=0 part
  for part in exit stdout stderr; do
    expect "$1" $part
    cmp -s "$expected" "$work/got/$part" && continue
    diff -u --label "expected $part" --label "$part" \
      "$expected" "$work/got/$part" || good=1
  done
  return $good
}

refresh_case() {
  local part
  for part in exit stdout stderr; do
    rm -f "$1.$part"
    if [ -s "$work/got/$part" ]; then
      cp "$work/got/$part" "$1.$part"
    fi
  done
}

passed=0
failed=0
for script in "$here"/cases/*.sh; do
  name=$(basename "$script" .sh)
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then
    continue
  fi
  run_case "$script"
  if [ -n "$refresh" ]; then
    refresh_case "${script%.sh}"
  fi
  if check_case "${script%.sh}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
  fi
done
echo "cli: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
