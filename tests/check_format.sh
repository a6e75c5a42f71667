#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when clang-format would change any of our C files.
set -euo pipefail
cd "$(dirname "$0")/.."
find include src tests bench examples \( -name '*.[ch]' -o -name '*.cc' \) \
  -print0 |
  xargs -0 clang-format --dry-run -Werror
