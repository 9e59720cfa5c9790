"""Sound networks of many kinds, small and drawn anew from a seed (for verdicts.py)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from models.network import Network

def cnn(rng, dtype=np.float32):
    net = Network(rng, [1, 3, 24, 24], dtype)
    channels = 3
    for after in (16, 24, 32):
        net.add("Conv", net.normal(after, channels, 3, 3, scale=(9 * channels) ** -0.5), net.normal(after, scale=0.1),
                pads=[1, 1, 1, 1])
        net.add("BatchNormalization", net.constant(rng.uniform(0.5, 2, after)), net.normal(after, scale=0.2),
                net.normal(after, scale=0.2), net.constant(rng.uniform(0.5, 2, after)))
        net.add(str(rng.choice(["Relu", "HardSwish", "Mish", "Sigmoid"])))
        channels = after
    start = net.last
    net.add("Conv", net.normal(32, 1, 3, 3, scale=0.3), pads=[1, 1, 1, 1], group=32)
    net.add("Add", start)
    net.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.add("Gemm", net.normal(10, 32, scale=0.2), net.normal(10, scale=0.1), transB=1)
    net.add("Softmax", axis=-1)
    return net


def attention_block(net, length, width, mask, heads=2):
    start = net.last
    net.add("LayerNormalization", net.constant(net.rng.uniform(0.5, 2, width)), net.normal(width, scale=0.1))
    inner = net.last
    parts = []
    for _ in range(3):
        net.linear(width, width, source=inner)
        net.add("Reshape", net.integers([1, length, heads, width // heads]))
        parts.append(net.add("Transpose", perm=[0, 2, 1, 3]))
    net.add("Transpose", perm=[0, 1, 3, 2], source=parts[1])
    net.add("MatMul", net.last, source=parts[0])
    net.add("Mul", net.constant((width / heads) ** -0.5))
    if mask is not None:
        net.add("Add", net.constant(mask))
    net.add("Softmax", axis=-1)
    net.add("MatMul", parts[2])
    net.add("Transpose", perm=[0, 2, 1, 3])
    net.add("Reshape", net.integers([1, length, width]))
    net.linear(width, width)
    return net.add("Add", start)


def masks(rng, dtype=np.float32, value=None):
    length, width = 12, 32
    net = Network(rng, [1, length, width], dtype)
    if value is None:
        value = rng.choice([-np.inf, -1e4, float(np.finfo(dtype).min)])
    mask = np.where(np.tril(np.ones((length, length))) > 0, 0, value)
    attention_block(net, length, width, mask[None, None])
    net.linear(width, 2 * width)
    net.add("Gelu", approximate=str(rng.choice(["none", "tanh"])))
    net.linear(2 * width, width)
    return net


def wide_logits(rng, dtype=np.float32):
    net = Network(rng, [4, 32], dtype)
    net.linear(32, 64)
    net.add("Mul", net.constant(rng.uniform(10, 30)))
    net.add(str(rng.choice(["Softmax", "LogSoftmax"])), axis=-1)
    return net


def recurrent(rng):
    net = Network(rng, [20, 2, 12])
    op = str(rng.choice(["LSTM", "GRU"]))
    gates, hidden = {"LSTM": 4, "GRU": 3}[op], 16
    net.add(op, net.normal(1, gates * hidden, 12, scale=0.3), net.normal(1, gates * hidden, hidden, scale=0.3),
            net.normal(1, 2 * gates * hidden, scale=0.1), hidden_size=hidden)
    net.add("Squeeze", net.integers([1]))
    net.linear(hidden, 5)
    return net


def loops(rng):
    net = Network(rng, [4, 8])
    net.linear(8, 8)
    weight = numpy_helper.from_array((rng.normal(size=(8, 8)) * 0.35).astype(np.float32), "bw")
    body = helper.make_graph(
        [helper.make_node("Identity", ["k"], ["k2"]), helper.make_node("MatMul", ["s", "bw"], ["m"]),
         helper.make_node("Tanh", ["m"], ["s2"]), helper.make_node("Exp", ["s2"], ["o"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("k", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, [4, 8])],
        [helper.make_tensor_value_info("k2", TensorProto.BOOL, []), helper.make_tensor_value_info("s2", TensorProto.FLOAT, [4, 8]),
         helper.make_tensor_value_info("o", TensorProto.FLOAT, [4, 8])], [weight])
    net.nodes.append(helper.make_node("Loop", [net.integers(5), net.constant(True, np.bool_), net.last], ["state", "all"],
                                      "the_loop", body=body))
    net.last = "all"
    net.add("ReduceMean", net.integers([0]), keepdims=0)
    net.linear(8, 3)
    return net


def detection(rng):
    net = Network(rng, [1, 8, 12, 12])
    net.add("Conv", net.normal(9, 8, 1, 1, scale=0.4))
    net.add("Reshape", net.integers([1, 9, 144]))
    all_of = net.add("Transpose", perm=[0, 2, 1])
    net.add("Slice", net.integers([0]), net.integers([4]), net.integers([2]))
    net.add("Exp")
    boxes = net.add("Mul", net.constant(8.0))
    net.add("Slice", net.integers([4]), net.integers([9]), net.integers([2]), source=all_of)
    scores = net.add("Sigmoid")
    net.add("Transpose", perm=[0, 2, 1], source=scores)
    net.add("NonMaxSuppression", net.last, net.integers([10]), net.constant(0.5), net.constant(0.3), source=boxes)
    net.add("Slice", net.integers([2]), net.integers([3]), net.integers([1]))
    net.add("GatherND", net.add("Reshape", net.integers([-1, 1])), source=net.add("Squeeze", net.integers([0]), source=boxes))
    return net


def sharp(rng):
    net = Network(rng, [1, 3, 30, 22])
    net.add("Conv", net.normal(3, 3, 3, 3), pads=[1, 1, 1, 1])
    net.add("Mul", net.constant(40.0))
    net.add("Sigmoid")
    mode = str(rng.choice(["linear", "nearest", "cubic"]))
    net.nodes.append(helper.make_node("Resize", [net.last, "", "", net.integers([1, 3, 47, 35])], ["resized"], "resize", mode=mode,
                                      coordinate_transformation_mode=str(rng.choice(["half_pixel", "align_corners", "asymmetric"]))))
    net.last = "resized"
    net.add("Tanh")
    return net


def far_means(rng):
    net = Network(rng, [2, 16, 40], feeds={"x": (1000 + rng.normal(size=(2, 16, 40))).astype(np.float32)})
    if rng.random() < 0.5:
        net.add("LayerNormalization", net.constant(rng.uniform(0.5, 2, 40)), net.normal(40))
    else:
        mean = net.add("ReduceMean", net.integers([-1]))
        net.add("Sub", mean, source="x")
        centred = net.last
        net.add("Mul", centred)
        net.add("ReduceMean", net.integers([-1]))
        net.add("Add", net.constant(1e-5))
        net.add("Sqrt")
        net.add("Div", net.last, source=centred)
    net.linear(40, 16)
    return net


def long_reductions(rng):
    net = Network(rng, [2, 4, 20000], feeds={"x": rng.uniform(0, rng.choice([1, 1000]), (2, 4, 20000)).astype(np.float32)})
    op = str(rng.choice(["ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceL2", "ReduceLogSumExp"]))
    net.add(op, net.integers([2]), keepdims=1)
    net.add("Sub", net.last, source="x")
    net.add("ReduceMean", net.integers([1]))
    net.add("CumSum", net.integers(2))
    return net


def short_reductions(rng, dtype=np.float32):
    """Scalars: the mean of four or eight numbers, which are moved by nothing before."""
    count = int(rng.choice([3, 4, 5, 8]))
    net = Network(rng, [1, count], dtype)
    net.add("ReduceMean", net.integers([1]), keepdims=0)
    return net


def many_operands(rng):
    net = Network(rng, [4, 8])
    count = int(rng.choice([200, 1000]))
    net.nodes.append(helper.make_node(str(rng.choice(["Sum", "Mean"])), ["x"] * count, ["many"], "many"))
    net.last = "many"
    net.add("Sqrt", source=net.add("Abs"))
    return net


def rotary(rng):
    length, width = 16, 16
    net = Network(rng, [1, 2, length, width])
    angles = np.arange(length)[:, None] * 10000.0 ** (-np.arange(width // 2) / (width // 2))
    angles = np.concatenate([angles, angles], axis=1)
    cosine = net.constant(np.cos(angles)[None, None])
    sine = net.constant(np.sin(angles)[None, None])
    net.add("Mul", cosine)
    plain = net.last
    first = net.add("Slice", net.integers([0]), net.integers([width // 2]), net.integers([3]), source="x")
    net.add("Slice", net.integers([width // 2]), net.integers([width]), net.integers([3]), source="x")
    net.add("Neg")
    net.add("Concat", first, axis=3)
    net.add("Mul", sine)
    net.add("Add", plain)
    return net


def buckets(rng):
    """Relative positions in buckets of their logarithm, as T5 has them: exact edges."""
    length = int(rng.choice([24, 40, 64]))
    net = Network(rng, [length], feeds={"x": np.arange(length).astype(np.int64)})
    net.add("Max", net.integers(1))
    net.add("Cast", to=TensorProto.FLOAT)
    net.add("Div", net.constant(8.0))
    net.add("Log")
    net.add("Div", net.constant(np.log(np.float32(16))))
    net.add("Mul", net.constant(8.0))
    net.add("Cast", to=TensorProto.INT64)
    net.add("Add", net.integers(8))
    net.add("Min", net.integers(15))
    net.add("Gather", net.last, source=net.normal(16, 4), axis=0)
    return net


def quantised_cnn(rng):
    net = Network(rng, [1, 4, 12, 12])
    channels = 4

    def quantise(scale, zero):
        net.add("QuantizeLinear", net.constant(scale), net.constant(zero, np.uint8))
        return net.add("DequantizeLinear", *net.nodes[-1].input[1:])

    quantise(0.03, 128)
    for after in (8, 8, 12):
        data = net.last
        weight = net.constant(rng.integers(-127, 128, (after, channels, 3, 3)), np.int8)
        scales, zeros = net.constant(rng.uniform(0.5, 2, after) * 0.004), net.constant(np.zeros(after), np.int8)
        net.add("DequantizeLinear", scales, zeros, source=weight, axis=0)
        net.add("Conv", net.last, source=data, pads=[1, 1, 1, 1])
        net.add("Relu")
        quantise(0.02, 0)
        channels = after
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.linear(channels, 4)
    return net


def dynamic(rng):
    net = Network(rng, [6, 24])
    for _ in range(2):
        weight = net.constant(rng.integers(-127, 128, (24, 24)), np.int8)
        node = helper.make_node("DynamicQuantizeLinear", [net.last], [f"q{len(net.nodes)}", f"s{len(net.nodes)}", f"z{len(net.nodes)}"],
                                f"layer{len(net.nodes)}")
        net.nodes.append(node)
        net.add("MatMulInteger", weight, node.output[2], source=node.output[0])
        net.add("Cast", to=TensorProto.FLOAT)
        net.add("Mul", net.add("Mul", net.constant(0.002), source=node.output[1]), source=net.nodes[-2].output[0])
        net.add("Relu")
    return net


def dynamic_lstm(rng):
    """As ONNX Runtime's quantiser writes an LSTM: codes are made of the input and of each state."""
    width, hidden = 12, 32
    net = Network(rng, [60, 1, width])
    weights = [net.constant(rng.integers(-127, 128, (1, rows, 4 * hidden)), np.int8) for rows in (width, hidden)]
    bias = net.normal(1, 8 * hidden, scale=0.1)
    factors = [net.constant([0.004]), net.constant([0], np.int8)]
    net.nodes.append(helper.make_node("DynamicQuantizeLSTM", ["x", *weights, bias, "", "", "", "", *factors, *factors], ["states"],
                                      "lstm", domain="com.microsoft", hidden_size=hidden))
    net.last = "states"
    net.add("Squeeze", net.integers([1, 2]))
    net.linear(hidden, 4)
    return net


def half_cnn(rng):
    return cnn(rng, np.float16)


def half_masks(rng):
    return masks(rng, np.float16, rng.choice([-65504, -60000, -1e4, -np.inf]))


def typed(net, kind):
    """The same with another declared type, through casts at both ends."""
    made = net.model()
    for tensor in made.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(tensor)
            whole = helper.make_tensor(tensor.name, kind, array.shape, array.flatten().tolist())
            bits = np.array(whole.int32_data, np.uint16)  # as bytes, which all libraries read alike
            tensor.CopyFrom(helper.make_tensor(tensor.name, kind, array.shape, bits.tobytes(), raw=True))
    for node in made.graph.node:
        node.input[:] = ["x_cast" if name == "x" else name for name in node.input]
    last = made.graph.output[0].name
    nodes = [helper.make_node("Cast", ["x"], ["x_cast"], "cast_in", to=kind), *made.graph.node,
             helper.make_node("Cast", [last], ["y_cast"], "cast_out", to=TensorProto.FLOAT)]
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    made.graph.output[0].name = "y_cast"
    return made


class Typed:
    def __init__(self, net, kind):
        self.feeds, self._model = net.feeds, typed(net, kind)

    def model(self):
        copy = onnx.ModelProto()
        copy.CopyFrom(self._model)
        return copy


def bfloat_chain(rng):
    net = Network(rng, [4, 32])
    for _ in range(3):
        net.linear(32, 32)
        net.add("Add", net.normal(32, scale=0.1))
        net.add(str(rng.choice(["Relu", "Tanh", "Sigmoid"])))
    return Typed(net, TensorProto.BFLOAT16)


def fp8_chain(rng):
    net = Network(rng, [4, 32])
    for _ in range(2):
        zero = f"zero{len(net.nodes)}"
        net.weights[zero] = helper.make_tensor(zero, TensorProto.FLOAT8E4M3FN, [], [0.0])
        net.add("QuantizeLinear", net.constant(0.01), zero)
        net.add("DequantizeLinear", *net.nodes[-1].input[1:])
        net.linear(32, 32)
        net.add("Relu")
    return net


def doubles(rng):
    net = Network(rng, [2, 16], np.float64)
    for _ in range(2):
        net.linear(16, 16)
        net.add("Add", net.normal(16, scale=0.1))
        net.add(str(rng.choice(["Sigmoid", "Exp", "Tanh", "Erf"])))
    net.add("ReduceMean", net.integers([0]), keepdims=1)
    net.add("Softmax", axis=-1)
    return net


def logic(rng):
    net = Network(rng, [3, 40])
    above = net.add("Greater", net.constant(0.0), source=net.linear(40, 40))
    below = net.add("Less", net.constant(1.0), source="v0")
    both = net.add("And", below, source=above)
    net.add("Where", "v0", net.constant(-1.0), source=both)
    net.add("TopK", net.integers([5]))
    net.nodes[-1].output.append("places")
    return net


def einsum(rng):
    net = Network(rng, [2, 6, 10])
    net.nodes.append(helper.make_node("Einsum", ["x", net.normal(10, 6, 4)], ["e"], "ein", equation="bij,jik->bk"))
    net.last = "e"
    net.add("Sigmoid")
    return net


def graph_network(rng):
    """Messages along edges, added up in nodes."""
    nodes, edges = 30, 400
    net = Network(rng, [nodes, 8])
    ends = rng.integers(0, nodes, edges)
    net.add("Gather", net.integers(rng.integers(0, nodes, edges)), axis=0)
    net.linear(8, 8)
    messages = net.add("Relu")
    places = net.integers(np.repeat(ends[:, None], 8, axis=1))
    net.add("ScatterElements", places, messages, source=net.constant(np.zeros((nodes, 8))), axis=0, reduction="add")
    net.linear(8, 4)
    return net


def spectrum(rng):
    net = Network(rng, [1, 512, 1])
    net.nodes.append(helper.make_node("DFT", ["x", "", net.integers(1)], ["spectrum"], "dft", onesided=1))
    net.last = "spectrum"
    net.add("ReduceSumSquare", net.integers([-1]), keepdims=0)
    net.add("Add", net.constant(1e-3))
    net.add("Log")
    return net


SOUND = {f.__name__: f for f in (
    cnn, masks, wide_logits, recurrent, loops, detection, sharp, far_means, long_reductions, short_reductions, many_operands,
    rotary, buckets, quantised_cnn, dynamic, dynamic_lstm, half_cnn, half_masks, bfloat_chain, fp8_chain, doubles, logic, einsum, graph_network,
    spectrum)}


def draw(kind, number, seed=1):
    return SOUND[kind](np.random.default_rng([seed, list(SOUND).index(kind), number]))
