#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when clang-format would change any of our C files; exits with 77, skipped,
# where it is another version than Debian 12's: each formats a little otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
expected=14
version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" != $expected ]; then
  echo "check_format: SKIPPED: clang-format is version $version, expected $expected" >&2
  exit 77
fi
find include src tests bench examples \( -name '*.[ch]' -o -name '*.cc' \) \
  -print0 |
  xargs -0 clang-format --dry-run -Werror
