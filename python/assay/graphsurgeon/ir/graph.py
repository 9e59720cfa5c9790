"""Graphs: nodes in order, inputs and outputs."""

from __future__ import annotations

import contextlib
import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Sequence

from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant, Tensor, Variable
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc

TYPE_CHECKING = False
if TYPE_CHECKING:  # for those who check types, without importing at run time
    from collections.abc import Iterator

    from assay.graphsurgeon.ir.function import Function


class Graph:
    """A graph of nodes. Other tensors than inputs and outputs are found by way of the nodes."""

    DEFAULT_OPSET = 11
    OPSET_FUNC_MAP: dict = defaultdict(dict)  # by opset and name
    GLOBAL_FUNC_MAP: dict = {}

    @staticmethod
    def register(opsets=None):
        """A decorator: the function becomes a method of all graphs, or of those of these opsets."""

        def decorate(func):
            if hasattr(Graph, func.__name__):
                G_LOGGER.warning(f"a graph has a `{func.__name__}` already: the function can never be reached")
            if opsets is None:
                Graph.GLOBAL_FUNC_MAP[func.__name__] = func
            for opset in opsets or ():
                Graph.OPSET_FUNC_MAP[opset][func.__name__] = func
            return func

        return decorate

    def __init__(self, nodes=None, inputs=None, outputs=None, name=None, doc_string=None, opset=None,
                 import_domains=None, producer_name=None, producer_version=None, functions=None, ir_version=None) -> None:
        self.nodes = list(misc.default_value(nodes, []))
        self._inputs = list(misc.default_value(inputs, []))
        self._outputs = list(misc.default_value(outputs, []))
        self.name = misc.default_value(name, "onnx_graphsurgeon_graph")
        self.doc_string = misc.default_value(doc_string, "")
        self.opset = misc.default_value(opset, Graph.DEFAULT_OPSET)
        self.import_domains = import_domains
        self.producer_name = misc.default_value(producer_name, "")
        self.producer_version = misc.default_value(producer_version, "")
        self.ir_version = ir_version
        self.name_idx = 0
        self.__name__ = self.name
        self._functions = list(misc.default_value(functions, []))
        self._merge_functions()

    @property
    def inputs(self) -> list[Tensor]:
        return self._inputs

    @inputs.setter
    def inputs(self, value):
        self._inputs = list(value)

    @property
    def outputs(self) -> list[Tensor]:
        return self._outputs

    @outputs.setter
    def outputs(self, value):
        self._outputs = list(value)

    @property
    def functions(self) -> list[Function]:
        """The local functions of the model: one list, which bodies and functions share."""
        return self._functions

    @functions.setter
    def functions(self, value):
        self._functions[:] = list(value)
        self._merge_functions()

    def _merge_functions(self):
        merged, seen, waiting = [], set(), [self]
        visited = set()
        while waiting:
            graph = waiting.pop()
            if id(graph) in visited:
                continue
            visited.add(id(graph))
            for function in graph._functions:
                if function.unique_id not in seen:
                    seen.add(function.unique_id)
                    merged.append(function)
                waiting.append(function)
            waiting.extend(graph.subgraphs())
        self._functions[:] = merged
        for graph in [*self.subgraphs(recursive=True), *merged]:
            graph._functions = self._functions

    def subgraphs(self, recursive: bool = False) -> Iterator[Graph]:
        """The bodies of all nodes, each once."""
        seen = set()
        for node in self.nodes:
            for body in node.subgraphs(recursive=recursive) if node.attrs else ():
                if id(body) not in seen:
                    seen.add(id(body))
                    yield body

    def __getattr__(self, name):
        if name.startswith("__") or name in ("_functions", "nodes", "opset"):
            raise AttributeError(name)
        function = Graph.OPSET_FUNC_MAP.get(self.opset, {}).get(name) or Graph.GLOBAL_FUNC_MAP.get(name)
        if function is not None:
            return lambda *args, **kwargs: function(self, *args, **kwargs)
        local = [each for each in self.functions if each.name == name]
        if len(local) > 1:
            G_LOGGER.warning(f"there are {len(local)} functions `{name}`; that of `{local[0].domain}` is used")
        if local:
            return lambda *args, **kwargs: local[0](self, *args, **kwargs)
        others = sorted(opset for opset, functions in Graph.OPSET_FUNC_MAP.items() if name in functions)
        hint = f"; it is for opsets {others}" if others else ""
        G_LOGGER.error(f"no function `{name}` is registered for opset {self.opset}{hint}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, Graph):
            return False
        return (self.opset, _domains(self), self.ir_version) == (other.opset, _domains(other), other.ir_version) and \
            {each.unique_id for each in self.functions} == {each.unique_id for each in other.functions} and \
            self.inputs == other.inputs and self.outputs == other.outputs and self.nodes == other.nodes

    __hash__ = None  # type: ignore[assignment]

    @contextlib.contextmanager
    def node_ids(self):
        """For a while, nodes have their place in the list as `id`."""
        numbered = list(self.nodes)
        for index, node in enumerate(numbered):
            node.id = index
        try:
            yield self
        finally:
            for node in numbered:
                del node.id

    def _get_node_id(self, node):
        """The place of a node while nodes have them."""
        if "id" not in node.__dict__:
            G_LOGGER.critical(f"`{node.name}` ({node.op}) is not in the list of the graph's nodes: append it there")
        return node.id

    def _get_used_node_ids(self):
        """(places of the nodes that outputs need, their tensors), while nodes have places."""
        from assay.graphsurgeon.ir.cleanup import reachable

        nodes, tensors = reachable(self)
        used = [each for each in self.tensors().values() if id(each) in tensors]
        return {node.id for node in self.nodes if id(node) in nodes}, used

    def cleanup(self, remove_unused_node_outputs=False, recurse_subgraphs=True, remove_unused_graph_inputs=False,
                recurse_functions=True) -> Graph:
        """Removes nodes that no output needs; gives the graph."""
        from assay.graphsurgeon.ir.cleanup import cleanup

        return cleanup(self, remove_unused_node_outputs, recurse_subgraphs, remove_unused_graph_inputs,
                       recurse_functions)

    def toposort(self, recurse_subgraphs=True, recurse_functions=True, mode="full") -> Graph:
        """Puts nodes after those that they depend on; gives the graph."""
        from assay.graphsurgeon.ir.toposort import toposort

        return toposort(self, recurse_subgraphs, recurse_functions, mode)

    def fold_constants(self, fold_shapes=True, recurse_subgraphs=True, partitioning=None, error_ok=True,
                       flatten_subgraphs=True, size_threshold=None, should_exclude_node=None, recurse_functions=True) -> Graph:
        """Computes what is the same in every run; gives the graph. Nothing is removed: call cleanup() then."""
        from assay.graphsurgeon.ir.fold import FoldOptions, fold_constants

        options = FoldOptions(fold_shapes, recurse_subgraphs, partitioning, error_ok, flatten_subgraphs, size_threshold,
                              should_exclude_node, recurse_functions)
        return fold_constants(self, options)

    def local_tensors(self) -> dict[str, Tensor]:
        """Tensors of this graph alone, by name: what nodes here give, and what nothing here or elsewhere produces."""
        return {name: tensor for name, tensor in self.tensors().items()
                if not tensor.inputs or any(each in _Identities(self.nodes) for each in tensor.inputs)}

    def tensors(self, check_duplicates: bool = False) -> dict[str, Tensor]:
        """All tensors with names, by name, in the order of the nodes."""
        found: dict = OrderedDict()

        def all_tensors():
            yield self.inputs
            for node in self.nodes:
                yield node._inputs
                yield node._outputs
            yield self.outputs

        for tensor in itertools.chain.from_iterable(all_tensors()):
            name = tensor.name
            if name and found.setdefault(name, tensor) is not tensor:
                _tell_duplicate(name, check_duplicates)
                found[name] = tensor
        return found

    def copy(self, tensor_map: dict[str, Tensor] | None = None) -> Graph:
        """A copy of nodes and tensors; weights and functions are shared. `tensor_map`: tensors of enclosing graphs."""
        from assay.graphsurgeon.ir.copy import copy_graph

        return copy_graph(self, tensor_map)

    def _like(self, nodes, inputs, outputs):
        domains = None if self.import_domains is None else list(self.import_domains)
        made = Graph(nodes, inputs, outputs, self.name, self.doc_string, self.opset, domains, self.producer_name,
                     self.producer_version, self.functions, self.ir_version)
        if "_model_fields" in self.__dict__:
            made._model_fields = self._model_fields
        return made

    def _generate_name(self, prefix, existing_names):
        """A name with a number that is none of those."""
        while True:
            name = f"{prefix}_{self.name_idx}"
            self.name_idx += 1
            if name not in existing_names:
                return name

    def _used_names(self):
        """Names of tensors and of nodes; made anew where nodes came or went otherwise than by layer()."""
        known = self.__dict__.get("_names")
        if known is None or known[2] != len(self.nodes):
            known = [set(self.tensors()), {node.name for node in self.nodes}, len(self.nodes)]
            self._names = known
        return known

    def _layer_tensor(self, item, names):
        import numpy as np

        if isinstance(item, Tensor):
            return item
        if isinstance(item, str):
            return Variable(self._generate_name(item, names))
        if isinstance(item, np.ndarray):
            return Constant(self._generate_name("onnx_graphsurgeon_constant", names), item)
        if isinstance(item, (Sequence, int, float)):
            items = item if isinstance(item, Sequence) else [item]
            dtype = np.float32 if any(isinstance(each, float) for each in items) else np.int64
            return Constant(self._generate_name("onnx_graphsurgeon_lst_constant", names), np.array(item, dtype=dtype))
        G_LOGGER.critical(f"a layer takes tensors, names, arrays and numbers, not a {type(item).__name__}: {item!r}; "
                          "a list of tensors has to be unpacked with `*`")

    def layer(self, inputs=None, outputs=None, *args, **kwargs) -> list[Tensor]:
        """Adds a node and gives its outputs. Names become variables, arrays and numbers constants."""
        used = self._used_names()
        tensors: list[list[Tensor]] = []
        for items in (inputs, outputs):
            tensors.append([])
            for item in misc.default_value(items, []):
                tensors[-1].append(self._layer_tensor(item, used[0]))
                used[0].add(tensors[-1][-1].name)
        if "name" not in kwargs and len(args) < 2:
            kwargs["name"] = self._generate_name("onnx_graphsurgeon_node", used[1])
        node = Node(*args, **{**kwargs, "inputs": tensors[0], "outputs": tensors[1]})
        self.nodes.append(node)
        used[1].add(node.name)
        used[2] = len(self.nodes)
        return node.outputs

    def __str__(self):
        nodes = "\n".join(str(node) for node in self.nodes)
        functions = [f"{each.domain}::{each.name}" for each in self.functions]
        return (f"Graph {self.name} (Opset {self.opset})\nLocal Functions: {functions}\nInputs: {self.inputs}\n"
                f"Nodes: {nodes}\nOutputs: {self.outputs}")

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        from assay.model import Model, native_of

        return Model(native_of(self))._repr_html_()


class _Identities:
    def __init__(self, items) -> None:
        self.ids = {id(each) for each in items}

    def __contains__(self, item):
        return id(item) in self.ids


def _tell_duplicate(name, is_error):
    message = f"there are two tensors of the name `{name}`"
    if is_error:
        G_LOGGER.critical(message)
    G_LOGGER.warning(message + "; the later one counts")


def _domains(graph):
    """The imports of a graph, as (domain, version), however they are held."""
    if graph.import_domains is None:
        return None
    return [(each.domain, each.version) if hasattr(each, "domain") else tuple(each) if isinstance(each, (tuple, list)) else
            (each, graph.opset) for each in graph.import_domains]
