"""Small networks, and faults that can be planted into a copy (for verdicts.py)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A chain of layers with names."""

    def __init__(self, rng, shape, dtype=np.float32):
        self.rng, self.shape, self.dtype = rng, shape, dtype
        self.nodes, self.weights, self.last = [], {}, "x"

    def constant(self, array, dtype=None):
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(array, dtype or self.dtype)
        return name

    def normal(self, *shape, scale=1.0):
        return self.constant(self.rng.normal(size=shape) * scale)

    def add(self, op, *others, source=None, **attributes):
        name = f"layer{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [source or self.last, *others], [f"v{len(self.nodes)}"], name, **attributes))
        self.last = self.nodes[-1].output[0]
        return self.last

    def model(self):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info("x", kind, self.shape)],
                                  [onnx.ValueInfoProto(name=self.last)],
                                  [numpy_helper.from_array(array, name) for name, array in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convnet(rng, dtype=np.float32):
    net = Net(rng, [1, 3, 16, 16], dtype)
    channels = 3
    for _ in range(int(rng.integers(2, 5))):
        after = int(rng.choice([8, 16]))
        net.add("Conv", net.normal(after, channels, 3, 3, scale=0.3), net.normal(after, scale=0.1), pads=[1, 1, 1, 1])
        net.add("BatchNormalization", net.constant(rng.uniform(0.5, 2, after)), net.normal(after, scale=0.2),
                net.normal(after, scale=0.2), net.constant(rng.uniform(0.5, 2, after)), epsilon=1e-3)
        net.add(str(rng.choice(["Relu", "Sigmoid", "HardSwish"])))
        channels = after
    net.add("AveragePool", kernel_shape=[2, 2], strides=[2, 2])
    net.add("Conv", net.normal(8, channels, 1, 1, scale=0.3))
    net.add("Clip", net.constant(-3), net.constant(3))
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.add("Gemm", net.normal(8, 8, scale=0.4), net.normal(8), transB=0)
    net.add("Softmax", axis=1)
    return net


def transformer(rng, dtype=np.float32):
    length, width = int(rng.choice([8, 12])), 16
    net = Net(rng, [1, length, width], dtype)
    for _ in range(int(rng.integers(1, 3))):
        start = net.last
        net.add("LayerNormalization", net.constant(rng.uniform(0.5, 2, width)), net.normal(width, scale=0.1), epsilon=1e-3)
        inner = net.last
        query = net.add("MatMul", net.normal(width, width, scale=0.3), source=inner)
        net.add("MatMul", net.normal(width, width, scale=0.3), source=inner)
        key = net.add("Transpose", perm=[0, 2, 1])
        value = net.add("MatMul", net.normal(width, width, scale=0.3), source=inner)
        net.add("MatMul", key, source=query)
        net.add("Div", net.constant(4.0))
        mask = np.where(np.tril(np.ones((length, length))) > 0, 0, -np.inf)
        net.add("Add", net.constant(mask[None]))
        net.add("Softmax", axis=-1)
        net.add("MatMul", value)
        net.add("Add", start)
        net.add("MatMul", net.normal(width, width, scale=0.3))
        net.add("Sub", net.normal(width, scale=0.5))
        net.add("Tanh")
    net.add("ReduceMean", axes=[1], keepdims=0)
    return net


def quantised(rng):
    net = Net(rng, [2, 16])
    for _ in range(int(rng.integers(2, 5))):
        net.add("QuantizeLinear", net.constant(rng.uniform(0.01, 0.03)), net.constant(int(rng.integers(100, 150)), np.uint8))
        net.add("DequantizeLinear", *net.nodes[-1].input[1:])
        net.add("MatMul", net.normal(16, 16, scale=0.25))
        net.add("Relu")
    return net


def looped(rng):
    net = Net(rng, [4, 4])
    net.add("MatMul", net.normal(4, 4, scale=0.4))
    body_weight = numpy_helper.from_array((rng.normal(size=(4, 4)) * 0.4).astype(np.float32), "bw")
    body = helper.make_graph(
        [helper.make_node("Identity", ["k"], ["k2"]), helper.make_node("MatMul", ["s", "bw"], ["m"]),
         helper.make_node("Tanh", ["m"], ["s2"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("k", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info("k2", TensorProto.BOOL, []), helper.make_tensor_value_info("s2", TensorProto.FLOAT, [4, 4])],
        [body_weight])
    net.nodes.append(helper.make_node("Loop", [net.constant(3, np.int64), net.constant(True, np.bool_), net.last], ["loop"],
                                      "the_loop", body=body))
    net.last = "loop"
    net.add("Sigmoid")
    net.add("MatMul", net.normal(4, 4, scale=0.4))
    return net


def normalised(rng):
    """Rows are divided by their sums; a row without a positive number has the sum 0."""
    net = Net(rng, [12, 8])
    for _ in range(int(rng.integers(1, 3))):
        net.add("MatMul", net.normal(8, 3, scale=0.4))
        positive = net.add("Relu")
        net.add("ReduceSum", net.constant([1], np.int64), keepdims=1)
        guarded = net.add("Max", net.constant(1e-3))
        net.add("Div", guarded, source=positive)
        net.add("MatMul", net.normal(3, 8))
    return net


def halved(rng):
    """In float16; somewhere in the middle, numbers leave its range and come back."""
    net = Net(rng, [4, 16], np.float16)
    count = int(rng.integers(2, 5))
    middle = int(rng.integers(count))
    for i in range(count):
        net.add("MatMul", net.normal(16, 16, scale=0.3))
        net.add("Tanh")
        if i == middle:
            factor = net.constant(rng.uniform(400, 900))
            net.add("Mul", factor)
            net.overflowing = net.nodes[-1].name if net.add("Mul", factor) else None
            net.add("Div", factor)
            net.add("Div", factor)
    return net


# Faults: each changes one node of a copy, or says that there is none to change.

NOISE = {np.dtype(np.float32): 1e-4, np.dtype(np.float16): 1e-2}


def pick(rng, model, *ops):
    nodes = [node for node in model.graph.node if node.op_type in ops]
    return nodes[int(rng.integers(len(nodes)))] if nodes else None


def attribute(node, name):
    return next((a for a in node.attribute if a.name == name), None)


def set_attribute(node, name, value):
    old = attribute(node, name)
    if old is not None:
        node.attribute.remove(old)
    node.attribute.append(helper.make_attribute(name, value))


def change_weight(model, node, index, change):
    """Gives the node a weight of its own, changed."""
    tensor = next(t for t in model.graph.initializer if t.name == node.input[index])
    array = change(numpy_helper.to_array(tensor).copy())
    fresh = numpy_helper.from_array(np.ascontiguousarray(array), f"{tensor.name}_{node.name}")
    model.graph.initializer.append(fresh)
    node.input[index] = fresh.name


def wrong_attribute(rng, model):
    node = pick(rng, model, "HardSigmoid", "Softmax", "BatchNormalization", "Gemm")
    if node is None:
        return None
    name, value = {"Softmax": ("axis", 0), "BatchNormalization": ("epsilon", 0.1), "Gemm": ("alpha", 2.0)}[node.op_type]
    set_attribute(node, name, value)
    return node.name


def corrupted_weight(rng, model):
    node = pick(rng, model, "Conv", "MatMul", "Gemm")
    if node is None or node.input[1] not in {t.name for t in model.graph.initializer}:
        return None

    def change(array):
        flat = array.reshape(-1)
        flat[int(rng.integers(flat.size))] += 0.5
        return array

    change_weight(model, node, 1, change)
    return node.name


def noisy_weight(rng, model):
    node = pick(rng, model, "Conv", "MatMul", "Gemm")
    if node is None or node.input[1] not in {t.name for t in model.graph.initializer}:
        return None
    change_weight(model, node, 1, lambda a: (a * (1 + NOISE[a.dtype] * rng.normal(size=a.shape))).astype(a.dtype))
    return node.name


def swapped_inputs(rng, model):
    node = pick(rng, model, "Sub", "Div")
    if node is None:
        return None
    node.input[0], node.input[1] = node.input[1], node.input[0]
    return node.name


def transposed_weight(rng, model):
    node = pick(rng, model, "MatMul", "Gemm")
    if node is None or node.input[1] not in {t.name for t in model.graph.initializer}:
        return None
    change_weight(model, node, 1, lambda a: a.T)
    return node.name


def wrong_axis(rng, model):
    node = pick(rng, model, "Softmax")
    if node is None or attribute(node, "axis").i == 0:
        return None
    set_attribute(node, "axis", 0 if attribute(node, "axis").i == 1 else 1)
    return node.name


def bad_scale(rng, model):
    node = pick(rng, model, "QuantizeLinear", "DequantizeLinear")
    if node is None:
        return None
    change_weight(model, node, 1, lambda a: (a * 1.05).astype(np.float32))
    return node.name


def birth_of_nan(rng, model):
    """0/0, where the divisor was kept from being 0."""
    node = pick(rng, model, "Div")
    guard = None if node is None else next((n for n in model.graph.node if n.output[0] == node.input[1]), None)
    if guard is None or guard.op_type != "Max":
        return None
    node.input[1] = guard.input[0]
    return node.name


def layout_bug(rng, model):
    node = pick(rng, model, "Transpose")
    if node is None:
        return None
    wrong = helper.make_node("Reshape", [node.input[0], "layout_dims"], [node.output[0]], node.name)
    length = model.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 16, length], np.int64), "layout_dims"))
    node.CopyFrom(wrong)
    return node.name


def padding_off_by_one(rng, model):
    nodes = [n for n in model.graph.node if n.op_type == "Conv" and attribute(n, "pads")]
    if not nodes:
        return None
    node = nodes[int(rng.integers(len(nodes)))]
    set_attribute(node, "pads", [0, 1, 2, 1])
    return node.name


def epsilon_left_out(rng, model):
    node = pick(rng, model, "BatchNormalization", "LayerNormalization")
    if node is None:
        return None
    set_attribute(node, "epsilon", 0.0)
    return node.name


def finite_mask(rng, model):
    nodes = [n for n in model.graph.node if n.op_type == "Add" and n.input[1] in {t.name for t in model.graph.initializer}]
    if not nodes:
        return None
    node = nodes[int(rng.integers(len(nodes)))]
    change_weight(model, node, 1, lambda a: np.where(np.isinf(a), -1e4, a).astype(np.float32))
    return node.name


def fault_in_body(rng, model):
    node = pick(rng, model, "Loop")
    if node is None:
        return None
    weight = attribute(node, "body").g.initializer[0]
    array = numpy_helper.to_array(weight).copy()
    array[1, 2] += 0.3
    weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    return node.name


def other_operator(rng, model):
    node = pick(rng, model, "Relu", "Tanh", "Sigmoid", "AveragePool")
    if node is None:
        return None
    node.op_type = {"Relu": "Softplus", "Tanh": "Sigmoid", "Sigmoid": "Tanh", "AveragePool": "MaxPool"}[node.op_type]
    return node.name


FAULTS = {f.__name__: f for f in (wrong_attribute, corrupted_weight, noisy_weight, swapped_inputs, transposed_weight, wrong_axis,
                                  bad_scale, birth_of_nan, layout_bug, padding_off_by_one, epsilon_left_out, finite_mask,
                                  fault_in_body, other_operator)}
