"""The nodes that layers of a network become."""

import numpy as np

from assay.exception import PolygraphyException
from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant, Variable
from assay.tensorrt.scopes import Scopes


class Emitter:
    """Makes a graph of a network; layers call node() and its neighbours."""

    def __init__(self, network, layers=None) -> None:
        self.network = network
        self.layers = network._layers if layers is None else layers
        self.nodes: list = []
        self.tensors: dict = {}
        self.count = 0
        self.plugins: dict = {}  # by the identity of the node that stands for it
        self.weights: list = []  # (layer, role, name)
        self.names = {}  # that weights were given for refitting
        for name, weights in network.weights_names.items():
            self.names[id(weights)] = name

    def graph(self, outputs, orders=None):
        """The graph with these tensors as outputs. `orders`: of the axes of inputs and outputs, by name, if they are others."""
        from assay.tensorrt.network import OPSET

        network = self.network
        parsed = network._parsed
        opset = self.opset = self._opset(OPSET, parsed)
        self.orders = orders or {}
        inputs = [self._input(each) for each in network._inputs]
        for each in outputs:
            if each.name in self.orders:
                self.tensors[id(each)] = self.variable()
        Scopes(network, self).emit()
        domains = None if parsed is None else parsed.import_domains
        graph = Graph(self.nodes, inputs, [self._output(each) for each in outputs], network.name, opset=opset,
                      import_domains=domains, functions=None if parsed is None else parsed.functions)
        for tensor, made in zip(outputs, graph.outputs):
            if tensor._dtype is not None:
                made.dtype = tensor._dtype.onnx_number
        graph._weights, graph._plugins = self.weights, self.plugins
        return graph.toposort() if network._constructs else graph

    def _opset(self, usual, parsed):
        """The version of ONNX's operators: that of a parsed model, or the usual one, or what layers need."""
        least = max((each._least_opset() for each in self.layers), default=0)
        if parsed is not None and parsed.opset < least:
            raise PolygraphyException(f"layers need version {least} of ONNX's operators, and the parsed model has {parsed.opset}: "
                                      "`assay surgeon sanitize --opset` converts it")
        return max(usual, least) if parsed is None else parsed.opset

    def _input(self, tensor):
        """An input of the graph: what the layers read, or what becomes that."""
        order, made = self.orders.get(tensor.name), self.tensor(tensor)
        if order is None:
            return made
        inner = self.tensors[id(tensor)] = self.variable()
        made.shape = [made.shape[each] for each in order]
        back = sorted(range(len(order)), key=order.__getitem__)
        self.nodes.append(Node("Transpose", f"{tensor.name} as a row", {"perm": back}, [made], [inner]))
        return made

    def _output(self, tensor):
        """An output of the graph, likewise."""
        order, made = self.orders.get(tensor.name), self.tensor(tensor)
        if order is None:
            return made
        outer = Variable(tensor.name)
        self.nodes.append(Node("Transpose", f"{tensor.name} in memory", {"perm": order}, [made], [outer]))
        return outer

    def tensor(self, tensor):
        """The graph's tensor for one of the network; an empty one for None."""
        if tensor is None:
            return Variable.empty()
        if isinstance(tensor, (Variable, Constant)):
            return tensor
        found = self.tensors.get(id(tensor))
        if found is None:
            found = Variable(tensor.name)
            if tensor.is_network_input:
                found.dtype, found.shape = tensor._number or tensor._dtype.onnx_number, tensor._dims()
            self.tensors[id(tensor)] = found
        return found

    def set_constant(self, tensor, values, layer=None) -> None:
        """A tensor of the network that is known; the weights of a layer."""
        self.tensors[id(tensor)] = Constant(tensor.name, values)
        if layer is not None:
            self.weights.append((layer.name, "CONSTANT", tensor.name))

    def layer_weights(self, layer, role, given, values):
        """The weights of a layer, by the name that they were given, or one of their own."""
        name = self.names.get(id(given)) or f"{layer.name} {role}"
        while any(each[2] == name for each in self.weights) or name in self.network._tensors:
            name += "_"
        self.weights.append((layer.name, role, name))
        return Constant(name, values)

    def constant(self, values, dtype=np.int64):
        """A constant of a node."""
        self.count += 1
        return Constant(f"__constant_{self.count}", np.asarray(values, dtype=dtype))

    def variable(self):
        """A tensor between nodes of a layer."""
        self.count += 1
        return Variable(f"__value_{self.count}")

    def node(self, layer, op, inputs, outputs=None, **attrs):
        """A node; its outputs are new tensors if none are given. Gives the first one."""
        made = [self.variable()] if outputs is None else [self.tensor(each) for each in outputs]
        tensors = [self.tensor(each) for each in inputs]
        while tensors and tensors[-1].is_empty():
            tensors.pop()
        attrs = {name: value for name, value in attrs.items() if value is not None}
        self.nodes.append(Node(op, layer.name, attrs, tensors, made))
        return made[0]
