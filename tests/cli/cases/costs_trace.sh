# A trace of torch.profiler gives the times of a captured graph; one of another
# model is an error, and so is one that was cut off.
regal inspect samples/traces/branches.graph.json --costs samples/traces/branches.json |
  grep -e work -e measured
regal convert samples/onnx/transformer.onnx -o a.json -q --costs samples/traces/branches.json
head -c 20000 samples/traces/branches.json > cut.json
regal convert samples/traces/branches.graph.json --costs cut.json -o a.json
ls
