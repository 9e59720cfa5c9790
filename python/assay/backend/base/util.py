"""What runners check."""

from assay import util
from assay.logger import G_LOGGER


def check_inputs(feed_dict, input_metadata) -> None:
    """Raises what is wrong with names, types and shapes of inputs."""
    util.check_sequence_contains(feed_dict.keys(), input_metadata.keys(), name="input data", items_name="inputs")
    for name, value in feed_dict.items():
        check_input(name, value, input_metadata[name])


def check_input(name, value, meta) -> None:
    """The same for one input."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if meta.dtype is not None and dtype is not None and meta.dtype != dtype:
        G_LOGGER.critical(f"Input tensor: {name} | Received unexpected dtype: {dtype}.\nNote: Expected type: {meta.dtype}")
    if shape is not None and not util.is_valid_shape_override(shape, meta.shape):
        G_LOGGER.critical(f"Input tensor: {name} | Received incompatible shape: {tuple(shape)}.\nNote: Expected a shape "
                          f"compatible with: {tuple(meta.shape)}")
