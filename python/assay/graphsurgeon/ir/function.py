"""Local functions of models."""

from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.tensor import Tensor, Variable
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc


class Function(Graph):
    """A function: a graph that nodes of its name and domain call. `attrs`: names with defaults, None for none."""

    DEFAULT_DOMAIN = "onnx_graphsurgeon"

    def __init__(self, name, domain=None, nodes=None, inputs=None, outputs=None, doc_string=None, opset=None,
                 import_domains=None, functions=None, attrs=None, ir_version=None) -> None:
        self.domain = misc.default_value(domain, self.DEFAULT_DOMAIN)
        self.attrs = misc.default_value(attrs, {})
        super().__init__(nodes, inputs, outputs, name, doc_string, opset, import_domains, functions=functions,
                         ir_version=ir_version)

    @property
    def unique_id(self):
        """Domain and name."""
        return (self.domain, self.name)

    def cleanup(self, remove_unused_node_outputs=False, recurse_subgraphs=True, remove_unused_graph_inputs=False,
                recurse_functions=False):
        """As of a graph; others are left alone."""
        self._warn_recursion(recurse_functions)
        return super().cleanup(remove_unused_node_outputs, recurse_subgraphs, remove_unused_graph_inputs, False)

    def fold_constants(self, recurse_functions=False, **kwargs):
        """As of a graph; others are left alone."""
        self._warn_recursion(recurse_functions)
        return super().fold_constants(recurse_functions=False, **kwargs)

    def toposort(self, recurse_subgraphs=True, recurse_functions=False, mode="nodes"):
        """As of a graph; by default its nodes alone."""
        return super().toposort(recurse_subgraphs, recurse_functions, mode)

    @staticmethod
    def _warn_recursion(recurse_functions):
        if recurse_functions:
            G_LOGGER.warning("a function does not go into others: ask the graph")

    def _like(self, nodes, inputs, outputs):
        import copy

        domains = None if self.import_domains is None else list(self.import_domains)
        attrs = {name: copy.copy(value) for name, value in self.attrs.items()}
        return Function(self.name, self.domain, nodes, inputs, outputs, self.doc_string, self.opset, domains,
                        self.functions, attrs, self.ir_version)

    def copy(self, tensor_map=None):
        """A copy of nodes, tensors and attributes."""
        return super().copy(tensor_map)

    def __call__(self, graph, inputs=None, outputs=None, *args, **kwargs):
        """Adds a node that calls the function to a graph, and gives its outputs."""
        inputs, outputs = list(inputs or []), outputs if outputs is None else list(outputs)
        self._warn_count("inputs", len(inputs), len(self.inputs))
        made = outputs is None
        if made:
            outputs = [each.name for each in self.outputs]
        self._warn_count("outputs", len(outputs), len(self.outputs))
        if "attrs" in kwargs:
            given = kwargs["attrs"]
            missing = [name for name, fallback in self.attrs.items() if fallback is None and name not in given]
            if missing:
                G_LOGGER.warning(f"the call of `{self.name}` has no attributes {missing}, which have no defaults")
        is_given = [isinstance(each, Tensor) for each in outputs]
        results = graph.layer(inputs, outputs, *args, op=self.name, domain=self.domain, **kwargs)
        for result, own, given in zip(results, self.outputs, is_given):
            if not given and isinstance(own, Variable):
                result.dtype, result.shape = own.dtype, own.shape
        return results

    def _warn_count(self, what, count, expected):
        if count != expected:
            G_LOGGER.warning(f"the call of `{self.name}` has {count} {what}, the function {expected}")

    def __eq__(self, other):
        return isinstance(other, Function) and self.unique_id == other.unique_id and self.attrs == other.attrs and \
            super().__eq__(other)

    __hash__ = None

    def __str__(self):
        nodes = "\n".join(str(node) for node in self.nodes)
        return (f"Function {self.name}, Domain {self.domain}, Opset {self.opset}\nInputs: {self.inputs}\nNodes: {nodes}\n"
                f"Outputs: {self.outputs}")
