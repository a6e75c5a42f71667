# Pins and groups of a JSON graph: kept by convert, obeyed by optimize.
cat > g.json << 'END'
{"regal_graph": 1, "ops": [
 {"name": "a", "run_ns": 10, "outputs": [8], "device": 1},
 {"name": "b", "run_ns": 10, "inputs": ["a"], "group": "x"},
 {"name": "c", "run_ns": 10, "inputs": ["a"], "group": "x"},
 {"name": "d", "run_ns": 10, "inputs": ["a"], "device": "gpu0"}]}
END
regal convert g.json -o g.pbtxt
regal convert g.pbtxt -o again.json -q
cat again.json
regal inspect g.json | head -7
regal optimize g.json -q --machine l4x4-pcie --devices 2 -o plan.json > report
grep -A2 '"pins"' plan.json
grep '^machine' report
regal optimize g.json -q --machine l4x4-pcie --pin b=0,c=1
regal optimize g.json -q
