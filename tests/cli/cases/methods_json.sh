# The JSON has the same methods as the text; both are in the table's order.
regal methods --json | python3 -c '
import json, sys
tables = json.load(sys.stdin)
for kind in "methods", "decoders":
    for row in tables[kind]:
        print(kind, *row)
' | sort | uniq -c | awk '{ print $2, $3, $4, $5 }'
