"""Graphs, nodes and tensors from messages of the package onnx."""

from __future__ import annotations

from assay import _native
from assay.graphsurgeon.importers.reader import Importer, opset_of
from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.tensor import Constant, LazyValues, SparseValues, Variable, dtype_of
from assay.graphsurgeon.util import misc

ELEMENTS = ("sequence_type", "optional_type")


def get_onnx_tensor_type(proto):
    """`tensor_type`, `sequence_type` and so on; None where a ValueInfoProto does not say."""
    return proto.type.WhichOneof("value") if hasattr(proto, "type") else "tensor_type"


def _tensor_type(proto):
    """The type of elements and dims in a ValueInfoProto: of a sequence or an optional, those of its elements."""
    kind, found = get_onnx_tensor_type(proto), proto.type
    while kind in ELEMENTS:
        found = getattr(found, kind).elem_type
        kind = found.WhichOneof("value")
    return getattr(found, kind) if kind in ("tensor_type", "sparse_tensor_type") else None


def get_onnx_tensor_shape(proto):
    """The dims: numbers, names, and None for those that nothing is said of; None where the rank is not known."""
    if hasattr(proto, "dims"):
        return list(proto.dims)
    found = _tensor_type(proto)
    if found is None or not found.HasField("shape"):
        return None
    return [getattr(dim, dim.WhichOneof("value")) if dim.WhichOneof("value") else None for dim in found.shape.dim]


def get_onnx_tensor_dtype(proto):
    """The type of elements: numpy's, ONNX's number where numpy has none, None where nothing is said."""
    found = proto if hasattr(proto, "data_type") else _tensor_type(proto)
    number = getattr(found, "data_type", getattr(found, "elem_type", 0))
    return dtype_of(number) if number else None


def get_numpy_type(onnx_type):
    """numpy's type for ONNX's number; None where numpy has none."""
    if not isinstance(onnx_type, int):
        return onnx_type
    found = dtype_of(int(onnx_type))
    return None if isinstance(found, int) else found


def get_itemsize(dtype):
    """The bytes of an element, half a byte for types of four bits."""
    from assay.datatype import DataType

    return DataType.from_dtype(dtype).itemsize


def import_tensor(proto):
    """A constant for a TensorProto or SparseTensorProto, a variable for a ValueInfoProto."""
    if hasattr(proto, "indices"):
        return Constant(proto.values.name, SparseValues(_sparse_array(proto), proto), proto.values.data_location)
    if hasattr(proto, "data_type"):
        location = int(proto.data_location) if proto.HasField("data_location") else None
        return Constant(proto.name, LazyValues(proto), location)
    return Variable(proto.name, get_onnx_tensor_dtype(proto), get_onnx_tensor_shape(proto),
                    get_onnx_tensor_type(proto) or "tensor_type")


def _sparse_array(proto):
    import onnx

    graph = onnx.GraphProto(name="tensor", sparse_initializer=[proto])
    found = _read(graph=graph)
    return found["values"][found["graph"][4][0]][2]


def _read(graph=None, functions=(), imports=None, opset=None):
    import onnx

    model = onnx.ModelProto(ir_version=10, functions=functions)
    model.graph.CopyFrom(onnx.GraphProto(name="none") if graph is None else graph)
    version = Graph.DEFAULT_OPSET if opset is None else opset
    model.opset_import.extend(imports or [onnx.OperatorSetIdProto(domain="", version=version)])
    return _native.read_graph(_native.model_from_bytes(model.SerializeToString()))


def _graphs_of(node):
    for _, _, value in node[5]:
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, tuple) and len(each) == 6:
                yield each


def _defined(graph):
    """Numbers of the values that a graph as native code tells it, or a body in it, gives."""
    found = {*graph[2], *graph[4]}
    for node in graph[5]:
        found.update(node[4])
        for body in _graphs_of(node):
            found |= _defined(body)
    return found


def _importer(found, graph, outer, opset, import_domains):
    """What makes the objects; names that the graph does not define are those of `outer`."""
    importer = Importer(found)
    importer.opset, importer.imports = opset, import_domains
    if outer:
        defined = _defined(graph)
        for number, (name, _, _) in found["values"].items():
            if name in outer and number not in defined:
                importer.tensors[number] = outer[name]
    return importer


def import_graph(proto, tensor_map=None, opset=None, import_domains=None, producer_name=None, producer_version=None,
                 functions=None, ir_version=None) -> Graph:
    """The graph of a GraphProto. `tensor_map`: tensors of enclosing graphs by name."""
    found = _read(graph=proto, imports=import_domains, opset=opset)
    importer = _importer(found, found["graph"], tensor_map, opset, import_domains)
    importer.functions = misc.default_value(functions, [])
    graph = importer.graph(found["graph"], functions=importer.functions, producer_name=producer_name,
                           producer_version=producer_version, ir_version=ir_version)
    _keep_what_weights_say(graph, proto)
    return graph


def _keep_what_weights_say(graph, proto):
    """What is written again as it was read: where elements are, and sparse weights."""
    locations = {each.name: int(each.data_location) for each in proto.initializer if each.HasField("data_location")}
    sparse = {each.values.name: each for each in proto.sparse_initializer}
    for name, tensor in graph.tensors().items() if locations or sparse else ():
        if isinstance(tensor, Constant):
            tensor.data_location = locations.get(name)
            if name in sparse and isinstance(tensor._values, SparseValues):
                tensor._values.message = sparse[name]


def import_node(proto, tensor_map, subgraph_tensor_map, opset, import_domains):
    """The node of a NodeProto; tensors that neither map has are added to `subgraph_tensor_map`."""
    import onnx

    found = _read(graph=onnx.GraphProto(name="node", node=[proto]), imports=import_domains, opset=opset)
    parts = found["graph"][5][0]
    outer = {**tensor_map, **subgraph_tensor_map}
    importer = _importer(found, found["graph"], outer, opset, import_domains)
    for number in parts[4]:
        known = subgraph_tensor_map.get(found["values"][number][0]) if number >= 0 else None
        if known is not None:
            importer.tensors[number] = known
    node = importer.node(parts)
    for each in proto.attribute:
        if each.HasField("t") and isinstance(node.attrs.get(each.name), Constant):
            node.attrs[each.name].name = each.t.name
    for tensor in [*node.inputs, *node.outputs]:
        if tensor.name and tensor.name not in tensor_map:
            subgraph_tensor_map.setdefault(tensor.name, tensor)
    return node


def import_attributes(protos, tensor_map, subgraph_tensor_map, opset, import_domains):
    """The attributes of AttributeProtos by name."""
    import onnx

    node = onnx.NodeProto(op_type="Attributes", attribute=protos)
    return import_node(node, tensor_map, subgraph_tensor_map, opset, import_domains).attrs


def import_function(proto, model_opset=None, model_import_domains=None):
    """The function of a FunctionProto."""
    found = _read(functions=[proto])
    importer = Importer(found)
    domains = list(proto.opset_import) or model_import_domains
    importer.imports = domains or []
    function = importer.function(found["functions"][0])
    function.import_domains = domains
    function.opset = opset_of([(each.domain, each.version) for each in domains or []]) if domains else \
        misc.default_value(model_opset, Graph.DEFAULT_OPSET)
    return function
