"""`check lint` of models with open dims: sound ones have no error, and the same models with a fault have one.

ONNX Runtime runs each sound model with the shapes that are named beside it, so that it is known to be sound. The sizes
of the models are drawn; a seed repeats a run.

    lint_shapes_test.py ASSAY [SEED]
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 7
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Net:
    """A graph that grows node by node."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs, self.feeds = [], [], [], [], {}

    def input(self, name, dims, shape, dtype=FLOAT, high=2):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        kind = helper.tensor_dtype_to_np_dtype(dtype)
        drawn = self.numbers.random(shape) if dtype == FLOAT else self.numbers.integers(0, high, shape)
        self.feeds[name] = drawn.astype(kind)
        return name

    def output(self, name, rank, dtype=FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, [None] * rank))

    def weight(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def drawn(self, *shape):
        return self.weight((self.numbers.random(shape) - 0.5).astype(np.float32))

    def add(self, op, *operands, count=1, **attributes):
        place = len(self.nodes)
        results = [f"v{place}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, list(operands), results, name=f"n{place}", **attributes))
        return results[0] if count == 1 else results

    def model(self):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def conv(net, x, taken, given, kernel, stride=1, pads=0, group=1):
    weight = net.drawn(given, taken // group, kernel, kernel)
    return net.add("Conv", x, weight, strides=[stride] * 2, pads=[pads] * 4, group=group)


def strided_convs(net):
    kernels = [net.random.choice([3, 5, 7, 11]) for _ in range(3)]
    x = net.input("x", ["N", 3, "H", "W"], (1, 3, 160, 160))
    for place, kernel in enumerate(kernels):
        x = net.add("Relu", conv(net, x, 3 if place == 0 else 4, 4, kernel, stride=net.random.choice([1, 2])))
    net.output(x, 4)


def all_dims_open(net):
    channels = net.random.choice([3, 4, 6])
    x = net.input("x", ["N", "C", "H", "W"], (1, channels, 64, 64))
    x = conv(net, x, channels, 8, 7, stride=2)
    net.output(net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]), 4)


def unnamed_dims(net):
    x = net.input("x", [None, None, None, None], (1, 6, 40, 40))
    net.output(conv(net, x, 6, 4, 5, stride=3, group=2), 4)


def pools(net):
    x = net.input("x", [None, 3, "H", "W"], (1, 3, 96, 96))
    for _ in range(3):
        x = net.add(net.random.choice(["AveragePool", "MaxPool"]), x, kernel_shape=[3, 3], strides=[2, 2])
    net.output(x, 4)


def down_and_up(net):
    depth = net.random.choice([3, 4, 5])
    x = net.input("image", ["batch", 3, "height", "width"], (1, 3, 64, 64))
    x = conv(net, x, 3, 2, 3, pads=1)
    skips = []
    for _ in range(depth):
        skips.append(x)
        x = conv(net, x, 2, 2, 3, stride=2, pads=1)
    scales = net.weight(np.array([1, 1, 2, 2], np.float32))
    for skip in reversed(skips):
        x = net.add("Concat", net.add("Resize", x, "", scales, mode="nearest"), skip, axis=1)
        x = conv(net, x, 4, 2, 1)
    net.output(x, 4)


def windows_of_eight(net):
    """Pixels are cut into tiles, as in a network with windowed attention."""
    x = net.input("x", [1, "H", "W", 4], (1, 16, 24, 4))
    shape = net.add("Shape", x)
    sizes = [net.add("Div", net.add("Gather", shape, net.weight(np.array(i)), axis=0), net.weight(np.array(8)))
             for i in (1, 2)]
    parts = [net.add("Unsqueeze", size, net.weight(np.array([0]))) for size in sizes]
    one, eight, four = (net.weight(np.array([n])) for n in (1, 8, 4))
    target = net.add("Concat", one, parts[0], eight, parts[1], eight, four, axis=0)
    net.output(net.add("Reshape", x, target), 6)


def ids(net):
    rows, width = net.random.choice([5, 30]), 4
    words = net.input("ids", ["B", "S"], (1, 6), INT64, rows)
    kinds = net.input("kinds", ["B", "S"], (1, 6), INT64, 2)
    x = net.add("Add", net.add("Gather", net.drawn(rows, width), words), net.add("Gather", net.drawn(2, width), kinds))
    net.output(net.add("Softmax", x, axis=-1), 3)


def heads(net):
    x = net.input("x", ["B", "T", 24], (2, 5, 24))
    x = net.add("Reshape", net.add("MatMul", x, net.drawn(24, 32)), net.weight(np.array([0, -1, 4, 8])))
    q = net.add("Transpose", x, perm=[0, 2, 1, 3])
    k = net.add("Transpose", x, perm=[0, 2, 3, 1])
    net.output(net.add("Softmax", net.add("MatMul", q, k), axis=-1), 4)


def groups_of(net):
    """A flat input whose length must be a multiple of what a Reshape names."""
    length = net.random.choice([6, 10, 15])
    x = net.input("x", ["L"], (3 * length,))
    net.output(net.add("Reshape", x, net.weight(np.array([-1, length]))), 2)


def past(net):
    h, d = 2, 4
    x = net.input("x", ["B", "S", h * d], (1, 3, h * d))
    cache = net.input("past", ["B", h, "P", d], (1, h, 5, d))
    mask = net.input("mask", ["B", "P+S"], (1, 8))
    keys = net.add("Transpose", net.add("Reshape", x, net.weight(np.array([0, -1, h, d]))), perm=[0, 2, 1, 3])
    both = net.add("Concat", cache, keys, axis=2)
    scores = net.add("MatMul", keys, net.add("Transpose", both, perm=[0, 1, 3, 2]))
    bias = net.add("Unsqueeze", mask, net.weight(np.array([1, 2])))
    net.output(net.add("Softmax", net.add("Add", scores, bias), axis=-1), 4)
    net.output(both, 4)


def scan(net):
    state, item = (helper.make_tensor_value_info(name, FLOAT, [3]) for name in ("state", "item"))
    next_state, said = (helper.make_tensor_value_info(name, FLOAT, [3]) for name in ("next", "said"))
    body = helper.make_graph([helper.make_node("Add", ["state", "item"], ["next"], name="sum"),
                              helper.make_node("Neg", ["next"], ["said"], name="neg")], "body", [state, item],
                             [next_state, said])
    x = net.input("x", ["T", 3], (4, 3))
    tail = net.add("Slice", x, net.weight(np.array([1])), net.weight(np.array([1 << 40])), net.weight(np.array([0])))
    net.output(net.add("Scan", net.weight(np.zeros(3, np.float32)), tail, count=2, body=body, num_scan_inputs=1)[1], 2)


def loop(net):
    """Each step looks two places on, so that the sequence must be longer than that."""
    counter = helper.make_tensor_value_info("i", INT64, [])
    go = helper.make_tensor_value_info("go", BOOL, [])
    going = helper.make_tensor_value_info("going", BOOL, [])
    picked = helper.make_tensor_value_info("picked", FLOAT, [4])
    x = net.input("x", ["T", 4], (6, 4))
    two = net.weight(np.array(2))
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["going"], name="same"),
                              helper.make_node("Add", ["i", two], ["at"], name="later"),
                              helper.make_node("Gather", [x, "at"], ["picked"], name="pick")], "body", [counter, go],
                             [going, picked])
    steps = net.weight(np.array(3))
    net.output(net.add("Loop", steps, net.weight(np.array(True)), body=body), 2)


def framing(net):
    """Frames of a sound, as in an STFT made of a convolution."""
    frame = net.random.choice([64, 400, 512])
    sound = net.input("sound", ["batch", "samples"], (1, 4 * frame))
    x = net.add("Unsqueeze", sound, net.weight(np.array([1])))
    x = net.add("Conv", x, net.drawn(6, 1, frame), strides=[frame // 4])
    net.output(net.add("Conv", x, net.drawn(2, 6, 3)), 3)


def far_places(net):
    """A constant index into an axis whose size is open."""
    place = net.random.choice([1, 3, 9])
    x = net.input("x", ["B", "S", 4], (1, 12, 4))
    net.output(net.add("Gather", x, net.weight(np.array(place)), axis=1), 2)


def shared_names(net):
    x = net.input("x", ["B", "T", 4], (1, 7, 4))
    y = net.input("y", ["B", "T", 6], (1, 7, 6))
    x = net.add("Concat", x, y, axis=2)
    x = net.add("Conv", net.add("Transpose", x, perm=[0, 2, 1]), net.drawn(3, 10, 5))
    net.output(x, 3)


def recurrent(net):
    x = net.input("x", ["T", "B", "D"], (5, 1, 3))
    net.output(net.add("GRU", x, net.drawn(1, 24, 3), net.drawn(1, 24, 8), hidden_size=8), 4)


def found_places(net):
    """What is found in the data is looked up: nothing may be found in data that was made up."""
    x = net.input("x", [8], (8,))
    net.feeds["x"] += np.float32(1)
    found = net.add("NonZero", net.add("Greater", x, net.weight(np.float32(0.99))))
    net.output(net.add("Gather", net.add("Squeeze", found, net.weight(np.array([0]))), net.weight(np.array(0))), 0, INT64)


SOUND = [strided_convs, all_dims_open, unnamed_dims, pools, down_and_up, windows_of_eight, ids, heads, groups_of, past,
         scan, loop, framing, far_places, shared_names, recurrent, found_places]


def wrong_weight(model):
    """A weight that does not fit, whatever the sizes of inputs are."""
    model.graph.initializer.extend([numpy_helper.from_array(np.zeros((3, 5), np.float32), "bad_a"),
                                    numpy_helper.from_array(np.zeros((4, 2), np.float32), "bad_b")])
    model.graph.node.append(helper.make_node("MatMul", ["bad_a", "bad_b"], ["bad"], name="bad"))


def missing_attribute(model):
    first = model.graph.input[0].name
    model.graph.node.append(helper.make_node("Cast", [first], ["bad"], name="bad"))


def wrong_type(model):
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(1, np.float64), "bad_w"))
    model.graph.node.append(helper.make_node("Add", [model.graph.output[0].name, "bad_w"], ["bad"], name="bad"))


def twice(model):
    model.graph.node.append(helper.make_node("Identity", [model.graph.input[0].name], [model.graph.output[0].name]))


def constant_index(model):
    model.graph.initializer.extend([numpy_helper.from_array(np.zeros((2, 3), np.float32), "bad_t"),
                                    numpy_helper.from_array(np.array([7]), "bad_i")])
    model.graph.node.append(helper.make_node("Gather", ["bad_t", "bad_i"], ["bad"], name="bad"))


FAULTS = [wrong_weight, missing_attribute, wrong_type, twice, constant_index]


def lint(folder, model):
    path, report = folder / "m.onnx", folder / "report.json"
    onnx.save(model, path)
    done = subprocess.run([PROGRAM, "check", "lint", str(path), "-o", str(report)], capture_output=True, text=True,
                          timeout=300)
    return done.returncode, json.loads(report.read_text())["lint_entries"], done.stdout + done.stderr


def drawn_nets():
    for make in SOUND:
        for turn in range(2):
            net = Net(SEED * 100 + turn)
            make(net)
            yield make.__name__, net


def check(folder, name, net, faults):
    model = net.model()
    onnx.checker.check_model(model)
    onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, net.feeds)
    status, entries, text = lint(folder, model)
    if status != 0 or any(entry["level"] == "exception" for entry in entries) or "[E]" in text:
        faults.append(f"{name} is sound and has errors:\n{text}")
    made_up = [entry for entry in entries if entry["code"] == "made_up_inputs"]
    if made_up and name != "found_places":
        faults.append(f"{name}: no sizes were found with which it runs:\n{text}")
    for plant in FAULTS:
        bad = onnx.ModelProto.FromString(model.SerializeToString())
        plant(bad)
        status, _, text = lint(folder, bad)
        if status != 1 or "[E]" not in text:
            faults.append(f"{name} with {plant.__name__}: exit {status}\n{text}")


def main():
    faults, count = [], 0
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as place:
        for name, net in drawn_nets():
            check(pathlib.Path(place), name, net, faults)
            count += 1
    print("\n".join(faults))
    print(f"{count} sound models, each also with {len(FAULTS)} faults; seed {SEED}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
