#pragma once

#include <cstddef>
#include <cstdint>

// The part of ONNX Runtime's C interface that is called. The library gives a table of functions in which an entry never
// changes its place; an entry is written here as its place and what it takes.
namespace assay::backends::ort {

// The library's own objects, known by address only.
struct Env;
struct Status;
struct Session;
struct SessionOptions;
struct Value;
struct RunOptions;
struct MemoryInfo;
struct Allocator;
struct TensorInfo;
struct CudaOptions;
struct EpDevice;
struct EpAssignedSubgraph;
struct EpAssignedNode;
struct TensorRtOptions;

// The interface of version 1.17; later libraries still have it.
inline constexpr uint32_t kApiVersion = 17;
struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*get_version)();
};

// An entry that gives a Status, null when it succeeded.
template <typename... Args>
struct Call {
  size_t place;
};

inline constexpr Call<int, const char*, Env**> kCreateEnv{3};
inline constexpr Call<const Env*> kDisableTelemetry{6};
inline constexpr Call<const Env*, const char*, const SessionOptions*, Session**> kCreateSession{7};
inline constexpr Call<const Env*, const void*, size_t, const SessionOptions*, Session**> kCreateSessionFromArray{8};
inline constexpr Call<Session*, const RunOptions*, const char* const*, const Value* const*, size_t, const char* const*,
                      size_t, Value**>
    kRun{9};
inline constexpr Call<SessionOptions**> kCreateSessionOptions{10};
inline constexpr Call<SessionOptions*, const char*> kEnableProfiling{14};
inline constexpr Call<SessionOptions*> kDisableArena{19};
inline constexpr Call<SessionOptions*, int> kSetLogSeverity{22};
inline constexpr Call<SessionOptions*, int> kSetOptimizationLevel{23};
inline constexpr Call<SessionOptions*, int> kSetIntraOpThreads{24};
inline constexpr Call<SessionOptions*, int> kSetInterOpThreads{25};
inline constexpr Call<RunOptions**> kCreateRunOptions{39};
inline constexpr Call<RunOptions*> kTerminate{46};
inline constexpr Call<Allocator*, const int64_t*, size_t, int, Value**> kCreateTensor{48};
inline constexpr Call<const MemoryInfo*, void*, size_t, const int64_t*, size_t, int, Value**> kCreateTensorWithData{49};
inline constexpr Call<Value*, void**> kGetTensorData{51};
inline constexpr Call<const Value*, size_t*> kGetStringsLength{53};
inline constexpr Call<const Value*, void*, size_t, size_t*, size_t> kGetStrings{54};
inline constexpr Call<const TensorInfo*, int*> kGetElementType{60};
inline constexpr Call<const TensorInfo*, size_t*> kGetRank{61};
inline constexpr Call<const TensorInfo*, int64_t*, size_t> kGetDims{62};
inline constexpr Call<const Value*, TensorInfo**> kGetTensorInfo{65};
inline constexpr Call<const Value*, int*> kGetValueType{67};
inline constexpr Call<int, int, MemoryInfo**> kCreateCpuMemoryInfo{69};
inline constexpr Call<Allocator*, void*> kFreeByAllocator{76};
inline constexpr Call<Allocator**> kGetDefaultAllocator{78};
inline constexpr Call<const Value*, int, Allocator*, Value**> kGetItem{80};
inline constexpr Call<const Value*, size_t*> kGetItemCount{81};
inline constexpr Call<const Value* const*, size_t, int, Value**> kCreateValue{82};
inline constexpr Call<Session*, Allocator*, char**> kEndProfiling{110};
inline constexpr Call<char***, int*> kGetAvailableProviders{125};
inline constexpr Call<char**, int> kReleaseAvailableProviders{126};
inline constexpr Call<SessionOptions*, const char*, const char*> kAddConfigEntry{130};
inline constexpr Call<SessionOptions*, const TensorRtOptions*> kAppendTensorRt{170};
inline constexpr Call<TensorRtOptions**> kCreateTensorRtOptions{171};
inline constexpr Call<const Value*, int*> kHasValue{192};
inline constexpr Call<SessionOptions*, const CudaOptions*> kAppendCuda{204};
inline constexpr Call<CudaOptions**> kCreateCudaOptions{205};
inline constexpr Call<SessionOptions*, const char* const*, const Value* const*, size_t> kAddExternalInitializers{210};
inline constexpr Call<SessionOptions*, const char*, const char* const*, const char* const*, size_t> kAppendProvider{
    216};
inline constexpr Call<Value*, size_t, size_t, char**> kResizeString{252};

// Entries that the library has since version 1.23, which call() does not check.
inline constexpr int kFirstWithPlugins = 23;
inline constexpr Call<Env*, const char*, const char*> kRegisterProviderLibrary{301};
inline constexpr Call<const Env*, const EpDevice* const**, size_t*> kGetEpDevices{303};
inline constexpr Call<SessionOptions*, Env*, const EpDevice* const*, size_t, const char* const*, const char* const*,
                      size_t>
    kAppendEpDevices{304};

// Entries that it has since version 1.24.
inline constexpr int kFirstWithAssignment = 24;
inline constexpr Call<const Session*, const EpAssignedSubgraph* const**, size_t*> kGetAssignment{407};
inline constexpr Call<const EpAssignedSubgraph*, const char**> kGetSubgraphProvider{408};
inline constexpr Call<const EpAssignedSubgraph*, const EpAssignedNode* const**, size_t*> kGetSubgraphNodes{409};
inline constexpr Call<const EpAssignedNode*, const char**> kGetAssignedName{410};
inline constexpr Call<const EpAssignedNode*, const char**> kGetAssignedDomain{411};
inline constexpr Call<const EpAssignedNode*, const char**> kGetAssignedOp{412};

// Entries that give no Status.
inline constexpr size_t kGetDeviceProvider = 312;
inline constexpr size_t kGetErrorCode = 1;
inline constexpr size_t kGetErrorMessage = 2;
// The offset of the function that frees an object of type T.
template <typename T>
inline constexpr size_t kRelease = 0;
template <>
inline constexpr size_t kRelease<Status> = 93;
template <>
inline constexpr size_t kRelease<MemoryInfo> = 94;
template <>
inline constexpr size_t kRelease<Session> = 95;
template <>
inline constexpr size_t kRelease<Value> = 96;
template <>
inline constexpr size_t kRelease<RunOptions> = 97;
template <>
inline constexpr size_t kRelease<TensorInfo> = 99;
template <>
inline constexpr size_t kRelease<SessionOptions> = 100;
template <>
inline constexpr size_t kRelease<TensorRtOptions> = 174;
template <>
inline constexpr size_t kRelease<CudaOptions> = 208;

enum class ErrorNumber { not_implemented = 9 };
enum class ValueKind { unknown, tensor, sequence, map, opaque, sparse_tensor, optional };
enum class LogSeverity { fatal = 4 };
enum class AllocatorKind { device = 0, arena = 1 };
enum class MemoryKind { standard = 0 };

}  // namespace assay::backends::ort
