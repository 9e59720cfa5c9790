"""Shapes, weights and bytes as TensorRT has them."""

import contextlib
import os


class Dims(tuple):
    """A shape."""

    MAX_DIMS = 8

    def __new__(cls, shape=()):
        return super().__new__(cls, [int(each) for each in shape])

    def __eq__(self, other):
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__

    def numel(self):
        """The product of dims."""
        product = 1
        for dim in self:
            product *= dim
        return product

    def __str__(self):
        return f"({', '.join(map(str, self))}{',' if len(self) == 1 else ''})"

    __repr__ = __str__


def _fixed(name, count):
    def make(cls, *args):
        shape = args[0] if len(args) == 1 and hasattr(args[0], "__iter__") else args
        if len(shape) != count:
            raise ValueError(f"{name} has {count} dims, not {len(shape)}")
        return Dims.__new__(cls, shape)

    return type(name, (Dims,), {"__new__": make, "__doc__": f"A shape of {count} dims."})


Dims2, Dims3, Dims4 = _fixed("Dims2", 2), _fixed("Dims3", 3), _fixed("Dims4", 4)
DimsHW = _fixed("DimsHW", 2)
DimsHW.h = property(lambda self: self[0])
DimsHW.w = property(lambda self: self[1])


class Permutation(Dims):
    """An order of axes."""

    @staticmethod
    def identity():
        """The order that they have, for any rank."""
        return Permutation(range(Dims.MAX_DIMS))

    def is_identity(self):
        return list(self) == list(range(len(self)))

    def of_rank(self, rank):
        """The places of the first `rank` axes; of all that are given if it is not known."""
        return list(self if rank < 0 else self[:rank])


class Weights:
    """Elements of a constant."""

    def __init__(self, a=None, *args) -> None:
        import numpy as np

        if hasattr(a, "native"):
            from assay.datatype import DataType as Shared

            a = np.zeros(0, dtype=Shared.from_native(a.native).numpy())
        self._array = np.ascontiguousarray(np.zeros(0, np.float32) if a is None else a)

    def numpy(self):
        """The elements."""
        return self._array

    @property
    def size(self):
        return self._array.size

    @property
    def nbytes(self):
        return self._array.nbytes

    @property
    def dtype(self):
        from assay.datatype import DataType as Shared
        from assay.tensorrt.enums import DataType

        return DataType.of_number(Shared.from_dtype(self._array.dtype).number)

    def __len__(self):
        return self._array.size

    def __array__(self, dtype=None, copy=None):
        return self._array if dtype is None else self._array.astype(dtype)


def array_of(weights):
    """The elements of weights or of an array; None if there are none."""
    import numpy as np

    if weights is None:
        return None
    array = weights.numpy() if isinstance(weights, Weights) else np.asarray(weights)
    return array if array.size else None


def weights_of(given):
    """Weights, or an array of numpy whose type TensorRT has; others are TypeErrors."""
    import numpy as np

    if isinstance(given, Weights):
        return given
    if not isinstance(given, (np.ndarray, np.generic)):
        raise TypeError(f"weights are Weights or an array of numpy, not a {type(given).__name__}")
    if Weights(given).dtype is None:
        raise TypeError(f"there are no weights of the type {given.dtype}")
    return given


class IHostMemory(bytes):
    """Bytes of a plan."""

    @property
    def nbytes(self):
        return len(self)

    @property
    def dtype(self):
        from assay.tensorrt.enums import DataType

        return DataType.INT8

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        pass


class NoOpContext:
    """Objects that are `with`ed as in older programs; they go when nobody holds them."""

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        return None


LEAST_ADDRESS = 4096  # below it, nothing is ever mapped


def is_address(memory):
    """Whether a number, or what stands for one, can be an address."""
    try:
        return LEAST_ADDRESS <= int(memory) < 1 << 64
    except (TypeError, ValueError, OverflowError):
        return False


@contextlib.contextmanager
def in_memory(data):
    """A path by which the bytes can be opened."""
    descriptor = os.memfd_create("assay-plan")
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view):]
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
