#!/usr/bin/env python3
"""Writes FOLDER/model.onnx, a small convolutional network with a local function, an If and named dimensions, and
FOLDER/edited.onnx, the same with another activation and a changed weight.

    demo_model.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

TEXT = """
<ir_version: 8, opset_import: ["" : 17, "demo" : 1], producer_name: "assay demo">
classifier (float[batch, 3, height, width] image, bool sharpen) => (float[batch, 10] probabilities)
{
  features = demo.ConvBlock (image, conv1_weight, conv1_bias)
  halved = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (features)
  deep = demo.ConvBlock (halved, conv2_weight, conv2_bias)
  pooled = GlobalAveragePool (deep)
  flat = Flatten <axis = 1> (pooled)
  logits = Gemm <transB = 1> (flat, head_weight, head_bias)
  scaled = If (sharpen) <
    then_branch = sharp () => (sharpened) { sharpened = Mul (logits, temperature) },
    else_branch = plain () => (unchanged) { unchanged = Identity (logits) }
  >
  probabilities = Softmax <axis = 1> (scaled)
}
<domain: "demo", opset_import: ["" : 17]>
ConvBlock (x, weight, bias) => (y)
{
  convolved = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, weight, bias)
  y = Relu (convolved)
}
"""
SHAPES = {
    "conv1_weight": (8, 3, 3, 3), "conv1_bias": (8,), "conv2_weight": (16, 8, 3, 3), "conv2_bias": (16,),
    "head_weight": (10, 16), "head_bias": (10,), "temperature": ()}


def demo_model() -> onnx.ModelProto:
    model = onnx.parser.parse_model(TEXT)
    rng = np.random.default_rng(0)
    for name, shape in SHAPES.items():
        values = np.asarray(rng.standard_normal(shape), np.float32)
        if name == "head_weight":  # two of every four weights are zero, so that there is sparsity to show
            values.reshape(-1, 4)[:, :2] = 0
        model.graph.initializer.append(numpy_helper.from_array(values, name))
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    onnx.checker.check_model(model, full_check=True)
    return model


def edit(model: onnx.ModelProto) -> None:
    model.functions[0].node[1].op_type = "Elu"
    bias = next(tensor for tensor in model.graph.initializer if tensor.name == "head_bias")
    values = numpy_helper.to_array(bias) + np.float32(0.5)
    bias.CopyFrom(numpy_helper.from_array(values, "head_bias"))


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: demo_model.py FOLDER", file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    model = demo_model()
    onnx.save(model, folder / "model.onnx")
    edit(model)
    onnx.save(model, folder / "edited.onnx")
    return 0


if __name__ == "__main__":
    sys.exit(main())
