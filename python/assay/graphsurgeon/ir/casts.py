"""Casts to float32 and back around arithmetic of shapes."""

from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant, number_of
from assay.graphsurgeon.util import misc

FLOAT, INT32, INT64 = 1, 6, 7
# What gives the same integers as in float32, as long as these are below 2**24.
EXACT = {"Add", "Sub", "Mul", "Max", "Min"}
MOST_ELEMENTS = 16  # of what may be a shape
EXACT_UP_TO = 1 << 24


def drop_casts(graph) -> None:
    """Nodes that compute small integers in float32 compute them as integers, where their results are cast back."""
    outputs = {id(each) for each in graph.outputs}
    for node in graph.nodes:
        if node.op not in EXACT or node.domain or len(node.outputs) != 1 or id(node.outputs[0]) in outputs:
            continue
        kind = _integers_read(node)
        if kind is not None and _is_cast_back(node.outputs[0], kind):
            _compute_as_integers(node, kind)


def _cast_to(node, wanted):
    to = node.attrs.get("to")
    return node.op == "Cast" and not node.domain and not isinstance(to, Node.AttributeRef) and to is not None and \
        number_of(to) in wanted


def _source(tensor):
    """What a Cast to float32 made the tensor of, if that may be a shape; None: it is something else."""
    if isinstance(tensor, Constant) or len(tensor.inputs) != 1 or not _cast_to(tensor.inputs[0], {FLOAT}):
        return None
    found = tensor.inputs[0].inputs[0]
    if number_of(found.dtype) not in (INT32, INT64) or found.shape is None or misc.is_dynamic_shape(found.shape):
        return None
    return found if len(found.shape) <= 1 and misc.volume(found.shape) <= MOST_ELEMENTS else None


def _integers_read(node):
    """ONNX's number of the type of integers that the node reads in float32; None: it reads other things too."""
    sources = [_source(each) for each in node.inputs if not isinstance(each, Constant)]
    if not sources or any(each is None for each in sources):
        return None
    kinds = {number_of(each.dtype) for each in sources}
    constants = [each for each in node.inputs if isinstance(each, Constant)]
    return kinds.pop() if len(kinds) == 1 and all(map(_holds_integers, constants)) else None


def _holds_integers(constant):
    import numpy as np

    if constant._values.nbytes > 8 * MOST_ELEMENTS or number_of(constant.dtype) != FLOAT:
        return False
    return bool(np.all((np.abs(constant.values) < EXACT_UP_TO) & (np.trunc(constant.values) == constant.values)))


def _is_cast_back(tensor, kind):
    return bool(tensor.outputs) and all(_cast_to(each, {kind}) for each in tensor.outputs)


def _compute_as_integers(node, kind):
    from assay.datatype import DataType

    dtype = DataType.from_number(kind).numpy()
    for index, tensor in enumerate(list(node.inputs)):
        if isinstance(tensor, Constant):  # others may read the floats
            made = Constant(f"{tensor.name}_as_{dtype}_of_{node.outputs[0].name}", tensor.values.astype(dtype))
            node.inputs[index] = made
        else:
            node.inputs[index] = _source(tensor)
    result, casts = node.outputs[0], list(node.outputs[0].outputs)
    first = casts[0].outputs[0]
    casts[0].outputs.clear()
    node.outputs[0] = first
    if first.dtype is None:
        first.dtype = dtype
    # Further casts, whose results may be outputs, copy the first one's.
    for cast in casts[1:]:
        cast.op, cast.attrs = "Identity", {}
        cast.inputs[0] = first
    casts[0].inputs.clear()
    result.inputs.clear()
