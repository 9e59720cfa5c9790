"""Memory and streams with the names of Polygraphy's module: a device's memory is that of this process."""

from assay import _native
from assay.datatype import DataType
from assay.exception import PolygraphyException
from assay.logger import G_LOGGER
from assay.util import volume

__all__ = ["Cuda", "DeviceArray", "DeviceView", "MemcpyKind", "Stream", "wrapper"]

MEMORY = _native.HostMemory()


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
        _native.copy_memory(int(dst), int(src), int(nbytes))

    def htod(self, dst, src, nbytes, stream=None) -> None:
        self.memcpy(dst, src, nbytes, MemcpyKind.HostToDevice)

    def dtoh(self, dst, src, nbytes, stream=None) -> None:
        self.memcpy(dst, src, nbytes, MemcpyKind.DeviceToHost)

    def dtod(self, dst, src, nbytes, stream=None) -> None:
        self.memcpy(dst, src, nbytes, MemcpyKind.DeviceToDevice)

    def create_stream(self):
        return 0

    def stream_synchronize(self, ptr):
        pass

    def destroy_stream(self, ptr):
        pass


_CUDA = Cuda()


def wrapper():
    """The one Cuda of the process."""
    return _CUDA


class Stream:
    """Work that is over when it was asked for."""

    def __init__(self) -> None:
        self.ptr = 0

    handle = property(lambda self: self.ptr)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.free()

    def free(self):
        pass

    def synchronize(self):
        pass


class DeviceView:
    """Memory of somebody else, with a shape and a type; it is only read."""

    def __init__(self, ptr, shape, dtype) -> None:
        self.ptr = int(ptr)
        self.shape = tuple(shape)
        self.itemsize = None
        self.dtype = dtype

    @property
    def dtype(self):
        return self._dtype

    @dtype.setter
    def dtype(self, value):
        self._dtype = DataType.from_dtype(value)
        self.itemsize = self._dtype.itemsize

    @property
    def nbytes(self):
        return int(volume(self.shape) * self.itemsize)

    @property
    def __array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.numpy().str, "data": (self.ptr, True), "version": 3}

    def copy_to(self, host_buffer, stream=None):
        """Copies the elements into an array, and gives it again."""
        if host_buffer.nbytes < self.nbytes:
            G_LOGGER.critical(f"an array of {host_buffer.nbytes} bytes does not hold {self.nbytes}")
        _CUDA.memcpy(host_buffer.ctypes.data, self.ptr, self.nbytes, MemcpyKind.HostToHost)
        return host_buffer

    def numpy(self):
        """A copy of the elements."""
        import numpy as np

        return self.copy_to(np.empty(self.shape, dtype=self.dtype.numpy()))

    def __str__(self):
        return f"DeviceView[(dtype={self.dtype}, shape={self.shape}), ptr={self.ptr:#x}]"


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

    def resize(self, shape) -> None:
        """Another shape; memory is asked for only where there is too little."""
        self.shape = tuple(shape)
        if self.nbytes > self.allocated_nbytes:
            self.free_memory()
            self.ptr = _CUDA.malloc(self.nbytes)
            self.allocated_nbytes = self.nbytes

    def copy_from(self, host_buffer, stream=None):
        """Takes the elements of an array, and its shape and type."""
        import numpy as np

        array = np.ascontiguousarray(host_buffer)
        if DataType.from_dtype(array.dtype) != self.dtype:
            G_LOGGER.critical(f"the array is of {array.dtype}, this one of {self.dtype}")
        self.resize(array.shape)
        if array.nbytes:
            _CUDA.memcpy(self.ptr, array.ctypes.data, array.nbytes, MemcpyKind.HostToDevice)
        return self

    def view(self, shape=None, dtype=None):
        """This memory as a DeviceView, of another shape and type if given."""
        dtype = DataType.from_dtype(dtype) or self.dtype
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
            MEMORY.free(self.ptr)
            self.ptr = 0
