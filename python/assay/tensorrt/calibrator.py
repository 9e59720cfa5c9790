"""Calibrators: classes to be derived from, whose batches decide the scales of integers."""

import os
import struct
import tempfile

from assay import _native
from assay._arrays import to_numpy
from assay.datatype import DataType
from assay.exception import PolygraphyException
from assay.tensorrt.arguments import given
from assay.tensorrt.dims import is_address
from assay.tensorrt.enums import CalibrationAlgoType
from assay.tensorrt.formats import formats_of, order_of
from assay.tensorrt.logger import native_log


TABLES = {CalibrationAlgoType.ENTROPY_CALIBRATION: "EntropyCalibration",
          CalibrationAlgoType.MINMAX_CALIBRATION: "MinMaxCalibration",
          CalibrationAlgoType.LEGACY_CALIBRATION: "LegacyCalibration"}  # in the first line of caches
WORDS = {CalibrationAlgoType.MINMAX_CALIBRATION: "minmax", CalibrationAlgoType.LEGACY_CALIBRATION: "percentile"}
FLOATS = ("float32", "float16", "bfloat16")


class IInt8Calibrator:
    """`get_batch(names)` gives addresses of inputs, or None at the end."""

    ALGORITHM = CalibrationAlgoType.ENTROPY_CALIBRATION_2

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


class IInt8LegacyCalibrator(IInt8Calibrator):
    """Scales that cover a quantile of the values."""

    ALGORITHM = CalibrationAlgoType.LEGACY_CALIBRATION

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
    """(type in batches, type of the input, shape) of each input: the best shapes of the profile; floats are float32 in
    batches, whatever the input is."""
    profile = config._calibration_profile or (config._profiles[-1] if config._profiles else None)
    shapes = {}
    for tensor in network._inputs:
        dims = list(tensor._shape)
        if profile is not None and tensor.name in profile._shapes:
            dims = list(profile._shapes[tensor.name][1])
        if min(dims, default=0) < 0:
            raise PolygraphyException(f"the input `{tensor.name}` has open dims {dims}: calibration needs a profile")
        dtype = tensor._dtype.native
        shapes[tensor.name] = ("float32" if dtype in FLOATS else dtype, dtype, dims)
    return shapes


def _batches(calibrator, shapes):
    """Copies of the batches: calibrators may use the same memory for all of them."""
    names = list(shapes)
    while True:
        addresses = calibrator.get_batch(names)
        if not addresses:
            return
        addresses = list(addresses)
        if len(addresses) != len(names):
            raise PolygraphyException(f"the calibrator gave {len(addresses)} addresses for {len(names)} inputs")
        yield {name: _elements(name, address, *shapes[name]) for name, address in zip(names, addresses)}


def _elements(name, address, fed, wanted, dims):
    if not is_address(address):
        raise PolygraphyException(f"the calibrator gave no address for the input `{name}`: {address!r}")
    array = to_numpy(_native.array_at(int(address), fed, dims))
    if fed == wanted:
        return array.copy()
    return array.astype(DataType.from_native(wanted).numpy())


def calibrated(model, network, config, logger):
    """The model with quantisers, where 8-bit integers and a calibrator are asked for."""
    calibrator = given(config, "int8_calibrator")
    if calibrator is None or not config._has("INT8") or _has_quantisers(network):
        return model
    formats = formats_of(network)
    cached = calibrator.read_calibration_cache()
    batches = [] if cached else list(_batches(calibrator, _shapes(network, config)))
    if not cached and not batches:
        raise PolygraphyException("the calibrator gave neither batches nor a cache")
    fed = [{name: _in_memory(formats.get(name), each) for name, each in batch.items()} for batch in batches]
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = os.path.join(folder, "cache")
        if cached:
            with open(path, "wb") as file:
                file.write(bytes(cached))
        made = _native.quantize(model, fed, WORDS.get(calibrator.get_algorithm(), "entropy"), path, native_log(logger))
        if not cached:
            calibrator.write_calibration_cache(_written(path) or _table(batches, calibrator.get_algorithm()))
    return made


def _in_memory(format, array):
    """A batch, which calibrators give as a row, as its input has it."""
    return array if format is None else array.transpose(order_of(format, array.ndim)).copy()


def _written(path):
    """The cache with scales that native code has measured; empty if no layer needs ranges."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        cache = file.read()
    return cache if len(cache.splitlines()) > 1 else b""


def _table(batches, algorithm):
    """A cache that has the scales of the inputs."""
    rows = [f"TRT-100000-{TABLES.get(algorithm, 'EntropyCalibration2')}"]
    for name, first in batches[0].items():
        greatest = max(float(abs(each[name]).max(initial=0)) for each in batches) if first.dtype.kind == "f" else 0
        if greatest > 0:
            rows.append(f"{name}: {struct.pack('>f', greatest / 127).hex()}")
    return "\n".join([*rows, ""]).encode()
