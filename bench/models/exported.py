"""A transformer's encoder as torch.onnx writes nn.TransformerEncoderLayer: layer norms and GELU spelled out, one product
for queries, keys and values that are gathered from it, sizes computed from Shape, transposes around the attention."""

import dataclasses

import numpy as np

from .builder import floats
from .transformers import Size, Transformer


class Encoder(Transformer):
    BATCH = 2

    def bias(self, count: int) -> str:
        return self.weight(self.random_weight(count, fan=count), "bias")

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        self.giga_macs += self.BATCH * self.size.sequence * inputs * outputs / 1e9
        product = self.op("MatMul", [x, self.weight(self.random_weight(inputs, outputs, fan=inputs * 2))])
        return self.op("Add", [self.bias(outputs), product])

    def layer_norm(self, x: str) -> str:
        mean = self.op("ReduceMean", [x], axes=[-1])
        centred = self.op("Sub", [x, mean])
        variance = self.op("ReduceMean", [self.op("Pow", [centred, self.f32(2)])], axes=[-1])
        deviation = self.op("Sqrt", [self.op("Add", [variance, self.f32(1e-5)])])
        scaled = self.op("Mul", [self.op("Div", [centred, deviation]), self.bias(self.size.width)])
        return self.op("Add", [scaled, self.bias(self.size.width)])

    def dim(self, x: str, axis: int) -> str:
        return self.op("Gather", [self.op("Shape", [x]), self.weight(np.int64(axis))], axis=0)

    def dims(self, *items: str | int) -> str:
        """A vector of sizes, each computed or a number."""
        parts = [self.int64s(item) if isinstance(item, int) else self.op("Unsqueeze", [item, self.int64s(0)])
                 for item in items]
        return self.op("Concat", parts, axis=0)

    def projections(self, x: str) -> list[str]:
        """Queries, keys and values of [sequence, batch, width]."""
        width = self.size.width
        joined = self.linear(x, width, 3 * width)
        leading = self.op("Slice", [self.op("Shape", [joined]), self.int64s(0), self.int64s(2), self.int64s(0)])
        parts = self.op("Reshape", [joined, self.op("Concat", [leading, self.int64s(3, width)], axis=0)])
        parts = self.op("Transpose", [self.op("Unsqueeze", [parts, self.int64s(0)])], perm=[3, 1, 2, 0, 4])
        parts = self.op("Squeeze", [parts, self.int64s(-2)])
        return [self.op("Gather", [parts, self.weight(np.int64(i))], axis=0) for i in range(3)]

    def scale(self, q: str) -> str:
        """The fourth root of 1 / head width, as scaled_dot_product_attention computes it."""
        last = self.op("Slice", [self.op("Shape", [q]), self.int64s(-1), self.int64s(2**63 - 1), self.int64s(0)])
        root = self.op("Sqrt", [self.op("Cast", [last], to=1)])
        return self.op("Sqrt", [self.op("Div", [self.weight(np.ones(1, np.float32)), root])])

    def self_attention(self, x: str) -> str:
        """Of [batch, sequence, width], computed with the sequence in front."""
        size = self.size
        x = self.op("Transpose", [x], perm=[1, 0, 2])
        length, batch, width = [self.dim(x, axis) for axis in range(3)]
        joined = self.op("Mul", [batch, self.weight(np.int64(size.heads))])
        q, k, v = self.projections(x)
        heads = []
        for part in (q, k, v):
            part = self.op("Reshape", [part, self.dims(length, joined, size.head_width)])
            part = self.op("Transpose", [part], perm=[1, 0, 2])
            heads.append(self.op("Reshape", [part, self.dims(batch, size.heads, length, size.head_width)]))
        scale = self.scale(heads[0])
        q = self.op("Mul", [heads[0], scale])
        k = self.op("Mul", [self.op("Transpose", [heads[1]], perm=[0, 1, 3, 2]), scale])
        weights = self.op("Softmax", [self.op("MatMul", [q, k])], axis=-1)
        y = self.op("Transpose", [self.op("MatMul", [weights, heads[2]])], perm=[2, 0, 1, 3])
        y = self.op("Reshape", [y, self.dims(self.op("Mul", [batch, length]), width)])
        inputs = [y, self.weight(self.random_weight(size.width, size.width)), self.bias(size.width)]
        y = self.op("Reshape", [self.op("Gemm", inputs, transB=1), self.dims(length, batch, width)])
        return self.op("Transpose", [y], perm=[1, 0, 2])

    def gelu(self, x: str) -> str:
        erf = self.op("Erf", [self.op("Div", [x, self.f32(2**0.5)])])
        return self.op("Mul", [self.op("Mul", [x, self.op("Add", [erf, self.f32(1)])]), self.f32(0.5)])

    def layer(self, x: str) -> str:
        width, inner = self.size.width, self.size.inner
        x = self.layer_norm(self.op("Add", [x, self.self_attention(x)]))
        y = self.linear(self.gelu(self.linear(x, width, inner)), inner, width)
        return self.layer_norm(self.op("Add", [x, y]))


class EncoderOfHeads(Encoder):
    """The same layer with a product each for queries, keys and values, and a mask, as Hugging Face's models have them."""

    def self_attention(self, x: str) -> str:
        size = self.size
        heads = []
        for permutation in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            part = self.linear(x, size.width, size.width)
            shape = self.dims(self.dim(part, 0), self.dim(part, 1), size.heads, size.head_width)
            heads.append(self.op("Transpose", [self.op("Reshape", [part, shape])], perm=permutation))
        q, k, v = heads
        scores = self.op("Div", [self.op("MatMul", [q, k]), self.f32(size.head_width**0.5)])
        weights = self.op("Softmax", [self.op("Add", [scores, "mask"])], axis=-1)
        y = self.op("Transpose", [self.op("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        y = self.op("Reshape", [y, self.dims(self.dim(y, 0), self.dim(y, 1), size.width)])
        return self.linear(y, size.width, size.width)


def encoder(path: str, kind: type[Encoder] = Encoder) -> None:
    size = dataclasses.replace(Size(), sequence=32, layers=6, width=256, heads=8, inner=1024)
    g = kind(size)
    x = "x"
    for _ in range(size.layers):
        x = g.layer(x)
    g.name_output("y")
    shape = [g.BATCH, size.sequence, size.width]
    mask = [floats("mask", [g.BATCH, 1, 1, size.sequence])] if kind is EncoderOfHeads else []
    g.save(path, [floats("x", shape), *mask], [floats("y", shape)])
