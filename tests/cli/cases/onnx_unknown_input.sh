regal inspect samples/onnx/transformer.onnx --shape y=8
