# An ONNX model with all its shapes, and names for two sizes.
regal inspect samples/onnx/transformer.onnx --dim batch=8,seq=128
