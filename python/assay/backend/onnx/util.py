"""What models of ONNX have in them."""

from assay import util
from assay.common import TensorMetadata
from assay.datatype import DataType
from assay.logger import G_LOGGER


def _bodies(node):
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def get_num_nodes(model):
    """The number of nodes of a model, with those of bodies."""
    count, waiting = 0, [model.graph]
    while waiting:
        graph = waiting.pop()
        count += len(graph.node)
        waiting.extend(body for node in graph.node for body in _bodies(node))
    return count


def all_tensor_names(model, include_inputs=None):
    """Names of what nodes give, but Constant nodes; `include_inputs`: then of inputs."""
    names = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output if name]
    if include_inputs:
        names += [each.name for each in model.graph.input]
    return util.unique_list(names)


def _expanded(names, model):
    """The names, and for wildcards all that they stand for."""
    from fnmatch import filter

    known = all_tensor_names(model)
    found = []
    for name in names:
        fitting = filter(known, name) if util.contains_wildcard(name) else [name]
        if not fitting:
            G_LOGGER.warning(f"no tensor fits `{name}`")
        found.extend(fitting)
    found = util.unique_list(found)
    util.check_sequence_contains(all_tensor_names(model, include_inputs=True), found, name="the model",
                                 items_name="outputs", check_extra=False)
    return found


def mark_outputs(model, outputs):
    """The model, changed, with these outputs; names may be wildcards."""
    import onnx

    wanted = _expanded(outputs, model)
    if not wanted:
        G_LOGGER.critical("no outputs are left: no tensor fits what was asked for")
    known = {each.name: each for each in [*model.graph.value_info, *model.graph.output]}
    found = [known.get(name) or onnx.helper.make_empty_tensor_value_info(name) for name in wanted]
    found = [onnx.ValueInfoProto.FromString(each.SerializeToString()) for each in found]
    del model.graph.output[:]
    model.graph.output.extend(found)
    return model


def mark_layerwise(model):
    """The model, changed, with what all nodes give as outputs."""
    return mark_outputs(model, all_tensor_names(model))


def mark_by_op_type(model, op_types):
    """The model, changed, with what nodes of these operators give as outputs, whatever the case of their letters."""
    wanted = {each.lower() for each in op_types}
    names = [name for node in model.graph.node if node.op_type.lower() in wanted for name in node.output if name]
    for each in sorted(wanted - {node.op_type.lower() for node in model.graph.node}):
        G_LOGGER.error(f"the model has no node of the operator `{each}`")
    return mark_outputs(model, names) if names else model


def unmark_outputs(model, outputs):
    """The model, changed, without these outputs; names may be wildcards."""
    gone = set(_expanded(outputs, model))
    kept = [each for each in model.graph.output if each.name not in gone]
    del model.graph.output[:]
    model.graph.output.extend(kept)
    return model


def get_shape(tensor):
    """The dims of a TensorProto or ValueInfoProto; -1 for one that nothing is said of."""
    if hasattr(tensor, "dims"):
        return list(tensor.dims)
    dims = tensor.type.tensor_type.shape.dim
    return [dim.dim_param if dim.HasField("dim_param") else dim.dim_value if dim.HasField("dim_value") else -1
            for dim in dims]


def get_dtype(tensor):
    """The DataType of a TensorProto or ValueInfoProto; None: nothing is said of it."""
    number = tensor.data_type if hasattr(tensor, "data_type") else tensor.type.tensor_type.elem_type
    return DataType.from_dtype(number) if number else None


def get_values(tensor):
    """The elements of a TensorProto."""
    import onnx.numpy_helper

    return onnx.numpy_helper.to_array(tensor)


def get_tensor_metadata(tensors):
    """Types and shapes of TensorProtos or ValueInfoProtos."""
    meta = TensorMetadata()
    for each in tensors:
        meta.add(each.name, get_dtype(each), get_shape(each))
    return meta


def get_input_metadata(graph):
    """Types and shapes of inputs; initializers are none."""
    given = {each.name for each in graph.initializer}
    return get_tensor_metadata([each for each in graph.input if each.name not in given])


def get_output_metadata(graph):
    """Types and shapes of outputs."""
    return get_tensor_metadata(graph.output)


def str_from_onnx(model, show_layers=None, show_attrs=None, show_weights=None):
    """The model as text."""
    from assay.model import Model, native_of

    return str(Model(native_of(model)))


def meta_from_gs_tensors(tensors):
    """Types and shapes of tensors of a graph."""
    meta = TensorMetadata()
    for each in tensors:
        meta.add(each.name, each.dtype, each.shape)
    return meta


def set_shapes_from_layerwise_meta(graph, layerwise_meta) -> None:
    """Variables of a graph get the types and shapes that metadata have for them."""
    from assay.graphsurgeon import Variable

    for name, tensor in graph.tensors().items():
        if isinstance(tensor, Variable) and name in layerwise_meta:
            tensor.shape = layerwise_meta[name].shape
            tensor.dtype = DataType.to_dtype(layerwise_meta[name].dtype, "onnx")


def lower_constant_nodes(graph):
    """The graph, changed, with constants in the place of Constant nodes."""
    kept = []
    for node in graph.nodes:
        if node.op == "Constant" and hasattr(node.attrs.get("value"), "values"):
            result = node.outputs[0]
            node.outputs.clear()
            result.to_constant(node.attrs["value"].values)
        else:
            kept.append(node)
    graph.nodes[:] = kept
    return graph


# The input that decides how large the result is.
_SIZES = {"Range": 1, "Pad": 1, "Resize": 3, "Tile": 1, "Expand": 1}


def _size_of(node):
    """What decides at run time how large the result of a node is; None: nothing, or it is bounded by a Min."""
    from assay.graphsurgeon import Constant

    index = _SIZES.get(node.op)
    if index is None or index >= len(node.inputs) or isinstance(node.inputs[index], Constant):
        return None
    found = node.inputs[index]
    return found if found.inputs and found.inputs[0].op != "Min" else None


def get_unbounded_dds_tensors(graph):
    """Tensors of a graph whose numbers are sizes of others and have no bound, in order; sorts the graph."""
    graph.toposort()
    names = {dim for tensor in graph.inputs for dim in tensor.shape or () if isinstance(dim, str)}
    found: list = []
    for node in graph.nodes:
        is_new = False
        for tensor in node.outputs:
            fresh = {dim for dim in tensor.shape or () if isinstance(dim, str)} - names
            is_new |= tensor.shape is None or bool(fresh)
            names |= fresh
        size = _size_of(node) if is_new else None
        if size is not None and not any(each is size for each in found):
            found.append(size)
    return found
