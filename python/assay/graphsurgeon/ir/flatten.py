"""If nodes whose condition is known."""

from assay.graphsurgeon.ir.graph import Graph
from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant


def flatten_ifs(graph) -> None:
    """The nodes of the branch that is taken replace each If whose condition is a Constant."""
    index = 0
    while index < len(graph.nodes):
        node = graph.nodes[index]
        branch = _branch(node)
        if branch is None:
            index += 1
            continue
        graph.nodes[index:index + 1] = _taken(node, branch, index)


def _branch(node):
    if node.op != "If" or not node.inputs or not isinstance(node.inputs[0], Constant):
        return None
    branch = node.attrs.get("then_branch" if bool(node.inputs[0].values.reshape(-1)[0]) else "else_branch")
    return branch if isinstance(branch, Graph) else None


def _taken(node, branch, index):
    own = {id(tensor) for each in branch.nodes for tensor in each.outputs}
    results = list(node.outputs)
    node.inputs.clear()
    node.outputs.clear()
    nodes = list(branch.nodes)
    for tensor in branch.tensors().values():
        is_local = id(tensor) in own or (isinstance(tensor, Constant) and all(
            any(each is inner for inner in nodes) for each in tensor.outputs))
        if is_local:
            tensor.name = f"{tensor.name}_subg_{index}_{branch.name}"
    placed = set()
    for output, result in zip(branch.outputs, results):
        if id(output) in own and id(output) not in placed and not isinstance(output, Constant):
            placed.add(id(output))
            _replace(output, result)
        else:
            # A value of an enclosing graph, a constant, or one that is given twice: both keep their names.
            source = output if id(output) not in placed else results[[id(each) for each in branch.outputs].index(
                id(output))]
            nodes.append(Node("Identity", f"{node.name}_output_{len(nodes)}", inputs=[source], outputs=[result]))
    return nodes


def _replace(output, result):
    """The producer and the readers of a branch's output get the If's output instead."""
    for producer in list(output.inputs):
        for i, each in enumerate(producer.outputs):
            if each is output:
                producer.outputs[i] = result
    for reader in list(output.outputs):
        for i, each in enumerate(reader.inputs):
            if each is output:
                reader.inputs[i] = result
