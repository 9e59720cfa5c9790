"""Convolutions as exporters write them: with BatchNormalization and an activation, or quantised as Q/DQ."""

import dataclasses

import numpy as np

from .builder import Builder

ACTIVATION_SCALE = np.float32(0.03)


@dataclasses.dataclass
class Kernel:
    outputs: int
    size: int
    stride: int = 1
    groups: int = 1

    def attributes(self) -> dict:
        return dict(kernel_shape=[self.size] * 2, strides=[self.stride] * 2, pads=[self.size // 2] * 4,
                    group=self.groups)


@dataclasses.dataclass
class Feature:
    """A square feature map."""
    name: str
    size: int
    channels: int


class ConvBuilder(Builder):
    def __init__(self, quantised: bool = False, activation: str | None = None):
        super().__init__()
        self.quantised = quantised
        self.activation = activation
        self.quantised_values: dict[str, str] = {}

    def conv(self, x: Feature, kernel: Kernel, activate: bool = True, normalise: bool = True) -> Feature:
        size = (x.size + 2 * (kernel.size // 2) - kernel.size) // kernel.stride + 1
        weights = self.random_weight(kernel.outputs, x.channels // kernel.groups, kernel.size, kernel.size)
        self.giga_macs += size * size * weights.size / 1e9
        if self.quantised:
            y = self.quantised_conv(x, kernel, weights)
        else:
            y = self.plain_conv(x, kernel, weights, normalise)
        return Feature(self.activated(y) if activate else y, size, kernel.outputs)

    def plain_conv(self, x: Feature, kernel: Kernel, weights: np.ndarray, normalise: bool) -> str:
        inputs = [x.name, self.weight(weights)]
        if not normalise:
            return self.op("Conv", inputs + [self.zeros(kernel.outputs, "b")], **kernel.attributes())
        y = self.op("Conv", inputs, **kernel.attributes())
        count = kernel.outputs
        parameters = (np.ones(count), self.random.normal(size=count) * 0.1, self.random.normal(size=count) * 0.1,
                      np.ones(count))
        return self.op("BatchNormalization", [y] + [self.weight(array.astype(np.float32)) for array in parameters])

    def quantised_conv(self, x: Feature, kernel: Kernel, weights: np.ndarray) -> str:
        count = kernel.outputs
        scale = (np.abs(weights).reshape(count, -1).max(1) / 127).astype(np.float32)
        integers = np.clip(np.round(weights / scale[:, None, None, None]), -127, 127).astype(np.int8)
        weight = self.dequantised(integers, scale, np.zeros(count, np.int8), "w")
        biases = self.random.integers(-100, 100, count).astype(np.int32)
        bias_scale = (scale * ACTIVATION_SCALE).astype(np.float32)
        bias = self.dequantised(biases, bias_scale, np.zeros(count, np.int32), "b")
        return self.op("Conv", [self.quantise(x.name), weight, bias], **kernel.attributes())

    def dequantised(self, values: np.ndarray, scale: np.ndarray, zero: np.ndarray, prefix: str) -> str:
        inputs = [self.weight(values, prefix), self.weight(scale, "s"), self.weight(zero, "z")]
        return self.op("DequantizeLinear", inputs, axis=0)

    def quantise(self, name: str) -> str:
        """A pair QuantizeLinear, DequantizeLinear, made once for each value."""
        if name not in self.quantised_values:
            scale = self.weight(ACTIVATION_SCALE, "s")
            zero = self.weight(np.uint8(128 if name == "x" else 0), "z")
            quantised = self.op("QuantizeLinear", [name, scale, zero])
            self.quantised_values[name] = self.op("DequantizeLinear", [quantised, scale, zero])
        return self.quantised_values[name]

    def activated(self, x: str) -> str:
        if self.activation == "relu":
            return self.op("Relu", [x])
        if self.activation == "relu6":
            return self.op("Clip", [x, self.f32(0), self.f32(6)])
        if self.activation == "silu":
            return self.op("Mul", [x, self.op("Sigmoid", [x])])
        return x

    def classifier(self, x: Feature, classes: int) -> None:
        pooled = self.op("Flatten", [self.op("GlobalAveragePool", [x.name])], axis=1)
        weights = self.weight(self.random_weight(classes, x.channels))
        self.op("Gemm", [pooled, weights, self.zeros(classes)], transB=1)
        self.name_output("y")
