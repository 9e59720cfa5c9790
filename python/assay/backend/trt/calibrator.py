"""Calibrators over data loaders."""

import contextlib
import os
from collections import OrderedDict

from assay import tensorrt as trt
from assay import util
from assay.common import TensorMetadata
from assay.datatype import DataType
from assay.logger import G_LOGGER


class _Feeding:
    """What calibrators over data loaders do, whatever their algorithm is."""

    def __init__(self, data_loader, cache, options) -> None:
        super().__init__()
        self.is_active = False
        self.data_loader = data_loader
        self.batch_size = util.default(options["batch_size"], 1)
        self.input_metadata = None
        self.assay_arrays: dict = {}
        self._cache = cache
        self._options = options
        self.reset()

    def set_input_metadata(self, input_metadata):
        """Types and shapes of the inputs; floats are float32 for the data loader."""
        self.input_metadata = TensorMetadata()
        for name, meta in input_metadata.items():
            dtype = meta.dtype
            if dtype is None or dtype.is_floating:
                dtype = DataType.FLOAT32
            self.input_metadata.add(name, dtype, meta.shape)
        if hasattr(self.data_loader, "input_metadata"):
            self.data_loader.input_metadata = self.input_metadata

    def reset(self) -> None:
        """Begins with the first batch again, where the data loader can."""
        self._iterator = None
        self._count = 0

    def get_batch_size(self):
        return self.batch_size

    def get_batch(self, names):
        if self._iterator is None:
            self._iterator = iter(self.data_loader() if callable(self.data_loader) else self.data_loader)
        try:
            batch = next(self._iterator)
        except StopIteration:
            if self._count == 0:
                G_LOGGER.critical("the data loader of the calibrator gave nothing; a generator can be gone through only "
                                  "once")
            return None
        self._count += 1
        self.assay_arrays = {}
        return [self._address(name, self._found(name, batch)) for name in names]

    @staticmethod
    def _found(name, batch):
        found = util.find_str_in_iterable(name, batch)
        if found is None:
            G_LOGGER.critical(f"the input `{name}` is not in what the data loader of the calibrator gave: {list(batch)}")
        return batch[found]

    def _address(self, name, value):
        if isinstance(value, int):
            return value
        if hasattr(value, "ptr"):
            return value.ptr
        array = self._checked(name, util.array_of(value))
        self.assay_arrays[array.ctypes.data] = array
        return array.ctypes.data

    def _checked(self, name, array):
        import numpy as np

        meta = (self.input_metadata or {}).get(name)
        if meta is not None and meta.dtype is not None and DataType.from_dtype(array.dtype) != meta.dtype:
            G_LOGGER.critical(f"the input `{name}` of the calibrator has the type {array.dtype}, expected is {meta.dtype}")
        if meta is not None and meta.shape is not None and not util.is_valid_shape_override(array.shape, meta.shape):
            G_LOGGER.critical(f"the input `{name}` of the calibrator has the shape {array.shape}, expected is "
                              f"{tuple(meta.shape)}")
        return np.ascontiguousarray(array)

    def read_calibration_cache(self):
        if self._cache is None:
            return None
        if util.is_file_like(self._cache):
            if self._cache.seekable():
                self._cache.seek(0)
            return self._cache.read() or None
        if not os.path.exists(self._cache) or not os.path.getsize(self._cache):
            return None
        return util.load_file(self._cache, description="calibration cache")

    def write_calibration_cache(self, cache_bytes) -> None:
        if self._cache is not None:
            util.save_file(bytes(cache_bytes), self._cache, description="calibration cache")

    def __enter__(self):
        self.is_active = True
        return self

    def __exit__(self, *exc_info):
        self.is_active = False

    def get_quantile(self):
        return util.default(self._options["quantile"], 0.5)

    def get_regression_cutoff(self):
        return util.default(self._options["regression_cutoff"], 0.5)

    def get_algorithm(self):
        return util.default(self._options["algo"], super().get_algorithm())

    def free(self):
        """Nothing is held."""


def Calibrator(data_loader, cache=None, BaseClass=None, batch_size=None, quantile=None, regression_cutoff=None,
               algo=None):
    """A calibrator of the class `BaseClass` that takes its batches from a data loader.

    `cache`: a path or a file; scales that are there are read, otherwise written.
    """
    base = util.default(BaseClass, trt.IInt8EntropyCalibrator2)
    options = {"batch_size": batch_size, "quantile": quantile, "regression_cutoff": regression_cutoff, "algo": algo}
    return type("Calibrator", (_Feeding, base), {})(data_loader, cache, options)


@contextlib.contextmanager
def active(calibrator):
    """A calibrator that is in use."""
    if calibrator is None or not hasattr(calibrator, "__enter__"):
        yield
        return
    with calibrator:
        yield


def metadata_of_network(network, profile):
    """Inputs of a network, with the best shapes of a profile."""
    meta = TensorMetadata()
    for index in range(network.num_inputs):
        tensor = network.get_input(index)
        shapes = OrderedDict(profile or {}).get(tensor.name)
        meta.add(tensor.name, tensor.dtype, list(tensor.shape) if shapes is None else list(shapes.opt))
    return meta
