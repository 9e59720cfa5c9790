"""Calibrators over data loaders."""

from __future__ import annotations

import contextlib
from collections import OrderedDict

from assay import tensorrt as trt
from assay import util
from assay.backend.trt.util import _get_array_on_gpu
from assay.common import TensorMetadata
from assay.datatype import DataType
from assay.exception import PolygraphyException
from assay.logger import G_LOGGER, LogMode
from assay.util import array as arrays

_KEPT = (DataType.FLOAT32, DataType.INT32, DataType.INT64, DataType.BOOL)  # types of batches; others are float32


class _Feeding:
    """What calibrators over data loaders do, whatever their algorithm is."""

    is_polygraphy_calibrator = True

    def __init__(self, data_loader, cache, options) -> None:
        super().__init__()
        self.data_loader = data_loader
        self.batch_size = util.default(options["batch_size"], 1)
        self.input_metadata: TensorMetadata | None = None
        self.device_buffers: OrderedDict = OrderedDict()
        self.make_func = Calibrator
        self._cache = cache
        self._options = options
        self.reset()

    def set_input_metadata(self, input_metadata) -> None:
        """Types and shapes of the inputs, for checks and for the data loader; indices keep their type, others are
        float32."""
        known = TensorMetadata()
        for name, meta in input_metadata.items():
            dtype = meta.dtype if meta.dtype in _KEPT else DataType.FLOAT32
            if meta.dtype is not None and dtype != meta.dtype:
                G_LOGGER.warning(f"calibration takes float32 for the input `{name}` of the type {meta.dtype}")
            known.add(name, dtype, meta.shape)
        self.input_metadata = known
        with contextlib.suppress(AttributeError):
            self.data_loader.input_metadata = self.input_metadata

    def reset(self) -> None:
        """Begins with the first batch again, where the data loader can, and asks for the cache again."""
        self.data_loader_iter = None
        self.num_batches = 0
        self.cache_contents: bytes | None = None

    def get_batch_size(self):
        return self.batch_size

    def get_batch(self, names):
        """Addresses of the next batch; None, and the buffers are freed, where there is none or it does not fit."""
        addresses = None
        with contextlib.suppress(PolygraphyException):
            addresses = self._next_batch(names)
        if addresses is None:
            self.free()
        return addresses

    def _next_batch(self, names):
        if self.data_loader_iter is None:
            self.data_loader_iter = iter(self.data_loader() if callable(self.data_loader) else self.data_loader)
        try:
            batch = next(self.data_loader_iter)
        except StopIteration:
            if self.num_batches == 0:
                G_LOGGER.critical("the data loader of the calibrator gave nothing; a generator can be gone through only "
                                  "once")
            return None
        self.num_batches += 1
        self._check(batch, names)
        return [self._address(name, batch[name]) for name in names]

    def _check(self, batch, names):
        expected = list(self.input_metadata if self.input_metadata is not None else names)
        util.check_sequence_contains(batch.keys(), expected, name="what the data loader of the calibrator gave",
                                     items_name="inputs", check_extra=self.input_metadata is not None)
        for name in expected if self.input_metadata is not None else ():
            if not isinstance(batch[name], int):
                self._check_one(name, batch[name], self.input_metadata[name])

    @staticmethod
    def _check_one(name, value, meta):
        dtype, shape = arrays.dtype(value), tuple(arrays.shape(value))
        if meta.dtype is not None and dtype != meta.dtype:
            G_LOGGER.critical(f"the input `{name}` of the calibrator has the type {dtype}, expected is {meta.dtype}")
        if meta.shape is not None and not util.is_valid_shape_override(shape, meta.shape):
            G_LOGGER.critical(f"the input `{name}` of the calibrator has the shape {shape}, expected is {tuple(meta.shape)}")

    def _address(self, name, value):
        if isinstance(value, int):
            return value
        if isinstance(value, (list, tuple, float)):
            value = util.array_of(value)
        return _get_array_on_gpu(value, name, self.device_buffers)

    def read_calibration_cache(self):
        """The scales that are known; None: there are none."""
        if self.cache_contents is None:
            self.cache_contents = self._load() or None
        return self.cache_contents

    def _load(self):
        if self._cache is None:
            return None
        try:
            if not util.is_file_like(self._cache):
                return util.load_file(self._cache, description="calibration cache") if util.get_file_size(self._cache) else None
            if self._cache.seekable():
                self._cache.seek(0)
            found = self._cache.read()
        except FileNotFoundError:
            return None
        except Exception as error:
            G_LOGGER.error(f"the calibration cache {self._cache} cannot be read: {error}")
            return None
        if not found:
            G_LOGGER.warning("the calibration cache is empty: the model is calibrated", LogMode.ONCE)
        return found

    def write_calibration_cache(self, cache) -> None:
        self.cache_contents = bytes(cache)
        if self._cache is None:
            return
        try:
            util.save_file(self.cache_contents, self._cache, description="calibration cache")
            if util.is_file_like(self._cache):
                self._cache.flush()
        except Exception as error:
            G_LOGGER.error(f"the calibration cache {self._cache} cannot be written: {error}")

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.free()

    def free(self) -> None:
        """Gives the buffers of batches back."""
        for each in self.device_buffers.values():
            each.free()

    def __repr__(self):
        return util.make_repr("Calibrator", self.data_loader, cache=self._cache, BaseClass=type(self).__bases__[1],
                              **self._options)[0]


def _quantile(self):
    return util.default(self._options["quantile"], 0.5)


def _regression_cutoff(self):
    return util.default(self._options["regression_cutoff"], 0.5)


def _algorithm(self):
    return util.default(self._options["algo"], trt.CalibrationAlgoType.ENTROPY_CALIBRATION_2)


def Calibrator(data_loader, cache=None, BaseClass=None, batch_size=None, quantile=None, regression_cutoff=None,
               algo=None):
    """A calibrator of the class `BaseClass` that takes its batches from a data loader.

    `cache`: a path or a file; scales that are there are read, otherwise written.
    """
    base = util.default(BaseClass, trt.IInt8EntropyCalibrator2)
    options = {"batch_size": batch_size, "quantile": quantile, "regression_cutoff": regression_cutoff, "algo": algo}
    methods: dict = {}
    if base is trt.IInt8LegacyCalibrator:
        methods = {"get_quantile": _quantile, "get_regression_cutoff": _regression_cutoff}
    elif base is trt.IInt8Calibrator:
        methods = {"get_algorithm": _algorithm}
    return type("Calibrator", (_Feeding, base), methods)(data_loader, cache, options)


@contextlib.contextmanager
def active(calibrator):
    """A calibrator that is in use."""
    if calibrator is None or not hasattr(calibrator, "__enter__"):
        yield
        return
    with calibrator:
        yield
