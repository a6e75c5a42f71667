# From an ONNX model to a plan that holds, with measured times for two ops.
printf 'name,microseconds\n/block/q,20\n/block/k,20\n' > costs.csv
regal optimize samples/onnx/transformer.onnx --dim batch=8,seq=128 --roofline a100 --costs costs.csv --devices 2 --threads 1 -q -o plan > /dev/null &&
regal evaluate samples/onnx/transformer.onnx plan --dim batch=8,seq=128 --roofline a100 --costs costs.csv -q | head -n 8
