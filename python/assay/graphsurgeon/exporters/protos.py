"""Nodes, tensors and attributes as messages of the package onnx."""

from __future__ import annotations

from assay._arrays import to_array
from assay.graphsurgeon.exporters.onnx_exporter import plain_attribute, stored, whole_graph, whole_model
from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.node import KINDS, Node, kind_number
from assay.graphsurgeon.ir.tensor import Constant, SparseValues, Tensor, number_of
from assay.graphsurgeon.logger import G_LOGGER

FIELDS = {"FLOAT": "f", "INT": "i", "FLOATS": "floats", "INTS": "ints"}


def dtype_to_onnx(dtype):
    """ONNX's number of an element type; the package onnx has to know it."""
    import onnx

    from assay.datatype import DataType

    number = number_of(dtype)
    name = DataType.from_number(number).name.upper() if number else "UNDEFINED"
    name = {"FLOAT32": "FLOAT", "FLOAT64": "DOUBLE", "FLOAT4": "FLOAT4E2M1"}.get(name, name)
    if not hasattr(onnx.TensorProto, name):
        raise RuntimeError(f"Current ONNX package does not support {name}. Please upgrade ONNX to the latest version.")
    return number


def constant_to_onnx_tensor(tensor: Constant):
    """The TensorProto of a constant, with its name and its elements as bytes."""
    import numpy as np
    import onnx

    number = dtype_to_onnx(tensor.export_dtype)
    values = stored(tensor)
    if isinstance(values, tuple):
        G_LOGGER.critical(f"`{tensor.name}` is sparse: export_sparse_tensor_proto() writes it")
    if isinstance(values, np.ndarray):
        values = to_array(values)
    proto = onnx.TensorProto(data_type=number, dims=list(values.shape))
    if tensor.name:
        proto.name = tensor.name
    if number == onnx.TensorProto.STRING:
        proto.string_data.extend(each.encode(errors="surrogateescape") for each in values.strings())
    else:
        proto.raw_data = np.asarray(values).tobytes()
    if tensor.data_location is not None:
        proto.data_location = tensor.data_location
    return proto


def export_tensor_proto(tensor: Constant):
    """The same; elements that were not loaded are not kept."""
    return constant_to_onnx_tensor(tensor)


def export_sparse_tensor_proto(tensor: Tensor):
    """The SparseTensorProto of a constant of SparseValues."""
    import onnx

    if not (isinstance(tensor, Constant) and isinstance(tensor._values, SparseValues)):
        G_LOGGER.critical(f"`{tensor.name}` is not sparse")
    made = tensor._values.message
    if made is None:
        made = whole_graph(Graph(outputs=[tensor]), False).sparse_initializer[0]
    made = onnx.SparseTensorProto.FromString(made.SerializeToString())
    made.values.name = tensor.name
    return made


def export_value_info_proto(tensor: Tensor, do_type_check):
    """The ValueInfoProto of a tensor."""
    import onnx

    if do_type_check and tensor.dtype is None:
        G_LOGGER.critical(f"the tensor `{tensor.name}` is an input or output and has no type; set its dtype")
    if tensor.dtype is None:
        return onnx.helper.make_empty_tensor_value_info(tensor.name)
    number, kind = dtype_to_onnx(tensor.dtype), getattr(tensor, "type", "tensor_type")
    shape = None if tensor.shape is None else list(tensor.shape)
    if kind == "sequence_type":
        return onnx.helper.make_tensor_sequence_value_info(tensor.name, number, shape)
    make = onnx.helper.make_sparse_tensor_value_info if kind == "sparse_tensor_type" else \
        onnx.helper.make_tensor_value_info
    return make(tensor.name, number, shape)


def export_graph(graph: Graph, do_type_check=True):
    """The GraphProto of a graph; what a weight said of where its elements are, it says again."""
    proto = whole_graph(graph, do_type_check)
    tensors = graph.tensors()
    for each in proto.initializer:
        location = getattr(tensors.get(each.name), "data_location", None)
        if location == each.DEFAULT:
            each.data_location = location
    for each in proto.sparse_initializer:
        each.CopyFrom(export_sparse_tensor_proto(tensors[each.values.name]))
    return proto


def _attribute(name, value):
    import onnx

    if isinstance(value, Node.AttributeRef):
        return onnx.AttributeProto(name=name, type=kind_number(value.type), ref_attr_name=value.name)
    if isinstance(value, Graph):
        return onnx.AttributeProto(name=name, type=KINDS["GRAPH"], g=export_graph(value, False))
    if isinstance(value, Constant):
        return onnx.AttributeProto(name=name, type=KINDS["TENSOR"], t=export_tensor_proto(value))
    kind, plain = plain_attribute(name, number_of(value) if hasattr(value, "mro") else value)
    proto = onnx.AttributeProto(name=name, type=kind)
    word = next(word for word, number in KINDS.items() if number == kind)
    if word == "STRING":
        proto.s = plain.encode(errors="surrogateescape")
    elif word == "STRINGS":
        proto.strings.extend(each.encode(errors="surrogateescape") for each in plain)
    elif word == "TENSORS":
        proto.tensors.extend(export_tensor_proto(each) for each in value)
    elif word in ("FLOATS", "INTS"):
        getattr(proto, FIELDS[word]).extend(plain)
    else:
        setattr(proto, FIELDS[word], plain)
    return proto


def export_attributes(attrs):
    """AttributeProtos of attributes; those that are None are left out."""
    return [_attribute(name, value) for name, value in attrs.items() if value is not None]


def export_node(node: Node):
    """The NodeProto of a node."""
    import onnx

    proto = onnx.NodeProto(op_type=node.op, input=[each.name for each in node.inputs],
                           output=[each.name for each in node.outputs], attribute=export_attributes(node.attrs or {}))
    if node.name:
        proto.name = node.name
    if node.domain is not None:
        proto.domain = node.domain
    return proto


def export_function(func):
    """The FunctionProto of a function."""
    found = whole_model(Graph(functions=[func], opset=func.opset), False).functions
    return next(each for each in found if (each.domain, each.name) == func.unique_id)
