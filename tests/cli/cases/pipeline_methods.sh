# The four schedules on a machine with stages of two layers, and on a graph that
# is no pipeline.
regal generate --pipeline layers=8,microbatches=4 -o pipe.json
for method in gpipe 1f1b interleaved zb-h1; do
  regal optimize pipe.json --devices 4 --transfers overlapped --bandwidth 450GB \
    --threads 1 --method $method | grep -E '^(method|account|run time)'
done
regal optimize graphs/diamond.pbtxt --method 1f1b
