"""Copies of graphs."""

from assay.graphsurgeon.ir.tensor import Constant
from assay.graphsurgeon.util import misc


@misc.finite_bodies()
def copy_graph(graph, tensor_map=None):
    """See Graph.copy."""
    outer = misc.default_value(tensor_map, {})
    own = own_tensors(graph)
    copies = {}

    def copied(tensor):
        if tensor.is_empty():
            return tensor.copy()
        if id(tensor) not in copies:
            is_outer = id(tensor) not in own and _is_copy(outer.get(tensor.name), tensor)
            copies[id(tensor)] = outer[tensor.name] if is_outer else tensor.copy()
        return copies[id(tensor)]

    inputs = [copied(each) for each in graph.inputs]
    pairs = []
    for node in graph.nodes:
        pairs.append(([copied(each) for each in node.inputs], [copied(each) for each in node.outputs]))
    outputs = [copied(each) for each in graph.outputs]
    visible = dict(outer)
    visible.update({each.name: each for each in copies.values()})
    nodes = [node.copy(inputs=pair[0], outputs=pair[1], tensor_map=visible) for node, pair in zip(graph.nodes, pairs)]
    made = graph._like(nodes, inputs, outputs)
    made.name_idx = graph.name_idx
    return made


def _is_copy(outer, tensor):
    """Whether a tensor of an enclosing graph's copy can be that of this one: constants of one name have shared values."""
    if outer is None or isinstance(outer, Constant) != isinstance(tensor, Constant):
        return outer is not None and not isinstance(tensor, Constant)
    return not isinstance(tensor, Constant) or outer._values is tensor._values


def own_tensors(graph):
    """Identities of tensors that belong to the graph: its inputs, what its nodes give, and what nothing produces."""
    own = {id(each) for each in graph.inputs}
    for node in graph.nodes:
        own.update(id(each) for each in node.outputs)
    return own

