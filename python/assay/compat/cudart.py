"""CUDA's runtime over the card that $ASSAY_DEVICE names; else over memory of this process, where work is over when it
was asked for."""

import enum
import itertools
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
_HOST = _native.HostMemory()


def cudaMalloc(size):
    """The address of new memory."""
    try:
        return _OK, MEMORY.allocate(int(size))
    except PolygraphyException:
        return cudaError_t.cudaErrorMemoryAllocation, 0


def cudaMallocHost(size):
    """Memory of this process."""
    try:
        return _OK, _HOST.allocate(int(size))
    except PolygraphyException:
        return cudaError_t.cudaErrorMemoryAllocation, 0


def cudaHostAlloc(size, flags=0):
    """The same."""
    return cudaMallocHost(size)


def cudaMallocManaged(size, flags=0):
    """As cudaMalloc()."""
    return cudaMalloc(size)


def cudaMallocAsync(size, stream):
    """The same; a stream changes nothing."""
    return cudaMalloc(size)


def cudaFree(pointer):
    """Gives memory back; nothing is at 0."""
    return (_OK if not int(pointer) or MEMORY.free(int(pointer)) else _INVALID,)


def cudaFreeHost(pointer):
    """Gives memory of cudaMallocHost() back."""
    return (_OK if not int(pointer) or _HOST.free(int(pointer)) else _INVALID,)


def cudaFreeAsync(pointer, stream):
    """The same."""
    return cudaFree(pointer)


def _address(pointer):
    return int(pointer.ctypes.data) if hasattr(pointer, "ctypes") else int(pointer)


def cudaMemcpy(dst, src, count, kind):
    """Addresses of the device must be of its memory, for so many bytes."""
    return cudaMemcpyAsync(dst, src, count, kind)


def cudaMemcpyAsync(dst, src, count, kind, stream=0):
    """The same, after the work of a stream; it is done when it returns."""
    to, source, count = _address(dst), _address(src), int(count)
    is_device = {1: (True, False), 2: (False, True), 3: (True, True)}.get(int(kind), (False, False))
    for address, checked in zip((to, source), is_device):
        if count < 0 or (checked and not MEMORY.holds(address, count)):
            return (_INVALID,)
    if count and (to == 0 or source == 0):
        return (_INVALID,)
    if count:
        MEMORY.copy(to, source, count, int(stream))
    return (_OK,)


def cudaMemset(pointer, value, count):
    """Bytes of memory of the device."""
    return cudaMemsetAsync(pointer, value, count)


def cudaMemsetAsync(pointer, value, count, stream=0):
    """The same, in the order of a stream."""
    if not MEMORY.holds(int(pointer), int(count)):
        return (_INVALID,)
    MEMORY.set(int(pointer), int(value), int(count), int(stream))
    return (_OK,)


_numbers = itertools.count(1)


def _new_handle(value=None):
    handle = next(_numbers)
    _handles[handle] = value
    return handle


def cudaStreamCreate():
    """A new handle; of this process, work of streams is over when a call returns."""
    return _OK, MEMORY.make_stream() if MEMORY.is_card else _new_handle()


def cudaStreamCreateWithFlags(flags):
    """The same."""
    return cudaStreamCreate()


def cudaStreamCreateWithPriority(flags, priority):
    """The same."""
    return cudaStreamCreate()


def cudaStreamSynchronize(stream):
    """Waits for the work of a stream."""
    MEMORY.wait_for_stream(int(stream))
    return (_OK,)


def cudaStreamDestroy(stream):
    """The handle is no longer one."""
    if MEMORY.is_card:
        MEMORY.end_stream(int(stream))
    return (_OK,)


def cudaStreamWaitEvent(stream, event, flags=0):
    """Work that is asked for from now on comes after the event."""
    if int(event) not in _handles:
        return (cudaError_t.cudaErrorInvalidResourceHandle,)
    if MEMORY.is_card:
        MEMORY.make_wait(int(stream), _handles[int(event)])
    return (_OK,)


def cudaDeviceSynchronize():
    """Waits for all work."""
    MEMORY.wait_for_all()
    return (_OK,)


def cudaEventCreate():
    """A new handle."""
    return _OK, _new_handle(MEMORY.make_event() if MEMORY.is_card else None)


def cudaEventCreateWithFlags(flags):
    """The same."""
    return cudaEventCreate()


def cudaEventRecord(event, stream=0):
    """The event happens when the stream has come so far; in this process, now."""
    if int(event) not in _handles:
        return (cudaError_t.cudaErrorInvalidResourceHandle,)
    if MEMORY.is_card:
        MEMORY.record(_handles[int(event)], int(stream))
    else:
        _handles[int(event)] = time.perf_counter()
    return (_OK,)


def cudaEventSynchronize(event):
    """Waits until the event has happened."""
    if int(event) not in _handles:
        return (cudaError_t.cudaErrorInvalidResourceHandle,)
    if MEMORY.is_card:
        MEMORY.wait_for_event(_handles[int(event)])
    return (_OK,)


def cudaEventElapsedTime(start, end):
    """Milliseconds between two events."""
    times = _handles.get(int(start)), _handles.get(int(end))
    if None in times:
        return cudaError_t.cudaErrorInvalidResourceHandle, 0.0
    if MEMORY.is_card:
        return _OK, MEMORY.milliseconds(*times)
    return _OK, 1e3 * (times[1] - times[0])


def cudaEventDestroy(event):
    """The handle is no longer one."""
    made = _handles.pop(int(event), None)
    if MEMORY.is_card and made is not None:
        MEMORY.end_event(made)
    return (_OK,)


def cudaGetDeviceCount():
    """One: the card that $ASSAY_DEVICE names, or the processor."""
    return _OK, 1


def cudaGetDevice():
    """That device."""
    return _OK, 0


def cudaSetDevice(device):
    """There is the device 0 only."""
    return (_OK if int(device) == 0 else _INVALID,)


class cudaDeviceProp:
    """What is told of the device."""

    def __init__(self) -> None:
        import os
        import platform

        self.name = (MEMORY.name or platform.processor() or platform.machine()).encode()
        self.totalGlobalMem = cudaMemGetInfo()[2]
        self.multiProcessorCount = MEMORY.processors or os.cpu_count()
        self.major, self.minor = divmod(MEMORY.capability, 10)


def cudaGetDeviceProperties(device):
    """Name, memory, number of processors; a compute capability only of a card."""
    return (_OK, cudaDeviceProp()) if int(device) == 0 else (_INVALID, None)


def cudaRuntimeGetVersion():
    """0: there is none."""
    return _OK, 0


cudaDriverGetVersion = cudaRuntimeGetVersion


def cudaMemGetInfo():
    """(free, all) bytes of memory."""
    import os

    if MEMORY.is_card:
        return (_OK, *MEMORY.sizes)

    page = os.sysconf("SC_PAGE_SIZE")
    return _OK, page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")


def cudaGetErrorString(error):
    """The name of an error."""
    return _OK, cudaError_t(error).name.encode()


cudaGetErrorName = cudaGetErrorString


def cudaGetLastError():
    """Errors are given by the calls that have them."""
    return (_OK,)
