# What an ONNX model becomes keeps all of it as JSON.
regal convert samples/onnx/transformer.onnx --dim batch=2,seq=4 -q -o model.json &&
regal inspect samples/onnx/transformer.onnx --dim batch=2,seq=4 | sed -n 2,8p > one &&
regal inspect model.json | sed -n 2,8p > other &&
diff one other && echo same
