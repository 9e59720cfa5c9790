"""Inputs and outputs whose channels are last in memory: shapes of engines are as the network has them, memory is not."""

from assay.exception import PolygraphyException
from assay.tensorrt.enums import TensorFormat

CHANNELS = {TensorFormat.HWC: 3, TensorFormat.DHWC: 4}  # the axis of channels, counted from the end
WORDS = {"LINEAR": "Row major linear format (kLINEAR)", "HWC": "Non-vectorized channel-last format (kHWC)",
         "DHWC": "Non-vectorized channel-last format (kDHWC)"}


def format_of(tensor):
    """The format of an input or output of a network: the first one that it may have and that is there."""
    mask = tensor.allowed_formats
    for each in (TensorFormat.LINEAR, *CHANNELS):
        if mask >> int(each) & 1 and (each not in CHANNELS or len(tensor.shape) >= CHANNELS[each]):
            return each
    names = [each.name for each in TensorFormat if mask >> int(each) & 1]
    raise PolygraphyException(f"`{tensor.name}`: inputs and outputs of the shape {tensor.shape} are LINEAR, HWC or DHWC here, "
                              f"not {', '.join(names)}")


def formats_of(network):
    """Formats by the names of inputs and outputs that are not linear."""
    found = {each.name: format_of(each) for each in network._inputs + network._outputs}
    return {name: each for name, each in found.items() if each != TensorFormat.LINEAR}


def orders_of(network):
    """The orders of axes in memory, likewise."""
    tensors = {each.name: each for each in network._inputs + network._outputs}
    return {name: order_of(each, len(tensors[name].shape)) for name, each in formats_of(network).items()}


def order_of(format, rank):
    """Axes in the order in which they are in memory."""
    axis = rank - CHANNELS[format]
    return [*range(axis), *range(axis + 1, rank), axis]


def in_memory_order(format, dims):
    """Dims of a shape as they are in memory; `format` None: linear."""
    return list(dims) if format is None else [dims[each] for each in order_of(format, len(dims))]


def in_network_order(format, dims):
    """Dims in memory as those of the shape."""
    if format is None:
        return list(dims)
    found = [0] * len(dims)
    for place, axis in enumerate(order_of(format, len(dims))):
        found[axis] = dims[place]
    return found
