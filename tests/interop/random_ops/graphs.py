"""Random graphs of operators that cannot go wrong, shapes tracked (for random_graphs_test.py)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT = np.dtype(np.float32), np.dtype(np.int64)
VERSION = 21
LOCAL = "local"
LARGEST = 4000  # elements of a value


def local_function():
    """squash(x, s) = Tanh(x * s + x), with the shape of x restored by a computed Reshape."""
    nodes = [helper.make_node("Mul", ["x", "s"], ["scaled"]), helper.make_node("Add", ["scaled", "x"], ["sum"]),
             helper.make_node("Tanh", ["sum"], ["squashed"]), helper.make_node("Shape", ["x"], ["shape"]),
             helper.make_node("Reshape", ["squashed", "shape"], ["y"])]
    return helper.make_function(LOCAL, "squash", ["x", "s"], ["y"], nodes, [helper.make_opsetid("", VERSION)])


class Builder:
    """Adds one node (or a short chain) after the other; `values` are floats by name with their real shapes."""

    def __init__(self, rng):
        self.r = rng
        self.nodes, self.initializers, self.inputs = [], [], []
        self.feeds, self.sizes = {}, {}
        self.values = {}
        self.next = 0

    def build(self):
        for _ in range(self.r.randint(1, 3)):
            self.add_input()
        wanted = self.r.randint(5, 30)
        steps = [getattr(self, name) for name in dir(self) if name.startswith("step_")]
        while len(self.nodes) < wanted:
            self.r.choice(steps)(self.r.choice(sorted(self.values)))

    def model(self):
        used = {name for node in self.nodes for name in node.input}
        outputs = [name for node in self.nodes for name in node.output if name not in used]
        graph = helper.make_graph(self.nodes, "random", self.inputs,
                                  [onnx.ValueInfoProto(name=name) for name in outputs], self.initializers)
        opsets = [helper.make_opsetid("", VERSION), helper.make_opsetid(LOCAL, 1)]
        return helper.make_model(graph, ir_version=10, opset_imports=opsets, functions=[local_function()])

    # Parts that steps are made of.

    def name(self, stem):
        self.next += 1
        return f"{stem}{self.next}"

    def add_input(self):
        shape = [self.r.choice([1, 2, 3, 4, 6]) for _ in range(self.r.randint(1, 4))]
        name, dims = self.name("in"), []
        for size in shape:
            known = [symbol for symbol, value in self.sizes.items() if value == size]
            if self.r.maybe(0.4):
                dims.append(size)
            elif known and self.r.maybe():
                dims.append(self.r.choice(known))
            else:
                dims.append(self.name("n"))
                self.sizes[dims[-1]] = size
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        self.feeds[name] = self.r.array("float32", shape, -2, 2)
        self.values[name] = tuple(shape)

    def constant(self, array):
        name = self.name("c")
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def node(self, op, inputs, shape=None, domain="", **attributes):
        """The output's name; with a shape it is a float that later nodes may use."""
        name = self.name("v")
        self.nodes.append(helper.make_node(op, inputs, [name], domain=domain, **attributes))
        if shape is not None and np.prod(shape, dtype=np.int64) <= LARGEST and len(shape) <= 5:
            self.values[name] = tuple(int(dim) for dim in shape)
        return name

    def axis(self, shape):
        return self.r.axis(len(shape))

    def size_of(self, x, axis):
        """A vector with one size of a value, by one of several chains."""
        if self.r.maybe(0.3):
            axis %= len(self.values[x])
            return self.node("Shape", [x], start=axis, end=axis + 1)
        whole = self.node("Shape", [x])
        if self.r.maybe():
            return self.node("Gather", [whole, self.ints(axis)])
        picked = self.node("Gather", [whole, self.constant(np.array(axis, np.int64))])
        return self.node("Unsqueeze", [picked, self.ints(0)])

    # Steps.

    def step_unary(self, x):
        self.node(self.r.choice(["Relu", "Neg", "Tanh", "Sigmoid", "Abs", "Identity", "Erf"]), [x], self.values[x])

    def step_binary(self, x):
        shape = self.r.shrunk(list(self.values[x]))
        other = self.constant(self.r.array("float32", shape, -1, 1))
        self.node(self.r.choice(["Add", "Sub", "Mul", "Max", "Min"]), [x, other], self.values[x])

    def step_pair(self, x):
        """Two values of one shape, or whatever broadcasts."""
        for y, shape in self.r.sample(sorted(self.values.items()), len(self.values)):
            try:
                both = np.broadcast_shapes(shape, self.values[x])
            except ValueError:
                continue
            return self.node(self.r.choice(["Add", "Mul", "Sub"]), [x, y], both)

    def step_matmul(self, x):
        shape = self.values[x]
        if len(shape) < 2:
            return
        width = self.r.choice([1, 2, 3])
        weight = self.constant(self.r.array("float32", [shape[-1], width], -1, 1) / (shape[-1] or 1))
        self.node("MatMul", [x, weight], [*shape[:-1], width])

    def step_transpose(self, x):
        shape = self.values[x]
        perm = self.r.sample(range(len(shape)), len(shape))
        if perm:
            self.node("Transpose", [x], [shape[axis] for axis in perm], perm=perm)

    def step_flatten_by_shape(self, x):
        """Keeps one dim, computed from the value itself, and folds the rest."""
        shape = self.values[x]
        axis = self.r.randrange(len(shape)) if shape else 0
        if not shape or 0 in shape:
            return
        target = self.node("Concat", [self.size_of(x, axis), self.ints(-1)], axis=0)
        self.node("Reshape", [x, target], [shape[axis], np.prod(shape) // shape[axis]])

    def step_merge_dims(self, x):
        """Multiplies two neighbouring sizes."""
        shape = self.values[x]
        if len(shape) < 2:
            return
        at = self.r.randrange(len(shape) - 1)
        product = self.node("Mul", [self.size_of(x, at), self.size_of(x, at + 1)])
        parts = [product if i == at else self.size_of(x, i) for i in range(len(shape)) if i != at + 1]
        target = self.node("Concat", parts, axis=0)
        self.node("Reshape", [x, target], [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2:]])

    def step_reshape(self, x):
        shape = self.values[x]
        if shape and 0 not in shape:
            self.node("Reshape", [x, self.ints(*([0] * (len(shape) - 1)), -1, 1)], [*shape, 1])

    def step_unsqueeze(self, x):
        axis = self.r.randint(0, len(self.values[x]))
        shape = list(self.values[x])
        shape.insert(axis, 1)
        self.node("Unsqueeze", [x, self.ints(axis)], shape)

    def step_squeeze(self, x):
        shape = self.values[x]
        ones = [axis for axis, dim in enumerate(shape) if dim == 1]
        if ones and len(shape) > 1:
            axis = self.r.choice(ones)
            self.node("Squeeze", [x, self.ints(axis)], [*shape[:axis], *shape[axis + 1:]])

    def step_concat(self, x):
        shape = list(self.values[x])
        if shape:
            axis = self.axis(shape)
            other = self.node(self.r.choice(["Neg", "Relu"]), [x], shape)
            shape[axis] *= 2
            self.node("Concat", [x, other], shape, axis=axis)

    def step_split(self, x):
        shape = list(self.values[x])
        axis = self.axis(shape)
        if not shape or shape[axis] < 2:
            return
        first = self.r.randint(1, shape[axis] - 1)
        outputs = [self.name("v"), self.name("v")]
        self.nodes.append(helper.make_node("Split", [x, self.ints(first, shape[axis] - first)], outputs, axis=axis))
        for name, size in zip(outputs, (first, shape[axis] - first)):
            shape[axis] = size
            self.values[name] = tuple(shape)

    def step_slice(self, x):
        shape = list(self.values[x])
        if not shape:
            return
        axis = self.axis(shape)
        size = shape[axis]
        step = self.r.choice([1, 1, 2, -1])
        if self.r.maybe():  # to the half, computed
            half = self.node("Div", [self.size_of(x, axis), self.ints(2)])
            begin, end, step = self.ints(0), half, 1
            shape[axis] = size // 2
        else:
            low, high = self.r.randint(-size, size), self.r.choice([2**63 - 1, size, -1]) if step > 0 else -2**63
            begin, end = self.ints(low), self.ints(high)
            shape[axis] = len(range(*slice(low, None if high in (2**63 - 1, -2**63) else high, step).indices(size)))
        self.node("Slice", [x, begin, end, self.ints(axis), self.ints(step)], shape)

    def step_gather(self, x):
        shape = self.values[x]
        axis = self.axis(shape)
        if not shape or shape[axis] == 0:
            return
        picked = self.r.integers(self.r.shape(0, 1), -shape[axis], shape[axis] - 1)
        at = axis % len(shape)
        self.node("Gather", [x, self.constant(picked)], [*shape[:at], *picked.shape, *shape[at + 1:]], axis=axis)

    def step_reduce(self, x):
        shape = self.values[x]
        if not shape or 0 in shape:
            return
        axis, keep = self.axis(shape), self.r.randint(0, 1)
        at = axis % len(shape)
        result = [*shape[:at], *([1] if keep else []), *shape[at + 1:]]
        op = self.r.choice(["ReduceMean", "ReduceMax", "ReduceSum"])
        self.node(op, [x, self.ints(axis)], result, keepdims=keep)

    def step_softmax(self, x):
        if self.values[x]:
            self.node("Softmax", [x], self.values[x], axis=self.axis(self.values[x]))

    def step_layer_norm(self, x):
        shape = self.values[x]
        if shape and 0 not in shape:
            self.node("LayerNormalization", [x, self.constant(np.ones(shape[-1:], np.float32))], shape, axis=-1,
                      epsilon=0.1)

    def step_expand(self, x):
        """To the shape of itself with one more dim in front."""
        lead = self.r.randint(1, 2)
        target = self.node("Concat", [self.ints(lead), self.node("Shape", [x])], axis=0)
        self.node("Expand", [x, target], [lead, *self.values[x]])

    def step_fill(self, x):
        filled = self.node("ConstantOfShape", [self.node("Shape", [x])],
                           value=helper.make_tensor("", TensorProto.FLOAT, [1], [0.5]))
        self.node("Add", [filled, x], self.values[x])

    def step_range(self, x):
        shape = self.values[x]
        if shape:
            count = self.node("Squeeze", [self.size_of(x, -1)])
            zero, one = (self.constant(np.array(value, np.int64)) for value in (0, 1))
            positions = self.node("Cast", [self.node("Range", [zero, count, one])], to=TensorProto.FLOAT)
            self.node("Add", [x, positions], shape)

    def step_tile_pad(self, x):
        shape = self.values[x]
        if not shape:
            return
        if self.r.maybe():
            repeats = [self.r.randint(1, 2) for _ in shape]
            self.node("Tile", [x, self.ints(*repeats)], np.array(shape) * repeats)
        else:
            pads = [self.r.randint(0, 2) for _ in range(2 * len(shape))]
            self.node("Pad", [x, self.ints(*pads)], np.array(shape) + pads[:len(shape)] + pads[len(shape):])

    def step_convolve(self, x):
        shape = self.values[x]
        if len(shape) not in (3, 4) or min(shape) < 1:
            return
        rank, stride = len(shape) - 2, self.r.randint(1, 2)
        pads, strides = [1] * (2 * rank), [stride] * rank
        sizes = [(size + 2 - 3) // stride + 1 for size in shape[2:]]
        if self.r.maybe():
            weight = self.constant(self.r.array("float32", [2, shape[1], *[3] * rank], -0.3, 0.3))
            self.node("Conv", [x, weight], [shape[0], 2, *sizes], pads=pads, strides=strides)
        else:
            self.node("MaxPool", [x], [*shape[:2], *sizes], kernel_shape=[3] * rank, pads=pads, strides=strides)

    def step_where(self, x):
        zero = self.constant(np.float32(0))
        self.node("Where", [self.node("Equal", [x, x]), x, zero], self.values[x])

    def step_if(self, x):
        """On whether a size is large; branches of one shape."""
        if not self.values[x]:
            return
        size = self.node("Squeeze", [self.size_of(x, 0)])
        test = self.node("Greater", [size, self.constant(np.array(self.r.randint(0, 4), np.int64))])
        branches = []
        for op in ("Neg", "Tanh"):
            result = self.name("b")
            branches.append(helper.make_graph([helper.make_node(op, [x], [result])], op, [], [
                helper.make_tensor_value_info(result, TensorProto.FLOAT, None)]))
        self.node("If", [test], self.values[x], then_branch=branches[0], else_branch=branches[1])

    def step_function(self, x):
        self.node("squash", [x, self.constant(np.float32(0.5))], self.values[x], domain=LOCAL)
