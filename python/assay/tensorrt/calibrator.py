"""Calibrators: classes to be derived from, whose batches decide the scales of integers."""

import os
import tempfile

from assay import _native
from assay._arrays import to_numpy
from assay.exception import PolygraphyException
from assay.tensorrt.enums import BuilderFlag, CalibrationAlgoType
from assay.tensorrt.logger import native_log


class IInt8Calibrator:
    """`get_batch(names)` gives addresses of inputs, or None at the end."""

    ALGORITHM = CalibrationAlgoType.ENTROPY_CALIBRATION_2
    WORD = "entropy"

    def __init__(self) -> None:
        pass

    def get_batch_size(self):
        return 1

    def get_batch(self, names):
        return None

    def read_calibration_cache(self):
        return None

    def write_calibration_cache(self, cache):
        return None

    def get_algorithm(self):
        return self.ALGORITHM


class IInt8EntropyCalibrator2(IInt8Calibrator):
    """Scales that lose least information."""


class IInt8EntropyCalibrator(IInt8Calibrator):
    """The same, as older versions have it."""

    ALGORITHM = CalibrationAlgoType.ENTROPY_CALIBRATION


class IInt8MinMaxCalibrator(IInt8Calibrator):
    """Scales of the least and greatest values."""

    ALGORITHM = CalibrationAlgoType.MINMAX_CALIBRATION
    WORD = "minmax"


class IInt8LegacyCalibrator(IInt8Calibrator):
    """Scales that cover a quantile of the values."""

    ALGORITHM = CalibrationAlgoType.LEGACY_CALIBRATION
    WORD = "percentile"

    def get_quantile(self):
        return 0.9999

    def get_regression_cutoff(self):
        return 1.0

    def read_histogram_cache(self, length):
        return None

    def write_histogram_cache(self, data):
        return None


def _has_quantisers(network):
    return any(node.op == "QuantizeLinear" for node in network._graph().nodes)


def _shapes(network, config):
    """The shapes of calibration batches: the best ones of the profile."""
    profile = config._calibration_profile or (config._profiles[-1] if config._profiles else None)
    shapes = {}
    for tensor in network._inputs:
        dims = list(tensor._shape)
        if profile is not None and tensor.name in profile._shapes:
            dims = list(profile._shapes[tensor.name][1])
        shapes[tensor.name] = (tensor._dtype.native, dims)
    return shapes


def _batches(calibrator, shapes):
    names = list(shapes)
    while True:
        given = calibrator.get_batch(names)
        if not given:
            return
        if len(given) != len(names):
            raise PolygraphyException(f"the calibrator gave {len(given)} addresses for {len(names)} inputs")
        batch = {}
        for name, address in zip(names, given):
            array = getattr(calibrator, "assay_arrays", {}).get(int(address))
            batch[name] = array if array is not None else to_numpy(_native.array_at(int(address), *shapes[name]))
        yield batch


def calibrated(model, network, config, logger):
    """The model with quantisers, where 8-bit integers and a calibrator are asked for."""
    calibrator = config.int8_calibrator
    if calibrator is None or not config.get_flag(BuilderFlag.INT8) or _has_quantisers(network):
        return model
    cached = calibrator.read_calibration_cache()
    batches = [] if cached else list(_batches(calibrator, _shapes(network, config)))
    if not cached and not batches:
        raise PolygraphyException("the calibrator gave neither batches nor a cache")
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = os.path.join(folder, "cache")
        if cached:
            with open(path, "wb") as file:
                file.write(bytes(cached))
        made = _native.quantize(model, batches, getattr(calibrator, "WORD", "entropy"), path, native_log(logger))
        if not cached and os.path.exists(path):
            with open(path, "rb") as file:
                calibrator.write_calibration_cache(file.read())
    return made
