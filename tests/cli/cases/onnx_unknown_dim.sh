regal inspect samples/onnx/transformer.onnx --dim bath=8
