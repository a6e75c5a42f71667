# The names of the machine file are in the summary, the timeline and the
# explanation.
cat > two.json <<'END'
{"regal_machine": 1, "latency_ns": "1us", "memory_limit_bytes": "1GB",
 "devices": [{"name": "gpu0"}, {"name": "the accelerator of a long name"}]}
END
regal optimize graphs/diamond.pbtxt --machine two.json --method heft -q --threads 1 \
  --timeline -o plan
regal evaluate graphs/diamond.pbtxt plan -q | sed -n '/^peak of/,$p'
