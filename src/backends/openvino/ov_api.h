#pragma once

#include <cstddef>
#include <cstdint>

// The part of OpenVINO's C interface that is called. Functions are found by name.
namespace assay::backends::ov {

// The library's own objects, known by address only.
struct Core;
struct Model;
struct CompiledModel;
struct InferRequest;
struct OvTensor;
struct Port;

struct Version {
  const char* build;
  const char* description;
};
struct Devices {
  char** names;
  size_t count;
};
struct Shape {
  int64_t rank;
  int64_t* dims;
};

struct Dimension {
  int64_t least;
  int64_t most;
};
struct PartialShape {
  Dimension rank;
  Dimension* dims;
};

struct LayerTime {
  enum class Kind : int { not_run, optimized_out, executed } kind;
  int64_t real_microseconds;
  int64_t cpu_microseconds;
  const char* name;
  const char* kernel;
  const char* type;
};
struct LayerTimes {
  LayerTime* items;
  size_t count;
};

using Status = int;
inline constexpr Status kOk = 0;
inline constexpr Status kNotImplemented = -2;
inline constexpr Status kInvalidParameter = -14;

// Element types as numbered since 2025.0; Library checks that they are.
enum class ElementType : uint32_t {
  dynamic,
  boolean,
  bf16,
  f16,
  f32,
  f64,
  i4,
  i8,
  i16,
  i32,
  i64,
  u1,
  u2,
  u3,
  u4,
  u6,
  u8,
  u16,
  u32,
  u64,
  nf4,
  f8e4m3,
  f8e5m2,
  string,
  f4e2m1,
  f8e8m0,
};

struct Api {
  Status (*ov_get_openvino_version)(Version*);
  void (*ov_version_free)(Version*);
  Status (*ov_core_create)(Core**);
  Status (*ov_core_get_available_devices)(const Core*, Devices*);
  void (*ov_available_devices_free)(Devices*);
  Status (*ov_core_read_model)(const Core*, const char* path, const char* weights_path, Model**);
  Status (*ov_core_read_model_from_memory_buffer)(const Core*, const char* bytes, size_t size, const OvTensor*,
                                                  Model**);
  Status (*ov_core_compile_model)(const Core*, const Model*, const char* device, size_t count, CompiledModel**, ...);
  void (*ov_model_free)(Model*);
  Status (*ov_compiled_model_inputs_size)(const CompiledModel*, size_t*);
  Status (*ov_compiled_model_input_by_index)(const CompiledModel*, size_t, Port**);
  Status (*ov_compiled_model_outputs_size)(const CompiledModel*, size_t*);
  Status (*ov_compiled_model_output_by_index)(const CompiledModel*, size_t, Port**);
  Status (*ov_compiled_model_input_by_name)(const CompiledModel*, const char*, Port**);
  Status (*ov_compiled_model_output_by_name)(const CompiledModel*, const char*, Port**);
  Status (*ov_port_get_any_name)(const Port*, char**);
  Status (*ov_port_get_element_type)(const Port*, ElementType*);
  Status (*ov_port_get_partial_shape)(const Port*, PartialShape*);
  void (*ov_partial_shape_free)(PartialShape*);
  void (*ov_output_const_port_free)(Port*);
  void (*ov_free)(const char*);
  Status (*ov_compiled_model_create_infer_request)(const CompiledModel*, InferRequest**);
  void (*ov_compiled_model_free)(CompiledModel*);
  Status (*ov_infer_request_set_input_tensor_by_index)(InferRequest*, size_t, const OvTensor*);
  Status (*ov_infer_request_set_output_tensor_by_index)(InferRequest*, size_t, const OvTensor*);
  Status (*ov_infer_request_infer)(InferRequest*);
  Status (*ov_infer_request_get_output_tensor_by_index)(const InferRequest*, size_t, OvTensor**);
  Status (*ov_infer_request_get_profiling_info)(const InferRequest*, LayerTimes*);
  void (*ov_profiling_info_list_free)(LayerTimes*);
  void (*ov_infer_request_free)(InferRequest*);
  Status (*ov_tensor_create)(ElementType, Shape, OvTensor**);
  Status (*ov_tensor_create_from_host_ptr)(ElementType, Shape, void*, OvTensor**);
  Status (*ov_tensor_get_shape)(const OvTensor*, Shape*);
  Status (*ov_tensor_get_element_type)(const OvTensor*, ElementType*);
  Status (*ov_tensor_get_byte_size)(const OvTensor*, size_t*);
  Status (*ov_tensor_data)(const OvTensor*, void**);
  void (*ov_tensor_free)(OvTensor*);
  Status (*ov_shape_free)(Shape*);
  const char* (*ov_get_error_info)(Status);
  const char* (*ov_get_last_err_msg)();
};

}  // namespace assay::backends::ov
