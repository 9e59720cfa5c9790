"""Memory and streams with the names of Polygraphy's module, of the card that $ASSAY_DEVICE names; else of this process,
where work is over when it was asked for."""

from collections import deque

from assay import _native
from assay.datatype import DataType
from assay.exception import PolygraphyException
from assay.logger import G_LOGGER
from assay.util import array as arrays
from assay.util import volume

__all__ = ["Cuda", "DeviceArray", "DeviceView", "MemcpyKind", "Stream", "wrapper"]

MEMORY = _native.device_memory()


class MemcpyKind:
    """Directions of copies."""

    HostToHost, HostToDevice, DeviceToHost, DeviceToDevice, Default = range(5)


class Cuda:
    """Memory by its addresses."""

    def malloc(self, nbytes):
        return MEMORY.allocate(int(nbytes))

    def free(self, ptr) -> None:
        if ptr and not MEMORY.free(int(ptr)):
            G_LOGGER.critical(f"there is no memory at {ptr:#x} that could be freed")

    def memcpy(self, dst, src, nbytes, kind, stream_ptr=None) -> None:
        for address, is_device in ((dst, kind in (1, 3)), (src, kind in (2, 3))):
            if is_device and not MEMORY.holds(int(address), int(nbytes)):
                G_LOGGER.critical(f"there are no {nbytes} bytes at {int(address):#x}")
        MEMORY.copy(int(dst), int(src), int(nbytes), int(stream_ptr or 0))

    def htod(self, dst, src, nbytes, stream=None) -> None:
        self.memcpy(dst, src, nbytes, MemcpyKind.HostToDevice, _handle(stream))

    def dtoh(self, dst, src, nbytes, stream=None) -> None:
        self.memcpy(dst, src, nbytes, MemcpyKind.DeviceToHost, _handle(stream))

    def dtod(self, dst, src, nbytes, stream=None) -> None:
        self.memcpy(dst, src, nbytes, MemcpyKind.DeviceToDevice, _handle(stream))

    def create_stream(self):
        return MEMORY.make_stream()

    def stream_synchronize(self, ptr):
        MEMORY.wait_for_stream(int(ptr))

    def destroy_stream(self, ptr):
        MEMORY.end_stream(int(ptr))


_CUDA = Cuda()


def wrapper():
    """The one Cuda of the process."""
    return _CUDA


class Stream:
    """Work in its order; in memory of this process it is over when it was asked for."""

    def __init__(self) -> None:
        self.ptr = _CUDA.create_stream()

    handle = property(lambda self: self.ptr)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.free()

    def free(self):
        if self.ptr:
            _CUDA.destroy_stream(self.ptr)
            self.ptr = 0

    def synchronize(self):
        _CUDA.stream_synchronize(self.ptr)


def _handle(stream):
    return stream.ptr if isinstance(stream, Stream) else stream


_DROPPED: deque = deque()  # (address, bytes) of arrays that nobody holds, the oldest one first
KEPT_BYTES = 16 << 20


def _drop(address, nbytes) -> None:
    """Gives memory back after a while: scripts use `.ptr` of arrays that are gone, whose memory CUDA would still have."""
    _DROPPED.append((address, nbytes))
    while _DROPPED and sum(each for _, each in _DROPPED) > KEPT_BYTES:
        MEMORY.free(_DROPPED.popleft()[0])


class DeviceView:
    """Memory of somebody else, with a shape and a type; it is only read."""

    def __init__(self, ptr, shape, dtype) -> None:
        self.ptr = int(ptr)
        self.shape = tuple(shape)
        self.itemsize = None
        self.dtype = dtype

    @property
    def dtype(self):
        """numpy's type; a DataType where numpy has none."""
        try:
            return self._dtype.numpy()
        except ImportError:
            return self._dtype

    @dtype.setter
    def dtype(self, value):
        self._dtype = DataType.from_dtype(value)
        self.itemsize = self._dtype.itemsize

    @property
    def nbytes(self):
        return int(volume(self.shape) * self.itemsize)

    def __getattr__(self, name):
        if name == ("__cuda_array_interface__" if MEMORY.is_card else "__array_interface__"):
            return self._interface()
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _interface(self):
        return {"shape": self.shape, "typestr": self._dtype.numpy().str, "data": (self.ptr, True), "version": 3}

    def _check(self, host_buffer):
        if arrays.dtype(host_buffer) != self._dtype:
            G_LOGGER.error(f"the array in memory is of {arrays.dtype(host_buffer)}, the one of the device of {self._dtype}")
        if not arrays.is_contiguous(host_buffer):
            G_LOGGER.critical("the array is not contiguous in memory: np.ascontiguousarray() makes it so")

    def copy_to(self, host_buffer, stream=None):
        """Copies the elements into an array of numpy or a tensor of torch, and gives it again."""
        if not self.nbytes:
            return host_buffer
        self._check(host_buffer)
        if arrays.nbytes(host_buffer) < self.nbytes:
            G_LOGGER.critical(f"an array of {arrays.nbytes(host_buffer)} bytes does not hold {self.nbytes}")
        _CUDA.memcpy(arrays.data_ptr(host_buffer), self.ptr, self.nbytes, MemcpyKind.HostToHost, _handle(stream))
        return host_buffer

    def numpy(self):
        """A copy of the elements."""
        import numpy as np

        return self.copy_to(np.empty(self.shape, dtype=self._dtype.numpy()))

    def __str__(self):
        return f"{type(self).__name__}[(dtype={self._dtype}, shape={self.shape}), ptr={self.ptr:#x}]"


class DeviceArray(DeviceView):
    """Memory of its own, which grows as it is needed."""

    def __init__(self, shape=None, dtype=None) -> None:
        super().__init__(0, shape or (), dtype or DataType.FLOAT32)
        self.allocated_nbytes = 0
        self.resize(self.shape)

    @staticmethod
    def raw(shape=None):
        """An array of bytes."""
        return DeviceArray(shape, DataType.UINT8)

    def resize(self, shape):
        """Another shape; memory is asked for only where there is too little."""
        self.shape = tuple(shape)
        if self.nbytes > self.allocated_nbytes:
            self.free_memory()
            self.ptr = _CUDA.malloc(self.nbytes)
            self.allocated_nbytes = self.nbytes
        return self

    def copy_from(self, host_buffer, stream=None):
        """Takes the elements of an array of numpy or a tensor of torch, and its shape where it is larger."""
        nbytes = arrays.nbytes(host_buffer)
        if not nbytes:
            return self
        self._check(host_buffer)
        if nbytes > self.nbytes:
            self.resize(tuple(arrays.shape(host_buffer)))
        if nbytes > self.nbytes:
            G_LOGGER.critical(f"an array of {nbytes} bytes does not fit {self.nbytes}")
        _CUDA.memcpy(self.ptr, arrays.data_ptr(host_buffer), nbytes, MemcpyKind.HostToDevice, _handle(stream))
        return self

    def view(self, shape=None, dtype=None):
        """This memory as a DeviceView, of another shape and type if given."""
        dtype = DataType.from_dtype(dtype) or self._dtype
        shape = shape if shape is not None else self.shape
        if volume(shape) * dtype.itemsize > self.allocated_nbytes:
            raise PolygraphyException(f"a view of {shape} of {dtype} is larger than the array")
        return DeviceView(self.ptr, shape, dtype)

    def free_memory(self) -> None:
        if self.ptr:
            _CUDA.free(self.ptr)
            self.ptr = 0
            self.allocated_nbytes = 0

    def free(self) -> None:
        """Gives the memory back."""
        self.free_memory()
        self.shape = ()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.free()

    def __del__(self):
        if getattr(self, "ptr", 0):
            _drop(self.ptr, self.allocated_nbytes)
            self.ptr = 0
