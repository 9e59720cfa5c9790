#pragma once

#include <cstddef>
#include <cstdint>

// The part of oneDNN's stable C interface (version 3) that is called, declared anew: the library is opened at run time.
namespace assay::engine::cpu::onednn {

struct Engine;
struct Stream;
struct MemoryDesc;
struct Memory;
struct PrimitiveDesc;
struct Primitive;
struct Attributes;
struct PostOps;

using Status = int;
inline constexpr Status kSuccess = 0;

struct Version {
  int major;
  int minor;
  int patch;
  const char* hash;
  unsigned cpu_runtime;
  unsigned gpu_runtime;
};

struct Argument {
  int index;
  Memory* memory;
};

inline constexpr int kCpu = 1;
inline constexpr unsigned kInOrder = 1;
inline constexpr int kBfloat16 = 2;
inline constexpr int kInt32 = 4;
inline constexpr int kInt8 = 5;
inline constexpr int kUint8 = 6;
inline constexpr int kFloat32 = 3;
inline constexpr int kAnyTag = 1;
inline constexpr int kForwardInference = 96;
inline constexpr int kConvolutionDirect = 1;
inline constexpr int kDeconvolutionDirect = 10;
inline constexpr int kUserScratchpad = 1;
inline constexpr int kQueryWeights = 131;
inline constexpr int kQueryScratchpad = 136;
inline constexpr int kQueryImplementation = 8;
inline constexpr int kQueryStrides = 14;
inline constexpr int kQueryRank = 256;
inline constexpr int kQueryDims = 257;
inline constexpr int kQueryType = 258;
inline constexpr int kQueryPaddedDims = 260;
inline constexpr int kQueryBlockCount = 263;
inline constexpr int kQueryBlockSizes = 264;
inline constexpr int kQueryBlockDims = 265;
inline constexpr int kSource = 1;
inline constexpr int kTarget = 17;
inline constexpr int kWeights = 33;
inline constexpr int kBias = 41;
inline constexpr int kScratchpad = 80;
inline constexpr int kScales = 4096;      // with the argument they belong to
inline constexpr int kZeroPoints = 8192;  // likewise
// The operand of an operation that is appended, by its index.
constexpr int operand_of_appended(int index) { return 32768 * (index + 1) | 2; }
inline constexpr int kBinaryAdd = 0x1fff0;

struct Api {
  const Version* (*dnnl_version)();
  Status (*dnnl_engine_create)(Engine**, int kind, size_t index);
  Status (*dnnl_stream_create)(Stream**, Engine*, unsigned flags);
  Status (*dnnl_stream_destroy)(Stream*);
  Status (*dnnl_memory_desc_create_with_strides)(MemoryDesc**, int rank, const int64_t* dims, int type,
                                                 const int64_t* strides);
  Status (*dnnl_memory_desc_create_with_tag)(MemoryDesc**, int rank, const int64_t* dims, int type, int tag);
  Status (*dnnl_memory_desc_clone)(MemoryDesc**, const MemoryDesc*);
  Status (*dnnl_memory_desc_destroy)(MemoryDesc*);
  size_t (*dnnl_memory_desc_get_size)(const MemoryDesc*);
  Status (*dnnl_memory_desc_query)(const MemoryDesc*, int what, void* result);
  Status (*dnnl_memory_create)(Memory**, const MemoryDesc*, Engine*, void* bytes);
  Status (*dnnl_memory_set_data_handle)(Memory*, void* bytes);
  Status (*dnnl_memory_destroy)(Memory*);
  Status (*dnnl_primitive_attr_create)(Attributes**);
  Status (*dnnl_primitive_attr_set_scratchpad_mode)(Attributes*, int mode);
  Status (*dnnl_primitive_attr_set_post_ops)(Attributes*, const PostOps*);
  Status (*dnnl_primitive_attr_set_scales_mask)(Attributes*, int argument, int mask);
  Status (*dnnl_primitive_attr_set_zero_points_mask)(Attributes*, int argument, int mask);
  Status (*dnnl_primitive_attr_destroy)(Attributes*);
  Status (*dnnl_post_ops_create)(PostOps**);
  Status (*dnnl_post_ops_append_eltwise)(PostOps*, int algorithm, float alpha, float beta);
  Status (*dnnl_post_ops_append_binary)(PostOps*, int algorithm, const MemoryDesc* operand);
  Status (*dnnl_post_ops_destroy)(PostOps*);
  Status (*dnnl_convolution_forward_primitive_desc_create)(PrimitiveDesc**, Engine*, int kind, int algorithm,
                                                           const MemoryDesc* source, const MemoryDesc* weights,
                                                           const MemoryDesc* bias, const MemoryDesc* target,
                                                           const int64_t* strides, const int64_t* dilations,
                                                           const int64_t* padding_before, const int64_t* padding_after,
                                                           const Attributes*);
  Status (*dnnl_deconvolution_forward_primitive_desc_create)(PrimitiveDesc**, Engine*, int kind, int algorithm,
                                                             const MemoryDesc* source, const MemoryDesc* weights,
                                                             const MemoryDesc* bias, const MemoryDesc* target,
                                                             const int64_t* strides, const int64_t* dilations,
                                                             const int64_t* padding_before,
                                                             const int64_t* padding_after, const Attributes*);
  Status (*dnnl_matmul_primitive_desc_create)(PrimitiveDesc**, Engine*, const MemoryDesc* source,
                                              const MemoryDesc* weights, const MemoryDesc* bias,
                                              const MemoryDesc* target, const Attributes*);
  Status (*dnnl_reorder_primitive_desc_create)(PrimitiveDesc**, const MemoryDesc* from, Engine*, const MemoryDesc* to,
                                               Engine*, const Attributes*);
  Status (*dnnl_primitive_desc_query)(const PrimitiveDesc*, int what, int index, void* result);
  const MemoryDesc* (*dnnl_primitive_desc_query_md)(const PrimitiveDesc*, int what, int index);
  Status (*dnnl_primitive_desc_next_impl)(PrimitiveDesc*);
  Status (*dnnl_primitive_desc_destroy)(PrimitiveDesc*);
  Status (*dnnl_primitive_create)(Primitive**, const PrimitiveDesc*);
  Status (*dnnl_primitive_execute)(const Primitive*, Stream*, int count, const Argument*);
  Status (*dnnl_primitive_destroy)(Primitive*);
};

}  // namespace assay::engine::cpu::onednn
