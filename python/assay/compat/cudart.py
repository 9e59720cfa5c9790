"""CUDA's runtime over memory of this process: work is over when it was asked for."""

import enum
import time

from assay import _native
from assay.cuda import MEMORY
from assay.exception import PolygraphyException


class cudaError_t(enum.IntEnum):
    """What calls give first."""

    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorMemoryAllocation = 2
    cudaErrorInvalidResourceHandle = 400


class cudaMemcpyKind(enum.IntEnum):
    """Directions of copies."""

    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4


class cudaStreamCaptureMode(enum.IntEnum):
    """How streams are captured; nothing is."""

    cudaStreamCaptureModeGlobal = 0
    cudaStreamCaptureModeThreadLocal = 1
    cudaStreamCaptureModeRelaxed = 2


_OK = cudaError_t.cudaSuccess
_INVALID = cudaError_t.cudaErrorInvalidValue
cudaStreamNonBlocking = 1
_handles: dict = {}


def cudaMalloc(size):
    """The address of new memory."""
    try:
        return _OK, MEMORY.allocate(int(size))
    except PolygraphyException:
        return cudaError_t.cudaErrorMemoryAllocation, 0


def cudaMallocHost(size):
    """The same."""
    return cudaMalloc(size)


def cudaHostAlloc(size, flags=0):
    """The same."""
    return cudaMalloc(size)


cudaMallocManaged = cudaHostAlloc


def cudaMallocAsync(size, stream):
    """The same; a stream changes nothing."""
    return cudaMalloc(size)


def cudaFree(pointer):
    """Gives memory back; nothing is at 0."""
    return (_OK if not int(pointer) or MEMORY.free(int(pointer)) else _INVALID,)


cudaFreeHost = cudaFree


def cudaFreeAsync(pointer, stream):
    """The same."""
    return cudaFree(pointer)


def _address(pointer):
    return int(pointer.ctypes.data) if hasattr(pointer, "ctypes") else int(pointer)


def cudaMemcpy(dst, src, count, kind):
    """Addresses of the device must be of cudaMalloc(), for so many bytes."""
    to, source, count = _address(dst), _address(src), int(count)
    is_device = {1: (True, False), 2: (False, True), 3: (True, True)}.get(int(kind), (False, False))
    for address, checked in zip((to, source), is_device):
        if count < 0 or (checked and not MEMORY.holds(address, count)):
            return (_INVALID,)
    if count and (to == 0 or source == 0):
        return (_INVALID,)
    if count:
        _native.copy_memory(to, source, count)
    return (_OK,)


def cudaMemcpyAsync(dst, src, count, kind, stream=0):
    """The same as cudaMemcpy()."""
    return cudaMemcpy(dst, src, count, kind)


def cudaMemset(pointer, value, count):
    """Bytes of memory of cudaMalloc()."""
    if not MEMORY.holds(int(pointer), int(count)):
        return (_INVALID,)
    _native.set_memory(int(pointer), int(value), int(count))
    return (_OK,)


def cudaMemsetAsync(pointer, value, count, stream=0):
    """The same."""
    return cudaMemset(pointer, value, count)


def _new_handle(value=None):
    handle = len(_handles) + 1
    _handles[handle] = value
    return handle


def cudaStreamCreate():
    """A new handle; work of streams is over when a call returns."""
    return _OK, _new_handle()


def cudaStreamCreateWithFlags(flags):
    """The same."""
    return cudaStreamCreate()


def cudaStreamCreateWithPriority(flags, priority):
    """The same."""
    return cudaStreamCreate()


def cudaStreamSynchronize(stream):
    """Nothing is to be waited for."""
    return (_OK,)


def cudaStreamDestroy(stream):
    """Nothing is held."""
    return (_OK,)


def cudaStreamWaitEvent(stream, event, flags=0):
    """Nothing is to be waited for."""
    return (_OK,)


def cudaDeviceSynchronize():
    """Nothing is to be waited for."""
    return (_OK,)


def cudaEventCreate():
    """A new handle."""
    return _OK, _new_handle()


def cudaEventCreateWithFlags(flags):
    """The same."""
    return cudaEventCreate()


def cudaEventRecord(event, stream=0):
    """The event happens now."""
    if int(event) not in _handles:
        return (cudaError_t.cudaErrorInvalidResourceHandle,)
    _handles[int(event)] = time.perf_counter()
    return (_OK,)


def cudaEventSynchronize(event):
    """Nothing is to be waited for."""
    return (_OK,)


def cudaEventElapsedTime(start, end):
    """Milliseconds between two events."""
    times = _handles.get(int(start)), _handles.get(int(end))
    if None in times:
        return cudaError_t.cudaErrorInvalidResourceHandle, 0.0
    return _OK, 1e3 * (times[1] - times[0])


def cudaEventDestroy(event):
    """Nothing is held."""
    return (_OK,)


def cudaGetDeviceCount():
    """One: the processor."""
    return _OK, 1


def cudaGetDevice():
    """The processor."""
    return _OK, 0


def cudaSetDevice(device):
    """There is the device 0 only."""
    return (_OK if int(device) == 0 else _INVALID,)


class cudaDeviceProp:
    """What is told of the processor."""

    def __init__(self) -> None:
        import os
        import platform

        self.name = (platform.processor() or platform.machine()).encode()
        self.totalGlobalMem = cudaMemGetInfo()[2]
        self.multiProcessorCount = os.cpu_count()
        self.major = self.minor = 0


def cudaGetDeviceProperties(device):
    """Name, memory and number of processors; no compute capability."""
    return (_OK, cudaDeviceProp()) if int(device) == 0 else (_INVALID, None)


def cudaRuntimeGetVersion():
    """0: there is none."""
    return _OK, 0


cudaDriverGetVersion = cudaRuntimeGetVersion


def cudaMemGetInfo():
    """(free, all) bytes of memory."""
    import os

    page = os.sysconf("SC_PAGE_SIZE")
    return _OK, page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")


def cudaGetErrorString(error):
    """The name of an error."""
    return _OK, cudaError_t(error).name.encode()


cudaGetErrorName = cudaGetErrorString


def cudaGetLastError():
    """Errors are given by the calls that have them."""
    return (_OK,)
