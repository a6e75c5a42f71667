#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plans a real network for two devices, once for each objective, and shows the
# results, in the terminal and as a page: scripts/demo.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1
graph=$(echo data/demo/*.pb)
mkdir -p demo

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

cat <<END

== One training step of GPT-NeoX (four layers; data/demo/README.md)
The run times of its ops were measured on a GPU. On one device it takes 71 ms
and 23 GiB.

== Minimise the run time on two devices of 16 GiB each
END
show "$program" optimize "$graph" --devices 2 --objective runtime \
  --memory-limit 16GiB --evaluations 50000 --timeline \
  -o demo/runtime.plan --trace demo/runtime.trace.json

cat <<END

== Minimise the peak memory on two devices
END
show "$program" optimize "$graph" --devices 2 --objective memory \
  --evaluations 20000 --timeline \
  -o demo/memory.plan --trace demo/memory.trace.json

cat <<END

== Look at both plans
END
show "$program" report "$graph" demo/runtime.plan demo/memory.plan \
  -o demo/plan.html

cat <<END

== Written
  demo/plan.html
      a page for a browser: what each device does and holds over time, why the
      run time is what it is, before and after
  demo/runtime.plan, demo/memory.plan
      the plans: JSON, one step per line. To verify one and see where its time
      and memory go:
      $program evaluate $graph demo/runtime.plan
  demo/runtime.trace.json, demo/memory.trace.json
      the same plans as traces: open them at https://ui.perfetto.dev or, in
      Chrome, at chrome://tracing
END
