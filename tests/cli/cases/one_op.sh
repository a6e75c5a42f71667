# One op is no "ops"; a JSON message names the op that it is about.
cat > one.json <<'END'
{"regal_graph": 1, "ops": [{"name": "conv", "run_ns": "5us", "outputs": [5]}]}
END
regal inspect one.json | grep -E 'deep'
regal optimize one.json -q | grep graph
sed 's/\[5\]/[-5]/' one.json > negative.json
regal inspect negative.json
echo '[]' > list.json
regal inspect list.json
