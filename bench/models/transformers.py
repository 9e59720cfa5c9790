"""BERT-base in decomposed exporter form (also with dynamic quantisation); GPT-2 with causal mask and cached keys."""

import dataclasses

import numpy as np
from onnx import TensorProto

from .builder import Builder, floats, integers

EMBEDDING_FAN = 5000


@dataclasses.dataclass
class Size:
    sequence: int = 128
    past: int = 0
    layers: int = 12
    width: int = 768
    heads: int = 12
    inner: int = 3072
    vocabulary: int = 30522

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Transformer(Builder):
    def __init__(self, size: Size, dynamic: bool = False):
        super().__init__()
        self.size = size
        self.dynamic = dynamic

    def embedding(self, *shape: int) -> str:
        return self.weight(self.random_weight(*shape, fan=EMBEDDING_FAN))

    def layer_norm(self, x: str) -> str:
        mean = self.op("ReduceMean", [x], axes=[-1], keepdims=1)
        centred = self.op("Sub", [x, mean])
        squares = self.op("Pow", [centred, self.f32(2)])
        variance = self.op("ReduceMean", [squares], axes=[-1], keepdims=1)
        deviation = self.op("Sqrt", [self.op("Add", [variance, self.f32(1e-5)])])
        normal = self.op("Div", [centred, deviation])
        scaled = self.op("Mul", [normal, self.weight(np.ones(self.size.width, np.float32))])
        return self.op("Add", [scaled, self.zeros(self.size.width)])

    def split_heads(self, x: str, permutation: list[int]) -> str:
        shape = self.int64s(0, 0, self.size.heads, self.size.head_width)
        return self.op("Transpose", [self.op("Reshape", [x, shape])], perm=permutation)

    def attention(self, q: str, transposed_k: str, v: str, mask: str) -> str:
        size = self.size
        scale = self.op("MatMul", [q, transposed_k])
        scores = self.op("Div", [scale, self.f32(size.head_width**0.5)])
        self.giga_macs += 2 * size.width * size.sequence * (size.sequence + size.past) / 1e9
        weights = self.op("Softmax", [self.op("Add", [scores, mask])], axis=-1)
        joined = self.op("Transpose", [self.op("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        return self.op("Reshape", [joined, self.int64s(0, 0, size.width)])


class Bert(Transformer):
    def linear(self, x: str, inputs: int, outputs: int) -> str:
        weights = self.random_weight(inputs, outputs, fan=inputs * 2)
        self.giga_macs += self.size.sequence * weights.size / 1e9
        if self.dynamic:
            y = self.dynamic_product(x, weights)
        else:
            y = self.op("MatMul", [x, self.weight(weights)])
        return self.op("Add", [self.zeros(outputs, "bias"), y])

    def dynamic_product(self, x: str, weights: np.ndarray) -> str:
        scale = (np.abs(weights).max(0) / 127).astype(np.float32)
        quantised = np.round(weights / scale).astype(np.int8)
        a, a_scale, a_zero = self.op_with_outputs(3, "DynamicQuantizeLinear", [x])
        inputs = [a, self.weight(quantised), a_zero, self.weight(np.zeros(weights.shape[1], np.int8))]
        y = self.op("Cast", [self.op("MatMulInteger", inputs)], to=TensorProto.FLOAT)
        return self.op("Mul", [y, self.op("Mul", [a_scale, self.weight(scale)])])

    def gelu(self, x: str) -> str:
        erf = self.op("Erf", [self.op("Div", [x, self.f32(2**0.5)])])
        return self.op("Mul", [self.op("Mul", [x, self.op("Add", [erf, self.f32(1)])]), self.f32(0.5)])

    def mask(self) -> str:
        mask = self.op("Cast", [self.op("Unsqueeze", ["mask", self.int64s(1, 2)])], to=TensorProto.FLOAT)
        return self.op("Mul", [self.op("Sub", [self.f32(1), mask]), self.f32(-10000)])

    def layer(self, x: str, mask: str) -> str:
        width, inner = self.size.width, self.size.inner
        permutations = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        q, k, v = [self.split_heads(self.linear(x, width, width), permutation) for permutation in permutations]
        attended = self.linear(self.attention(q, k, v, mask), width, width)
        x = self.layer_norm(self.op("Add", [attended, x]))
        y = self.linear(self.gelu(self.linear(x, width, inner)), inner, width)
        return self.layer_norm(self.op("Add", [y, x]))


def bert_base(path: str, dynamic: bool = False, batch: int = 1) -> None:
    size = Size()
    g = Bert(size, dynamic)
    x = g.op("Gather", [g.embedding(size.vocabulary, size.width), "ids"])
    x = g.layer_norm(g.op("Add", [x, g.embedding(1, size.sequence, size.width)]))
    mask = g.mask()
    for _ in range(size.layers):
        x = g.layer(x, mask)
    g.op("Identity", [x])
    g.name_output("y")
    tokens = [batch, size.sequence]
    g.save(path, [integers("ids", tokens), integers("mask", tokens)], [floats("y", [*tokens, size.width])])


class Gpt2(Transformer):
    def __init__(self, size: Size):
        super().__init__(size)
        self.inputs = [integers("ids", [1, size.sequence])]
        self.outputs = []

    def causal_mask(self) -> str:
        count = self.size.sequence
        future = np.triu(np.full((count, count), -1e4, np.float32), 1)
        past = np.zeros((count, self.size.past), np.float32)
        return self.weight(np.concatenate([past, future], 1)[None, None])

    def gemm(self, x: str, inputs: int, outputs: int) -> str:
        self.giga_macs += self.size.sequence * inputs * outputs / 1e9
        rows = self.op("Reshape", [x, self.int64s(-1, inputs)])
        weights = self.weight(self.random_weight(inputs, outputs, fan=inputs * 2))
        y = self.op("Gemm", [rows, weights, self.zeros(outputs)])
        return self.op("Reshape", [y, self.int64s(1, self.size.sequence, outputs)])

    def with_past(self, layer: int, k: str, v: str) -> tuple[str, str]:
        size = self.size
        shape = [1, size.heads, size.past, size.head_width]
        self.inputs += [floats(f"pk{layer}", shape), floats(f"pv{layer}", shape)]
        self.op("Concat", [f"pk{layer}", k], axis=2)
        self.op("Concat", [f"pv{layer}", v], axis=2)
        names = self.name_output(f"k{layer}", -2), self.name_output(f"v{layer}")
        shape = [1, size.heads, size.past + size.sequence, size.head_width]
        self.outputs += [floats(name, shape) for name in names]
        return names

    def self_attention(self, x: str, layer: int, mask: str) -> str:
        width = self.size.width
        joined = self.gemm(self.layer_norm(x), width, 3 * width)
        parts = self.op_with_outputs(3, "Split", [joined, self.int64s(width, width, width)], axis=2)
        q, k, v = [self.split_heads(part, [0, 2, 1, 3]) for part in parts]
        if self.size.past:
            k, v = self.with_past(layer, k, v)
        transposed = self.op("Transpose", [k], perm=[0, 1, 3, 2])
        return self.gemm(self.attention(q, transposed, v, mask), width, width)

    def gelu(self, x: str) -> str:
        cube = self.op("Mul", [self.op("Pow", [x, self.f32(3)]), self.f32(0.044715)])
        tanh = self.op("Tanh", [self.op("Mul", [self.op("Add", [x, cube]), self.f32(0.7978845608)])])
        return self.op("Mul", [self.op("Mul", [x, self.f32(0.5)]), self.op("Add", [tanh, self.f32(1)])])

    def layer(self, x: str, layer: int, mask: str) -> str:
        width = self.size.width
        x = self.op("Add", [self.self_attention(x, layer, mask), x])
        inner = self.gelu(self.gemm(self.layer_norm(x), width, 4 * width))
        return self.op("Add", [self.gemm(inner, 4 * width, width), x])


def gpt2(path: str, sequence: int = 128, past: int = 0) -> None:
    size = Size(sequence, past, vocabulary=50257)
    g = Gpt2(size)
    x = g.op("Gather", [g.embedding(size.vocabulary, size.width), "ids"])
    x = g.op("Add", [x, g.embedding(1, sequence, size.width)])
    mask = g.causal_mask()
    for layer in range(size.layers):
        x = g.layer(x, layer, mask)
    x = g.layer_norm(x)
    g.giga_macs += sequence * size.width * size.vocabulary / 1e9
    g.op("MatMul", [x, g.embedding(size.width, size.vocabulary)])
    g.name_output("y")
    g.save(path, g.inputs, [floats("y", [1, sequence, size.vocabulary]), *g.outputs])
