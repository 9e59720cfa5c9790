"""What `pycuda`, `pycuda.driver` and `pycuda.autoinit` stand for: memory of this process."""

import sys

from assay.cuda import DeviceArray, MEMORY, Stream, wrapper

__path__: list = []
driver = autoinit = sys.modules[__name__]


class DeviceAllocation:
    """Memory that goes with its object."""

    ptr = 0

    def __init__(self, nbytes):
        self.ptr = wrapper().malloc(nbytes)
        self.nbytes = int(nbytes)

    def __int__(self):
        return self.ptr

    def __index__(self):
        return self.ptr

    def free(self):
        if self.ptr:
            MEMORY.free(self.ptr)
            self.ptr = 0

    def __del__(self):
        self.free()


def init():
    """Nothing is to be made ready."""


def mem_alloc(nbytes):
    """New memory."""
    return DeviceAllocation(nbytes)


def pagelocked_empty(shape, dtype):
    """An array of any elements."""
    import numpy as np

    return np.empty(shape, dtype)


def memcpy_htod(dst, src):
    """Copies an array to memory."""
    wrapper().htod(int(dst), src.ctypes.data, src.nbytes)


def memcpy_dtoh(dst, src):
    """Copies memory to an array."""
    wrapper().dtoh(dst.ctypes.data, int(src), dst.nbytes)


def memcpy_htod_async(dst, src, stream=None):
    """The same."""
    memcpy_htod(dst, src)


def memcpy_dtoh_async(dst, src, stream=None):
    """The same."""
    memcpy_dtoh(dst, src)


class Event:
    """A moment."""

    def record(self, stream=None):
        import time

        self.time = time.perf_counter()
        return self

    def synchronize(self):
        return self

    def time_till(self, other):
        return 1e3 * (other.time - self.time)


__all__ = ["DeviceAllocation", "DeviceArray", "Event", "Stream", "autoinit", "driver", "mem_alloc", "memcpy_dtoh",
           "memcpy_dtoh_async", "memcpy_htod", "memcpy_htod_async", "pagelocked_empty"]
