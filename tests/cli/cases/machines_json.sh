# The same machines as the text, with all of its numbers.
regal machines --json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["machines"]:
    print(row["name"], row["devices"], row["memory_bytes"],
          row["bandwidth_bytes_per_s"], row["latency_ns"], row["transfers"],
          sorted(row["sources"]))
'
