"""The engine beside ONNX Runtime: networks whose layers are merged, laid out anew and looked at in other ways, and
random graphs of such operators; models of open shapes; and the same bits from any execution.

    engine_test.py RUN_TOOL
"""

import sys
import unittest

import numpy as np
import onnxruntime
from engine_graphs import EngineCase, Graph, floats
from onnx import TensorProto, helper, numpy_helper
from random_ops.sides import Tool

RUN_TOOL = Tool(sys.argv.pop(1))
SEEDS = 60


def convolution(graph, x):
    random = graph.random
    batch, channels, height, width = graph.shapes[x]
    groups = int(random.choice([1, 1, 2, channels]))
    if channels % groups:
        groups = 1
    out = groups * int(random.integers(1, 5))
    kernel = [int(random.integers(1, min(4, height + 1))), int(random.integers(1, min(4, width + 1)))]
    strides = [int(random.integers(1, 3)) for _ in range(2)]
    pads = [int(random.integers(0, k)) for k in kernel + kernel]
    weights = graph.constant(floats(random, out, channels // groups, *kernel) * 0.4)
    operands = [x, weights] + ([graph.constant(floats(random, out))] if random.random() < 0.7 else [])
    size = [(n + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1 for i, n in enumerate((height, width))]
    return graph.add("Conv", operands, [batch, out, *size], kernel_shape=kernel, strides=strides, pads=pads, group=groups)


def spread(graph, x):
    """A ConvTranspose over one or two dims."""
    random = graph.random
    batch, channels, *sizes = graph.shapes[x]
    groups = int(random.choice([1, 1, 1, channels]))
    filters = int(random.integers(1, 7))
    facts = {"kernel_shape": [int(n) for n in random.integers(1, 5, len(sizes))],
             "strides": [int(n) for n in random.integers(1, 4, len(sizes))],
             "dilations": [int(n) for n in random.choice([1, 1, 1, 2], len(sizes))]}
    reach = [(kernel - 1) * dilation + 1 for kernel, dilation in zip(facts["kernel_shape"], facts["dilations"])]
    whole = [stride * (size - 1) + end for stride, size, end in zip(facts["strides"], sizes, reach)]
    form = random.choice(["pads", "padded", "shape", "same"])
    if form in ("pads", "padded"):
        facts["pads"] = [int(random.integers(0, (end + 1) // 2 + 1)) for end in reach * 2]
        facts["output_padding"] = [int(random.integers(0, stride)) if form == "padded" else 0 for stride in facts["strides"]]
        out = [size - facts["pads"][i] - facts["pads"][i + len(sizes)] + facts["output_padding"][i]
               for i, size in enumerate(whole)]
    elif form == "shape":
        out = facts["output_shape"] = [max(1, size - int(random.integers(0, end))) for size, end in zip(whole, reach)]
    else:
        facts["auto_pad"] = str(random.choice(["SAME_UPPER", "SAME_LOWER"]))
        out = [min(stride * size, end) for stride, size, end in zip(facts["strides"], sizes, whole)]
    if min(out) < 1:
        return x
    weights = graph.constant(floats(random, channels, filters, *facts["kernel_shape"]) * 0.4)
    operands = [x, weights] + ([graph.constant(floats(random, groups * filters))] if random.random() < 0.7 else [])
    return graph.add("ConvTranspose", operands, [batch, groups * filters, *out], group=groups, **facts)


def activation(graph, x):
    shape = graph.shapes[x]
    op = str(graph.random.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "silu", "gelu", "Clip", "Elu", "Celu",
                                  "Selu", "Softplus", "Sin", "Cos", "ThresholdedRelu"]))
    if op == "silu":
        return graph.add("Mul", [x, graph.add("Sigmoid", [x], shape)], shape)
    if op == "gelu":
        half = graph.add("Mul", [x, graph.constant(np.float32(0.5))], shape)
        erf = graph.add("Erf", [graph.add("Div", [x, graph.constant(np.float32(2 ** 0.5))], shape)], shape)
        return graph.add("Mul", [half, graph.add("Add", [erf, graph.constant(np.float32(1))], shape)], shape)
    if op == "Clip":
        return graph.add(op, [x, graph.constant(np.float32(-0.5)), graph.constant(np.float32(0.8))], shape)
    return graph.add(op, [x], shape)


def together(graph, x):
    """A sum or product with another value, a number, or one number for each channel or column."""
    shape = graph.shapes[x]
    same = [name for name, other in graph.shapes.items() if other == shape and name not in graph.types]
    kind = graph.random.integers(0, 4)
    if kind == 0:
        other = str(graph.random.choice(same))
    elif kind == 1 and len(shape) == 4:
        other = graph.constant(floats(graph.random, 1, shape[1], 1, 1))
    elif kind == 2:
        other = graph.constant(floats(graph.random, shape[-1]))
    else:
        other = graph.constant(floats(graph.random, 1))
    return graph.add(str(graph.random.choice(["Add", "Mul", "Sub", "Max"])), [x, other], shape)


def pool(graph, x):
    batch, channels, height, width = graph.shapes[x]
    if graph.random.random() < 0.3:
        return graph.add(str(graph.random.choice(["GlobalAveragePool", "GlobalMaxPool"])), [x], [batch, channels, 1, 1])
    if min(height, width) < 3:
        return x
    op = str(graph.random.choice(["MaxPool", "AveragePool"]))
    if graph.random.random() < 0.3:
        return graph.add(op, [x], [batch, channels, (height + 1) // 2, (width + 2) // 3], kernel_shape=[2, 3],
                         strides=[2, 3], auto_pad=str(graph.random.choice(["SAME_UPPER", "SAME_LOWER"])))
    size = [(height + 2 - 3) // 2 + 1, (width + 2 - 3) // 2 + 1]
    return graph.add(op, [x], [batch, channels, *size], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


def enlarge(graph, x):
    batch, channels, height, width = graph.shapes[x]
    if height * width > 400:
        return x
    if graph.random.random() < 0.6:  # to any size, mixing neighbours
        size = [int(n) for n in graph.random.integers(1, 30, 2)]
        sizes = graph.constant(np.array([batch, channels, *size], np.int64))
        facts = {"mode": str(graph.random.choice(["linear", "cubic"])), "coordinate_transformation_mode":
                 str(graph.random.choice(["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]))}
        return graph.add("Resize", [x, "", "", sizes], [batch, channels, *size], **facts)
    scales = graph.constant(np.array([1, 1, 2, 3], np.float32))
    return graph.add("Resize", [x, "", scales], [batch, channels, height * 2, width * 3], mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def blocks(graph, x):
    """Depth becomes space, or the reverse."""
    batch, channels, height, width = graph.shapes[x]
    mode = str(graph.random.choice(["DCR", "CRD"]))
    if channels % 4 == 0:
        return graph.add("DepthToSpace", [x], [batch, channels // 4, height * 2, width * 2], blocksize=2, mode=mode)
    if height % 2 == 0 and width % 2 == 0:
        return graph.add("SpaceToDepth", [x], [batch, channels * 4, height // 2, width // 2], blocksize=2)
    return x


def part(graph, x):
    """A piece of some axis, perhaps backwards."""
    shape = list(graph.shapes[x])
    axis = int(graph.random.integers(0, len(shape)))
    if shape[axis] < 2:
        return x
    step = int(graph.random.choice([1, 1, 2, -1]))
    begin, end = (shape[axis] - 1, -shape[axis] - 1) if step < 0 else (1, shape[axis])
    operands = [x, *(graph.constant(np.array([value], np.int64)) for value in (begin, end, axis, step))]
    shape[axis] = len(range(shape[axis])[slice(begin, None if step < 0 else end, step)])
    return graph.add("Slice", operands, shape)


def turn(graph, x):
    order = [int(axis) for axis in graph.random.permutation(len(graph.shapes[x]))]
    return graph.add("Transpose", [x], [graph.shapes[x][axis] for axis in order], perm=order)


def fold(graph, x):
    shape = graph.shapes[x]
    target = [shape[0], int(np.prod(shape[1:]))] if graph.random.random() < 0.5 else [1, *shape]
    return graph.add("Reshape", [x, graph.constant(np.array(target, np.int64))], target)


def join(graph, x):
    shape = graph.shapes[x]
    same = [name for name, other in graph.shapes.items() if other == shape and name not in graph.types]
    axis = int(graph.random.integers(0, len(shape)))
    grown = list(shape)
    grown[axis] *= 2
    return graph.add("Concat", [x, str(graph.random.choice(same))], grown, axis=axis)


def product(graph, x):
    shape = graph.shapes[x]
    if len(shape) < 2:
        return x
    columns = int(graph.random.integers(1, 70))
    if graph.random.random() < 0.3:  # by itself, turned
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        other = graph.add("Transpose", [x], [shape[axis] for axis in order], perm=order)
        return graph.add("MatMul", [x, other], [*shape[:-1], shape[-2]])
    return graph.add("MatMul", [x, graph.constant(floats(graph.random, shape[-1], columns) * 0.3)], [*shape[:-1], columns])


def softmax(graph, x):
    return graph.add(str(graph.random.choice(["Softmax", "LogSoftmax"])), [x], graph.shapes[x], axis=-1)


def norm(graph, x):
    shape = graph.shapes[x]
    row = shape[-1]
    scale, shift = graph.constant(floats(graph.random, row)), graph.constant(floats(graph.random, row))
    if graph.random.random() < 0.5:
        return graph.add("LayerNormalization", [x, scale, shift], shape, axis=-1, epsilon=1e-3)
    thin = [*shape[:-1], 1]
    centered = graph.add("Sub", [x, graph.add("ReduceMean", [x], thin, axes=[-1], keepdims=1)], shape)
    square = graph.add("Pow", [centered, graph.constant(np.float32(2))], shape)
    variance = graph.add("ReduceMean", [square], thin, axes=[-1], keepdims=1)
    root = graph.add("Sqrt", [graph.add("Add", [variance, graph.constant(np.float32(1e-3))], thin)], thin)
    scaled = graph.add("Mul", [graph.add("Div", [centered, root], shape), scale], shape)
    return graph.add("Add", [scaled, shift], shape)


def reduction(graph, x):
    """Over some axes, which may be neighbours or not."""
    shape = graph.shapes[x]
    axes = [axis for axis in range(len(shape)) if graph.random.random() < 0.5] or [len(shape) - 1]
    keeps = bool(graph.random.random() < 0.6)
    out = [1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes]
    op = str(graph.random.choice(["ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL2", "ReduceMax"]))
    written = [axis - len(shape) if graph.random.random() < 0.5 else axis for axis in axes]
    if op == "ReduceSum":
        return graph.add(op, [x, graph.constant(np.array(written, np.int64))], out, keepdims=int(keeps))
    return graph.add(op, [x], out, axes=written, keepdims=int(keeps))


def channel_norm(graph, x):
    shape = graph.shapes[x]
    numbers = [graph.constant(floats(graph.random, shape[1])) for _ in range(3)]
    variance = graph.constant(np.abs(floats(graph.random, shape[1])) + 0.5)
    if graph.random.random() < 0.5:
        return graph.add("BatchNormalization", [x, *numbers, variance], shape)
    return graph.add("InstanceNormalization", [x, *numbers[:2]], shape, epsilon=1e-2)


def truths(graph, x):
    """What conditions choose of two values, which are equal where the choice turns over."""
    shape = graph.shapes[x]
    other = graph.constant(floats(graph.random, *shape[1:]) if graph.random.random() < 0.5 else np.float32(0.2))

    def truth(op, *operands):
        found = graph.add(op, list(operands), shape)
        graph.types[found] = TensorProto.BOOL
        return found

    chosen = truth(str(graph.random.choice(["Less", "Greater"])), x, other)
    if graph.random.random() < 0.5:
        second = truth(str(graph.random.choice(["LessOrEqual", "GreaterOrEqual"])), x, other)
        chosen = truth(str(graph.random.choice(["And", "Or", "Xor"])), chosen, second)
    if graph.random.random() < 0.3:
        chosen = truth("Not", chosen)
    if graph.random.random() < 0.3:
        number = graph.add("Cast", [chosen], shape, to=TensorProto.FLOAT)
        return graph.add("Mul", [number, graph.add("Sub", [x, other], shape)], shape)
    return graph.add("Where", [chosen, x, other], shape)


ANY = [activation, activation, truths, together, together, part, turn, fold, join, reduction]
PICTURES = [convolution, convolution, convolution, spread, channel_norm, pool, enlarge, blocks, *ANY]
MATRICES = [product, product, softmax, norm, *ANY]


def random_graph(seed):
    graph = Graph(seed)
    random = graph.random
    if seed % 2:
        x = graph.input(int(random.integers(1, 3)), int(random.integers(1, 20)), int(random.integers(4, 14)),
                        int(random.integers(4, 14)))
    else:
        x = graph.input(int(random.integers(1, 4)), int(random.integers(2, 40)), int(random.integers(2, 70)))
    for _ in range(int(random.integers(3, 14))):
        numbers = [name for name in graph.shapes if name not in graph.types]
        source = x if random.random() < 0.8 else str(random.choice(numbers))
        steps = PICTURES if len(graph.shapes[source]) == 4 else MATRICES
        made = steps[random.integers(0, len(steps))](graph, source)
        if 0 < np.prod(graph.shapes[made]) < 200_000:
            x = made
    used = {name for node in graph.nodes for name in node.input}
    outputs = [node.output[0] for node in graph.nodes if node.output[0] not in used or random.random() < 0.15]
    return graph.model(outputs), graph.feeds


def halved(model):
    """The same in float16; scales and sizes of Resize stay."""
    kept = {name for node in model.graph.node if node.op_type == "Resize" for name in node.input[1:]}
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and tensor.name not in kept:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    for value in [*model.graph.input, *model.graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for node in model.graph.node:
        if node.op_type == "Celu":  # has float32 only
            node.op_type = "Elu"
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    return model


def trees(random, kind, rows):
    """A model of trees that score numbers: regression over targets, or classes."""
    prefix = "target" if kind == "TreeEnsembleRegressor" else "class"
    count, depth, targets = 5, 3, int(random.integers(1, 4)) if prefix == "target" else 3
    inner, every = 2**depth - 1, 2 ** (depth + 1) - 1
    owners, nodes = np.divmod(np.arange(count * every), every)
    is_leaf = nodes >= inner
    leaves = np.flatnonzero(is_leaf)
    modes = random.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
    facts = {"nodes_treeids": owners, "nodes_nodeids": nodes, "nodes_featureids": random.integers(0, 4, nodes.size),
             "nodes_values": floats(random, nodes.size), "nodes_modes": np.where(is_leaf, "LEAF", modes),
             "nodes_truenodeids": np.where(is_leaf, 0, 2 * nodes + 1),
             "nodes_falsenodeids": np.where(is_leaf, 0, 2 * nodes + 2), f"{prefix}_treeids": owners[leaves],
             f"{prefix}_nodeids": nodes[leaves], f"{prefix}_ids": random.integers(0, targets, leaves.size),
             f"{prefix}_weights": floats(random, leaves.size)}
    if targets == 1 or prefix == "class":
        facts["base_values"] = floats(random, targets)
    facts = {name: value.tolist() for name, value in facts.items()}
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, targets])]
    if prefix == "target":
        facts |= {"n_targets": targets, "aggregate_function": str(random.choice(["SUM", "AVERAGE"]))}
    else:
        facts |= {"classlabels_int64s": random.permutation(10)[:targets].tolist(),
                  "post_transform": str(random.choice(["NONE", "SOFTMAX", "LOGISTIC"]))}
        outputs = [helper.make_tensor_value_info("label", TensorProto.INT64, [rows]),
                   helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, max(targets, 2)])]
    node = helper.make_node(kind, ["x"], [output.name for output in outputs], domain="ai.onnx.ml", **facts)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 4])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(helper.make_graph([node], "g", [x], outputs), ir_version=8, opset_imports=imports)


class EngineTest(EngineCase):
    tool = RUN_TOOL

    def check(self, model, feeds, backend="engine", relative=2e-4, absolute=2e-5):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = session.run(None, feeds)
        for output, mine, other in zip(model.graph.output, self.ask(model, feeds, backend), expected, strict=True):
            self.assertEqual(mine.shape, other.shape, output.name)
            self.assertEqual(mine.dtype, other.dtype, output.name)
            scale = float(np.max(np.abs(other), initial=1.0))
            np.testing.assert_allclose(mine, other, rtol=relative, atol=absolute * scale, err_msg=output.name)

    def test_random_graphs(self):
        for seed in range(SEEDS):
            with self.subTest(seed):
                self.check(*random_graph(seed))

    def test_random_graphs_of_float16(self):
        for seed in range(SEEDS):
            with self.subTest(seed):
                model, feeds = random_graph(seed)
                feeds = {name: value.astype(np.float16) for name, value in feeds.items()}
                for backend in ("engine", "engine+strict"):
                    self.check(halved(model), feeds, backend, relative=2e-2, absolute=1e-2)

    def test_transposed_convolutions(self):
        for seed in range(120):
            with self.subTest(seed):
                graph = Graph(seed)
                random = graph.random
                sizes = [int(n) for n in random.integers(1, 12, 1 + seed % 2)]
                x = spread(graph, graph.input(int(random.integers(1, 3)), int(random.integers(1, 20)), *sizes))
                if graph.nodes:
                    self.check(graph.model([activation(graph, x) if seed % 3 else x]), graph.feeds)

    def test_products_of_matrices_that_are_repeated(self):
        for left, right in (((5, 7), (1, 7, 9)), ((5, 7), (3, 7, 9)), ((2, 1, 5, 7), (3, 7, 9)), ((3, 5, 7), (2, 1, 7, 9)),
                            ((1, 3, 5, 7), (2, 3, 7, 9)), ((2, 1, 4, 5, 7), (3, 1, 7, 9)), ((3, 1, 7), (4, 1, 7, 9))):
            for is_constant in (False, True):
                with self.subTest(left=left, right=right, is_constant=is_constant):
                    graph = Graph(1)
                    a = graph.constant(floats(graph.random, *left)) if is_constant else graph.input(*left)
                    b = graph.input(*right)
                    batch = np.broadcast_shapes(left[:-2], right[:-2])
                    y = graph.add("MatMul", [a, b], [*batch, left[-2], right[-1]])
                    self.check(graph.model([activation(graph, y)]), graph.feeds)

    def test_normalisations_of_groups(self):
        for seed in range(24):
            with self.subTest(seed):
                graph = Graph(seed)
                random = graph.random
                groups, each = (int(n) for n in random.integers(1, 9, 2))
                shape = [int(random.integers(1, 3)), groups * each, int(random.integers(1, 30)), int(random.integers(1, 30))]
                x = graph.input(*shape)
                if seed % 2:  # channels last
                    weights = graph.constant(floats(random, shape[1], shape[1], 1, 1) * 0.3)
                    x = graph.add("Conv", [x, weights], shape)
                x = graph.add("Add", [x, graph.constant(np.float32(7))], shape)
                numbers = [graph.constant(floats(random, shape[1])) for _ in range(2)]
                x = graph.add("GroupNormalization", [x, *numbers], shape, num_groups=groups, epsilon=1e-3)
                model = graph.model([x])
                model.opset_import[0].version = 21
                model.ir_version = 10
                self.check(model, graph.feeds)

    def test_outputs_that_are_views_inputs_and_twice_the_same(self):
        graph = Graph(1)
        x = graph.input(2, 6, 5, 4)
        conv = graph.add("Conv", [x, graph.constant(floats(graph.random, 6, 6, 3, 3))], [2, 6, 5, 4], pads=[1, 1, 1, 1])
        turned = graph.add("Transpose", [conv], [2, 5, 4, 6], perm=[0, 2, 3, 1])
        flat = graph.add("Reshape", [turned, graph.constant(np.array([2, -1], np.int64))], [2, 120])
        same = graph.add("Identity", [x], [2, 6, 5, 4])
        self.check(graph.model([conv, turned, flat, same]), graph.feeds)

    def test_open_shapes_are_planned_for_each_set(self):
        graph = Graph(2)
        x = graph.input(3, 8)
        y = graph.add("Relu", [graph.add("MatMul", [x, graph.constant(floats(graph.random, 8, 5))], [3, 5])], [3, 5])
        model = graph.model([y])
        for value in (model.graph.input[0], model.graph.output[0]):
            value.type.tensor_type.shape.dim[0].dim_param = "n"
        for rows in (1, 7, 3, 64):
            self.check(model, {x: floats(graph.random, rows, 8)})

    def test_trees(self):
        for seed in range(40):
            with self.subTest(seed):
                random = np.random.default_rng(seed)
                rows = int(random.integers(1, 40))
                kind = ["TreeEnsembleRegressor", "TreeEnsembleClassifier"][seed % 2]
                self.check(trees(random, kind, rows), {"x": floats(random, rows, 4)})

    def test_best_elements(self):
        """Of equal ones the first stands before; NaN counts as the largest."""
        for seed in range(60):
            with self.subTest(seed):
                graph = Graph(seed)
                random = graph.random
                axis, largest = int(random.integers(0, 2)), int(random.integers(0, 2))
                shape = random.integers(1, 200, 2).tolist()
                x = graph.input(*shape)
                numbers = np.round(graph.feeds[x] * random.choice([1, 100]))
                graph.feeds[x] = np.where(random.random(shape) < 0.01, np.nan, numbers).astype(np.float32)
                count = int(random.integers(1, shape[axis] + 1))
                result = [count if i == axis else size for i, size in enumerate(shape)]
                values = graph.add("TopK", [x, graph.constant(np.array([count]))], result, axis=axis, largest=largest)
                graph.nodes[-1].output.append("places")
                graph.shapes["places"], graph.types["places"] = result, TensorProto.INT64
                given = np.where(np.isnan(graph.feeds[x]), np.inf, graph.feeds[x])
                places = np.argsort(-given if largest else given, axis=axis, kind="stable").take(range(count), axis)
                seen = self.ask(graph.model([values, "places"]), graph.feeds)
                np.testing.assert_array_equal(seen[1], places)
                np.testing.assert_array_equal(seen[0], np.take_along_axis(graph.feeds[x], places, axis))

    def test_boxes_that_overlap(self):
        for seed in range(20):
            with self.subTest(seed):
                graph = Graph(seed)
                random = graph.random
                boxes, scores = graph.input(1, 60, 4), graph.input(1, 3, 60)
                graph.feeds[boxes] = random.random((1, 60, 4)).astype(np.float32)
                graph.feeds[scores] = np.round(random.random((1, 3, 60)) * 20).astype(np.float32)
                limits = [graph.constant(np.array([int(random.integers(1, 30))])), graph.constant(np.float32([0.3])),
                          graph.constant(np.float32([5]))]
                kept = graph.add("NonMaxSuppression", [boxes, scores, *limits], ["n", 3])
                graph.types[kept] = TensorProto.INT64
                model = graph.model([kept])
                session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
                np.testing.assert_array_equal(self.ask(model, graph.feeds)[0], session.run(None, graph.feeds)[0])

    def test_sizes_that_data_decides(self):
        graph = Graph(3)
        x = graph.input(4, 6)
        found = graph.add("NonZero", [graph.add("Relu", [x], [4, 6])], [2, "n"])
        rows = graph.add("Cast", [found], [2, "n"], to=TensorProto.FLOAT)
        y = graph.add("Mul", [rows, graph.constant(np.float32(2))], [2, "n"])
        self.check(graph.model([y]), graph.feeds)


if __name__ == "__main__":
    unittest.main()
