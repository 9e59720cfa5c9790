"""What the loaders and runners of this package share, with the names by which scripts ask for it."""

import contextlib

from assay import cuda, util
from assay import tensorrt as trt
from assay.backend.trt.describe import (get_layer_class_mapping, str_from_config, str_from_engine, str_from_layer,
                                        str_from_network, str_from_tensor)
from assay.backend.trt.metadata import (get_layer_input_names_meta, get_layer_output_names_meta,
                                        get_metadata_from_engine, get_network_input_names_meta,
                                        get_network_output_names_meta, get_tensor_format)
from assay.common import TensorMetadata
from assay.datatype import DataType
from assay.logger import G_LOGGER, LogMode
from assay.util import array as arrays

__all__ = ["check_onnx_parser_errors", "check_profile", "fail_unavailable", "get_all_tensors",
           "get_input_metadata_from_network", "get_layer_class_mapping", "get_layer_input_names_meta",
           "get_layer_output_names_meta", "get_metadata_from_engine", "get_network_input_names_meta",
           "get_network_output_names_meta", "get_tensor_format", "get_trt_logger", "mark_layerwise", "mark_outputs",
           "str_from_config", "str_from_engine", "str_from_layer", "str_from_network", "str_from_tensor",
           "try_setup_polygraphy_calibrator", "unmark_outputs"]

_LEVELS = {trt.Logger.INTERNAL_ERROR: G_LOGGER.ERROR, trt.Logger.ERROR: G_LOGGER.ERROR,
           trt.Logger.WARNING: G_LOGGER.WARNING, trt.Logger.INFO: G_LOGGER.VERBOSE,
           trt.Logger.VERBOSE: G_LOGGER.EXTRA_VERBOSE}


class _Forwarding(trt.Logger):
    def log(self, severity, msg) -> None:
        G_LOGGER.log(msg, _LEVELS.get(severity, G_LOGGER.SUPER_VERBOSE),
                     mode=LogMode.ONCE if severity == trt.Logger.WARNING else LogMode.EACH)


_LOGGER = _Forwarding()


def get_trt_logger():
    """A logger of assay.tensorrt that writes with G_LOGGER."""
    return _LOGGER


def fail_unavailable(what):
    """Refuses what this version of assay.tensorrt does not have."""
    G_LOGGER.critical(f"{what} is not available on TensorRT version {trt.__version__}.")


def check_onnx_parser_errors(parser, success) -> None:
    """Refuses a model whose parser has errors, or did not succeed."""
    for index in range(parser.num_errors):
        G_LOGGER.error(str(parser.get_error(index)))
    if parser.num_errors or not success:
        reason = f": {parser.get_error(0).desc()}" if parser.num_errors else ""
        G_LOGGER.critical(f"Could not parse ONNX correctly: the ONNX model cannot be read{reason}")


def get_input_metadata_from_network(network, profile, force_opt_shapes=None):
    """Types and shapes of a network's inputs, with the bounds of a profile of assay.tensorrt, or with its best shapes."""
    meta = TensorMetadata()
    for index in range(network.num_inputs):
        tensor = network.get_input(index)
        shape, low, high = list(tensor.shape), None, None
        is_values = tensor.is_shape_tensor
        if is_values or util.is_shape_dynamic(tensor.shape):
            triple = None
            if profile is not None:
                triple = profile.get_shape_input(tensor.name) if is_values else profile.get_shape(tensor.name)
            if not triple:
                G_LOGGER.critical(f"the input `{tensor.name}` is dynamic, and the profile has nothing for it")
            low, best, high = (list(each) for each in triple)
            if force_opt_shapes:
                shape, low, high = best, None, None
        meta.add(tensor.name, DataType.from_dtype(tensor.dtype), shape, low, high)
    return meta


# Outputs of networks.


def get_all_tensors(network):
    """Tensors of the layers of a network by name."""
    found = {}
    for layer in network:
        tensors = [layer.get_input(i) for i in range(layer.num_inputs)]
        tensors += [layer.get_output(i) for i in range(layer.num_outputs)]
        found.update((each.name, each) for each in tensors if each is not None)
    return found


def _found(network, names):
    tensors = get_all_tensors(network)
    names = util.unique_list(names)
    util.check_sequence_contains(tensors.keys(), names, name="the network", items_name="outputs", check_extra=False)
    return tensors, names


def mark_outputs(network, outputs) -> None:
    """The tensors of these names become the outputs, in place of those that there are."""
    tensors, names = _found(network, outputs)
    for tensor in [network.get_output(i) for i in range(network.num_outputs)]:
        network.unmark_output(tensor)
    for name in names:
        network.mark_output(tensors[name])


def unmark_outputs(network, outputs) -> None:
    """The tensors of these names are no outputs any more."""
    tensors, names = _found(network, outputs)
    for name in names:
        if tensors[name].is_network_output:
            network.unmark_output(tensors[name])


def mark_layerwise(network) -> None:
    """All that layers outside of loops give becomes an output, but for shapes and constants."""
    kinds = trt.LayerType
    names, is_inside = [], False
    for layer in network:
        if layer.type in (kinds.TRIP_LIMIT, kinds.ITERATOR, kinds.RECURRENCE):
            is_inside = True
        elif layer.type == kinds.LOOP_OUTPUT:
            is_inside = False
        if not is_inside and layer.type not in (kinds.SHAPE, kinds.CONSTANT):
            names += [layer.get_output(i).name for i in range(layer.num_outputs)]
    mark_outputs(network, names)


# Profiles and calibrators.


def check_profile(profile):
    """Gives the profile again, and refuses one that is not valid."""
    if not profile:
        G_LOGGER.critical(f"Profile is not valid, please provide profile data. It is: {profile}")
    return profile


def try_setup_polygraphy_calibrator(config, network, calib_profile=None) -> None:
    """Tells the calibrator of a configuration types and shapes of the inputs, where it is one of assay.backend.trt."""
    calibrator = getattr(config, "int8_calibrator", None)
    if calibrator is None or not getattr(calibrator, "is_polygraphy_calibrator", False):
        return
    profile = calib_profile if calib_profile is not None else config.get_calibration_profile()
    from assay.exception import PolygraphyException

    with contextlib.suppress(PolygraphyException):
        calibrator.set_input_metadata(get_input_metadata_from_network(network, profile, force_opt_shapes=True))


def _get_array_on_gpu(arr, name, device_buffers, stream=None):
    """The address of the elements of an array in device memory; host arrays are copied into a buffer of this name."""
    if arrays.is_device_view(arr) or arrays.is_on_gpu(arr):
        return arr.ptr if arrays.is_device_view(arr) else arrays.data_ptr(arr)
    arr = arrays.make_contiguous(arr)
    buffer = device_buffers.setdefault(name, cuda.DeviceArray.raw())
    buffer.resize((arrays.nbytes(arr),))
    if arrays.nbytes(arr):
        cuda.wrapper().htod(buffer.ptr, arrays.data_ptr(arr), arrays.nbytes(arr), stream)
    return buffer.ptr
