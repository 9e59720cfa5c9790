"""Arrays of Python as arrays of native code, and back. Elements are copied only where their layout differs."""

from assay import _native
from assay.exception import PolygraphyException

# Types that numpy has only with ml_dtypes, by ONNX's names.
ML_DTYPES = {"bfloat16": "bfloat16", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz",
             "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu",
             "int4": "int4", "uint4": "uint4", "float4e2m1": "float4_e2m1fn", "int2": "int2", "uint2": "uint2"}
BITS = {"int4": 4, "uint4": 4, "float4e2m1": 4, "int2": 2, "uint2": 2}
TYPES_OF_ML_DTYPES = {name: type_name for type_name, name in ML_DTYPES.items()}


def refuse(message):
    """Raises an Error (usage)."""
    error = PolygraphyException(message)
    error.code = "usage"
    raise error


def to_array(value):
    """A value that is no plain buffer: something that native code takes."""
    import numpy as np

    if type(value).__module__.split(".")[0] == "torch":
        value, name = codes_of_torch(value)
        if name:
            return _native.make_array(value.reshape(-1), name, list(value.shape))
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        value = np.from_dlpack(value)
    array = np.asarray(value)
    name = TYPES_OF_ML_DTYPES.get(array.dtype.name)
    if name is not None:
        return _of_ml_dtype(np.ascontiguousarray(array), name)
    if array.dtype.kind in "USO":
        return _strings(array)
    if array.dtype.kind not in "fiubc" or array.dtype.itemsize > 16 or array.dtype == np.longdouble:
        refuse(f"elements of type {array.dtype} cannot be given to a model")
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C", copy=None).reshape(array.shape)


# Types that torch has and numpy has not, by torch's names: ours, and an integer of that size.
TORCH_DTYPES = {"bfloat16": ("bfloat16", "int16"), "float8_e4m3fn": ("float8e4m3fn", "uint8"),
                "float8_e4m3fnuz": ("float8e4m3fnuz", "uint8"), "float8_e5m2": ("float8e5m2", "uint8"),
                "float8_e5m2fnuz": ("float8e5m2fnuz", "uint8"), "float8_e8m0fnu": ("float8e8m0", "uint8")}


def codes_of_torch(tensor):
    """(array, ""), or (codes of elements, the name of their type). Gradients stay behind; other devices are read."""
    import numpy as np

    tensor = tensor.detach().cpu()
    name = ""
    found = TORCH_DTYPES.get(str(tensor.dtype).rpartition(".")[2])
    if found is not None:
        import torch

        name = found[0]
        tensor = tensor.contiguous().view(getattr(torch, found[1]))
    try:
        return tensor.numpy(), name
    except RuntimeError:  # a torch that was built without numpy
        return np.from_dlpack(tensor), name


def of_torch(tensor):
    """The tensor as an array, of ml_dtypes where numpy has no such type."""
    codes, name = codes_of_torch(tensor)
    if not name:
        return codes
    import ml_dtypes

    return codes.view(getattr(ml_dtypes, ML_DTYPES[name]))


def _of_ml_dtype(array, name):
    import numpy as np

    codes = array.view(np.uint8).reshape(-1)
    if name in BITS:
        codes = _packed(codes, BITS[name])
    return _native.make_array(codes, name, list(array.shape))


def _packed(codes, bits):
    """One code a byte as several codes a byte, the first one in the lowest bits."""
    import numpy as np

    per_byte = 8 // bits
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    padded[: codes.size] = codes & ((1 << bits) - 1)
    columns = padded.reshape(-1, per_byte)
    return np.bitwise_or.reduce([columns[:, i] << (bits * i) for i in range(per_byte)]).astype(np.uint8)


def _strings(array):
    elements = []
    for each in array.reshape(-1).tolist():
        if isinstance(each, bytes):
            each = each.decode(errors="surrogateescape")
        if not isinstance(each, str):
            refuse(f"an array of objects holds a {type(each).__name__}, expected strings or numbers")
        elements.append(each)
    return _native.make_strings(elements, list(array.shape))


def to_numpy(array):
    """A native array as numpy's; the elements are shared. One of numpy's stays what it is."""
    import numpy as np

    if isinstance(array, np.ndarray):
        return array
    if array.type == "string":
        return np.array(array.strings(), dtype=object).reshape(array.shape)
    name = ML_DTYPES.get(array.type)
    if name is None:
        return np.asarray(array)
    return _to_ml_dtype(np.asarray(array), array, name)


def _to_ml_dtype(codes, array, name):
    import ml_dtypes
    import numpy as np

    dtype = np.dtype(getattr(ml_dtypes, name))
    if array.type in BITS:
        bits = BITS[array.type]
        shifted = np.stack([codes >> (bits * i) for i in range(8 // bits)], axis=1).reshape(-1) & ((1 << bits) - 1)
        count = 1
        for dim in array.shape:
            count *= dim
        shifted = shifted[:count].astype(np.uint8)
        if array.type.startswith("int"):
            shifted = ((shifted ^ (1 << (bits - 1))).astype(np.int8) - (1 << (bits - 1))).view(np.uint8)
        codes = shifted
    return codes.view(dtype).reshape(array.shape)


def values_to_numpy(values):
    """All arrays of a dictionary."""
    return {name: to_numpy(array) for name, array in values.items()}
