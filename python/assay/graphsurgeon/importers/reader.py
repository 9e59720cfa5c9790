"""Graphs from what native code tells of models."""

from __future__ import annotations

from collections import OrderedDict

from assay.graphsurgeon.ir.function import Function
from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.node import KINDS, Node
from assay.graphsurgeon.ir.tensor import KINDS as TYPES
from assay.graphsurgeon.ir.tensor import Constant, LazyValues, SparseValues, Variable, dtype_of
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc


class Importer:
    """Makes objects of what native code tells of a model."""

    def __init__(self, found) -> None:
        self.values = found["values"]
        self.tensors: dict = {}
        self.imports = [(domain, version) for domain, version in found["imports"]]
        self.opset = opset_of(self.imports)
        self.functions: list = []

    def tensor(self, number):
        """A value by its number; each becomes one tensor."""
        tensor = self.tensors.get(number)
        if tensor is None:
            tensor = self._make(*self.values[number]) if number >= 0 else Variable.empty()
            if number >= 0:
                self.tensors[number] = tensor
        return tensor

    def _make(self, name, type_of_value, array):
        if not name:
            return Variable.empty()
        if array is not None:
            return Constant(name, SparseValues(array) if isinstance(array, tuple) else LazyValues(array))
        if type_of_value is None:
            return Variable(name)
        kind, dtype, dims = type_of_value
        return Variable(name, dtype_of(dtype), dims, TYPES[kind])

    def graph(self, parts, **kwargs):
        name, doc, inputs, outputs, _, nodes = parts
        input_tensors = [self.tensor(each) for each in inputs]
        made = [self.node(each) for each in nodes]
        return Graph(made, [each for each in input_tensors if not isinstance(each, Constant)],
                     [self.tensor(each) for each in outputs], name, doc, self.opset,
                     None if self.imports is None else list(self.imports), **kwargs)

    def node(self, parts):
        op, domain, name, inputs, outputs, attributes, _ = parts
        tensor = self.tensor
        return Node(op, name, self.attributes(op, attributes) if attributes else None, [tensor(each) for each in inputs],
                    [tensor(each) for each in outputs], domain or None)

    def attributes(self, op, given):
        made = OrderedDict()
        for name, kind, value in given:
            if kind < 0:
                made[name] = Node.AttributeRef(value, misc.convert_from_onnx_attr_type(-kind))
            elif value is None:
                G_LOGGER.warning(f"the attribute `{name}` of a node of {op} is of a kind that graphs do not have; it is "
                                 "left out")
            else:
                made[name] = self.attribute(name, kind, value)
        return made

    def attribute(self, name, kind, value):
        if kind in (KINDS["TENSOR"], KINDS["SPARSE_TENSOR"]):
            return Constant("", SparseValues(value) if isinstance(value, tuple) else LazyValues(value))
        if kind == KINDS["GRAPH"]:
            return self.graph(value, functions=self.functions)
        if kind == KINDS["TENSORS"]:
            return [Constant("", LazyValues(each)) for each in value]
        if kind == KINDS["GRAPHS"]:
            return [self.graph(each, functions=self.functions) for each in value]
        return value

    def function(self, found):
        imports = [(domain, version) for domain, version in found["imports"]]
        attrs = OrderedDict((name, None) for name in found["attribute_names"])
        attrs.update(self.attributes(found["name"], found["attribute_defaults"]))
        name, _, inputs, outputs, _, nodes = found["graph"]
        return Function(found["name"], found["domain"], [self.node(each) for each in nodes],
                        [self.tensor(each) for each in inputs], [self.tensor(each) for each in outputs], found["doc"],
                        opset_of(imports or self.imports), imports, attrs=attrs)


def opset_of(imports):
    """The version of ONNX's own operators."""
    for domain, version in imports:
        if domain in ("", "ai.onnx"):
            return version
    G_LOGGER.warning(f"the model does not say which version of ONNX's operators it uses; {Graph.DEFAULT_OPSET} is taken")
    return Graph.DEFAULT_OPSET
