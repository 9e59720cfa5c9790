"""Functions of arrays that take numpy's, tensors of torch, and, where they only look, views of memory of a device.

What is computed is computed by numpy; tensors of torch come back as such, in the memory of the process.
"""

from __future__ import annotations

import builtins
import functools

from assay._arrays import TORCH_DTYPES, of_torch
from assay.datatype import DataType
from assay.logger import G_LOGGER

__all__ = ["abs", "all", "allclose", "any", "argmax", "argmin", "argwhere", "cast", "data_ptr", "divide", "dtype", "equal",
           "greater", "histogram", "is_contiguous", "is_device_view", "is_numpy", "is_on_cpu", "is_on_gpu", "is_torch",
           "isfinite", "isinf", "isnan", "logical_and", "logical_not", "logical_xor", "make_contiguous", "max", "mean",
           "median", "min", "multiply", "nbytes", "pad", "power", "quantile", "ravel", "reshape", "resize_or_reallocate",
           "shape", "size", "sqrt", "std", "subtract", "sum", "to_numpy", "to_torch", "topk", "transpose",
           "unravel_index", "var", "view", "where"]


def _is_of(obj, package):
    return type(obj).__module__.split(".")[0] == package


def is_torch(obj):
    """Whether it is a tensor of torch."""
    return _is_of(obj, "torch")


def is_numpy(obj):
    """Whether it is an array or a number of numpy."""
    return _is_of(obj, "numpy")


def is_device_view(obj):
    """Whether it is memory of a device."""
    return hasattr(obj, "ptr") and hasattr(obj, "copy_to")


def to_numpy(obj):
    """The array for any of them."""
    if is_torch(obj):
        return of_torch(obj)
    if is_device_view(obj):
        return obj.numpy()
    if is_numpy(obj):
        return obj
    _refuse(obj)


def to_torch(obj):
    """The tensor for any of them."""
    import numpy as np
    import torch

    if is_torch(obj):
        return obj
    array = np.asarray(to_numpy(obj))
    if not array.flags.writeable:
        array = array.copy()
    if array.dtype.name not in TORCH_DTYPES:
        return torch.from_numpy(array)
    codes = np.ascontiguousarray(array).view(TORCH_DTYPES[array.dtype.name][1])
    return torch.from_numpy(codes).view(getattr(torch, array.dtype.name)).reshape(array.shape)


def _like(obj, result):
    import numpy as np

    return to_torch(np.asarray(result, order="C")) if is_torch(obj) else result


# What can be said without looking at elements.


def _known(obj):
    if not (is_torch(obj) or is_numpy(obj) or hasattr(obj, "dtype") and hasattr(obj, "shape")):
        _refuse(obj)
    return obj


def _refuse(obj):
    G_LOGGER.critical(f"a {type(obj).__name__} is no array: expected numpy's, a tensor of torch or memory of a device")


def dtype(obj):
    """The DataType."""
    return DataType.from_dtype(_known(obj).dtype)


def shape(obj):
    """Its dims."""
    return _known(obj).shape


def size(obj):
    """The number of elements."""
    return obj.numel() if is_torch(obj) else int(to_numpy(obj).size)


def nbytes(obj):
    """The bytes of its elements."""
    return obj.numel() * obj.element_size() if is_torch(obj) else _known(obj).nbytes


def data_ptr(obj):
    """The address of the first element."""
    if is_device_view(obj):
        return obj.ptr
    return obj.data_ptr() if is_torch(obj) else obj.ctypes.data


def is_on_gpu(obj):
    """Whether another device has it."""
    return is_device_view(obj) or is_torch(obj) and obj.device.type == "cuda"


def is_on_cpu(obj):
    """Whether it is in the memory of the process."""
    return not is_on_gpu(obj)


def is_contiguous(obj):
    """Whether elements lie in one piece, the last axis first."""
    if is_device_view(obj):
        return True
    return obj.is_contiguous() if is_torch(obj) else builtins.bool(obj.flags["C_CONTIGUOUS"])


def make_contiguous(obj):
    """The same, or a copy in one piece."""
    import numpy as np

    if is_contiguous(obj):
        return obj
    return obj.contiguous() if is_torch(obj) else np.ascontiguousarray(obj)


def view(obj, dtype, shape):
    """The same memory with another type and shape."""
    if not is_contiguous(obj):
        G_LOGGER.critical("only arrays in one piece have views: make_contiguous() makes one")
    if is_device_view(obj):
        return obj.view(shape=shape, dtype=dtype)
    kind = DataType.to_dtype(dtype, "torch" if is_torch(obj) else "numpy")
    return obj.reshape(-1).view(kind).reshape(shape)


def resize_or_reallocate(obj, shape):
    """An array of that shape, where possible in the same memory; elements may be any."""
    import numpy as np

    if is_device_view(obj):
        return obj.resize(shape) or obj
    if tuple(obj.shape) == tuple(shape):
        return obj
    return obj.resize_(shape) if is_torch(obj) else np.empty(shape, obj.dtype)


# Other arrays.


def cast(obj, dtype):
    """A copy of another type."""
    if is_torch(obj):
        return obj.to(DataType.to_dtype(dtype, "torch"))
    return to_numpy(obj).astype(DataType.from_dtype(dtype).numpy())


def reshape(obj, shape):
    """The same elements with other dims."""
    return obj.reshape(tuple(shape))


def transpose(obj, axes):
    """The same elements with axes in another order."""
    return obj.permute(*axes) if is_torch(obj) else to_numpy(obj).transpose(axes)


def ravel(obj):
    """The same elements in one row."""
    return obj.reshape(-1)


def pad(obj, pads, axes=None, mode="constant", constant_val=0):
    """More elements before and after; `pads` are pairs, one for each axis or for those of `axes`."""
    import numpy as np

    rank = len(obj.shape)
    axes = list(range(rank)) if axes is None else axes
    if len(axes) != len(pads):
        raise ValueError(f"{len(pads)} pairs of numbers for {len(axes)} axes")
    pairs = [(0, 0)] * rank
    for axis, pair in zip(axes, pads):
        pairs[axis] = tuple(pair)
    return _like(obj, np.pad(to_numpy(obj), pairs, mode, constant_values=constant_val))


def topk(obj, k, axis):
    """(values, indices) of the k greatest along an axis; the first of equal ones comes first."""
    import numpy as np

    array = to_numpy(obj)
    order = np.argsort(-array, axis=axis, kind="stable")
    order = np.take(order, np.arange(builtins.min(k, array.shape[axis])), axis=axis)
    return _like(obj, np.take_along_axis(array, order, axis=axis)), _like(obj, order)


def histogram(obj, range=None):
    """(counts, edges) of ten bins."""
    import numpy as np

    return tuple(_like(obj, each) for each in np.histogram(to_numpy(obj), bins=10, range=range))


def quantile(obj, q):
    """The element below which that share of all is."""
    import numpy as np

    return np.quantile(to_numpy(obj), q)


def mean(obj, dtype=None):
    """The mean, summed in the type."""
    import numpy as np

    kind = None if dtype is None else DataType.from_dtype(dtype).numpy()
    return np.mean(to_numpy(obj), dtype=kind)


def where(cond, lhs, rhs):
    """Elements of one array or the other."""
    import numpy as np

    return _like(lhs, np.where(to_numpy(cond), to_numpy(lhs), to_numpy(rhs)))


def allclose(lhs, rhs, rtol=1e-5, atol=1e-8):
    """Whether all differences are within tolerances."""
    import numpy as np

    return builtins.bool(np.allclose(to_numpy(lhs), to_numpy(rhs), rtol=rtol, atol=atol))


def equal(lhs, rhs):
    """Whether shapes and all elements are the same."""
    import numpy as np

    return builtins.bool(np.array_equal(to_numpy(lhs), to_numpy(rhs)))


def power(obj, exponent):
    """Elements to the power of a number."""
    import numpy as np

    return _like(obj, np.power(to_numpy(obj), exponent))


def unravel_index(index, shape):
    """The place of an element by its number."""
    import numpy as np

    return tuple(int(each) for each in np.unravel_index(index, shape))


def _of_elements(name, operand_count):
    """numpy's function of that name, for the elements of arrays."""
    def function(*arrays):
        import numpy as np

        if len(arrays) != operand_count:
            raise TypeError(f"{name}() takes {operand_count} array(s), not {len(arrays)}")
        return _like(arrays[0], getattr(np, name)(*(to_numpy(each) for each in arrays)))

    function.__name__ = name
    function.__doc__ = f"numpy.{name} of each element."
    return function


def _of_all(name, kind=None):
    """numpy's function of that name, for all elements at once."""
    def function(obj):
        import numpy as np

        found = getattr(np, name)(to_numpy(obj))
        return found if kind is None else kind(found)

    function.__name__ = name
    function.__doc__ = f"numpy.{name} of all elements."
    return function


_unary, _binary = (functools.partial(_of_elements, operand_count=count) for count in (1, 2))
abs, sqrt, isfinite, isinf, isnan, logical_not, argwhere = (
    _unary(name) for name in ("abs", "sqrt", "isfinite", "isinf", "isnan", "logical_not", "argwhere"))
divide, greater, logical_and, logical_xor, multiply, subtract = (
    _binary(name) for name in ("divide", "greater", "logical_and", "logical_xor", "multiply", "subtract"))
all, any = _of_all("all", builtins.bool), _of_all("any", builtins.bool)
argmax, argmin = _of_all("argmax", builtins.int), _of_all("argmin", builtins.int)
max, median, min, std, sum, var = (_of_all(name) for name in ("max", "median", "min", "std", "sum", "var"))
