"""Runs engines."""

from collections import OrderedDict

from assay import _native, cuda, util
from assay import tensorrt as trt
from assay._arrays import to_numpy
from assay.backend.base import BaseRunner
from assay.backend.base.loader import given
from assay.common import FormattedArray, TensorMetadata
from assay.datatype import DataType
from assay.logger import G_LOGGER
from assay.util import array as arrays


class TrtRunner(BaseRunner):
    """Runs an engine, or a context of one, or what gives one of them."""

    def __init__(self, engine, name=None, optimization_profile=None, allocation_strategy=None,
                 weight_streaming_budget=None, weight_streaming_percent=None, debug_listener=None) -> None:
        super().__init__(name=name, prefix="trt-runner")
        self._engine_or_context = engine
        self.optimization_profile = optimization_profile
        if allocation_strategy not in (None, "static", "profile", "runtime"):
            G_LOGGER.critical(f"there is no allocation strategy `{allocation_strategy}`; known are static, profile and "
                              "runtime")
        self.allocation_strategy = allocation_strategy
        self.weight_streaming_budget = weight_streaming_budget
        self.weight_streaming_percent = weight_streaming_percent
        self.debug_listener = debug_listener
        self._listener = None
        self._looked_at: set = set()  # inputs that decide shapes, or are of 64-bit integers
        self.engine = None
        self.context = None
        self._metadata = None

    def activate_impl(self):
        loaded = given(self._engine_or_context)
        if isinstance(loaded, trt.ICudaEngine):
            self.engine = loaded
            self.context = loaded.create_execution_context()
        elif isinstance(loaded, trt.IExecutionContext):
            self.context = loaded
            self.engine = loaded.engine
        else:
            G_LOGGER.critical(f"a TrtRunner takes an engine or a context, not a {type(loaded).__name__}")
        self.stream = cuda.Stream()
        self._looked_at = {each[0] for each in self.engine._ports if each[4] and (each[3] or each[1] == "int64")}
        self.device_input_buffers: OrderedDict = OrderedDict()  # none: memory of the process is read where it is
        self.host_output_buffers: OrderedDict = OrderedDict()
        if self.optimization_profile is not None:
            self.set_profile(self.optimization_profile)
        self.context.set_all_tensors_debug_state(True)
        self._set_listener(self.debug_listener or _Collector())

    def _set_listener(self, listener):
        self._listener = listener
        self.context.set_debug_listener(listener)

    def set_debug_listener(self, listener) -> None:
        """Is told the tensors that were marked for debugging from now on; without one of the user's own they are given
        beside the outputs."""
        if self.context is None:
            G_LOGGER.critical(f"{self.name} | must be activated before a debug listener is set")
        self._set_listener(listener)

    def deactivate_impl(self) -> None:
        if self.context is not None:
            self._set_listener(None)
        self.engine = None
        self.context = None
        self._metadata = None

    def set_profile(self, index) -> None:
        """Uses another optimisation profile from now on."""
        if self.context is None:
            G_LOGGER.critical(f"{self.name} | must be activated before a profile is chosen")
        try:
            self.context.set_optimization_profile_async(index, self.stream.ptr)
        except RuntimeError:
            G_LOGGER.critical(f"{self.name} | the engine has {self.engine.num_optimization_profiles} profile(s), not one "
                              f"of the number {index}")

    def get_input_metadata_impl(self):
        profile = self.context.active_optimization_profile
        if self._metadata is None or self._metadata[0] != profile:
            self._metadata = profile, self._make_metadata(profile)
        return self._metadata[1]

    def _make_metadata(self, profile):
        meta = TensorMetadata()
        for name, dtype, dims, _, is_input in self.engine._ports:
            if not is_input:
                continue
            low, _, high = self.engine.get_tensor_profile_shape(name, profile)
            bounds = [self.engine._in_memory(name, each) for each in (low, high)] if low != high else [None, None]
            dims = self.engine._in_memory(name, [each if isinstance(each, int) else -1 for each in dims or ()])
            meta.add(name, dtype, dims, *bounds)
        return meta

    def infer(self, feed_dict, check_inputs=True, *args, **kwargs):
        """Runs once on a dictionary of arrays. 32-bit integers are taken where 64-bit ones are expected, as by scripts for
        TensorRT 8, which had none."""
        self._require_active("infer")
        if self._looked_at or any(isinstance(each, FormattedArray) for each in feed_dict.values()):
            feed_dict = {name: self._fitting(name, value) for name, value in feed_dict.items()}
        return super().infer(feed_dict, check_inputs, *args, **kwargs)

    def _fitting(self, name, value):
        if isinstance(value, FormattedArray):
            value = value.array
        if name not in self._looked_at:
            return value
        if self.engine.is_shape_inference_io(name) and (isinstance(value, int) or arrays.is_on_gpu(value)):
            G_LOGGER.critical(f"A {type(value).__name__} was provided for input: {name}, but since this is a shape tensor, it "
                              "must reside in host memory.")
        is_narrow = self.engine.get_tensor_dtype(name) == trt.DataType.INT64 and hasattr(value, "dtype") and \
            not arrays.is_on_gpu(value) and arrays.dtype(value) == DataType.INT32
        return arrays.cast(value, DataType.INT64) if is_narrow else value

    def infer_impl(self, feed_dict, copy_outputs_to_host=None, return_raw_buffers=None):
        """Runs once. Without `copy_outputs_to_host`, outputs are arrays in memory of a device; with `return_raw_buffers`,
        they are FormattedArray."""
        feeds = {name: _host_array(self, name, value) for name, value in feed_dict.items()}
        outputs = self.context.infer(feeds)
        if isinstance(self._listener, _Collector):
            outputs.update(self._listener.take())
        self.inference_time = self.context.seconds
        is_of_torch, is_of_host = util.has_torch(feed_dict.values()), util.default(copy_outputs_to_host, True)
        if is_of_torch or not is_of_host:
            outputs = OrderedDict((name, _handed_out(value, is_of_torch)) for name, value in outputs.items())
        if return_raw_buffers:
            outputs = OrderedDict((name, FormattedArray(value, shape=tuple(value.shape))) for name, value in outputs.items())
        return outputs


def _handed_out(array, is_of_torch):
    if is_of_torch:
        import torch

        return torch.from_numpy(array)
    return cuda.DeviceArray(array.shape, array.dtype).copy_from(arrays.make_contiguous(array))


class _Collector(trt.IDebugListener):
    """Keeps the tensors of a run that were marked for debugging."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict = {}

    def process_debug_tensor(self, addr, location, type, shape, name, stream):
        self._values[name] = to_numpy(_native.array_at(addr, type.native, list(shape))).copy()
        return True

    def take(self):
        taken, self._values = self._values, {}
        return taken


def _host_array(runner, name, value):
    if hasattr(value, "__array_interface__") and not hasattr(value, "ptr"):
        return value
    if isinstance(value, int):
        shape = list(runner.context.get_tensor_shape(name))
        if min(shape, default=0) < 0:
            G_LOGGER.critical(f"the shape of the input `{name}` at an address is not known: set it on the context")
        return to_numpy(_native.array_at(value, runner.engine.get_tensor_dtype(name).native, shape))
    if hasattr(value, "ptr") and hasattr(value, "numpy"):
        return value.numpy()
    return util.array_of(value)


def _get_array_on_cpu(arr, name, host_buffers, stream, nbytes, use_torch):
    """The first bytes of an array in memory of a device, in a buffer of this name: a tensor of torch, or an array of
    numpy."""
    import numpy as np

    buffer = host_buffers.get(name)
    if buffer is None or arrays.is_torch(buffer) != use_torch or arrays.nbytes(buffer) < nbytes:
        buffer = np.empty((nbytes,), np.uint8)
        if use_torch:
            import torch

            buffer = torch.from_numpy(buffer)
        host_buffers[name] = buffer
    cuda.wrapper().dtoh(arrays.data_ptr(buffer), arr.ptr if hasattr(arr, "ptr") else arrays.data_ptr(arr), nbytes, stream)
    return buffer[:nbytes]
