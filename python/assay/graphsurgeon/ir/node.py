"""Nodes of graphs."""

from __future__ import annotations

import numbers
from collections import OrderedDict

from assay.graphsurgeon.ir.tensor import Tensor
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc

# Kinds of attributes, with ONNX's numbers.
KINDS = {"FLOAT": 1, "INT": 2, "STRING": 3, "TENSOR": 4, "GRAPH": 5, "FLOATS": 6, "INTS": 7, "STRINGS": 8, "TENSORS": 9,
         "GRAPHS": 10, "SPARSE_TENSOR": 11}
LISTS = {1: 6, 2: 7, 3: 8, 4: 9, 5: 10}  # of lists of a kind


def kind_number(kind):
    """The number of a kind of attribute: given as such, by its name, or by the Python type of its values."""
    from assay.graphsurgeon.ir.graph import Graph

    if isinstance(kind, int) and not isinstance(kind, bool):
        return int(kind)
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    # Lists of values: [int], [1, 2], list[int] and typing.List[int].
    items = kind if isinstance(kind, list) else getattr(kind, "__args__", ())
    single = kind_of_type(items[0] if items else kind, Graph)
    if single is None:
        G_LOGGER.critical(f"`{kind}` is no kind of attribute")
    return LISTS[single] if items else single


def kind_of_type(kind, graph):
    """The number of the kind whose values are of a Python type, or of numpy's, or of the type of a value."""
    kind = getattr(kind, "type", kind) if type(kind).__name__.endswith("DType") else kind
    kind = kind if isinstance(kind, type) else type(kind)
    for known, number in ((numbers.Integral, 2), (numbers.Real, 1), (str, 3), (Tensor, 4), (graph, 5)):
        if issubclass(kind, known):
            return number
    return 2 if kind.__name__ in ("bool_", "bool") else None


class Node(misc.Linked):
    """An operator with its tensors and attributes."""

    class AttributeRef:
        """In a function: the value of an attribute of the node that calls it."""

        def __init__(self, name, type) -> None:
            self.name = name
            self.type = type

        def __eq__(self, other):
            return isinstance(other, Node.AttributeRef) and self.name == other.name and \
                (self.type == other.type or kind_number(self.type) == kind_number(other.type))

        __hash__ = None  # type: ignore[assignment]

        def __repr__(self):
            return f"Node.AttributeRef(name={self.name!r}, type={self.type!r})"

    def __init__(self, op: str, name: str | None = None, attrs: dict | None = None, inputs=None, outputs=None, domain=None) -> None:
        self.op = op
        self.name = misc.default_value(name, "")
        self.attrs = misc.default_value(attrs, OrderedDict())
        self.domain = domain
        self._link(inputs or (), outputs or ())

    def i(self, tensor_idx: int = 0, producer_idx: int = 0) -> Node:
        """The producer `producer_idx` of the input `tensor_idx`."""
        return self.inputs[tensor_idx].inputs[producer_idx]

    def o(self, consumer_idx: int = 0, tensor_idx: int = 0) -> Node:
        """The consumer `consumer_idx` of the output `tensor_idx`."""
        return self.outputs[tensor_idx].outputs[consumer_idx]

    def subgraphs(self, recursive=False):
        """The bodies of the node, each once; `recursive`: those of nodes in them too."""
        if not self.attrs:
            return
        seen = set()
        waiting = _bodies(self)[::-1]
        while waiting:
            body = waiting.pop()
            if id(body) in seen:
                continue
            seen.add(id(body))
            yield body
            if recursive:
                waiting.extend([each for node in body.nodes for each in _bodies(node)][::-1])

    def copy(self, inputs=None, outputs=None, tensor_map=None):
        """Another node of this kind over other tensors; bodies are copied."""
        from assay.graphsurgeon.ir.graph import Graph

        attrs = OrderedDict()
        for name, value in self.attrs.items() if self.attrs else ():
            attrs[name] = value.copy(tensor_map) if isinstance(value, Graph) else value
        return Node(self.op, self.name, attrs, inputs, outputs, domain=self.domain)

    def __str__(self):
        text = f"{self.name} ({self.op})"
        if self.domain:
            text += f" [domain: {self.domain}]"
        for title, tensors in (("Inputs", self.inputs), ("Outputs", self.outputs)):
            text += f"\n\t{title}: [" + "".join(f"\n\t\t{each}" for each in tensors) + "\n\t]"
        if self.attrs:
            text += f"\nAttributes: {self.attrs}"
        return text

    def __repr__(self):
        return str(self)

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, Node):
            return False
        return (self.name, self.op, self.domain) == (other.name, other.op, other.domain) and \
            self.attrs == other.attrs and list.__eq__(self.inputs, other.inputs) and \
            list.__eq__(self.outputs, other.outputs)

    __hash__ = None  # type: ignore[assignment]


def _bodies(node):
    from assay.graphsurgeon.ir.graph import Graph

    found = []
    for value in node.attrs.values():
        found.extend(each for each in (value if isinstance(value, list) else [value]) if isinstance(each, Graph))
    return found
