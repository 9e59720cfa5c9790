"""What shapes alone tell of Shape nodes, and of Gather and Slice nodes that read them."""

from assay.graphsurgeon.ir.node import Node
from assay.graphsurgeon.ir.tensor import Constant
from assay.graphsurgeon.logger import G_LOGGER
from assay.graphsurgeon.util import misc


def known_shape_results(graph, error_ok):
    """(tensor, values) of what is known."""
    import numpy as np

    found = []
    for node in graph.nodes:
        if node.op not in ("Shape", "Gather", "Slice") or not node.outputs or isinstance(node.outputs[0], Constant):
            continue
        try:
            dims = _dims_of(node)
        except (IndexError, TypeError, ValueError) as error:
            if not error_ok:
                raise
            G_LOGGER.warning(f"the shape that `{node.name}` reads is not folded: {error}")
            continue
        if dims is not None and not any(each is None for each in np.array(dims, dtype=object).reshape(-1)):
            found.append((node.outputs[0], np.array(dims, dtype=np.int64)))
    return found


def _dims_of(node):
    if any(isinstance(each, Node.AttributeRef) for each in node.attrs.values()):
        return None
    if node.op == "Shape":
        return _shape_dims(node)
    data = node.inputs[0]
    if len(data.inputs) != 1 or data.inputs[0].op != "Shape" or isinstance(data, Constant):
        return None
    dims = _shape_dims(data.inputs[0])
    if dims is None:
        return None
    return _gathered(node, dims) if node.op == "Gather" else _sliced(node, dims)


def _shape_dims(node):
    """The dims that a Shape node gives, None for those that are not known."""
    tensor = node.inputs[0]
    if isinstance(tensor, Constant):
        shape = list(tensor.shape)
    elif tensor.shape is None:
        return None
    else:
        shape = list(tensor.shape)
    dims = [None if misc.is_dynamic_dimension(each) else each for each in shape]
    return dims[slice(node.attrs.get("start", 0), node.attrs.get("end"))]


def _gathered(node, dims):
    import numpy as np

    indices = node.inputs[1]
    if not isinstance(indices, Constant) or node.attrs.get("axis", 0) not in (0, -1):
        return None
    return np.array(dims, dtype=object)[indices.values]


def _sliced(node, dims):
    def given(index, name):
        if len(node.inputs) > index and not node.inputs[index].is_empty():
            tensor = node.inputs[index]
            return [int(each) for each in tensor.values.reshape(-1)] if isinstance(tensor, Constant) else None
        return node.attrs.get(name, [])

    starts, ends = given(1, "starts"), given(2, "ends")
    axes, steps = given(3, "axes"), given(4, "steps")
    if None in (starts, ends, axes, steps) or len(starts) != 1 or len(ends) != 1 or list(axes) not in ([], [0], [-1]):
        return None
    step = steps[0] if steps else 1
    start, end = starts[0], ends[0]
    if step < 0 and end < -len(dims):
        end = None
    return dims[start:end:step]
