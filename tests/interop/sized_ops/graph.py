"""A graph that grows node by node; operands are inputs, constants, or computed by what gives views and copies."""

import math

import numpy as np
import onnx
from onnx import helper, numpy_helper
from random_ops.draw import Rng, Skip, np_dtype

SIZES = (1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 400, 513, 1000,
         1600)
ELEMENTS = 2_000_000
PRODUCTS = 50_000_000  # multiplications and additions of a node
EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
FLOATS = tuple(EPSILON)


TYPE_NAMES = {"float32": "float", "float64": "double"}


class Random(Rng):
    def size(self, most):
        return self.choice([size for size in SIZES if size <= max(most, 1)])

    def sizes(self, count, most=ELEMENTS):
        """Dims whose product is bounded, none of them favoured."""
        dims = [1] * count
        for at in self.sample(range(count), count):
            dims[at] = self.size(most)
            most //= dims[at]
        return dims

    def tensor(self, least=1, most=4, elements=200_000):
        if self.maybe(0.04):  # beyond the caches
            elements = ELEMENTS
        return self.sizes(self.randint(least, most), elements)

    def normal(self, shape, dtype="float32"):
        """Numbers around 0; whole ones of integers; both of bool."""
        source = np.random.default_rng(self.getrandbits(63))
        if dtype == "bool":
            return source.random(shape) < 0.5
        if dtype.startswith(("int", "uint")):
            return source.integers(0 if dtype[0] == "u" else -50, 100, shape).astype(np_dtype(dtype))
        return np.asarray(source.standard_normal(shape, np.float32)).astype(np_dtype(dtype))

    def positive(self, shape, dtype="float32"):
        return np.asarray(np.abs(self.normal(shape).astype(np.float32)) + 0.5).astype(np_dtype(dtype))

    def below(self, limit, dtype="int64", low=0):
        """What makes integers from low up to a limit."""
        return lambda shape: np.random.default_rng(self.getrandbits(63)).integers(low, limit, shape).astype(dtype)


class Graph:
    def __init__(self, random, version):
        self.random, self.version = random, version
        self.nodes, self.constants, self.feeds = [], [], {}
        self.values = {}  # name -> (dtype, shape)
        self.given = {}   # elements of constants
        self.domains = set()
        self.depth = 1    # the longest sum
        self.steps = 0    # by which codes may be off
        self.absolute = 0.0  # by which numbers may be off that were codes
        self.least = 0.0  # magnitude of what results are computed from, where they are smaller
        self.looseness = 1.0
        self.epsilon = 0  # of types in between that are shorter than the results'
        self.shown = []   # what is an output in any case
        self.is_open = False  # shapes come with the inputs

    def shape(self, name):
        return list(self.values[name][1])

    def dtype(self, name):
        return self.values[name][0]

    def input(self, array):
        if np.asarray(array).dtype.name in EPSILON:
            self.coarse(array.dtype.name)
        name = f"x{len(self.feeds)}"
        self.feeds[name] = np.asarray(array)
        self.values[name] = (self.feeds[name].dtype.name, list(self.feeds[name].shape))
        return name

    def constant(self, array, dtype=None):
        array = np.asarray(array, dtype and np_dtype(dtype))
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        if array.size > 1 and array.dtype.name in EPSILON:
            self.coarse(array.dtype.name)
        self.given[name] = array
        self.values[name] = (array.dtype.name, list(array.shape))
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def deepen(self, depth):
        self.depth = max(self.depth, int(depth))

    def coarse(self, dtype):
        self.epsilon = max(self.epsilon, EPSILON[dtype])

    def add(self, op, operands, outputs=1, domain="", results=None, **attributes):
        """Names of the results, or the name of the only one. `results`: their types, where no schema tells them."""
        names = [f"v{len(self.nodes)}_{i}" if outputs > 1 else f"v{len(self.nodes)}" for i in range(outputs)]
        node = helper.make_node(op, operands, names, f"n{len(self.nodes)}", domain=domain, **attributes)
        self.nodes.append(node)
        self.domains.add(domain)
        for name, (dtype, shape) in zip(names, results or self.inferred(node)):
            self.values[name] = (dtype, list(shape))
        return names if outputs > 1 else names[0]

    def inferred(self, node):
        schema = onnx.defs.get_schema(node.op_type, self.version, node.domain)
        self.check_types(schema, node)
        types = {name: self.type_of(name) for name in node.input if name}
        data = {name: numpy_helper.from_array(self.given[name], name) for name in node.input
                if name in self.given and self.given[name].size < 64}
        found = onnx.shape_inference.infer_node_outputs(
            schema, node, types, data, opset_imports=[helper.make_opsetid("", self.version)], ir_version=10)
        for name in node.output:
            tensor = found[name].tensor_type
            dims = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim]
            yield helper.tensor_dtype_to_np_dtype(tensor.elem_type).name, dims

    def declared(self, name):
        kind = self.type_of(name)
        for i, dim in enumerate(kind.tensor_type.shape.dim if self.is_open else []):
            dim.dim_param = f"{name}_{i}"
        return kind

    def check_types(self, schema, node):
        for i, name in enumerate(node.input):
            formal = schema.inputs[min(i, len(schema.inputs) - 1)]
            if name and f"tensor({TYPE_NAMES.get(self.dtype(name), self.dtype(name))})" not in formal.types:
                raise Skip(f"{node.op_type} does not take {self.dtype(name)}")

    def type_of(self, name):
        dtype, shape = self.values[name]
        return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(np_dtype(dtype)), shape)

    def model(self):
        used = {name for node in self.nodes for name in node.input}
        outputs = [name for node in self.nodes for name in node.output
                   if name and (name not in used or name in self.shown or self.random.maybe(0.1))]
        graph = helper.make_graph(
            self.nodes, "g", [helper.make_value_info(name, self.declared(name)) for name in self.feeds],
            [onnx.ValueInfoProto(name=name) for name in outputs], self.constants)
        opsets = [helper.make_opsetid("", self.version)]
        opsets += [helper.make_opsetid(domain, 1) for domain in sorted(self.domains) if domain]
        return helper.make_model(graph, ir_version=10 if self.version < 24 else 11, opset_imports=opsets)

    # Operands

    def operand(self, shape, dtype="float32", make=None, constant=None):
        """A value of that shape. `make(shape)`: elements, where not every number will do. `constant`: the chance."""
        random = self.random
        chance = random.random()
        constant = 0.25 if constant is None else constant
        if chance < constant:
            return self.constant(self.elements(shape, dtype, make))
        if chance < constant + (1 - constant) * 0.5 or not shape or math.prod(shape) > ELEMENTS // 2:
            return self.input(self.elements(shape, dtype, make))
        from . import views
        return views.compute(self, list(shape), dtype, make)

    def elements(self, shape, dtype, make=None):
        if make is None:
            return self.random.normal(shape, dtype)
        return np.asarray(make(tuple(shape))).astype(np_dtype(dtype))

    def scaled(self, factor, dtype="float32"):
        """What makes numbers that are small enough for long sums."""
        return lambda shape: np.asarray(self.random.normal(shape).astype(np.float32) * np.float32(factor))
