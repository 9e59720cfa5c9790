"""com.microsoft's operators, as ONNX Runtime's optimisers write them, and what exporters write out in several nodes."""

import math

import numpy as np

from .codes import codes, scale, zero
from .products import matrix_sizes
from .registry import draws
from .sequences import Heads
from .windows import convolution

MICROSOFT = "com.microsoft"


def fused(graph, op, operands, shape, dtype="float32", **attributes):
    return graph.add(op, operands, domain=MICROSOFT, results=[(dtype, shape)], **attributes)


@draws(2, "float32")
def fused_gelu(graph, dtype):
    random, shape = graph.random, graph.random.tensor(2, 4)
    op = random.choice(["Gelu", "BiasGelu", "FastGelu", "QuickGelu"])
    operands = [graph.operand(shape, dtype)]
    if op == "BiasGelu" or (op == "FastGelu" and random.maybe()):
        operands.append(graph.operand(shape[-1:], dtype))
    graph.least = 1
    return fused(graph, op, operands, shape)


@draws(2, "float32")
def fused_conv(graph, dtype):
    random = graph.random
    window, groups, shape, weights = convolution(graph, random.choice([1, 2, 2]))
    depth = math.prod(weights[1:])
    graph.deepen(depth)
    graph.looseness *= 8
    facts = window.facts(random)
    operands = [graph.operand(shape, dtype), graph.operand(weights, dtype, graph.scaled(depth**-0.5), constant=0.8),
                graph.operand(weights[:1], dtype, constant=0.8)]
    plain = graph.add("Conv", operands[:2], group=groups, **facts)
    out = graph.shape(plain)
    if len(shape) == 4 and random.maybe(0.4) and shape[0] == 1:
        operands.append(graph.operand(out, dtype))
    activation = random.choice(["Relu", "Sigmoid", "Tanh"])
    return fused(graph, "FusedConv", operands, out, group=groups, activation=activation, **facts)


@draws(3, "float32")
def skip_normalization(graph, dtype):
    random = graph.random
    rows, width = random.sizes(2, 100_000)
    batch = random.choice([1, 2, 3])
    op = random.choice(["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
    shape = [batch, rows, width]
    other = random.choice([shape, shape, [1, rows, width], [rows, width]])
    operands = [graph.operand(shape, dtype), graph.operand(other, dtype), graph.operand([width], dtype, constant=0.7)]
    if op[4] == "L":
        operands.append(graph.operand([width], dtype, constant=0.7))
    if random.maybe():
        operands.append(graph.operand([width], dtype, constant=0.7))
    elif op[4] == "L" and random.maybe():
        operands[3] = ""
        operands.append(graph.operand([width], dtype, constant=0.7))
    graph.deepen(width)
    graph.least = 4
    graph.looseness *= 4
    if random.maybe(0.4):
        results = [(dtype, shape), (dtype, [batch, rows, 1]), (dtype, [batch, rows, 1]), (dtype, shape)]
        made = graph.add(op, operands, 4, MICROSOFT, results, epsilon=1e-3)
        graph.nodes[-1].output[1] = graph.nodes[-1].output[2] = ""
        return made[3]
    return fused(graph, op, operands, shape, epsilon=1e-3)


@draws(2, "uint8 int8")
def dynamic_matmul(graph, dtype):
    random = graph.random
    rows, depth, columns = matrix_sizes(random)
    weights = graph.constant(random.below(65, dtype, -64 if dtype == "int8" else 0)((depth, columns)))
    dims = random.choice([[], [columns]])
    graph.least = depth**0.5
    graph.looseness *= 2000  # a code more or less
    scales = graph.constant(random.positive(dims) * np.float32(0.01))
    operands = [graph.operand([rows, depth], "float32"), weights, scales]
    if random.maybe():
        operands.append(graph.constant(np.zeros(dims, dtype)))
    return fused(graph, "DynamicQuantizeMatMul", operands, [rows, columns])


@draws(2, "uint8 int8")
def quantized_elements(graph, dtype):
    random, shape = graph.random, graph.random.tensor(1, 4)
    op = random.choice(["QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax",
                        "QLinearConcat"])
    graph.steps = 1
    whole = [graph.constant(np.float32(0.05)), graph.constant(np.array(4, dtype))]
    if op in ("QLinearAdd", "QLinearMul"):
        operands = [part for size in (shape, random.choice([shape, random.shrunk(shape)]))
                    for part in (codes(graph, size, dtype), scale(graph), zero(graph, dtype))]
        return fused(graph, op, [*operands, *whole], shape, dtype)
    if op == "QLinearConcat":
        axis = random.randrange(len(shape))
        other = [*shape]
        other[axis] = random.choice([1, 3, 16])
        pair = [graph.constant(np.float32(0.02)), graph.constant(np.array(2, dtype))]
        operands = [part for size in (shape, other) for part in (codes(graph, size, dtype), *pair)]
        total = [*shape]
        total[axis] += other[axis]
        return fused(graph, op, [*whole, *operands], total, dtype, axis=axis)
    operands = [codes(graph, shape, dtype), graph.constant(np.float32(0.03)), graph.constant(np.array(3, dtype))]
    if op == "QLinearSoftmax":
        end = [graph.constant(np.float32(1 / 256)), graph.constant(np.array(-128 if dtype == "int8" else 0, dtype))]
        return fused(graph, op, [*operands, *end], shape, dtype, axis=-1, opset=13)
    return fused(graph, op, [*operands, *whole], shape, dtype, **({"alpha": 0.1} if op == "QLinearLeakyRelu" else {}))


@draws(3, "float32")
def written_normalization(graph, dtype):
    """Layer or root mean square normalisation in several nodes."""
    random = graph.random
    graph.version = 17
    shape = random.tensor(1, 4, 200_000)
    width = shape[-1]
    graph.deepen(width)
    graph.looseness *= 4
    graph.least = 4
    x = graph.operand(shape, dtype, constant=0.05)
    if random.maybe(0.3):
        x = graph.add("Add", [x, graph.operand(random.choice([shape, shape[-1:]]), dtype)])
    centred = graph.add("Sub", [x, graph.add("ReduceMean", [x], axes=[-1])]) if random.maybe(0.7) else x
    if random.maybe():
        square = graph.add("Pow", [centred, graph.constant(np.float32(2))])
    else:
        square = graph.add("Mul", [centred, centred])
    raised = graph.add("Add", [graph.add("ReduceMean", [square], axes=[-1]), graph.constant(np.float32(1e-3))])
    root = graph.add("Sqrt", [raised])
    if random.maybe():
        y = graph.add("Div", [centred, root])
    else:
        y = graph.add("Mul", [centred, graph.add("Reciprocal", [root])])
    dims = random.choice([[width], [1, width], [1]])
    y = graph.add("Mul", [y, graph.operand(dims, dtype, constant=0.6)])
    return graph.add("Add", [y, graph.operand([width], dtype, constant=0.6)]) if random.maybe(0.6) else y


@draws(3, "float32 float16")
def written_rotary(graph, dtype):
    random = graph.random
    batch, heads = random.choice([1, 2, 3]), random.choice([1, 2, 3, 8])
    size = random.choice([8, 16, 32, 64, 128, 40])
    length = random.size(200_000 // (batch * heads * size))
    if random.maybe(0.5):
        x = graph.operand([batch, heads, length, size], dtype, constant=0)
    else:
        rows = graph.operand([batch, length, heads * size], dtype, constant=0)
        split = graph.add("Reshape", [rows, graph.integers(batch, length, heads, size)])
        x = graph.add("Transpose", [split], perm=[0, 2, 1, 3])
    cosines, sines = (graph.operand(random.choice([[length, size], [1, 1, length, size], [batch, 1, length, size]]), dtype)
                      for _ in range(2))
    half = [graph.integers(size // 2)]
    first = graph.add("Slice", [x, graph.integers(0), *half, graph.integers(3)])
    second = graph.add("Slice", [x, *half, graph.integers(size), graph.integers(3)])
    turned = graph.add("Concat", [graph.add("Neg", [second]), first], axis=-1)
    return graph.add("Add", [graph.add("Mul", [x, cosines]), graph.add("Mul", [turned, sines])])


@draws(3, "float32")
def group_query_attention(graph, dtype):
    random, of = graph.random, Heads(graph.random)
    if of.batch * of.heads * of.queries * of.queries * of.size > 30_000_000:
        of.queries = 17
    of.size = of.size // 16 * 16 or 16
    past = random.choice([0, 0, 5, 64, 129]) if of.queries == 1 or of.batch == 1 else 0
    if past and random.maybe():
        of.queries = 1
    total = past + of.queries
    graph.deepen(of.size + total)
    graph.looseness *= 8

    def rows(count):
        return graph.operand([of.batch, of.queries, count * of.size], dtype, constant=0)

    caches = [graph.operand([of.batch, of.groups, past, of.size], dtype, constant=0) if past else "" for _ in range(2)]
    lengths = np.full([of.batch], total - 1, np.int32)
    operands = [rows(of.heads), rows(of.groups), rows(of.groups), *caches, graph.input(lengths),
                graph.constant(np.array([total], np.int32))]
    facts = {"num_heads": of.heads, "kv_num_heads": of.groups}
    if random.maybe(0.5):
        operands += [graph.constant(random.normal((total, of.size // 2))) for _ in range(2)]
        facts |= {"do_rotary": 1, "rotary_interleaved": random.randint(0, 1)}
    cache = (dtype, [of.batch, of.groups, total, of.size])
    results = [(dtype, [of.batch, of.queries, of.heads * of.size]), cache, cache]
    return graph.add("GroupQueryAttention", operands, 3, MICROSOFT, results, **facts)[0]


@draws(3, "float32")
def packed_attention(graph, dtype):
    """com.microsoft's Attention, whose weights make queries, keys and values."""
    random, of = graph.random, Heads(graph.random)
    rows = random.size(200)
    width = of.heads * of.size
    inner = random.size(513)
    if of.batch * rows * inner * width * 3 > 60_000_000 or inner * width * 3 > 1_000_000:
        rows, inner = 17, 64
    graph.deepen(inner + of.size)
    graph.looseness *= 8
    operands = [graph.operand([of.batch, rows, inner], dtype, constant=0),
                graph.operand([inner, 3 * width], dtype, graph.scaled(inner**-0.5), constant=0.8),
                graph.operand([3 * width], dtype, constant=0.8)]
    facts = {"num_heads": of.heads, "unidirectional": random.randint(0, 1)}
    return fused(graph, "Attention", operands, [of.batch, rows, width], **facts)


@draws(3, "float32")
def multi_head_attention(graph, dtype):
    random, of = graph.random, Heads(graph.random)
    graph.deepen(of.size + of.keys)
    graph.looseness *= 8
    rows = [graph.operand([of.batch, length, of.heads * width], dtype, constant=0)
            for length, width in ((of.queries, of.size), (of.keys, of.size), (of.keys, of.out))]
    if random.maybe(0.4):
        rows.append(graph.operand([of.heads * (2 * of.size + of.out)], dtype, constant=0.8))
        if random.maybe(0.5) and of.batch * of.heads * of.queries * of.keys < 500_000:
            lead = [random.choice([1, of.batch]), random.choice([1, of.heads])]
            rows += ["", graph.operand([*lead, of.queries, of.keys], dtype)]
    return fused(graph, "MultiHeadAttention", rows, [of.batch, of.queries, of.heads * of.out], num_heads=of.heads)
