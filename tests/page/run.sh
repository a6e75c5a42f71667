#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the page, in Debian's chromium, and of the style of its source.
#
#   tests/page/run.sh REGAL                 the page in a browser
#   tests/page/run.sh REGAL --screenshots   and draw the pictures of docs/img
#   tests/page/run.sh REGAL --speed         how fast it loads and pans
#   tests/page/run.sh --style               prettier and eslint
#   tests/page/run.sh --format              rewrite the source as prettier does
#
# Exit code 77, with a message: chromium, node or the packages are not there;
# `scripts/setup.sh browser` installs them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
modules=${XDG_CACHE_HOME:-$HOME/.cache}/regal/browser/node_modules

need() {
  if ! { command -v "$1" || [ -e "$1" ]; } >/dev/null; then
    echo "page: skipped, there is no $1; 'scripts/setup.sh browser' installs it"
    exit 77
  fi
}

pretty() {
  need node
  need "$modules/prettier/bin/prettier.cjs"
  node "$modules/prettier/bin/prettier.cjs" --config tests/page/prettier.json \
    "$@" "${source[@]}" src/report/page/page.css
}

cd "$root"
source=(src/report/page/*.js tests/page/*.mjs)
case ${1:-} in
--format)
  pretty --write --log-level warn
  ;;
--style)
  pretty --check --log-level warn
  node "$modules/eslint/bin/eslint.js" --config tests/page/eslint.config.mjs \
    --max-warnings 0 "${source[@]}"
  ;;
*)
  need node
  need chromium
  need "$modules/playwright-core/package.json"
  program=$(realpath "$1")
  shift
  PLAYWRIGHT=$modules/playwright-core/index.mjs \
    exec timeout 300 node tests/page/test.mjs "$program" "$@"
  ;;
esac
