"""A decoder with one new token and cached keys: RMSNorm, rotary positions, grouped heads, SwiGLU."""

import dataclasses

import numpy as np

from .builder import Builder, floats, integers


@dataclasses.dataclass
class Size:
    past: int = 127
    layers: int = 8
    width: int = 1024
    heads: int = 16
    groups: int = 4
    inner: int = 2816
    vocabulary: int = 32000
    block: int = 0  # numbers of 4 bits with one scale, for MatMulNBits; 0: float32
    own_weights: int = 0  # layers with weights of their own, which the others use in turns; 0: all

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Llama(Builder):
    def __init__(self, size: Size):
        super().__init__()
        self.size = size
        self.kept, self.place = {}, (-1, 0)  # weights by layer and by place in it
        self.inputs = [integers("ids", [1, 1])]
        self.outputs = []
        angle = size.past / 10000 ** (np.arange(0, size.head_width, 2, dtype=np.float32) / size.head_width)
        self.cosine = self.weight(np.tile(np.cos(angle), 2)[None, None, None])
        self.sine = self.weight(np.tile(np.sin(angle), 2)[None, None, None])

    def norm(self, x: str) -> str:
        mean = self.op("ReduceMean", [self.op("Pow", [x, self.f32(2)])], axes=[-1], keepdims=1)
        root = self.op("Sqrt", [self.op("Add", [mean, self.f32(1e-5)])])
        scaled = self.op("Mul", [x, self.op("Reciprocal", [root])])
        return self.op("Mul", [scaled, self.weight(np.ones(self.size.width, np.float32))])

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        self.giga_macs += inputs * outputs / 1e9
        block = self.size.block
        self.place = (self.place[0], self.place[1] + 1)
        if block == 0:
            if self.place not in self.kept:
                self.kept[self.place] = self.weight(self.random_weight(inputs, outputs, fan=inputs * 2))
            return self.op("MatMul", [x, self.kept[self.place]])
        blocks = inputs // block
        codes = self.random.integers(0, 256, (outputs, blocks, block // 2), np.uint8)
        spread = (inputs * np.square(np.arange(-8, 8)).mean()) ** 0.5
        scales = self.random.uniform(0.5, 1.5, outputs * blocks).astype(np.float32) / np.float32(spread)
        return self.op("MatMulNBits", [x, self.weight(codes), self.weight(scales)], domain="com.microsoft",
                       K=inputs, N=outputs, bits=4, block_size=block)

    def heads(self, x: str, count: int) -> str:
        shape = self.int64s(1, 1, count, self.size.head_width)
        return self.op("Transpose", [self.op("Reshape", [x, shape])], perm=[0, 2, 1, 3])

    def rotate(self, x: str) -> str:
        half = self.size.head_width // 2
        axis, middle = self.int64s(3), self.int64s(half)
        left = self.op("Slice", [x, self.int64s(0), middle, axis])
        right = self.op("Slice", [x, middle, self.int64s(2 * half), axis])
        turned = self.op("Concat", [self.op("Neg", [right]), left], axis=3)
        return self.op("Add", [self.op("Mul", [x, self.cosine]), self.op("Mul", [turned, self.sine])])

    def cached(self, name: str, layer: int, x: str) -> str:
        size = self.size
        shape = [1, size.groups, size.past, size.head_width]
        self.inputs.append(floats(f"p{name}{layer}", shape))
        self.op("Concat", [f"p{name}{layer}", x], axis=2)
        self.outputs.append(floats(f"{name}{layer}", [1, size.groups, size.past + 1, size.head_width]))
        return self.name_output(f"{name}{layer}")

    def repeated(self, x: str) -> str:
        size = self.size
        keys, repeats = size.past + 1, size.heads // size.groups
        apart = self.op("Unsqueeze", [x, self.int64s(2)])
        shape = self.int64s(1, size.groups, repeats, keys, size.head_width)
        return self.op("Reshape", [self.op("Expand", [apart, shape]), self.int64s(1, size.heads, keys, size.head_width)])

    def attention(self, x: str, layer: int) -> str:
        size = self.size
        shared = size.groups * size.head_width
        q = self.rotate(self.heads(self.linear(x, size.width, size.width), size.heads))
        k = self.cached("k", layer, self.rotate(self.heads(self.linear(x, size.width, shared), size.groups)))
        v = self.cached("v", layer, self.heads(self.linear(x, size.width, shared), size.groups))
        turned = self.op("Transpose", [self.repeated(k)], perm=[0, 1, 3, 2])
        scores = self.op("Div", [self.op("MatMul", [q, turned]), self.f32(size.head_width**0.5)])
        seen = self.op("MatMul", [self.op("Softmax", [scores], axis=-1), self.repeated(v)])
        joined = self.op("Reshape", [self.op("Transpose", [seen], perm=[0, 2, 1, 3]), self.int64s(1, 1, size.width)])
        return self.linear(joined, size.width, size.width)

    def layer(self, x: str, layer: int) -> str:
        size = self.size
        self.place = (layer % (size.own_weights or size.layers), 0)
        x = self.op("Add", [x, self.attention(self.norm(x), layer)])
        given = self.norm(x)
        gate = self.linear(given, size.width, size.inner)
        active = self.op("Mul", [gate, self.op("Sigmoid", [gate])])
        inner = self.op("Mul", [active, self.linear(given, size.width, size.inner)])
        return self.op("Add", [x, self.linear(inner, size.inner, size.width)])


def llama(path: str, size: Size = Size()) -> None:
    g = Llama(size)
    x = g.op("Gather", [g.weight(g.random_weight(size.vocabulary, size.width, fan=5000)), "ids"])
    for layer in range(size.layers):
        x = g.layer(x, layer)
    g.place = (size.layers, 0)
    g.linear(g.norm(x), size.width, size.vocabulary)
    g.name_output("y")
    g.save(path, g.inputs, [floats("y", [1, 1, size.vocabulary]), *g.outputs])


def llama_1b_int4(path: str) -> None:
    """1.1 B parameters, all but those of the table of words in blocks of 32 numbers of 4 bits."""
    llama(path, Size(layers=22, width=2048, heads=32, groups=4, inner=5632, block=32))
