"""Published networks with random weights, built with Python's onnx."""
