"""Functions of the user's own that compute operators, which `PluginRefRunner` then calls."""

from assay.graphsurgeon import Constant
from assay.logger import G_LOGGER

OP_REGISTRY: dict = {}  # by operator


def register(op):
    """A decorator: the function computes the operator. It gets attributes and arrays, and gives a list of arrays."""

    def decorate(func):
        def computed(node, intermediate_tensors):
            operands = []
            for tensor in node.inputs:
                if tensor.is_empty():
                    operands.append(None)
                else:
                    operands.append(tensor.values if isinstance(tensor, Constant) else intermediate_tensors[tensor.name])
            results = func(node.attrs, *operands)
            if len(results) != len(node.outputs):
                G_LOGGER.critical(f"the function for {op} gives {len(results)} arrays, the node `{node.name}` has "
                                  f"{len(node.outputs)} outputs")
            return {tensor.name: result for tensor, result in zip(node.outputs, results)}

        OP_REGISTRY[op] = computed
        return computed

    return decorate
