"""Removes what no output needs."""

from assay.graphsurgeon.util.misc import finite_bodies, remove_identical, without_collections


@finite_bodies()
@without_collections()
def cleanup(graph, remove_unused_node_outputs, recurse_subgraphs, remove_unused_graph_inputs, recurse_functions):
    """See Graph.cleanup."""
    if recurse_subgraphs:
        for body in graph.subgraphs():
            body.cleanup(remove_unused_node_outputs=remove_unused_node_outputs, recurse_subgraphs=True,
                         remove_unused_graph_inputs=False, recurse_functions=False)
    if recurse_functions:
        for function in graph.functions:
            function.cleanup(remove_unused_node_outputs=remove_unused_node_outputs,
                             recurse_subgraphs=recurse_subgraphs,
                             remove_unused_graph_inputs=remove_unused_graph_inputs, recurse_functions=False)
    for tensor in graph.inputs:
        tensor.inputs.clear()
    needed_nodes, needed_tensors = reachable(graph)
    if remove_unused_graph_inputs:
        graph.inputs = [each for each in graph.inputs if id(each) in needed_tensors]
    kept = []
    for node in graph.nodes:
        if id(node) in needed_nodes:
            kept.append(node)
        else:
            node.inputs.clear()
            node.outputs.clear()
    graph.nodes[:] = kept
    if remove_unused_node_outputs:
        _drop_outputs(graph)
    return graph


def reachable(graph):
    """Identities of the nodes that outputs need, and of the tensors."""
    own = {id(node) for node in graph.nodes}
    nodes, tensors = set(), set()
    waiting = list(graph.outputs)
    while waiting:
        tensor = waiting.pop()
        if id(tensor) in tensors:
            continue
        tensors.add(id(tensor))
        for node in tensor._inputs:
            if id(node) in own and id(node) not in nodes:
                nodes.add(id(node))
                waiting.extend(all_inputs(node))
    return nodes, tensors


def all_inputs(node):
    """What the node reads, and what its bodies read of enclosing graphs."""
    return node._inputs if not node.attrs else _inputs_with_bodies(node)


def _inputs_with_bodies(node):
    yield from node.inputs
    for body in node.subgraphs(recursive=True):
        for each in body.nodes:
            yield from each.inputs
        yield from body.outputs


def _drop_outputs(graph):
    outputs = {id(each) for each in graph.outputs}
    for node in graph.nodes:
        for tensor in list(node.outputs):
            if not tensor.is_empty() and not tensor.outputs and id(tensor) not in outputs:
                remove_identical(node.outputs, tensor)
                remove_identical(tensor.inputs, node)
