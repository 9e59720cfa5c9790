"""Element types that all backends share: `DataType.FLOAT32` and its neighbours."""

from __future__ import annotations

import enum

from assay.exception import DataTypeConversionException
from assay.logger import G_LOGGER

_LIBRARIES = ("numpy", "onnx", "onnxrt", "onnxruntime", "tensorrt", "torch")
_IMPORTERS: dict = {}  # by library: functions that make a DataTypeEntry of a foreign type, or None
_EXPORTERS: dict = {}


class _Kind(enum.IntEnum):
    FLOATING_POINT = 0
    INTEGRAL = 1
    OTHER = 2


class DataTypeEntry:
    """One element type. `itemsize` is in bytes, half a byte for types of four bits."""

    def __init__(self, name, itemsize, type, native, number):
        self.name = name
        self.itemsize = itemsize
        self._type = type
        self.native = native
        self.number = number

    @property
    def is_floating(self):
        return self._type == _Kind.FLOATING_POINT

    @property
    def is_integral(self):
        return self._type == _Kind.INTEGRAL

    def numpy(self):
        """The type as numpy's, of ml_dtypes where numpy has none."""
        import numpy as np

        from assay._arrays import ML_DTYPES

        if self.native == "string":
            return np.dtype(np.str_)
        if self.native in ML_DTYPES:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, ML_DTYPES[self.native]))
        return np.dtype(self.native)

    @property
    def dtype(self):
        """The same, under the name by which numpy asks for it: `np.zeros(3, dtype=DataType.FLOAT32)`."""
        return self.numpy()

    def onnx(self):
        """The number in ONNX's TensorProto."""
        return self.number

    def onnxrt(self):
        """`tensor(float)`, as ONNX Runtime says."""
        words = {"float32": "float", "float64": "double"}
        return f"tensor({words.get(self.native, self.native)})"

    def tensorrt(self):
        """The type of assay.tensorrt."""
        from assay import tensorrt as trt

        found = trt.DataType.of_number(self.number)
        if found is None:
            G_LOGGER.critical(f"TensorRT has no type for {self}", DataTypeConversionException)
        return found

    onnxruntime = onnxrt

    def torch(self):
        """The type of torch."""
        import torch

        from assay._arrays import TORCH_DTYPES

        names = {native: name for name, (native, _) in TORCH_DTYPES.items()}
        found = getattr(torch, names.get(self.native, self.native), None)
        if found is None:
            G_LOGGER.critical(f"torch has no type for {self}", DataTypeConversionException)
        return found

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"DataType.{self.name.upper()}"

    def __eq__(self, other):
        if isinstance(other, DataTypeEntry):
            return self.native == other.native
        try:
            return self.native == DataType.from_dtype(other).native
        except (DataTypeConversionException, TypeError):
            return False

    def __hash__(self):
        return hash(self.native)


_F, _I, _O = _Kind.FLOATING_POINT, _Kind.INTEGRAL, _Kind.OTHER
_ROWS = [("FLOAT64", 8, _F, "float64", 11), ("FLOAT32", 4, _F, "float32", 1), ("FLOAT16", 2, _F, "float16", 10),
         ("BFLOAT16", 2, _F, "bfloat16", 16), ("FLOAT8E4M3FN", 1, _F, "float8e4m3fn", 17),
         ("FLOAT8E4M3FNUZ", 1, _F, "float8e4m3fnuz", 18), ("FLOAT8E5M2", 1, _F, "float8e5m2", 19),
         ("FLOAT8E5M2FNUZ", 1, _F, "float8e5m2fnuz", 20), ("FLOAT8E8M0", 1, _F, "float8e8m0", 24),
         ("FLOAT4", 0.5, _F, "float4e2m1", 23), ("INT64", 8, _I, "int64", 7), ("INT32", 4, _I, "int32", 6),
         ("INT16", 2, _I, "int16", 5), ("INT8", 1, _I, "int8", 3), ("INT4", 0.5, _I, "int4", 22),
         ("UINT64", 8, _I, "uint64", 13), ("UINT32", 4, _I, "uint32", 12), ("UINT16", 2, _I, "uint16", 4),
         ("UINT8", 1, _I, "uint8", 2), ("UINT4", 0.5, _I, "uint4", 21), ("BOOL", 1, _O, "bool", 9),
         ("STRING", 0, _O, "string", 8)]


class DataType:
    """All element types, and their counterparts in other libraries."""

    FLOAT64: DataTypeEntry
    FLOAT32: DataTypeEntry
    FLOAT16: DataTypeEntry
    BFLOAT16: DataTypeEntry
    FLOAT8E4M3FN: DataTypeEntry
    FLOAT8E4M3FNUZ: DataTypeEntry
    FLOAT8E5M2: DataTypeEntry
    FLOAT8E5M2FNUZ: DataTypeEntry
    FLOAT8E8M0: DataTypeEntry
    FLOAT4: DataTypeEntry
    INT64: DataTypeEntry
    INT32: DataTypeEntry
    INT16: DataTypeEntry
    INT8: DataTypeEntry
    INT4: DataTypeEntry
    UINT64: DataTypeEntry
    UINT32: DataTypeEntry
    UINT16: DataTypeEntry
    UINT8: DataTypeEntry
    UINT4: DataTypeEntry
    BOOL: DataTypeEntry
    STRING: DataTypeEntry
    __members__: dict[str, DataTypeEntry]

    @staticmethod
    def from_native(name):
        """By the name that native code uses: `float32`."""
        return _BY_NATIVE.get({"boolean": "bool"}.get(name, name))

    @staticmethod
    def from_number(number):
        """By ONNX's number."""
        return _BY_NUMBER.get(number)

    @staticmethod
    def from_dtype(dtype, source_module=None):
        """By a type of numpy, ONNX, ONNX Runtime, torch or TensorRT; None stays None."""
        if dtype is None or isinstance(dtype, DataTypeEntry):
            return dtype
        if source_module in _IMPORTERS:
            found = _IMPORTERS[source_module](dtype)
        else:
            found = _find(dtype)
            others = iter(_IMPORTERS.values() if found is None else ())
            found = found or next((each for each in (read(dtype) for read in others) if each is not None), None)
        if found is None:
            G_LOGGER.critical(f"`{dtype}` is no element type that is known here", DataTypeConversionException)
        return found

    @staticmethod
    def to_dtype(dtype, target_module):
        """The counterpart in a library: "numpy", "onnx", "onnxrt", "torch", "tensorrt", or a registered one."""
        if dtype is None:
            return None
        name = target_module.split(".")[0]
        if name not in _EXPORTERS and name not in _LIBRARIES:
            G_LOGGER.critical(f"`{target_module}` has no element types that are known here; known are "
                              f"{', '.join(sorted({*_EXPORTERS, *_LIBRARIES}))}")
        return getattr(DataType.from_dtype(dtype), name)()


for _row in _ROWS:
    setattr(DataType, _row[0], DataTypeEntry(_row[0].lower(), *_row[1:]))
_ALL = [getattr(DataType, _row[0]) for _row in _ROWS]
_BY_NATIVE = {each.native: each for each in _ALL}
_BY_NUMBER = {each.number: each for each in _ALL}
DataType.__members__ = {_row[0]: getattr(DataType, _row[0]) for _row in _ROWS}


def _find(dtype):
    if hasattr(dtype, "onnx_number"):
        return _BY_NUMBER.get(dtype.onnx_number)
    if isinstance(dtype, int):
        return _BY_NUMBER.get(dtype)
    text = str(dtype)
    if text.startswith("torch."):
        from assay._arrays import TORCH_DTYPES

        name = text[len("torch."):]
        return DataType.from_native(TORCH_DTYPES[name][0] if name in TORCH_DTYPES else name)
    if text.startswith("tensor("):
        words = {"float": "float32", "double": "float64"}
        return DataType.from_native(words.get(text[7:-1], text[7:-1]))
    return _find_numpy(dtype)


def _find_numpy(dtype):
    import numpy as np

    from assay._arrays import TYPES_OF_ML_DTYPES

    try:
        found = np.dtype(dtype)
    except TypeError:
        return None
    if found.kind in "USO":
        return DataType.STRING
    return DataType.from_native(TYPES_OF_ML_DTYPES.get(found.name, found.name))


def from_numpy(numpy_type):
    """The type of a type of numpy."""
    return DataType.from_dtype(numpy_type)


def from_onnx(onnx_type):
    """The type of a number of ONNX's."""
    return DataType.from_dtype(onnx_type)


def from_onnxrt(onnxrt_type):
    """The type of a word of ONNX Runtime's."""
    return DataType.from_dtype(onnxrt_type)


def from_tensorrt(tensorrt_type):
    """The type of one of assay.tensorrt."""
    return DataType.from_dtype(tensorrt_type)


def from_torch(torch_type):
    """The type of a type of torch."""
    return DataType.from_dtype(torch_type)


def register_dtype_importer(source_module):
    """A decorator: the function makes a DataTypeEntry of a type of a library, or None where it is none."""

    def decorate(func):
        _IMPORTERS[source_module] = func
        return func

    return decorate


def register_dtype_exporter(target_module):
    """A decorator: the function makes a library's type of a DataTypeEntry; entries get a method of the library's name."""

    def decorate(func):
        def exported(entry):
            found = func(entry)
            if found is None:
                G_LOGGER.critical(f"{target_module} has no type for {entry}", DataTypeConversionException)
            return found

        _EXPORTERS[target_module] = exported
        setattr(DataTypeEntry, target_module, exported)
        return exported

    return decorate
