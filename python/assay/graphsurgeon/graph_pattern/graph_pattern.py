"""Patterns of nodes, and where a graph has them."""

from assay.graphsurgeon.ir.tensor import Constant
from assay.graphsurgeon.logger import G_LOGGER


class PatternMapping(dict):
    """What a pattern was found as: nodes, or mappings of patterns in it, by name."""

    def __init__(self, onnx_node=None) -> None:
        super().__init__()
        self.onnx_node = onnx_node
        self.inputs: list = []
        self.outputs: list = []
        self.constants: dict = {}

    def get(self, name):
        """The node of that name, or the mapping of the pattern."""
        found = self[name]
        return found.onnx_node if found.onnx_node is not None else found

    def set_input_onnx_tensor(self, onnx_tensor, index) -> None:
        _put(self.inputs, onnx_tensor, index)

    def set_output_onnx_tensor(self, onnx_tensor, index) -> None:
        _put(self.outputs, onnx_tensor, index)

    def set_constant_onnx_tensor(self, onnx_tensor, name) -> None:
        self.constants[name] = onnx_tensor


def _put(items, item, index):
    items.extend([None] * (index + 1 - len(items)))
    items[index] = item


class GraphPattern:
    """Nodes by their operators, and how their tensors go. Patterns may be parts of others."""

    def __init__(self) -> None:
        self.op = None
        self.check_func = None
        self.nodes: dict = {}  # name -> pattern
        self.node_inputs: dict = {}  # name -> numbers of tensors
        self.node_outputs: dict = {}
        self.count = 0
        self.input_tensors: list = []
        self.output_tensors: list = []
        self.constant_tensors: dict = {}  # number -> name

    def variable(self):
        """A tensor that comes from outside."""
        self.input_tensors.append(self._new())
        return self.input_tensors[-1]

    def constant(self, name=None):
        """A tensor that is a Constant."""
        number = self._new()
        self.constant_tensors[number] = name or f"unnamed_constant_tensor_{number}"
        return number

    def _new(self):
        self.count += 1
        return self.count - 1

    def add(self, name, op, check_func=None, inputs=None, num_output_tensors=1):
        """A node of an operator, or another pattern; gives its outputs. `check_func`: whether a node will do."""
        if name in self.nodes:
            G_LOGGER.critical(f"the pattern has a node `{name}` already")
        if isinstance(op, str):
            part = GraphPattern()
            part.op, part.check_func = op, check_func
        else:
            part = op
        self.nodes[name] = part
        self.node_inputs[name] = list(inputs or [])
        self.node_outputs[name] = [self._new() for _ in range(num_output_tensors)]
        outputs = self.node_outputs[name]
        return outputs[0] if num_output_tensors == 1 else tuple(outputs)

    def set_output_tensors(self, output_tensors) -> None:
        """The tensors that nodes outside of the pattern may read."""
        self.output_tensors = list(output_tensors)

    def _flat(self, prefix=()):
        """All nodes: (path, pattern, its inputs, its outputs), tensors as (path of the pattern that has them, number)."""
        rows = []
        for name, part in self.nodes.items():
            inputs = [(prefix, each) for each in self.node_inputs[name]]
            outputs = [(prefix, each) for each in self.node_outputs[name]]
            path = (*prefix, name)
            if part.op is not None:
                rows.append((path, part, inputs, outputs))
                continue
            names = {(path, inner): outer for inner, outer in zip(part.input_tensors, inputs)}
            names.update({(path, inner): outer for inner, outer in zip(part.output_tensors, outputs)})
            for each in part._flat(path):
                rows.append((each[0], each[1], [names.get(t, t) for t in each[2]], [names.get(t, t) for t in each[3]]))
        return rows

    def _constants(self, prefix=()):
        found = {(prefix, number): (prefix, name) for number, name in self.constant_tensors.items()}
        for name, part in self.nodes.items():
            found.update(part._constants((*prefix, name)))
        return found

    def match_all(self, graph):
        """Mappings of all places where the graph has the pattern."""
        rows = self._flat()
        first = next((i for i, row in enumerate(rows) if ((), self.input_tensors[0]) in row[2]), None) \
            if self.input_tensors else 0
        if first is None or not rows:
            return []
        outputs = {id(each) for each in graph.outputs}
        found = []
        for node in graph.nodes:
            search = _Search(self, rows, outputs)
            if search.place(first, node) and search.complete():
                found.append(search.mapping())
        return found


class _Search:
    """One attempt to find a pattern from one node on."""

    def __init__(self, pattern, rows, graph_outputs) -> None:
        self.pattern = pattern
        self.rows = rows
        self.graph_outputs = graph_outputs
        self.constants = pattern._constants()
        self.free = {((), each) for each in pattern.input_tensors}
        self.visible = {((), each) for each in pattern.output_tensors}
        self.places: dict = {}  # number of row -> node
        self.tensors: dict = {}  # tensor of the pattern -> tensor of the graph

    def bind(self, tensor, actual):
        if tensor in self.constants and not isinstance(actual, Constant):
            return False
        before = self.tensors.setdefault(tensor, actual)
        return before is actual or (tensor in self.free and before.name == actual.name)

    def place(self, row, node):
        _, part, inputs, outputs = self.rows[row]
        if row in self.places:
            return self.places[row] is node
        if any(each is node for each in self.places.values()) or node.op != part.op or \
                len(node.inputs) != len(inputs) or len(node.outputs) != len(outputs):
            return False
        if part.check_func is not None and not part.check_func(node):
            return False
        self.places[row] = node
        pairs = [*zip(inputs, node.inputs), *zip(outputs, node.outputs)]
        return all(self.bind(tensor, actual) for tensor, actual in pairs)

    def complete(self):
        """Places the other nodes, one that is reached by a known tensor at a time, trying all that may be it."""
        if len(self.places) == len(self.rows):
            return self.is_closed()
        for row in range(len(self.rows)):
            if row in self.places:
                continue
            candidates = self.candidates(row)
            if candidates is None:
                continue
            for node in candidates:
                before = dict(self.places), dict(self.tensors)
                if self.place(row, node) and self.complete():
                    return True
                self.places, self.tensors = before
            return False
        return False

    def candidates(self, row):
        _, _, inputs, outputs = self.rows[row]
        for tensor in outputs:
            if tensor in self.tensors:
                return list(self.tensors[tensor].inputs)
        for tensor in inputs:
            if tensor in self.tensors and tensor not in self.constants:
                return list(self.tensors[tensor].outputs)
        return None

    def is_closed(self):
        """Whether what is inside is read inside only."""
        nodes = {id(each) for each in self.places.values()}
        produced = {tensor for row in self.rows for tensor in row[3]}
        for tensor in produced - self.visible:
            actual = self.tensors[tensor]
            if id(actual) in self.graph_outputs or any(id(each) not in nodes for each in actual.outputs):
                return False
        return True

    def mapping(self):
        return self._mapping(self.pattern, ())

    def _mapping(self, pattern, prefix):
        made = PatternMapping()
        for name, part in pattern.nodes.items():
            path = (*prefix, name)
            if part.op is None:
                made[name] = self._mapping(part, path)
                continue
            row = next(i for i, each in enumerate(self.rows) if each[0] == path)
            made[name] = PatternMapping(self.places[row])
            made[name].inputs = list(self.places[row].inputs)
            made[name].outputs = list(self.places[row].outputs)
        names = self._outer_names(prefix)
        made.inputs = [self.tensors.get(names.get((prefix, each), (prefix, each))) for each in pattern.input_tensors]
        made.outputs = [self.tensors.get(names.get((prefix, each), (prefix, each))) for each in pattern.output_tensors]
        for tensor, (where, name) in self.constants.items():
            if where == prefix and tensor in self.tensors:
                made.constants[name] = self.tensors[tensor]
        return made

    def _outer_names(self, prefix):
        """What the tensors at the border of a pattern in another one are called outside."""
        names, pattern = {}, self.pattern
        for depth, name in enumerate(prefix):
            part, outer, inner = pattern.nodes[name], prefix[:depth], prefix[:depth + 1]
            for own, other in [*zip(part.input_tensors, pattern.node_inputs[name]),
                               *zip(part.output_tensors, pattern.node_outputs[name])]:
                names[(inner, own)] = names.get((outer, other), (outer, other))
            pattern = part
        return names
