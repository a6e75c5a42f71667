regal inspect samples/onnx/transformer.onnx --roofline h300
