regal convert graphs/diamond.pbtxt -o diamond.onnx
