"""Names, types and shapes of the tensors of networks, layers and engines."""

from assay.common import TensorMetadata
from assay.datatype import DataType

def _names_meta(tensors):
    meta = TensorMetadata()
    names = []
    for tensor in tensors:
        if tensor is not None:
            names.append(tensor.name)
            meta.add(tensor.name, DataType.from_dtype(tensor.dtype), list(tensor.shape))
    return names, meta


def get_network_input_names_meta(network):
    """(names, metadata) of the inputs of a network."""
    return _names_meta(network.get_input(i) for i in range(network.num_inputs))


def get_network_output_names_meta(network):
    """(names, metadata) of its outputs."""
    return _names_meta(network.get_output(i) for i in range(network.num_outputs))


def get_layer_input_names_meta(layer):
    """(names, metadata) of the inputs of a layer that are not left out."""
    return _names_meta(layer.get_input(i) for i in range(layer.num_inputs))


def get_layer_output_names_meta(layer):
    """(names, metadata) of its outputs."""
    return _names_meta(layer.get_output(i) for i in range(layer.num_outputs))


def get_tensor_format(engine, context, name):
    """The format of an input or output of an engine, in the profile of a context."""
    return engine.get_tensor_format(name, context.active_optimization_profile)


def get_metadata_from_engine(engine, context, mode):
    """Types and shapes of an engine's inputs (trt.TensorIOMode.INPUT) or outputs."""
    meta = TensorMetadata()
    for index in range(engine.num_io_tensors):
        name = engine.get_tensor_name(index)
        if engine.get_tensor_mode(name) == mode:
            meta.add(name, DataType.from_dtype(engine.get_tensor_dtype(name)), list(engine.get_tensor_shape(name)))
    return meta
