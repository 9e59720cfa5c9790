"""Faults of one layer each, and whether the cause that `assay debug accuracy` tells is true of the fault.

`CAUSES` has a function for each kind of fault: it draws a small network, and returns it with a faulty copy, the name of
the guilty layer, and the facts of the fault. `judge_cause` reads a sentence beside these facts."""

import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from models.faults import Net, attribute, change_weight, set_attribute

OPSET = 20
NUMBER = r"(?P<number>[-+0-9.e]+|-?inf)"


def finished(net, opset=OPSET):
    model = net.model()
    model.opset_import[0].version = opset
    model.ir_version = 9
    return model


def copied(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def node_of(model, name):
    return next(node for node in model.graph.node if node.name == name)


def planted(net, plant, name=None, **facts):
    """`plant` changes the node of a copy; by default the node is the last one that was marked."""
    sound = finished(net)
    faulty = copied(sound)
    name = name or net.marked
    more = plant(faulty, node_of(faulty, name))
    return sound, faulty, name, {**facts, **(more or {})}


def mark(net):
    net.marked = net.nodes[-1].name


def weights_of(model, name):
    return numpy_helper.to_array(next(t for t in model.graph.initializer if t.name == name))


def mlp(rng, rows=12, width=16):
    net = Net(rng, [rows, width])
    net.add("MatMul", net.normal(width, width, scale=0.3))
    net.add("Tanh")
    return net


def ended(net, width=16):
    net.add("MatMul", net.normal(width, width, scale=0.3))
    net.add("Sigmoid")
    return net


def weight_scaled(rng):
    """1% more, next to a bias."""
    net = mlp(rng)
    net.add("Gemm", net.normal(16, 16, scale=0.3), net.normal(16))
    mark(net)
    return planted(ended(net), lambda m, n: change_weight(m, n, 1, lambda a: (a * np.float32(1.01))), number=1.01)


def spelled_norm(net, epsilon=1e-5):
    start = net.last
    net.add("ReduceMean", net.constant([1], np.int64), keepdims=1)
    centred = net.add("Sub", net.last, source=start)
    net.add("Mul", centred, source=centred)
    net.add("ReduceMean", net.constant([1], np.int64), keepdims=1)
    net.add("Add", net.constant(epsilon))
    mark(net)
    net.add("Sqrt")
    net.add("Div", net.last, source=centred)


def epsilon_spelled_out(rng):
    net = mlp(rng)
    spelled_norm(net)
    return planted(ended(net), lambda m, n: change_weight(m, n, 1, lambda a: np.float32(0.01).reshape(a.shape)), number=0.01)


def epsilon(rng):
    net = mlp(rng)
    net.add("LayerNormalization", net.constant(rng.uniform(0.5, 2, 16)), net.normal(16, scale=0.1), epsilon=1e-5)
    mark(net)
    return planted(ended(net), lambda m, n: set_attribute(n, "epsilon", 0.01), number=0.01)


def clipped_weights(rng):
    net = Net(rng, [1, 4, 10, 10])
    net.add("Conv", net.normal(8, 4, 3, 3, scale=0.3), net.normal(8, scale=0.1), pads=[1, 1, 1, 1])
    mark(net)
    net.add("Relu")

    def clip(array):
        most = np.abs(array).max() / 4
        return np.clip(array, -most, most)

    return planted(net, lambda m, n: change_weight(m, n, 1, clip))


def transposed_weight(rng):
    net = mlp(rng)
    net.add("MatMul", net.normal(16, 16, scale=0.3))
    mark(net)
    return planted(ended(net), lambda m, n: change_weight(m, n, 1, lambda a: a.T))


def alpha(rng):
    net = mlp(rng)
    net.add("LeakyRelu", alpha=0.2)
    mark(net)
    return planted(ended(net), lambda m, n: set_attribute(n, "alpha", 0.22), number=0.22)


def axis(rng):
    net = mlp(rng)
    net.add("Softmax", axis=1)
    mark(net)
    return planted(ended(net), lambda m, n: set_attribute(n, "axis", 0))


def pads(rng):
    net = Net(rng, [1, 4, 10, 10])
    net.add("Conv", net.normal(4, 4, 3, 3, scale=0.3), pads=[1, 1, 1, 1])
    mark(net)
    net.add("Relu")
    return planted(net, lambda m, n: set_attribute(n, "pads", [0, 1, 2, 1]))


def resized(rng, mode, coordinates, **more):
    net = Net(rng, [1, 2, 10, 10])
    net.add("Mul", net.normal(1, 2, 10, 10))
    scales = net.constant([1, 1, *rng.choice([1.7, 2.3, 0.7], 2)], np.float32)
    net.add("Resize", "", scales, mode=mode, coordinate_transformation_mode=coordinates, **more)
    mark(net)
    net.add("Tanh")
    return net


def resize_coordinates(rng):
    net = resized(rng, "linear", "half_pixel")
    return planted(net, lambda m, n: set_attribute(n, "coordinate_transformation_mode", "align_corners"))


def resize_rounding(rng):
    net = resized(rng, "nearest", "asymmetric", nearest_mode="floor")
    return planted(net, lambda m, n: set_attribute(n, "nearest_mode", "ceil"))


def resize_mode(rng):
    net = resized(rng, "linear", "half_pixel")
    return planted(net, lambda m, n: set_attribute(n, "mode", "cubic"))


def grid_padding(rng):
    net = Net(rng, [1, 2, 6, 6])
    net.add("Mul", net.normal(1, 2, 6, 6))
    net.add("GridSample", net.constant(rng.uniform(-1.4, 1.4, (1, 7, 7, 2))), mode="linear", padding_mode="zeros",
            align_corners=0)
    mark(net)
    net.add("Tanh")
    return planted(net, lambda m, n: set_attribute(n, "padding_mode", "border"))


def column(rng):
    """One column times 100, beside a large one."""
    net = mlp(rng)
    weights = rng.normal(size=(16, 16)) * 0.3
    weights[:, 3] *= 1e3
    net.add("MatMul", net.constant(weights))
    mark(net)

    def change(array):
        array[:, 7] *= 100
        return array

    net.add("Tanh")
    return planted(net, lambda m, n: change_weight(m, n, 1, change), index=7, number=100)


def one_weight(rng):
    net = mlp(rng)
    net.add("MatMul", net.normal(16, 16, scale=0.3))
    mark(net)

    def change(array):
        array[2, 5] += 0.5
        return array

    return planted(ended(net), lambda m, n: change_weight(m, n, 1, change), index=5)


def bias_missing(rng):
    net = mlp(rng)
    net.add("Gemm", net.normal(16, 16, scale=0.3), net.normal(16))
    mark(net)

    def leave_out(_, node):
        del node.input[2:]

    return planted(ended(net), leave_out)


def half_layer(rng):
    """A layer between Casts to float16 and back."""
    net = mlp(rng)
    net.add("MatMul", net.normal(16, 16, scale=0.3))
    mark(net)

    def narrow(model, node):
        change_weight(model, node, 1, lambda a: a.astype(np.float16))
        result = node.output[0]
        before = helper.make_node("Cast", [node.input[0]], [f"{result}_in"], f"{node.name}_in", to=TensorProto.FLOAT16)
        behind = helper.make_node("Cast", [f"{result}_half"], [result], f"{node.name}_out", to=TensorProto.FLOAT)
        node.input[0], node.output[0] = f"{result}_in", f"{result}_half"
        place = list(model.graph.node).index(node)
        model.graph.node.insert(place + 1, behind)
        model.graph.node.insert(place, before)

    return planted(ended(net), narrow, type="float16")


def swapped_inputs(rng):
    net = mlp(rng)
    first = net.last
    net.add("MatMul", net.normal(16, 16, scale=0.3))
    net.add("Sub", first)
    mark(net)

    def swap(_, node):
        node.input[0], node.input[1] = node.input[1], node.input[0]

    return planted(ended(net), swap)


def mask(rng):
    net = mlp(rng, rows=16)
    net.add("Add", net.constant(np.where(np.tril(np.ones((16, 16))) > 0, 0, -10000.0)))
    mark(net)
    net.add("Softmax", axis=-1)
    return planted(ended(net), lambda m, n: change_weight(m, n, 1, lambda a: np.where(a < 0, np.float32(-1), a)), number=-1)


def zero_point(rng):
    net = mlp(rng)
    net.add("QuantizeLinear", net.constant(0.02), net.constant(int(rng.integers(100, 150)), np.uint8))
    net.add("DequantizeLinear", *net.nodes[-1].input[1:])
    mark(net)
    net.add("MatMul", net.normal(16, 16, scale=0.25))
    point = int(net.weights[net.nodes[-2].input[2]])
    return planted(net, lambda m, n: change_weight(m, n, 2, lambda a: a + np.uint8(1)), number=point + 1)


def quantizer_scale(rng):
    net = mlp(rng)
    net.add("QuantizeLinear", net.constant(0.02), net.constant(int(rng.integers(100, 150)), np.uint8))
    net.add("DequantizeLinear", *net.nodes[-1].input[1:])
    mark(net)
    net.add("MatMul", net.normal(16, 16, scale=0.25))
    return planted(net, lambda m, n: change_weight(m, n, 1, lambda a: a * np.float32(1.01)), number=0.0202)


def recurrent(rng, op, gates):
    net = Net(rng, [6, 2, 8])
    net.add(op, net.normal(1, gates * 8, 8, scale=0.3), net.normal(1, gates * 8, 8, scale=0.3),
            net.normal(1, gates * 16, scale=0.1), hidden_size=8)
    mark(net)

    def change(array):
        array[0, 3, 2] += 0.3
        return array

    net.add("Tanh")
    return planted(net, lambda m, n: change_weight(m, n, 1, change))


def lstm_weight(rng):
    return recurrent(rng, "LSTM", 4)


def gru_weight(rng):
    return recurrent(rng, "GRU", 3)


def rounded_halves(rng):
    """Halves away from 0: floor(|x| + 0.5) with the sign of x, in place of Round."""
    net = Net(rng, [8, 16])
    net.add("Mul", net.constant(np.round(rng.uniform(-9, 9, (8, 16))) + 0.5))
    net.add("Round")
    mark(net)

    def away(model, node):
        model.graph.initializer.append(numpy_helper.from_array(np.float32(0.5), "half"))
        source, result = node.input[0], node.output[0]
        place = list(model.graph.node).index(node)
        model.graph.node.remove(node)
        made = [helper.make_node("Sign", [source], ["sign"], "sign"), helper.make_node("Abs", [source], ["abs"], "abs"),
                helper.make_node("Add", ["abs", "half"], ["more"], "more"),
                helper.make_node("Floor", ["more"], ["whole"], "whole"),
                helper.make_node("Mul", ["whole", "sign"], [result], "signed")]
        for node in reversed(made):
            model.graph.node.insert(place, node)

    case = planted(net, away)
    case[3]["feeds"] = np.ones((8, 16), np.float32)
    return case


def operator(rng):
    net = mlp(rng)
    net.add("Relu")
    mark(net)

    def other(_, node):
        node.op_type = "Softplus"

    return planted(ended(net), other)


def slice_start(rng):
    net = mlp(rng)
    net.add("Slice", net.constant([2], np.int64), net.constant([10], np.int64), net.constant([0], np.int64))
    mark(net)

    def move(model, node):
        change_weight(model, node, 1, lambda a: a + 1)
        change_weight(model, node, 2, lambda a: a + 1)

    return planted(ended(net), move)


CAUSES = {f.__name__: f for f in (
    weight_scaled, epsilon_spelled_out, epsilon, clipped_weights, transposed_weight, alpha, axis, pads, resize_coordinates,
    resize_rounding, resize_mode, grid_padding, column, one_weight, bias_missing, half_layer, swapped_inputs, mask,
    zero_point, quantizer_scale, lstm_weight, gru_weight, rounded_halves, operator, slice_start)}

# Of each kind, sentences that are true of it; `number`, `index` and `type` are compared with the facts.
TRUE = {
    "weight_scaled": [rf"constant .* is {NUMBER} times as large in the other", rf"with its constant .* {NUMBER} times as large",
                      r"constant .* differs in the other model"],
    "epsilon_spelled_out": [rf"constant .* is [-0-9.e]+, in the other model {NUMBER}", rf"with its constant .* = {NUMBER}"],
    "epsilon": [rf"attribute `epsilon` is [-0-9.e]+, in the other model {NUMBER}", rf"with epsilon={NUMBER}"],
    "clipped_weights": [r"constant .* is clipped at", r"with its constant .* clipped at"],
    "transposed_weight": [r"constant .* is transposed", r"with input 1 transposed"],
    "alpha": [rf"attribute `alpha` is [0-9.]+, in the other model {NUMBER}", rf"with alpha={NUMBER}"],
    "axis": [r"attribute `axis` is 1, in the other model 0", r"with axis=(0|-2)"],
    "pads": [r"attribute `pads` is \[1,1,1,1\], in the other model \[0,1,2,1\]", r"with pads=\[0,1,2,1\]"],
    "resize_coordinates": [r"attribute `coordinate_transformation_mode` is half_pixel, in the other model align_corners",
                           r"with coordinate_transformation_mode=align_corners"],
    "resize_rounding": [r"attribute `nearest_mode` is floor, in the other model ceil", r"with .*nearest_mode=ceil"],
    "resize_mode": [r"attribute `mode` is linear, in the other model cubic", r"with mode=cubic"],
    "grid_padding": [r"attribute `padding_mode` is zeros, in the other model border", r"with padding_mode=border"],
    "column": [rf"constant .* is {NUMBER} times as large at index (?P<index>\d+) of axis 1",
               rf"index (?P<index>\d+) of axis 1 is {NUMBER} times", r"only index (?P<index>\d+) of axis 1 is wrong"],
    "one_weight": [r"constant .* is .* at \[2,(?P<index>\d+)\]", r"only index (?P<index>\d+) of axis 1 is wrong"],
    "bias_missing": [r"has no input 2", r"without its input 2", r"with its constant .* = 0", r"with beta=0"],
    "half_layer": [r"computes it in (?P<type>\w+)", r"all are numbers of (?P<type>\w+)", r"inputs are rounded to (?P<type>\w+)",
                   r"inputs and result are rounded to (?P<type>\w+)"],
    "swapped_inputs": [r"first two inputs (are )?swapped"],
    "mask": [rf"constant .* has .* times -10000, in the other model {NUMBER}", rf"with -10000 in its constant .* = {NUMBER}"],
    "zero_point": [rf"constant .* is \d+, in the other model {NUMBER}", rf"with its constant .* = {NUMBER}",
                   r"all is 0\.0\d+ (less|more) than it should be"],
    "quantizer_scale": [rf"constant .* is 0\.02, in the other model {NUMBER}", rf"with its constant .* = {NUMBER}"],
    "lstm_weight": [r"constant .* is .* at \[0,3,2\]", r"only index 3 of axis \d is wrong"],
    "gru_weight": [r"constant .* is .* at \[0,3,2\]", r"only index 3 of axis \d is wrong"],
    "rounded_halves": [r"halves away from 0", r"it is Round, in the other model"],
    "operator": [r"it is Relu, in the other model Softplus", r"as Softplus"],
    "slice_start": [r"constant .* is 2, in the other model 3", r"with its starts and ends larger by 1"],
}


def is_true_of(pattern, facts, reason):
    found = re.search(pattern, reason)
    if not found:
        return False
    told = found.groupdict()
    if "number" in told and "number" in facts and not np.isclose(float(told["number"]), facts["number"], rtol=0.02):
        return False
    if "index" in told and "index" in facts and int(told["index"]) != facts["index"]:
        return False
    return "type" not in told or "type" not in facts or told["type"] == facts["type"]


def judge_cause(kind, facts, first_guilty):
    """`true`, `unknown` or `false`; of a layer with a body, by the layer in it."""
    told = first_guilty.get("inner") or first_guilty
    if told["cause"] == "unknown":
        return "unknown"
    return "true" if any(is_true_of(pattern, facts, told["reason"]) for pattern in TRUE[kind]) else "false"
