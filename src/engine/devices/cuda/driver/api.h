#pragma once

#include <cstddef>
#include <cstdint>

// The part of the driver's interface that the device uses, in declarations of our own: building needs no CUDA.
namespace assay::engine::cuda {

using Result = int;
using DeviceNumber = int;
using DevicePointer = uint64_t;
struct ContextOpaque;
struct StreamOpaque;
struct EventOpaque;
struct ModuleOpaque;
struct FunctionOpaque;
struct GraphOpaque;
struct GraphExecOpaque;
using DriverContext = ContextOpaque*;
using Stream = StreamOpaque*;
using Event = EventOpaque*;
using Module = ModuleOpaque*;
using Function = FunctionOpaque*;
using Graph = GraphOpaque*;
using GraphExec = GraphExecOpaque*;

inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kPeerIsEnabled = 704;

// Numbers of CUdevice_attribute.
enum class Attribute : int {
  multiprocessors = 16,
  capability_major = 75,
  capability_minor = 76,
  l2_bytes = 38,
  shared_bytes_of_block = 97,  // with opting in
};

// Numbers of CUpointer_attribute, and of CUmemorytype.
inline constexpr int kKindOfMemory = 2;
inline constexpr int kCardOfMemory = 9;
inline constexpr unsigned kMemoryOfCard = 2;

inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr unsigned kThreadLocalCapture = 1;
inline constexpr unsigned kEventWithoutTime = 2;
inline constexpr unsigned kAtLeast = 0;               // a word in memory, for a stream that waits
inline constexpr unsigned kSharedHostMemory = 1 | 2;  // by all contexts, and by kernels
inline constexpr int kMostDynamicShared = 8;          // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id = 0;
  char pad[4] = {};
  union {
    char bytes[64];
    int number;
  } value = {};
};
static_assert(sizeof(LaunchAttribute) == 72);
inline constexpr int kProgrammaticSerialization = 6;

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

// X(member, name in the library, types of the arguments)
#define ASSAY_CUDA_FUNCTIONS(X)                                                                                  \
  X(init, cuInit, unsigned)                                                                                      \
  X(driver_version, cuDriverGetVersion, int*)                                                                    \
  X(device_count, cuDeviceGetCount, int*)                                                                        \
  X(device_get, cuDeviceGet, DeviceNumber*, int)                                                                 \
  X(device_name, cuDeviceGetName, char*, int, DeviceNumber)                                                      \
  X(device_attribute, cuDeviceGetAttribute, int*, int, DeviceNumber)                                             \
  X(context_retain, cuDevicePrimaryCtxRetain, DriverContext*, DeviceNumber)                                      \
  X(context_release, cuDevicePrimaryCtxRelease_v2, DeviceNumber)                                                 \
  X(device_reaches, cuDeviceCanAccessPeer, int*, DeviceNumber, DeviceNumber)                                     \
  X(peer_enable, cuCtxEnablePeerAccess, DriverContext, unsigned)                                                 \
  X(context_set, cuCtxSetCurrent, DriverContext)                                                                 \
  X(error_name, cuGetErrorName, Result, const char**)                                                            \
  X(error_text, cuGetErrorString, Result, const char**)                                                          \
  X(memory_info, cuMemGetInfo_v2, size_t*, size_t*)                                                              \
  X(allocate, cuMemAlloc_v2, DevicePointer*, size_t)                                                             \
  X(free, cuMemFree_v2, DevicePointer)                                                                           \
  X(allocate_host, cuMemHostAlloc, void**, size_t, unsigned)                                                     \
  X(free_host, cuMemFreeHost, void*)                                                                             \
  X(set_words, cuMemsetD32Async, DevicePointer, unsigned, size_t, Stream)                                        \
  X(upload, cuMemcpyHtoDAsync_v2, DevicePointer, const void*, size_t, Stream)                                    \
  X(download, cuMemcpyDtoHAsync_v2, void*, DevicePointer, size_t, Stream)                                        \
  X(set_bytes, cuMemsetD8Async, DevicePointer, unsigned char, size_t, Stream)                                    \
  X(copy_any, cuMemcpyAsync, DevicePointer, DevicePointer, size_t, Stream)                                       \
  X(memory_range, cuMemGetAddressRange_v2, DevicePointer*, size_t*, DevicePointer)                               \
  X(context_wait, cuCtxSynchronize)                                                                              \
  X(event_wait, cuEventSynchronize, Event)                                                                       \
  X(stream_wait_event, cuStreamWaitEvent, Stream, Event, unsigned)                                               \
  X(stream_wait_word, cuStreamWaitValue32_v2, Stream, DevicePointer, unsigned, unsigned)                         \
  X(copy, cuMemcpyDtoDAsync_v2, DevicePointer, DevicePointer, size_t, Stream)                                    \
  X(pointer_fact, cuPointerGetAttribute, void*, int, DevicePointer)                                              \
  X(stream_captures, cuStreamIsCapturing, Stream, int*)                                                          \
  X(stream_create, cuStreamCreate, Stream*, unsigned)                                                            \
  X(stream_destroy, cuStreamDestroy_v2, Stream)                                                                  \
  X(stream_wait, cuStreamSynchronize, Stream)                                                                    \
  X(event_create, cuEventCreate, Event*, unsigned)                                                               \
  X(event_destroy, cuEventDestroy_v2, Event)                                                                     \
  X(event_record, cuEventRecord, Event, Stream)                                                                  \
  X(event_milliseconds, cuEventElapsedTime, float*, Event, Event)                                                \
  X(module_load, cuModuleLoadData, Module*, const void*)                                                         \
  X(module_unload, cuModuleUnload, Module)                                                                       \
  X(module_function, cuModuleGetFunction, Function*, Module, const char*)                                        \
  X(function_set, cuFuncSetAttribute, Function, int, int)                                                        \
  X(launch, cuLaunchKernelEx, const LaunchConfig*, Function, void**, void**)                                     \
  X(capture_begin, cuStreamBeginCapture_v2, Stream, int)                                                         \
  X(capture_end, cuStreamEndCapture, Stream, Graph*)                                                             \
  X(graph_instantiate, cuGraphInstantiateWithFlags, GraphExec*, Graph, unsigned long long)                       \
  X(graph_destroy, cuGraphDestroy, Graph)                                                                        \
  X(graph_exec_destroy, cuGraphExecDestroy, GraphExec)                                                           \
  X(graph_launch, cuGraphLaunch, GraphExec, Stream)                                                              \
  X(map_boxes, cuTensorMapEncodeTiled, void*, int, unsigned, DevicePointer, const uint64_t*, const uint64_t*,    \
    const unsigned*, const unsigned*, int, int, int, int)                                                        \
  X(map_windows, cuTensorMapEncodeIm2col, void*, int, unsigned, DevicePointer, const uint64_t*, const uint64_t*, \
    const int*, const int*, unsigned, unsigned, const unsigned*, int, int, int, int)

// The functions of a driver: the user's, or another one in tests.
struct Api {
#define ASSAY_MEMBER(member, name, ...) Result (*member)(__VA_ARGS__) = nullptr;
  ASSAY_CUDA_FUNCTIONS(ASSAY_MEMBER)
#undef ASSAY_MEMBER
};

}  // namespace assay::engine::cuda
