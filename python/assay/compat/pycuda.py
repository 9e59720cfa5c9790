"""What `pycuda`, `pycuda.driver` and `pycuda.autoinit` stand for: the card that $ASSAY_DEVICE names, or memory of this
process."""

import sys
import time

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


def mem_get_info():
    """(free, all) bytes of memory."""
    from assay.compat import cudart

    return cudart.cudaMemGetInfo()[1:]


def pagelocked_zeros(shape, dtype):
    """An array of zeros."""
    import numpy as np

    return np.zeros(shape, dtype)


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


def memcpy_dtod(dst, src, size):
    """Copies memory to memory."""
    wrapper().dtod(int(dst), int(src), int(size))


def memcpy_dtod_async(dst, src, size, stream=None):
    """The same, after the work of a stream; it is done when it returns."""
    wrapper().dtod(int(dst), int(src), int(size), stream)


def memset_d8(dst, data, count):
    """Bytes that are all the same."""
    import numpy as np

    memcpy_htod(dst, np.full(int(count), data, np.uint8))


def memset_d32(dst, data, count):
    """Words of 32 bits that are all the same."""
    import numpy as np

    memcpy_htod(dst, np.full(int(count), data, np.uint32))


def memcpy_htod_async(dst, src, stream=None):
    """The same, after the work of a stream; it is done when it returns."""
    wrapper().htod(int(dst), src.ctypes.data, src.nbytes, stream)


def memcpy_dtoh_async(dst, src, stream=None):
    """The same, likewise."""
    wrapper().dtoh(dst.ctypes.data, int(src), dst.nbytes, stream)


class Context:
    """That of the process."""

    @staticmethod
    def synchronize() -> None:
        """Waits for all work."""
        MEMORY.wait_for_all()

    @staticmethod
    def push() -> None:
        """It is current in every thread."""

    pop = detach = push


class Device:
    """The card or the processor, as device 0."""

    def __init__(self, number) -> None:
        if int(number):
            raise ValueError(f"there is the device 0 only, not {number}")

    @staticmethod
    def count():
        return 1

    def name(self):
        import platform

        return MEMORY.name or platform.processor() or platform.machine()

    def total_memory(self):
        return mem_get_info()[1]

    def make_context(self, flags=0):
        return Context()

    retain_primary_context = make_context


class Event:
    """A moment."""

    def __init__(self, flags=0) -> None:
        self.handle = MEMORY.make_event()
        self.time = None

    def record(self, stream=None):
        self.time = time.perf_counter()
        MEMORY.record(self.handle, stream.ptr if stream is not None else 0)
        return self

    def synchronize(self):
        MEMORY.wait_for_event(self.handle)
        return self

    def time_till(self, other):
        return MEMORY.milliseconds(self.handle, other.handle) if MEMORY.is_card else 1e3 * (other.time - self.time)

    def __del__(self):
        MEMORY.end_event(self.handle)


__all__ = ["Context", "Device", "DeviceAllocation", "DeviceArray", "Event", "Stream", "autoinit", "driver", "init", "mem_alloc",
           "mem_get_info", "memcpy_dtod", "memcpy_dtod_async", "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htod",
           "memcpy_htod_async", "memset_d32", "memset_d8", "pagelocked_empty", "pagelocked_zeros"]
