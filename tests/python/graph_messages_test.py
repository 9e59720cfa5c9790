"""Graphs, and messages of the package onnx: each part there and back, and what folding leaves of a graph."""

from collections import OrderedDict

import checks
import ml_dtypes
import numpy as np
import onnx
from assay import graphsurgeon as gs
from assay.graphsurgeon.exporters.base_exporter import BaseExporter
from assay.graphsurgeon.exporters.onnx_exporter import (OnnxExporter, check_duplicate_node_names,
                                                        constant_to_onnx_tensor, dtype_to_onnx,
                                                        update_import_domains)
from assay.graphsurgeon.importers.base_importer import BaseImporter
from assay.graphsurgeon.importers.onnx_importer import OnnxImporter, get_itemsize, get_numpy_type
from assay.graphsurgeon.ir.tensor import LazyValues, SparseValues
from assay.graphsurgeon.util import misc
from assay.session import Session
from onnx import AttributeProto, TensorProto, helper, numpy_helper


def test_tensors_of_messages():
    described = OnnxImporter.import_tensor(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, "N", ""]))
    assert type(described) is gs.Variable and described.shape == [2, "N", ""] and described.dtype == np.float32
    sequence = OnnxImporter.import_tensor(helper.make_tensor_sequence_value_info("s", TensorProto.INT64, None))
    assert (sequence.type, sequence.dtype, sequence.shape) == ("sequence_type", np.int64, None)
    nothing = OnnxImporter.import_tensor(helper.make_empty_tensor_value_info("e"))
    assert nothing.dtype is None and nothing.shape is None
    small = OnnxImporter.import_tensor(helper.make_tensor_value_info("b", TensorProto.BFLOAT16, [3]))
    assert small.dtype == TensorProto.BFLOAT16
    weights = OnnxImporter.import_tensor(numpy_helper.from_array(np.arange(6.0).reshape(2, 3), "w"))
    assert type(weights) is gs.Constant and isinstance(weights._values, LazyValues)
    assert weights.values.tolist() == [[0, 1, 2], [3, 4, 5]]
    lazy = LazyValues(helper.make_tensor_value_info("y", TensorProto.FLOAT16, [2, 5]))
    assert (lazy.shape, lazy.dtype, lazy.nbytes) == ([2, 5], np.float16, 20)
    with checks.raises(gs.OnnxGraphSurgeonException, "only the type"):
        lazy.load()
    assert get_itemsize(TensorProto.INT4) == 0.5 and get_numpy_type(TensorProto.BFLOAT16) is None


def test_tensors_as_messages():
    values = np.array([[1.5, 2.0]], np.float32)
    proto = OnnxExporter.export_tensor_proto(gs.Constant("w", values))
    assert proto.name == "w" and np.array_equal(numpy_helper.to_array(proto), values)
    lazy = gs.Constant("renamed", LazyValues(numpy_helper.from_array(values, "other")))
    proto = OnnxExporter.export_tensor_proto(lazy)
    assert proto.name == "renamed" and isinstance(lazy._values, LazyValues)
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        proto = constant_to_onnx_tensor(gs.Constant("w", values.astype(dtype)))
        assert np.frombuffer(proto.raw_data, dtype).tolist() == [1.5, 2.0]
    packed = constant_to_onnx_tensor(gs.Constant("w", np.array([1, -2, 3], ml_dtypes.int4)))
    assert packed.raw_data == bytes([0xE1, 0x03]) and list(packed.dims) == [3]
    words = constant_to_onnx_tensor(gs.Constant("w", np.array(["a", "bc"], dtype=object)))
    assert list(words.string_data) == [b"a", b"bc"]
    narrowed = gs.Constant("w", values, export_dtype=TensorProto.FLOAT8E4M3FN)
    assert OnnxExporter.export_tensor_proto(narrowed).data_type == TensorProto.FLOAT8E4M3FN
    assert dtype_to_onnx(np.float16) == TensorProto.FLOAT16 and dtype_to_onnx(TensorProto.INT4) == TensorProto.INT4


def test_types_as_messages():
    info = OnnxExporter.export_value_info_proto(gs.Variable("x", np.int64, [1, None, "N"]), do_type_check=True)
    assert [each.WhichOneof("value") for each in info.type.tensor_type.shape.dim] == ["dim_value", None, "dim_param"]
    assert not OnnxExporter.export_value_info_proto(gs.Variable("x", np.int64), True).type.tensor_type.HasField("shape")
    with checks.raises(gs.OnnxGraphSurgeonException, "`x`", "dtype"):
        OnnxExporter.export_value_info_proto(gs.Variable("x"), do_type_check=True)


def test_nodes_go_there_and_back():
    body = gs.Graph(outputs=[gs.Constant("c", np.ones(1, np.float32))], name="body")
    attrs = OrderedDict(f=2.0, i=3, s="word", t=gs.Constant("t", np.ones((1, 2), np.float32)), fs=[1.0, 2.0], i_s=[1, 2],
                        ss=["a", "b"], to=np.float16, ref=gs.Node.AttributeRef("other", np.int32), g=body)
    node = gs.Node("Any", "n", attrs, [gs.Variable("x"), gs.Variable.empty()], [gs.Variable("y")], domain="mine")
    proto = OnnxExporter.export_node(node)
    assert list(proto.input) == ["x", ""] and proto.domain == "mine" and len(proto.attribute) == len(attrs)
    kinds = {each.name: each.type for each in proto.attribute}
    assert kinds["ref"] == AttributeProto.INT and kinds["to"] == AttributeProto.INT and kinds["g"] == AttributeProto.GRAPH
    outer, inner = OrderedDict(x=gs.Variable("x", np.float32)), OrderedDict()
    found = OnnxImporter.import_node(proto, outer, inner, opset=13, import_domains=None)
    assert found.inputs[0] is outer["x"] and list(inner) == ["y"] and inner["y"] is found.outputs[0]
    assert found.attrs["ref"] == gs.Node.AttributeRef("other", int) and found.attrs["ref"] != gs.Node.AttributeRef("x", int)
    assert found.attrs["t"].name == "t" and found.attrs["t"].values.tolist() == [[1, 1]] and found.attrs["ss"] == ["a", "b"] and found.attrs["to"] == 10
    plain = helper.make_node("Relu", ["x"], ["y"])
    assert OnnxExporter.export_node(OnnxImporter.import_node(plain, {}, {}, 13, None)) == plain
    assert OnnxImporter.import_attributes(proto.attribute, {}, {}, 13, None)["fs"] == [1.0, 2.0]


def test_graphs_go_there_and_back():
    weights = numpy_helper.from_array(np.ones(3, np.float32), "w")
    weights.data_location = TensorProto.DEFAULT
    made = checks.model([helper.make_node("Add", ["x", "outer"], ["y"]), helper.make_node("Mul", ["y", "w"], ["z"])],
                        [("x", 1, [3])], [("z", 1, [3]), ("w", 1, [3])], [weights])
    outer = {"outer": gs.Variable("outer", np.float32, [3])}
    graph = OnnxImporter.import_graph(made.graph, tensor_map=outer)
    assert graph.nodes[0].inputs[1] is outer["outer"] and len(outer) == 1 and graph.opset == gs.Graph.DEFAULT_OPSET
    assert OnnxExporter.export_graph(OnnxImporter.import_graph(made.graph)) == made.graph
    assert OnnxImporter.get_opset(made) == 17 and OnnxImporter.import_graph(made).opset == 17
    assert issubclass(OnnxImporter, BaseImporter) and issubclass(OnnxExporter, BaseExporter)


def test_constants_that_are_outputs_have_a_type():
    graph = gs.Graph(outputs=[gs.Constant("c", np.ones((2, 3), np.float32))])
    onnx.checker.check_model(gs.export_onnx(graph))


def test_functions_go_there_and_back():
    x, y = gs.Variable("x"), gs.Variable("y")
    attrs = {"alpha": 0.5, "needed": None}
    node = gs.Node("LeakyRelu", attrs={"alpha": gs.Node.AttributeRef("alpha", float)}, inputs=[x], outputs=[y])
    proto = OnnxExporter.export_function(gs.Function("Leaky", "mine", [node], [x], [y], opset=15, attrs=attrs))
    assert list(proto.attribute) == ["needed"] and proto.attribute_proto[0].f == 0.5 and proto.opset_import[0].version == 15
    found = OnnxImporter.import_function(proto)
    assert (found.name, found.domain, found.opset) == ("Leaky", "mine", 15) and set(found.attrs) == set(attrs)
    assert list(found.import_domains) == list(proto.opset_import)


def test_sparse_weights_stay_sparse():
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [5.0, 7.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("i", TensorProto.INT64, [2], [1, 3]), [2, 2])
    tensor = OnnxImporter.import_tensor(sparse)
    assert isinstance(tensor._values, SparseValues) and tensor._values.load().tolist() == [[0, 5], [0, 7]]
    again = OnnxExporter.export_sparse_tensor_proto(tensor)
    assert again == sparse
    made = gs.export_onnx(gs.Graph(outputs=[gs.Constant("w", SparseValues(tensor._values.tensor))])).graph
    again = OnnxExporter.export_graph(OnnxImporter.import_graph(made))
    assert again == made and again.sparse_initializer[0].values.raw_data
    with checks.raises(gs.OnnxGraphSurgeonException, "is not sparse"):
        OnnxExporter.export_sparse_tensor_proto(gs.Constant("w", np.ones(1)))


def test_what_scripts_ask_of_graphs():
    graph = gs.Graph()
    names = {graph._generate_name("n", {"n_1", "n_2"}) for _ in range(3)}
    assert names == {"n_0", "n_3", "n_4"} and graph.__name__ == graph.name
    nodes = [gs.Node("Relu", "same"), gs.Node("Relu", "same", domain="mine"), gs.Node("Relu")]
    with checks.capture_log() as log, gs.ir.graph.G_LOGGER.verbosity(30):
        check_duplicate_node_names(nodes)
    assert "2 nodes have the name `same`" in log.getvalue()
    domains = update_import_domains(gs.Graph(nodes, opset=14))
    assert [(each.domain, each.version) for each in domains] == [("", 14), ("mine", 1)]
    assert str(gs.Function("F")).startswith("Function F, Domain onnx_graphsurgeon, Opset 11\n")
    assert repr(gs.Node.AttributeRef("a", int)) == "Node.AttributeRef(name='a', type=<class 'int'>)"
    assert misc.convert_from_onnx_attr_type(AttributeProto.FLOATS) == list[float]
    assert misc.convert_to_onnx_attr_type(list[gs.Graph]) == AttributeProto.GRAPHS
    assert misc.convert_to_onnx_attr_type(np.float32) == AttributeProto.FLOAT


def test_nodes_have_places_for_a_while():
    x = gs.Variable("x")
    used, unused = gs.Node("Relu", inputs=[x], outputs=[gs.Variable("y")]), gs.Node("Neg", inputs=[x], outputs=[gs.Variable("z")])
    graph = gs.Graph([used, unused], [x], list(used.outputs))
    with graph.node_ids():
        ids, tensors = graph._get_used_node_ids()
        assert ids == {used.id} and [each.name for each in tensors] == ["x", "y"]
        graph.nodes.remove(unused)
        with checks.raises(gs.OnnxGraphSurgeonException, "append it"):
            graph._get_node_id(gs.Node("Relu"))
    assert not hasattr(used, "id") and not hasattr(unused, "id")


def test_copies_keep_apart_what_only_has_the_same_name():
    inner = gs.Graph()
    inner.outputs = inner.layer(op="Identity", inputs=[gs.Constant("w", np.ones((1, 2), np.float32))], outputs=["r"])
    shared = gs.Constant("v", np.ones(3, np.float32))
    inner.layer(op="Identity", inputs=[shared], outputs=["s"])
    outer = gs.Graph(import_domains=["strange"])
    outer.layer(op="If", inputs=[gs.Constant("w", np.ones((4, 5), np.float32)), shared], outputs=["y"],
                attrs={"then_branch": inner})
    copied = outer.copy()
    body = copied.nodes[0].attrs["then_branch"]
    assert copied == outer and body.nodes[0].inputs[0].shape == (1, 2)
    assert body.nodes[1].inputs[0] is copied.nodes[0].inputs[1]
    function = gs.Function("F", attrs={"a": np.array([1])})
    assert function.copy().attrs["a"] is not function.attrs["a"]


def cast_chain(constant, kind=np.int64, shape=(2,), op="Add"):
    x = gs.Variable("x", kind, shape)
    graph = gs.Graph(inputs=[x], opset=13)
    as_float = graph.layer(op="Cast", inputs=[x], outputs=["f"], attrs={"to": np.float32})[0]
    total = graph.layer(op=op, inputs=[as_float, constant], outputs=["t"])[0]
    graph.outputs = graph.layer(op="Cast", inputs=[total], outputs=["y"], attrs={"to": kind})
    graph.outputs[0].dtype = kind
    return graph


def folded_operators(graph):
    return [node.op for node in graph.fold_constants().cleanup().nodes]


def test_casts_around_arithmetic_of_shapes_go_where_the_numbers_stay():
    two, kept = np.array([2], np.float32), ["Cast", "Add", "Cast"]
    graph = cast_chain(two)
    assert folded_operators(graph) == ["Add"] and graph.nodes[0].inputs[1].dtype == np.int64 and two.dtype == np.float32
    assert Session(gs.export_onnx(graph), "ref").run(None, {"x": np.array([3, -4])})[0].tolist() == [5, -2]
    assert folded_operators(cast_chain(np.array([0.5], np.float32))) == kept
    assert folded_operators(cast_chain(np.array([2.0**25], np.float32))) == kept
    assert folded_operators(cast_chain(two, shape=(1000,))) == folded_operators(cast_chain(two, shape=("N",))) == kept
    assert folded_operators(cast_chain(two, op="Div")) == ["Cast", "Div", "Cast"]
    read = cast_chain(two)
    read.outputs.append(read.nodes[1].outputs[0])
    assert folded_operators(read) == kept
    other = cast_chain(two)
    other.outputs.append(other.nodes[0].outputs[0])
    assert folded_operators(other) == ["Cast", "Add"]
    assert [node.op for node in cast_chain(two).fold_constants(fold_shapes=False).cleanup().nodes] == kept


def test_folding_leaves_constants_in_between():
    graph = gs.Graph(opset=13)
    first = graph.layer(op="Tile", inputs=[np.ones(1, np.int8), [2]], outputs=["a"])[0]
    second = graph.layer(op="Tile", inputs=[first, [2]], outputs=["b"])[0]
    graph.outputs = [second]
    limited = graph.copy()
    graph.fold_constants()
    assert isinstance(first, gs.Constant) and isinstance(second, gs.Constant) and first.values.tolist() == [1, 1]
    limited.fold_constants(size_threshold=3)
    assert isinstance(limited.nodes[1].inputs[0], gs.Constant) and len(limited.nodes[1].outputs) == 1


def test_functions_are_folded_with_what_they_call():
    inner = gs.Function("Inner", inputs=[gs.Variable("x", np.float32)], opset=18, ir_version=10)
    total = inner.layer(op="Add", inputs=[np.array([1], np.float32), np.array([2], np.float32)], outputs=["t"])
    inner.outputs = inner.layer(op="Identity", inputs=total, outputs=["o"])
    outer = gs.Function("Outer", inputs=[gs.Variable("x", np.float32)], opset=18, ir_version=10, functions=[inner])
    outer.outputs = outer.layer(op="Inner", inputs=[np.ones(1, np.float32)], outputs=["r"], domain=inner.domain)
    graph = gs.Graph(opset=18, functions=[inner, outer], ir_version=10)
    graph.outputs = graph.layer(op="Outer", inputs=[np.ones(1, np.float32)], outputs=["y"], domain=outer.domain)
    graph.toposort().fold_constants(error_ok=False).cleanup()
    assert graph.outputs[0].values.tolist() == [3]


if __name__ == "__main__":
    checks.run_all(globals())
