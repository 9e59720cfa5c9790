"""Random graphs full of what passes look for (for random_passes_test.py)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .graphs import LOCAL, VERSION, Builder, local_function

FLOAT = TensorProto.FLOAT


def scaling_function():
    """stretch(x) = squash(Elu(x), 0.25), with an attribute that calls may leave out and a body that captures."""
    elu = helper.make_node("Elu", ["x"], ["e"])
    elu.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT))
    branches = [helper.make_graph([helper.make_node(op, ["e"], ["b"])], op, [], [
        helper.make_tensor_value_info("b", FLOAT, None)]) for op in ("Neg", "Abs")]
    nodes = [elu, helper.make_node("Constant", [], ["s"], value_float=0.25),
             helper.make_node("squash", ["e", "s"], ["q"], domain=LOCAL),
             helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("", TensorProto.BOOL, [], [True])),
             helper.make_node("If", ["yes"], ["i"], then_branch=branches[0], else_branch=branches[1]),
             helper.make_node("Add", ["q", "i"], ["y"])]
    function = helper.make_function(LOCAL, "stretch", ["x"], ["y", "e"], nodes,
                                    [helper.make_opsetid("", VERSION), helper.make_opsetid(LOCAL, 1)])
    function.attribute_proto.append(helper.make_attribute("alpha", 0.5))
    return function


class PatternBuilder(Builder):
    """Graphs of the steps of Builder and of those below, in equal shares; inputs hold NaN, infinity and -0 too."""

    def build(self):
        for _ in range(self.r.randint(1, 2)):
            self.add_input()
        for array in self.feeds.values():
            for _ in range(self.r.randint(0, 3) if array.size else 0):
                array.reshape(-1)[self.r.randrange(array.size)] = self.r.choice([-0.0, -0.0, 0.0, np.inf, np.nan])
        usual = [name for name in dir(Builder) if name.startswith("step_")]
        patterns = [name for name in dir(self) if name.startswith("step_") and name not in usual]
        wanted = self.r.randint(4, 20)
        while len(self.nodes) < wanted:
            names = usual if self.r.maybe(0.4) else patterns
            getattr(self, self.r.choice(names))(self.r.choice(sorted(self.values)))

    def model(self):
        model = super().model()
        del model.functions[:]
        model.functions.extend([scaling_function(), local_function()])
        outputs = [value.name for value in model.graph.output]
        inner = [name for node in model.graph.node for name in node.output if name and name not in outputs]
        extra = [name for name in inner if hash_of(name) % 7 == 0]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in extra)
        return model

    def scalar(self, value, dtype=np.float32):
        return self.constant(np.array(value, dtype))

    def step_copies(self, x):
        y = self.node("Identity", [x], self.values[x])
        self.node(self.r.choice(["Dropout", "Identity", "Sum", "Max", "Mean"]), [y], self.values[x])

    def step_arithmetic(self, x):
        """Some keep every bit, some nearly do."""
        if self.r.maybe():
            shape = self.values[x]
            x = self.node("Neg", [self.node("Relu", [x])], shape)  # with -0
        op, number = self.r.choice([("Mul", 1), ("Div", 1), ("Add", 0), ("Add", 0), ("Add", -0.0), ("Sub", 0),
                                    ("Sub", -0.0), ("Mul", -1)])
        shape = [1] * self.r.randint(0, len(self.values[x]))
        operands = [x, self.constant(np.full(shape, number, np.float32))]
        if op in ("Mul", "Add") and self.r.maybe(0.4):
            operands.reverse()
        self.node(op, operands, self.values[x])

    def step_enlarging(self, x):
        """x * ones, which has more dims than x."""
        shape = [2, *self.values[x]]
        self.node("Mul", [x, self.constant(np.ones(shape, np.float32))], shape)

    def step_twice(self, x):
        op = self.r.choice(["Neg", "Relu", "Abs", "Floor", "Ceil", "Round", "Sign"])
        y = self.node(op, [x], self.values[x])
        self.node(op, [y], self.values[x])

    def step_repeats(self, x):
        """The same few nodes again."""
        shape = self.values[x]
        for _ in range(2):
            for op in ("Abs", "Sqrt", "Neg", "Ceil"):
                x = self.node(op, [x], shape)

    def step_logic(self, x):
        condition = self.node("Not", [self.node("Greater", [x, self.scalar(0)])])
        if self.r.maybe():
            condition = self.node("Not", [condition])
        self.node("Where", [condition, x, self.scalar(2)], self.values[x])

    def step_casts(self, x):
        shape = self.values[x]
        types = [TensorProto.FLOAT16, TensorProto.DOUBLE, FLOAT, TensorProto.BFLOAT16]
        for number in self.r.sample(types, self.r.randint(1, 3)):
            x = self.node("Cast", [x], to=number)
        self.node("Cast", [x], shape, to=FLOAT)

    def step_integer_casts(self, x):
        small = self.node("Cast", [self.node("Clip", [x, self.scalar(-9), self.scalar(9)])], to=TensorProto.BOOL)
        types = [TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.UINT16, TensorProto.INT64,
                 TensorProto.FLOAT16]
        for number in self.r.sample(types, self.r.randint(1, 4)):
            small = self.node("Cast", [small], to=number)
        self.node("Cast", [small], self.values[x], to=FLOAT)

    def step_transposes(self, x):
        x = self.r.choice([name for name, shape in sorted(self.values.items()) if len(shape) > 2] or [x])
        for _ in range(self.r.randint(1, 3)):
            shape = self.values[x]
            perm = self.r.sample(range(len(shape)), len(shape)) if self.r.maybe(0.7) else list(range(len(shape)))
            if self.r.maybe(0.3) or not perm:
                x = self.node("Transpose", [x], shape[::-1])
            else:
                x = self.node("Transpose", [x], [shape[axis] for axis in perm], perm=perm)
            if x not in self.values:
                return

    def step_reshapes(self, x):
        for _ in range(self.r.randint(2, 4)):
            x = self.r.choice([self.flatten, self.reshape, self.unsqueeze, self.squeeze])(x)
            if x not in self.values:
                return

    def step_reshaped_arithmetic(self, x):
        """Elementwise nodes between a Reshape and the one back."""
        shape = self.values[x]
        if 0 in shape:
            return
        y = self.node("Reshape", [x, self.ints(-1)])
        for _ in range(self.r.randint(1, 3)):
            z = self.node(self.r.choice(["Neg", "Exp", "Tanh", "Abs"]), [y])
            y = self.node(self.r.choice(["Add", "Max", "Sub"]), [self.r.choice([y, self.scalar(2)]), z])
        self.node("Reshape", [y, self.node("Shape", [x])], shape)

    def step_ones(self, x):
        """A Transpose that moves a dim of size 1."""
        shape = self.values[x]
        if 0 in shape or len(shape) > 3:
            return
        axis = self.r.randint(0, len(shape))
        y = self.unsqueeze_at(x, 0)
        perm = [*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1)]
        self.node("Transpose", [y], [*shape[:axis], 1, *shape[axis:]], perm=perm)

    def unsqueeze_at(self, x, axis):
        shape = self.values[x]
        return self.node("Unsqueeze", [x, self.ints(axis)], [*shape[:axis], 1, *shape[axis:]])

    def flatten(self, x):
        shape = self.values[x]
        axis = self.r.randint(0, len(shape))
        both = [int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))]
        return self.node("Flatten", [x], both, axis=axis)

    def reshape(self, x):
        shape = [dim for dim in self.values[x] if dim != 1] or [1]
        self.r.shuffle(shape)
        target = list(shape)
        if 0 not in target and self.r.maybe():
            target[self.r.randrange(len(target))] = -1
        if 0 in shape:
            return self.node("Reshape", [x, self.ints(*target)], shape, allowzero=1)
        return self.node("Reshape", [x, self.ints(*target)], shape)

    def unsqueeze(self, x):
        axis = self.r.randint(0, len(self.values[x]))
        y = self.node("Unsqueeze", [x, self.ints(axis)], [*self.values[x][:axis], 1, *self.values[x][axis:]])
        return self.node("Squeeze", [y, self.ints(axis)], self.values[x]) if self.r.maybe() else y

    def squeeze(self, x):
        shape = self.values[x]
        y = self.node("Squeeze", [x], [dim for dim in shape if dim != 1]) if 1 in shape else x
        return y

    def step_concats(self, x):
        shape = list(self.values[x])
        if not shape:
            return
        axis = self.r.randrange(len(shape))
        y = self.node("Concat", [x, x], axis=axis)
        others = [x, y, x] if self.r.maybe(0.7) else [y, y]
        outer = axis if self.r.maybe(0.7) or len(shape) < 2 else (axis + 1) % len(shape)
        if outer != axis:
            others = [y, y]
        parts = sum(2 if name == y else 1 for name in others)
        shape[axis] *= parts if outer == axis else 2
        if outer != axis:
            shape[outer] *= 2
        self.node("Concat", others, shape, axis=outer)

    def step_pads(self, x):
        shape = list(self.values[x])
        if not shape or 0 in shape:
            return
        for _ in range(2):
            pads = [self.r.choice([0, 0, 1, 2]) for _ in range(2 * len(shape))]
            shape = [dim + pads[i] + pads[i + len(shape)] for i, dim in enumerate(shape)]
            value = self.r.choice([[], [self.scalar(0)], [self.scalar(1.5)]])
            mode = self.r.choice(["constant", "constant", "edge"])
            x = self.node("Pad", [x, self.ints(*pads), *(value if mode == "constant" else [])], shape, mode=mode)
            if x not in self.values:
                return

    def step_whole(self, x):
        shape = self.values[x]
        axes = range(len(shape))
        if self.r.maybe(0.3) or not shape:
            self.node("Expand", [x, self.ints(*shape)], shape)
        elif self.r.maybe(0.3):
            self.node("Tile", [x, self.ints(*[1 for _ in axes])], shape)
        elif self.r.maybe(0.3):
            steps = [self.r.choice([1, -1]) for _ in axes]
            self.node("Slice", [x, self.ints(*[0 if step > 0 else -1 for step in steps]),
                                self.ints(*[2**63 - 1 if step > 0 else -2**63 for step in steps]), self.ints(*axes),
                                self.ints(*steps)], shape)
        else:
            self.node("Split", [x], shape, axis=self.r.randrange(len(shape)), num_outputs=1)

    def step_duplicate(self, x):
        """A node again, of the same or of copied weights."""
        candidates = [node for node in self.nodes if len(node.output) == 1 and node.output[0] in self.values]
        if not candidates:
            return
        old = self.r.choice(candidates)
        copy = onnx.NodeProto()
        copy.CopyFrom(old)
        copy.output[0] = self.name("v")
        weights = {tensor.name: tensor for tensor in self.initializers}
        copies = self.r.maybe(0.4)
        for i, name in enumerate(copy.input):
            if name in weights and copies:
                array = numpy_helper.to_array(weights[name]).copy()
                if array.size and array.dtype == np.float32 and self.r.maybe(0.2):
                    array.reshape(-1)[-1] *= -1
                copy.input[i] = self.constant(array)
        self.nodes.append(copy)
        self.values[copy.output[0]] = self.values[old.output[0]]

    def step_constants(self, x):
        a, b = (self.constant(self.r.array("float32", self.values[x], -1, 1)) for _ in range(2))
        self.node("Add", [x, self.node("Mul", [a, b])], self.values[x])

    def step_constant_if(self, x):
        branches = []
        shared = self.r.choice(sorted(self.values))
        for op in ("Neg", "Tanh"):
            names = [self.name("b") for _ in range(3)]
            weight = numpy_helper.from_array(self.r.array("float32", [1] * len(self.values[x]), -1, 1), names[2])
            nodes = [helper.make_node(op, [x], [names[0]])]
            outputs = [names[0], names[1]]
            if self.r.maybe(0.3):
                nodes.append(helper.make_node("Identity", [shared], [names[1]]))
            else:
                nodes.append(helper.make_node("Add", [names[0], names[2]], [names[1]]))
            if self.r.maybe(0.3):
                outputs[0] = names[2]
            branches.append(helper.make_graph(nodes, op, [], [
                helper.make_tensor_value_info(name, FLOAT, None) for name in outputs], [weight]))
        outputs = [self.name("v"), self.name("v")]
        condition = self.constant(np.array(self.r.maybe(), bool))
        self.nodes.append(helper.make_node("If", [condition], outputs, then_branch=branches[0],
                                           else_branch=branches[1]))

    def step_loop(self, x):
        """So many rounds, known from the start, of a carried value and of one that is collected; the body reads x, or a
        state that stays what it is."""
        carried, inner, seen = self.name("l"), self.name("l"), self.name("l")
        rounds, going, still = self.name("l"), self.name("l"), self.name("l")
        kept = [self.name("l")] if self.r.maybe() else []
        same = [self.name("l")] if kept else []
        step = self.r.choice(["Add", "Mul", "Max"])
        nodes = [helper.make_node("Identity", [going], [still]),
                 helper.make_node(step, [carried, *(kept or [x])], [inner]), helper.make_node("Neg", [inner], [seen]),
                 *(helper.make_node("Identity", kept, same) for _ in kept)]
        info = helper.make_tensor_value_info
        body = helper.make_graph(
            nodes, "body", [info(rounds, TensorProto.INT64, []), info(going, TensorProto.BOOL, []),
                            *(info(name, FLOAT, None) for name in (carried, *kept))],
            [info(still, TensorProto.BOOL, []), *(info(name, FLOAT, None) for name in (inner, *same, seen))])
        count = self.r.randint(1, 4)
        result, collected = self.name("v"), self.name("v")
        last = [self.name("v") for _ in kept]
        self.nodes.append(helper.make_node(
            "Loop", [self.constant(np.array(count, np.int64)), self.constant(np.array(True)), x, *(x for _ in kept)],
            [result, *last, collected], body=body))
        for name in (result, *last):
            self.values[name] = self.values[x]
        if len(self.values[x]) < 5 and np.prod(self.values[x]) * count <= 1000:
            self.values[collected] = (count, *self.values[x])

    def step_stored_in_int8(self, x):
        width = self.values[x][-1] if self.values[x] else 1
        weight = self.constant(np.array([self.r.randint(-128, 127) for _ in range(width)], np.int8))
        parameters = [self.scalar(self.r.choice([0.5, 0.1, 3.0])), self.scalar(self.r.randint(-3, 3), np.int8)]
        stored = self.node("DequantizeLinear", [weight, *parameters])
        self.node(self.r.choice(["Add", "Mul"]), [x, stored], self.values[x] or (1,))

    def step_call(self, x):
        attributes = {"alpha": self.r.choice([0.25, 1.5])} if self.r.maybe() else {}
        name = self.r.choice(["", "call", "call"])
        outputs = [self.name("v"), self.name("v")]
        self.nodes.append(helper.make_node("stretch", [x], outputs, domain=LOCAL, name=name, **attributes))
        for output in outputs:
            self.values[output] = self.values[x]

    def step_normalize(self, x):
        """Convolution and normalization, which only fusion changes."""
        shape = self.values[x]
        if len(shape) != 4 or min(shape) < 1:
            return
        weight = self.constant(self.r.array("float32", [2, shape[1], 1, 1], -0.5, 0.5))
        y = self.node("Conv", [x, weight])
        parameters = [self.constant(self.r.array("float32", [2], 0.5, 1.5)) for _ in range(4)]
        self.node("BatchNormalization", [y, *parameters], [shape[0], 2, *shape[2:]])


def hash_of(name):
    return sum(ord(letter) * (i + 1) for i, letter in enumerate(name))


class FusionCase:
    """A chain of linear nodes that fusion merges, with its weights; build(magnitude=True) gives the same with absolute
    weights, in which every number is the largest that a sum of the terms can be."""

    def __init__(self, rng):
        self.r = rng
        self.dtype = rng.choice(["float32", "float32", "float64"])
        self.nodes = []  # (operator, operand arrays before the value, behind it, attributes)
        self.terms = 1
        self.draw()

    def weights(self, shape, low=-1.0, high=1.0):
        return self.r.array("float64", shape, low, high).astype(self.dtype)

    def draw(self):
        first = self.r.choice(["Conv", "ConvTranspose", "Gemm", "MatMul", "Rows", "BnConv"])
        group = self.r.choice([1, 1, 2])
        channels_in, self.channels = group * self.r.randint(1, 3), group * self.r.randint(1, 3)
        if first in ("Gemm", "MatMul"):
            self.shape = [self.r.randint(1, 5), channels_in]
            self.product(first, channels_in)
        elif first == "Rows":
            self.product_of_rows(channels_in)
        else:
            rank = self.r.randint(1, 2)
            self.shape = [self.r.randint(1, 2), channels_in, *[self.r.randint(3, 6) for _ in range(rank)]]
            if first == "BnConv":
                self.normalize(channels_in)
            self.convolve("ConvTranspose" if first == "ConvTranspose" else "Conv", group, channels_in, rank)
        for _ in range(self.r.randint(1, 3)):
            self.r.choice([self.normalize, self.arithmetic])(self.channels)

    def product(self, op, rows):
        self.terms = rows
        if op == "MatMul":
            self.nodes.append(("MatMul", [], [self.weights([rows, self.channels])], {}))
            return
        transposed = self.r.randint(0, 1)
        shape = [self.channels, rows] if transposed else [rows, self.channels]
        bias = self.r.choice([[], [self.weights([self.channels])], [self.weights([1])]])
        self.nodes.append(("Gemm", [], [self.weights(shape), *bias],
                           {"transB": transposed, "alpha": self.r.choice([1.0, 0.5]), "beta": self.r.choice([1.0, 2.0])}))

    def product_of_rows(self, width):
        """Rows that become three dims and two again."""
        count = self.r.randint(1, 4)
        self.shape = [2 * count, width]
        self.nodes.append(("Reshape", [], [np.array([2, count, width])], {}))
        self.product("MatMul", width)
        self.nodes += [("Add", [], [self.weights([self.channels])], {}),
                       ("Reshape", [], [np.array([2 * count, self.channels])], {})]

    def convolve(self, op, group, channels_in, rank):
        kernel = [self.r.randint(1, 3) for _ in range(rank)]
        shape = [self.channels, channels_in // group] if op == "Conv" else [channels_in, self.channels // group]
        self.terms = channels_in * int(np.prod(kernel))
        bias = [self.weights([self.channels])] if self.r.maybe() else []
        pads = [self.r.choice([0, 0, 1])] * (2 * rank)
        attributes = {"group": group, "pads": [min(pad, size - 1) for pad, size in zip(pads, kernel * 2)]}
        self.nodes.append((op, [], [self.weights([*shape, *kernel]), *bias], attributes))

    def normalize(self, channels):
        parameters = [self.weights([channels]) for _ in range(3)]
        self.nodes.append(("BatchNormalization", [], [*parameters, self.weights([channels], 0.1, 2)],
                           {"epsilon": self.r.choice([1e-5, 0.1])}))

    def arithmetic(self, channels):
        rank = len(self.shape)
        shape = self.r.choice([[], [1], [channels, *[1] * (rank - 2)], [1, channels, *[1] * (rank - 2)]])
        constant = np.asarray(self.weights(shape, 0.5, 2) * self.r.choice([1, -1]))
        op = self.r.choice(["Add", "Mul", "Sub", "Div"])
        swapped = op != "Div" and self.r.maybe(0.4)
        self.nodes.append((op, [constant] if swapped else [], [] if swapped else [constant], {}))

    def model(self, magnitude=False):
        value, nodes, initializers = "x", [], []
        for i, (op, before, behind, attributes) in enumerate(self.nodes):
            arrays = [array.copy() for array in (*before, *behind)]
            if magnitude:
                arrays = [np.abs(array).astype(np.float32) if array.dtype.kind == "f" else array
                          for array in arrays]  # ONNX Runtime convolves no float64
                op = "Add" if op == "Sub" else op
                if op == "BatchNormalization":
                    arrays[2] = -arrays[2]
            names = [f"w{i}_{k}" for k in range(len(arrays))]
            initializers += [numpy_helper.from_array(array, name) for array, name in zip(arrays, names)]
            operands = [*names[:len(before)], value, *names[len(before):]]
            value = "y" if i + 1 == len(self.nodes) else f"v{i}"
            nodes.append(helper.make_node(op, operands, [value], **attributes))
        number = helper.np_dtype_to_tensor_dtype(np.dtype("float32" if magnitude else self.dtype))
        graph = helper.make_graph(nodes, "linear", [helper.make_tensor_value_info("x", number, self.shape)],
                                  [onnx.ValueInfoProto(name="y")], initializers)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", VERSION)])

    def feeds(self, magnitude=False):
        if not hasattr(self, "input"):
            self.input = self.weights(self.shape, -2, 2)
        return {"x": np.abs(self.input).astype(np.float32) if magnitude else self.input}

    def bound(self, magnitude, sums_are_exact=True):
        """How far results before and after may be apart. Every node rounds once, by half a unit of what the terms can
        sum up to; merged weights and biases are rounded once for each node that is merged. The reference sums up to
        `terms` products in double, ONNX Runtime in the type itself, before and after."""
        unit = 2.0**-24 if self.dtype == "float32" else 2.0**-53
        roundings = len(self.nodes) * 3 + 1
        sums = 2.0**-52 * (self.terms + 8) if sums_are_exact else 2 * unit * (self.terms + 8)
        return magnitude.astype(np.float64) * (unit * roundings + sums) * 1.001
