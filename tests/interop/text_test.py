"""ONNX text: what we read and write against the parser and the printer of the package onnx.

Each model goes through every way around: ours to text and back, our text read by the package, the package's text read
by us. Two models are equal when all that the package's printer knows of them is.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnx.printer
from onnx import AttributeProto, TensorProto, helper, numpy_helper

PROGRAM = os.path.join(os.environ["ASSAY_BIN_DIR"], "model_text")
DTYPES = [number for name, number in TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")]
HEADER = '<ir_version: 10, opset_import: ["" : 20]> '

# Texts that both sides read, to the same model; a line each, ¶ is a line break.
ACCEPTED = """
g () => () {}
g => () {}
"a/b c" (float x) => (y) { y = Abs (x) }
g (float[N,3] x, seq(float[]) s, optional(int64[2]) o, map(int64, float[]) m) => (float[M] y) { y = Abs(x) }
g (sparse_tensor(float[3,?]) a, opaque() b, opaque(n) c, opaque(d.e, n) d, opaque(a.b.c) e) => (seq(seq(float)) y) { }
g (map(string, map(int64, optional(seq(float16[2,"a b",?])))) x) => (x) {}
g (x, "y/1", float z) => ("y/1") { }
g (x) => (y) { y = Abs (x,) }
g (x) => (y) { y = Clip (x,,) a = Clip (,x) b = Clip ("", "", x) c = Clip (,) , d = Op () "", e = Op(x) = Op (x) }
g (x) => (y) { [n] y = Abs (x) ["n/1:0"] z = Abs (x) [] w = Abs (x) }
g (x) => (y) { y = ai.onnx.ml . Op : over <a = 1> (x) }
g (x) => (y) { y = Op (x) <a = 1, b: int = -2, c: ints = [3, -4], d = [5]> }
g (x) => (y) { y = Op <a = 1.0, b: float = 2, c: floats = [1, 2.5, -3e-2], d = [1.0, 2], e = 5., f = -0.0, g: float = -0> (x) }
g (x) => (y) { y = Op <a = inf, b = -inf, c = nan, d = Infinity, e = [-NaN, INF], f: float = 1E5, g = 1e-60> (x) }
g (x) => (y) { y = Op <a = "", b = "q\\"s\\\\t\\n", c = ["x", "y"], d: strings = [], e: ints = [], f: floats = []> (x) }
g (x) => (y) { y = Op <a: graphs = [], b: tensors = [], c: type_protos = []> (x) }
g (x) => (y) { y = Op <a: float = @b, c = @d, e: ints = @"f g", h: tensor = @t> (x) }
g (x) => (y) { y = Op <t = float[2] {1, 2}, u: tensor = int64 {3}, v = float[2] name {1, 2}, w = float[0] = {}> (x) }
g (x) => (y) { y = Op <t = float[N, 3], u: type_proto = seq(float[]), v = optional(map(int64, string))> (x) }
g (c, x) => (y) { y = If (c) <then_branch = t () => (a) { a = Abs (x) }, else_branch: graph = e => (float[N] b) { b = Neg (x) }> }
g (x) => (y) <float[2] w = {1, -2.5e3}, int64[3] y, float s = {1}, int8[2,2] e = {1, 2, 3, -128}, bool[2] b = {0, 1}> { y = Add (x, w) }
g (float[2] x = {1, 2}, float[N] z) => (x) <float[1] z = {3}> {}
g (x) => (y) <float16[2] h = {15360, 0}, bfloat16[1] b = {16256}, float8e4m3fn[2] f = {1, 255}, float8e8m0[1] e = {127}> { y = Abs (x) }
g () => () <int4[4] a = {33, 67}, uint4[3] b = {33, 3}, uint2[5] c = {228, 1}, float4e2m1[3] d = {33, 3}, int4[1] e = {15}> {}
g () => () <float6e2m3[5] a = {1, 2, 63, 32, 0}, float6e3m2[1] b = {33}, complex64[2] c = {1, 2, 3, -4}, complex128[1] d = {1.5, nan}> {}
g () => () <uint64[2] a = {18446744073709551615, 0}, int64[1] b = {-9223372036854775808}, uint32[1] c = {4294967295}> {}
g () => () <string[3] s = {"a", "", "b\\"c"}, double[2] d = {1e300, 0.1}, float[2] f = {inf, -nan}, float[2,0] n = {}> {}
g (x) => (y) <> { y = Abs (x) } # a comment, at the end of the line
f (x) => (y) { # comments¶ # stand everywhere¶ y = Abs # here¶ (x) }
g (x) => (y) { y = com.x.F (x) } <opset_import: ["" : 20], domain: "com.x", doc_string: "d"> F (x) => (y) { y = Abs (x) }
g (x) => (y) { y = x.F (x) } <domain: "x", overload: "o", opset_import: []> F <a, b: float = 3.5, c = [1, 2]> (x) => (y) { y = Op <a: int = @a> (x) }
g (x) => (y) { y = x.F (x) } <domain: "x"> "f/1" (x, "y/1") => (z) <float[N] t> { t = Abs (x) z = Neg (t) } h () => () {}
""".strip("\n")

# Texts that neither side reads.
REFUSED = """

g
g (x) = (y) {}
g (x) = > (y) {}
g (x) => y {}
g (x) => (y) {
g (x) => (y) { y = Abs (x }
g (x) => (y) { y = Abs <> (x) }
g (x) => (y) { y = Abs <a> (x) }
g (x) => (y) { y = Abs <a = > (x) }
g (x) => (y) { y = Abs <a = []> (x) }
g (x) => (y) { y = Abs <a: int = 1.5> (x) }
g (x) => (y) { y = Abs <a: int = "s"> (x) }
g (x) => (y) { y = Abs <a: nothing = 1> (x) }
g (x) => (y) { y = Abs <a = [1, 2.0]> (x) <b = 1> }
g (x) => (y) { y = Abs <a = 99999999999999999999> (x) }
g (x) => (y) { y = Abs <a = 1e99> (x) }
g (x) => (y) { y = Abs <a = "s> (x) }
g (float[ x) => (y) { }
g (float[2.5] x) => (y) { }
g (seq(float x) => (y) { }
g (map(seq(float), float) x) => (y) { }
g (float) => (y) { }
g (x) => (y) <float[] w = {1}> { }
g (x) => (y) <float[N] w = {1}> { }
g (x) => (y) <seq(float) w = {1}> { }
g (x) => (y) <w = {1}> { }
g (x) => (y) <float[1] w = {a}> { }
g (x) => (y) <int32[1] w = {4294967296}> { }
g (x) => (y) <int64[1] w = {1.5}> { }
g (x) => (y) <string[1] w = {1}> { }
g (x) => (y) { } <ir_version: 3> f () => () {}
""".strip("\n")


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, truth, message):
        if truth:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 20:
            print(f"FAILED: {message}")


def type_facts(proto):
    kind = proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(proto, kind)
        dims = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in tensor.shape.dim]
        return kind, tensor.elem_type, dims if tensor.HasField("shape") else None
    if kind in ("sequence_type", "optional_type"):
        return kind, type_facts(getattr(proto, kind).elem_type)
    if kind == "map_type":
        return kind, proto.map_type.key_type, type_facts(proto.map_type.value_type)
    return (kind, proto.opaque_type.domain, proto.opaque_type.name) if kind else None


def tensor_facts(tensor):
    if tensor.data_type == TensorProto.STRING:
        return tensor.name, tensor.data_type, list(tensor.dims), list(tensor.string_data)
    return tensor.name, tensor.data_type, list(tensor.dims), numpy_helper.to_array(tensor).tobytes()


def sparse_facts(sparse):
    return tensor_facts(sparse.values), tensor_facts(sparse.indices)[1:], list(sparse.dims)


def number_facts(value):
    return np.float32(value).tobytes()


VALUE_FACTS = {
    AttributeProto.FLOAT: lambda a: number_facts(a.f),
    AttributeProto.INT: lambda a: a.i,
    AttributeProto.STRING: lambda a: a.s,
    AttributeProto.TENSOR: lambda a: tensor_facts(a.t),
    AttributeProto.GRAPH: lambda a: graph_facts(a.g),
    AttributeProto.SPARSE_TENSOR: lambda a: sparse_facts(a.sparse_tensor),
    AttributeProto.TYPE_PROTO: lambda a: type_facts(a.tp),
    AttributeProto.FLOATS: lambda a: [number_facts(f) for f in a.floats],
    AttributeProto.INTS: lambda a: list(a.ints),
    AttributeProto.STRINGS: lambda a: list(a.strings),
    AttributeProto.TENSORS: lambda a: [tensor_facts(t) for t in a.tensors],
    AttributeProto.GRAPHS: lambda a: [graph_facts(g) for g in a.graphs],
    AttributeProto.SPARSE_TENSORS: lambda a: [sparse_facts(s) for s in a.sparse_tensors],
    AttributeProto.TYPE_PROTOS: lambda a: [type_facts(t) for t in a.type_protos],
}


def attribute_facts(attribute):
    if attribute.ref_attr_name or not attribute.type:
        return attribute.name, attribute.type, attribute.ref_attr_name
    return attribute.name, attribute.type, VALUE_FACTS[attribute.type](attribute)


def node_facts(node):
    attributes = [attribute_facts(a) for a in node.attribute]
    return node.name, node.op_type, node.domain, node.overload, list(node.input), list(node.output), attributes


def known_types(defined, *lists):
    """By name, of the values that are defined: of two types the first one counts."""
    known = {}
    for values in lists:
        for value in values:
            facts = type_facts(value.type)
            if facts is not None and value.name in defined:
                known.setdefault(value.name, facts)
    return known


def defined_names(nodes, inputs, tensors=()):
    return {name for node in nodes for name in node.output} | {*inputs} | {t.name for t in tensors}


def graph_facts(graph):
    defined = defined_names(graph.node, [v.name for v in graph.input], graph.initializer)
    return {
        "name": graph.name, "doc": graph.doc_string, "inputs": [v.name for v in graph.input],
        "outputs": [v.name for v in graph.output], "nodes": [node_facts(n) for n in graph.node],
        "initializers": sorted(tensor_facts(t) for t in graph.initializer),
        "sparse": [sparse_facts(s) for s in graph.sparse_initializer],
        "types": known_types(defined, graph.input, graph.output, graph.value_info)}


def function_facts(function):
    opsets = [(o.domain, o.version) for o in function.opset_import]
    return {
        "name": (function.domain, function.name, function.overload), "doc": function.doc_string, "opsets": opsets,
        "inputs": list(function.input), "outputs": list(function.output), "attributes": list(function.attribute),
        "defaults": [attribute_facts(a) for a in function.attribute_proto],
        "nodes": [node_facts(n) for n in function.node],
        "types": known_types(defined_names(function.node, function.input), function.value_info)}


def model_facts(model):
    return {
        "ir": model.ir_version, "opsets": [(o.domain, o.version) for o in model.opset_import],
        "producer": (model.producer_name, model.producer_version, model.domain, model.model_version),
        "doc": model.doc_string, "metadata": [(m.key, m.value) for m in model.metadata_props],
        "graph": graph_facts(model.graph), "functions": [function_facts(f) for f in model.functions]}


def difference(a, b, path=""):
    """Where two facts differ; empty where they do not."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next(filter(None, (difference(a[k], b[k], f"{path}.{k}") for k in a)), "")
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        return next(filter(None, (difference(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), "")
    return "" if a == b else f"{path}: {str(a)[:200]} is not {str(b)[:200]}"


class Roundtrip:
    def __init__(self, folder, tally):
        self.folder = pathlib.Path(folder)
        self.tally = tally

    def run(self, mode, data):
        source, target = self.folder / "in", self.folder / "out"
        source.write_bytes(data)
        done = subprocess.run([PROGRAM, mode, source, target], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return target.read_bytes()

    def to_model(self, text):
        return onnx.load_from_string(self.run("to-binary", text.encode("utf-8", "surrogateescape")))

    def to_text(self, model):
        return self.run("to-text", model.SerializeToString()).decode("utf-8", "surrogateescape")

    def compare(self, label, expected, make):
        try:
            found = difference(model_facts(make()), model_facts(expected))
        except Exception as error:
            found = repr(error)[:1500]
        self.tally.check(not found, f"{label}: {found}")

    def check(self, label, model, ours_only=False):
        """All ways around. `ours_only`: the package has no words for what the model holds."""
        try:
            text = self.to_text(model)
        except RuntimeError as error:
            self.tally.check(False, f"{label}: {error}")
            return
        self.compare(f"{label}: our text, read by us", model, lambda: self.to_model(text))
        again = self.run("reprint", text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        self.tally.check(again == text, f"{label}: reprinted, it differs")
        if not ours_only:
            self.compare(f"{label}: our text, read by the package", model, lambda: onnx.parser.parse_model(text))
            self.check_their_text(label, model)

    def check_their_text(self, label, model):
        """The package's printer leaves out some things and its parser refuses others; what it reads back counts."""
        text = onnx.printer.to_text(model)
        try:
            expected = onnx.parser.parse_model(text)
            model_facts(expected)
        except Exception:
            return
        self.compare(f"{label}: the package's text, read by us", expected, lambda: self.to_model(text))


def make_model(nodes, inputs=("x",), outputs=("y",), **more):
    def values(names):
        return [helper.make_tensor_value_info(n, 1, ["N", 3]) if isinstance(n, str) else n for n in names]

    functions = more.pop("functions", [])
    graph = helper.make_graph(nodes, more.pop("name", "g"), values(inputs), values(outputs), **more)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)], functions=functions)


def one_attribute(value, kind=None):
    node = helper.make_node("Op", ["x"], ["y"], domain="com.x")
    node.attribute.append(helper.make_attribute("a", value, attr_type=kind))
    return make_model([node])


def floats():
    numbers = [0.0, -0.0, 1.0, 0.1, 1e-45, 1e20, 3.4028235e38, -1.17549435e-38, np.inf, -np.inf, np.nan]
    return [float(np.float32(n)) for n in numbers]


def attribute_models():
    yield "ints", one_attribute([1, -2, 2**63 - 1, -(2**63)])
    yield "floats", one_attribute(floats())
    yield "strings", one_attribute(["", "a\nb", 'q"\\', "ü"])
    for number in floats():
        yield f"float {number}", one_attribute(number)
    yield "int", one_attribute(-(2**63))
    yield "tensor", one_attribute(numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3)))
    yield "named tensor", one_attribute(numpy_helper.from_array(np.array(5, dtype=np.int64), "five"))
    yield "type", one_attribute(helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [None, "N", 3])))
    for kind in ("FLOATS", "INTS", "STRINGS"):
        yield f"empty {kind}", one_attribute([], AttributeProto.AttributeType.Value(kind))
    for kind in AttributeProto.AttributeType.keys():
        if "SPARSE" in kind or kind == "UNDEFINED":
            continue
        node = helper.make_node("Op", ["x"], ["y"], domain="com.x")
        node.attribute.append(AttributeProto(name="a", ref_attr_name="b", type=kind))
        yield f"reference {kind}", make_model([node])


def sparse(name=""):
    values = numpy_helper.from_array(np.array([1.5, -2], np.float32), name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([3, 7], np.int64)), [3, 4])


def small_graph(name="body"):
    nodes = [helper.make_node("Neg", ["x"], ["z"])]
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info("z", 1, ["N", 3])])


def extension_models():
    """What only our syntax has words for."""
    tensors = [numpy_helper.from_array(np.array([i], np.float32), f"t/{i}") for i in range(3)]
    yield "tensors", one_attribute(tensors)
    yield "graphs", one_attribute([small_graph("a"), small_graph("b")])
    yield "types", one_attribute([helper.make_tensor_type_proto(1, [2]), helper.make_tensor_type_proto(7, None)])
    yield "strings that are not text", one_attribute([b"\xff\xfe", b"\x00"])
    yield "sparse tensor", one_attribute(sparse("s"))
    yield "sparse tensors", one_attribute([sparse("s"), sparse()])
    for kind in ("TENSORS", "GRAPHS", "TYPE_PROTOS", "SPARSE_TENSORS"):
        yield f"empty {kind}", one_attribute([], AttributeProto.AttributeType.Value(kind))
    yield "tensor with odd name", one_attribute(tensors[0])
    yield "body with odd name", one_attribute(small_graph("then/0 \"q\""))
    yield "body without name", one_attribute(small_graph("nan"))
    node = helper.make_node("aten::add", ["x"], ["y"], domain="my-domain.x", overload="a b")
    node.attribute.append(helper.make_attribute("attr/1", 1))
    yield "odd operator", make_model([node])
    model = make_model([helper.make_node("Add", ["x", "w"], ["y"])])
    model.graph.doc_string = "what it\ndoes"
    model.graph.sparse_initializer.append(sparse("w"))
    yield "sparse initializer", model
    opaque = onnx.ValueInfoProto(name="o")
    opaque.type.opaque_type.domain, opaque.type.opaque_type.name = "a b", ""
    unknown = helper.make_tensor_value_info("u", 77, ["N"])
    empty = onnx.ValueInfoProto(name="e")
    empty.type.sequence_type.SetInParent()
    yield "odd types", make_model([], [opaque, unknown, empty], [])


def dtype_models():
    for dtype in DTYPES:
        name = TensorProto.DataType.Name(dtype)
        array = np.array([0, 1, 2, 3, 1, 0, 1], np.float64).astype(helper.tensor_dtype_to_np_dtype(dtype))
        for size in (0, 1, 2, 7):
            tensor = numpy_helper.from_array(array[:size], "w")
            yield f"{name}[{size}]", make_model([helper.make_node("Abs", ["w"], ["y"])], [], initializer=[tensor])
        yield f"{name} scalar", one_attribute(numpy_helper.from_array(array[1].reshape(()), "w"))
    strings = numpy_helper.from_array(np.array([["a", 'b"\\'], ["", "ü\n"]], dtype=object), "w")
    yield "STRING", make_model([helper.make_node("Abs", ["w"], ["y"])], [], initializer=[strings])


def bit_pattern_models():
    """All codes of the narrow floats, NaNs included."""
    for dtype, bits in ((TensorProto.FLOAT16, 16), (TensorProto.BFLOAT16, 16), (TensorProto.FLOAT8E4M3FN, 8),
                        (TensorProto.FLOAT8E5M2FNUZ, 8), (TensorProto.FLOAT8E8M0, 8), (TensorProto.INT8, 8)):
        codes = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8)
        tensor = helper.make_tensor("w", dtype, [2**bits], codes.tobytes(), raw=True)
        yield f"codes of {TensorProto.DataType.Name(dtype)}", make_model([], [], ["w"], initializer=[tensor])
    rng = np.random.default_rng(1)
    for dtype, kind in ((TensorProto.FLOAT, np.float32), (TensorProto.DOUBLE, np.float64)):
        numbers = np.frombuffer(rng.bytes(8000), kind)
        tensor = numpy_helper.from_array(numbers[~np.isnan(numbers)], "w")
        yield f"bits of {TensorProto.DataType.Name(dtype)}", make_model([], [], ["w"], initializer=[tensor])


def type_models():
    tensor = helper.make_tensor_type_proto(1, ["N", None, 3, "a b", 0])
    types = [tensor, helper.make_tensor_type_proto(7, []), helper.make_tensor_type_proto(8, None)]
    types += [helper.make_sequence_type_proto(tensor), helper.make_optional_type_proto(tensor)]
    types += [helper.make_map_type_proto(7, helper.make_sequence_type_proto(tensor))]
    types += [helper.make_sparse_tensor_type_proto(1, shape) for shape in ([3, "N"], [], None)]
    opaque = onnx.TypeProto()
    opaque.opaque_type.domain, opaque.opaque_type.name = "a.b", "c"
    types.append(opaque)
    for i, proto in enumerate(types):
        inner = helper.make_value_info("z", proto)
        nodes = [helper.make_node("Op", ["x"], ["z"]), helper.make_node("Op", ["z"], ["y"])]
        yield f"type {i}", make_model(nodes, [helper.make_value_info("x", proto)], ["y"], value_info=[inner])
    yield "no types", make_model(nodes, [onnx.ValueInfoProto(name="x")], [onnx.ValueInfoProto(name="y")])


def name_models():
    odd = ["/layer/Add_output_0", "a:0", 'q"uote', "back\\slash", "ünï", "a b", "1", "-1", "float", "seq", "nan", "inf",
           "doc_string", "_", "#", "\n", "=>", "x" * 300, "onnx::Conv_12", "{", "dtype", "graph", "undefined"]
    for name in odd:
        nodes = [helper.make_node("Add", [name, "w" + name], [name + "_"], name="n" + name),
                 helper.make_node("Neg", [name + "_"], ["y"])]
        weight = numpy_helper.from_array(np.ones((1, 3), np.float32), "w" + name)
        yield f"name {name!r}", make_model(nodes, [name], ["y"], name=name, initializer=[weight])
        untyped = onnx.ValueInfoProto(name=name)
        yield f"untyped {name!r}", make_model([helper.make_node("Neg", [name], ["y"], name=name)], [untyped])
        function = helper.make_function("d", name, [name], ["y"], [helper.make_node("Neg", [name], ["y"])], [])
        yield f"function {name!r}", make_model([helper.make_node("Neg", ["x"], ["y"])], functions=[function])


def body(name, nodes, inputs=(), outputs=()):
    def value(names):
        return [helper.make_tensor_value_info(n, 1, None) for n in names]

    return helper.make_graph(nodes, name, value(inputs), value(outputs))


def control_models():
    inner = body("inner", [helper.make_node("Add", ["x", "t"], ["i"])], outputs=["i"])
    other = body("other", [helper.make_node("Neg", ["x"], ["i"])], outputs=["i"])
    branch = body("then", [helper.make_node("Abs", ["x"], ["t"]), helper.make_node(
        "If", ["c"], ["o"], then_branch=inner, else_branch=other)], outputs=["o"])
    yield "If", make_model([helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=other)], ["c", "x"])
    step = body("step", [helper.make_node("Add", ["v", "x"], ["w"]), helper.make_node("Identity", ["k"], ["l"])],
                ["i", "k", "v"], ["l", "w"])
    step.initializer.append(numpy_helper.from_array(np.float32([1]), "const"))
    step.value_info.append(helper.make_tensor_value_info("w", 1, [3]))
    yield "Loop", make_model([helper.make_node("Loop", ["m", "c", "x"], ["y"], body=step, name="loop")], ["m", "c", "x"])
    yield "Scan", make_model([helper.make_node("Scan", ["x", "x"], ["y", "z"], body=step, num_scan_inputs=1,
                                               scan_input_axes=[0])])
    deep = other
    for i in range(25):
        deep = body(f"b{i}", [helper.make_node("If", ["c"], ["i"], then_branch=deep, else_branch=other)], outputs=["i"])
    yield "deep", make_model([helper.make_node("If", ["c"], ["y"], then_branch=deep, else_branch=other)], ["c", "x"])


def function_models():
    node = helper.make_node("LeakyRelu", ["x", ""], ["t"])
    node.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    nodes = [node, helper.make_node("Add", ["t", "b"], ["y", "", "z"])]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.x", 1)]
    defaults = [helper.make_attribute("k", 3), helper.make_attribute("l", [1.5, 2.0])]
    function = helper.make_function("com.x", "F", ["x", "b"], ["y"], nodes, opsets, ["slope", "other"], defaults,
                                    overload="o", doc_string="what it does",
                                    value_info=[helper.make_tensor_value_info("t", 1, ["N"])])
    plain = helper.make_function("com.x", "G", [], [], [], [])
    call = helper.make_node("F", ["x", "x"], ["y"], domain="com.x", overload="o")
    yield "functions", make_model([call], functions=[function, plain])
    named = make_model([helper.make_node("Abs", ["x"], ["y"])])
    named.producer_name, named.producer_version, named.domain, named.model_version = "p", "1.2", "d.e", -7
    named.doc_string = 'line\n"quoted" \\ '
    named.metadata_props.add(key="k", value="v\n")
    named.metadata_props.add(key="", value="")
    yield "header", named


def damaged_models():
    """Faults of the graph itself are carried, not refused."""
    yield "twice", make_model([helper.make_node("Abs", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["y"])])
    yield "early", make_model([helper.make_node("Abs", ["t"], ["y"]), helper.make_node("Neg", ["x"], ["t"])])
    yield "never", make_model([helper.make_node("Abs", ["nowhere"], ["y"])], ["x", "x"], ["y", "nothing"])


def check_texts(roundtrip):
    for text in texts(ACCEPTED):
        expected = onnx.parser.parse_model(HEADER + text)
        roundtrip.compare(f"{text}", expected, lambda t=text: roundtrip.to_model(HEADER + t))
        roundtrip.check(text, expected)
    for text in texts(REFUSED):
        roundtrip.tally.check(error_of(onnx.parser.parse_model, HEADER + text), f"the package reads {text!r}")
        error = error_of(roundtrip.to_model, HEADER + text)
        roundtrip.tally.check(error.startswith("error: line "), f"we say {error!r} to {text!r}")


def texts(lines):
    return [line.replace("¶", "\n") for line in lines.split("\n")]


def error_of(parse, text):
    try:
        parse(text)
    except (onnx.parser.ParseError, ValueError, IndexError, RuntimeError) as error:
        return str(error)
    return ""


def main():
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        roundtrip = Roundtrip(folder, tally)
        check_texts(roundtrip)
        for group in (attribute_models, dtype_models, bit_pattern_models, type_models, name_models, control_models,
                      function_models, damaged_models):
            for label, model in group():
                roundtrip.check(label, model)
        for label, model in extension_models():
            roundtrip.check(label, model, ours_only=True)
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed or not tally.passed else 0)


main()
