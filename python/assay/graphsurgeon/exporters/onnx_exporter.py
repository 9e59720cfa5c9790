"""Graphs as ONNX models."""

from __future__ import annotations

import numbers
from collections import Counter

from assay import _native
from assay.graphsurgeon.exporters.base_exporter import BaseExporter
from assay.graphsurgeon.ir.graph import Graph, _domains
from assay.graphsurgeon.ir.node import KINDS, Node, kind_number
from assay.graphsurgeon.ir.tensor import KINDS as TYPES
from assay.graphsurgeon.ir.tensor import Constant, LazyValues, Tensor, number_of
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    import os

    from assay.model import Model

DEFAULT_IR_VERSION = 10


class _Exporter:
    def __init__(self, graph, do_type_check, header) -> None:
        self.do_type_check = do_type_check
        self.builder = _native.GraphBuilder(header)
        self.skips_dead = False  # nodes without outputs, as folding leaves them behind
        self.outermost = {id(each) for each in graph.tensors().values()}

    def graph(self, graph, outer, checks):
        """Tells the builder a graph. `outer`: numbers of values of enclosing graphs, by name."""
        number = self.builder.add_graph(graph.name, graph.doc_string)
        self.fill(number, graph, outer, checks)
        return number

    def fill(self, number, graph, outer, checks, constants_as_nodes=False) -> None:
        ids = dict(outer)
        own = set()
        for tensor in graph.inputs:
            ids[tensor.name] = self.builder.add_input(number, tensor.name)
            own.add(tensor.name)
            self.type(ids[tensor.name], tensor, checks, True)
        tensors = graph.tensors()
        for name, tensor in tensors.items():
            # One that an enclosing graph has too is not written again; another one of its name is.
            is_outer = name in outer and id(tensor) in self.outermost
            if isinstance(tensor, Constant) and name not in own and not is_outer:
                if constants_as_nodes:
                    ids[name] = self.constant_node(number, tensor)
                else:
                    ids[name] = self.builder.add_initializer(number, name, stored(tensor))
                own.add(name)
        kept = [node for node in graph.nodes if node._outputs or not self.skips_dead]
        nodes = [self.node(number, node, ids) for node in kept]
        outputs = {id(each) for each in graph.outputs}
        for node, (_, results) in zip(kept, nodes):
            for tensor, value in zip(node._outputs, results):
                if value >= 0:
                    self.type(value, tensor, checks, id(tensor) in outputs)
        for node, (place, _) in zip(kept, nodes):
            self.builder.set_operands(place, [self.value(number, each, ids) for each in node._inputs])
            if node.attrs:
                self.builder.set_attributes(place, self.attributes(node.attrs, ids))
        for each in graph.outputs:
            if isinstance(each, Constant) and each.name in ids:
                self.type(ids[each.name], each, False, True)
        self.builder.set_outputs(number, [self.value(number, each, ids) for each in graph.outputs])

    def constant_node(self, number, tensor):
        place, results = self.builder.add_node(number, ("Constant", "", ""), [tensor.name])
        self.builder.set_attributes(place, [("value", KINDS["TENSOR"], stored(tensor))])
        return results[0]

    def value(self, number, tensor, ids):
        name = tensor.name
        if not name:
            return -1
        value = ids.get(name)
        if value is None:
            value = ids[name] = self.builder.add_undefined(number, name)
            self.type(value, tensor, False, False)
        return value

    def type(self, value, tensor, checks, is_interface) -> None:
        dtype = number_of(tensor.dtype)
        if dtype == 0 and tensor.shape is None and not is_interface:
            return
        if checks and is_interface and dtype == 0 and getattr(tensor, "type", TYPES[0]) == TYPES[0]:
            G_LOGGER.critical(f"the tensor `{tensor.name}` is an input or output and has no type; set its dtype")
        kind = TYPES.index(getattr(tensor, "type", TYPES[0]) or TYPES[0])
        if TYPES[kind] in ("map_type", "opaque_type"):
            if is_interface:
                G_LOGGER.critical(f"the tensor `{tensor.name}` is a {TYPES[kind]}, which cannot be written")
        elif dtype or tensor.shape is not None:
            self.builder.set_type(value, kind, dtype, None if tensor.shape is None else list(tensor.shape))

    def node(self, number, node, ids):
        words = (node.op, node.domain or "", node.name or "")
        place, results = self.builder.add_node(number, words, [each.name for each in node._outputs])
        for tensor, value in zip(node._outputs, results):
            if value >= 0:
                ids[tensor.name] = value
        return place, results

    def attributes(self, attrs, ids):
        return [self.attribute(name, value, ids) for name, value in attrs.items() if value is not None]

    def attribute(self, name, value, ids):
        import numpy as np

        if isinstance(value, Node.AttributeRef):
            return name, -kind_number(value.type), value.name
        if isinstance(value, Graph):
            return name, KINDS["GRAPH"], self.graph(value, ids, False)
        if isinstance(value, Tensor):
            if not isinstance(value, Constant):
                G_LOGGER.critical(f"the attribute `{name}` is a variable; a tensor of an attribute is a Constant")
            return name, KINDS["TENSOR"], stored(value)
        if isinstance(value, np.ndarray) and value.ndim != 1:
            return name, KINDS["TENSOR"], value
        if isinstance(value, (type, np.dtype)):
            return name, KINDS["INT"], number_of(value)
        return (name, *plain_attribute(name, value))


def plain_attribute(name, value):
    """(kind, value) of numbers, texts and lists of them."""
    if isinstance(value, (bool, numbers.Integral)):
        return KINDS["INT"], int(value)
    if isinstance(value, numbers.Real):
        return KINDS["FLOAT"], float(value)
    if isinstance(value, bytes):
        return KINDS["STRING"], value.decode(errors="surrogateescape")
    if isinstance(value, str):
        return KINDS["STRING"], value
    items = list(value) if hasattr(value, "__iter__") else [value]
    if all(isinstance(each, numbers.Integral) for each in items):
        return KINDS["INTS"], [int(each) for each in items]
    if all(isinstance(each, numbers.Real) for each in items):
        return KINDS["FLOATS"], [float(each) for each in items]
    if all(isinstance(each, (str, bytes)) for each in items):
        return KINDS["STRINGS"], [each if isinstance(each, str) else each.decode() for each in items]
    if all(isinstance(each, Constant) for each in items):
        return KINDS["TENSORS"], [stored(each) for each in items]
    G_LOGGER.critical(f"the attribute `{name}` is a {type(value).__name__}, which ONNX has no kind for: {value!r}")


def stored(constant):
    """The elements of a constant as native code takes them: what was not loaded as it lies in its file."""
    values = constant._values
    if isinstance(values, LazyValues):
        return values.tensor
    if constant._export_dtype is not None and constant._export_dtype != values.dtype:
        from assay.datatype import DataType

        values = values.astype(DataType.from_dtype(constant._export_dtype).numpy())
    return values


def _all_graphs(graph):
    for each in [graph, *graph.functions]:
        yield each
        yield from each.subgraphs(recursive=True)


def _imports(graph, functions):
    """What the model imports: what the graph says, with its `opset`, and the other domains of nodes."""
    imports = dict(_domains(graph) or [])
    for domain in ("ai.onnx", ""):
        if domain in imports:
            imports[domain] = graph.opset
            break
    else:
        imports[""] = graph.opset
    for each in functions:
        for node in each.nodes:
            domain = node.domain or ""
            if domain and domain != "ai.onnx":
                imports.setdefault(domain, 1)
    return list(imports.items())


def _function(exporter, function):
    number = exporter.builder.add_graph(function.name, "")
    exporter.fill(number, function, {}, False, constants_as_nodes=True)
    with_defaults = {name: value for name, value in function.attrs.items() if value is not None}
    graphs = [function, *function.subgraphs(recursive=True)]
    exporter.builder.add_function({
        "domain": function.domain, "name": function.name, "doc": function.doc_string,
        "attribute_names": [name for name, value in function.attrs.items() if value is None],
        "attribute_defaults": exporter.attributes(with_defaults, {}), "imports": _imports(function, graphs)}, number)


def _header(graph, kwargs):
    fields = graph.__dict__.get("_model_fields", {})
    imports = _imports(graph, [graph, *graph.subgraphs(recursive=True), *graph.functions])
    if "opset_imports" in kwargs:
        imports = [(each.domain, each.version) for each in kwargs.pop("opset_imports")]
    header = {"ir_version": misc.default_value(graph.ir_version, DEFAULT_IR_VERSION), "imports": imports,
              "producer_name": graph.producer_name, "producer_version": graph.producer_version,
              "domain": fields.get("domain", ""), "model_version": fields.get("model_version", 0),
              "doc": fields.get("doc", ""), "metadata": fields.get("metadata", [])}
    names = {"doc_string": "doc"}
    for name, value in kwargs.items():
        if names.get(name, name) not in header:
            G_LOGGER.critical(f"a model has no field `{name}`")
        header[names.get(name, name)] = value
    return header


@misc.finite_bodies()
@misc.without_collections()
def export_onnx(graph: Graph, do_type_check: bool = True, **kwargs) -> Model:
    """The model of a graph, with the attributes of `onnx.ModelProto`. Other arguments are fields of it."""
    from assay.model import Model

    graph._merge_functions()
    exporter = _Exporter(graph, do_type_check, _header(graph, kwargs))
    exporter.graph(graph, {}, do_type_check)
    for function in graph.functions:
        _function(exporter, function)
    return Model(exporter.builder.finish(graph.name or "the graph"))


def save(graph: Graph, path: str | os.PathLike, **kwargs) -> None:
    """Writes the model of a graph; weights that were not loaded go from file to file."""
    export_onnx(graph, **kwargs).save(path)


def whole_model(graph, do_type_check):
    """The ModelProto of a graph."""
    return export_onnx(graph, do_type_check)._parse()


def whole_graph(graph, do_type_check):
    """The GraphProto of a graph."""
    return whole_model(graph, do_type_check).graph


def check_duplicate_node_names(nodes, level=G_LOGGER.WARNING) -> None:
    """Says which names several nodes have."""
    counts = Counter(node.name for node in nodes if node.name)
    for name, count in counts.items():
        if count > 1:
            G_LOGGER.log(f"{count} nodes have the name `{name}`", level)


def update_import_domains(graph):
    """The imports of a graph with its `opset` and the other domains of its nodes, as OperatorSetIdProtos; it keeps them."""
    import onnx

    found = _imports(graph, [graph, *graph.subgraphs(recursive=True)])
    graph.import_domains = [onnx.OperatorSetIdProto(domain=domain, version=version) for domain, version in found]
    return graph.import_domains


class OnnxExporter(BaseExporter):
    """Makes messages of the package onnx of graphs and their parts."""

    @staticmethod
    def export_graph(graph: Graph, do_type_check=True):
        """The GraphProto of a graph."""
        return _protos().export_graph(graph, do_type_check)

    @staticmethod
    def export_tensor_proto(tensor):
        """The TensorProto of a constant."""
        return _protos().export_tensor_proto(tensor)

    @staticmethod
    def export_sparse_tensor_proto(tensor):
        """The SparseTensorProto of a constant."""
        return _protos().export_sparse_tensor_proto(tensor)

    @staticmethod
    def export_value_info_proto(tensor, do_type_check):
        """The ValueInfoProto of a tensor."""
        return _protos().export_value_info_proto(tensor, do_type_check)

    @staticmethod
    def export_attributes(attrs):
        """AttributeProtos of attributes."""
        return _protos().export_attributes(attrs)

    @staticmethod
    def export_node(node):
        """The NodeProto of a node."""
        return _protos().export_node(node)

    @staticmethod
    def export_function(func):
        """The FunctionProto of a function."""
        return _protos().export_function(func)


def _protos():
    from assay.graphsurgeon.exporters import protos

    return protos


def constant_to_onnx_tensor(tensor):
    """The TensorProto of a constant."""
    return _protos().constant_to_onnx_tensor(tensor)


def dtype_to_onnx(dtype):
    """ONNX's number of an element type."""
    return _protos().dtype_to_onnx(dtype)
