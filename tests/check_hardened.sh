#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that a release build is hardened as cmake/compiler.cmake says: symbols
# are bound at start and read-only, stacks and copies are checked.
#
#   tests/check_hardened.sh FILE ...
set -u
failed=0

need() {
  if ! grep -q "$2" <<< "$3"; then
    echo "$1: no $2"
    failed=1
  fi
}

for file; do
  dynamic=$(readelf -d "$file")
  symbols=$(readelf --dyn-syms -W "$file")
  need "$file" 'NOW' "$dynamic"
  need "$file" 'GNU_RELRO' "$(readelf -lW "$file")"
  need "$file" '__stack_chk_fail' "$symbols"
  need "$file" '__[a-z]*printf_chk' "$symbols"
done
exit $failed
