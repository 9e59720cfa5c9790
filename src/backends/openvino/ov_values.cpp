#include "backends/openvino/ov_values.h"

#include <array>

#include "base/text.h"

namespace assay::backends::ov {

using tensor::DType;
using tensor::Tensor;

namespace {

struct Pair {
  DType dtype;
  ElementType type;
};
using E = ElementType;
constexpr std::array kTypes = {Pair{DType::boolean, E::boolean},
                               Pair{DType::bfloat16, E::bf16},
                               Pair{DType::float16, E::f16},
                               Pair{DType::float32, E::f32},
                               Pair{DType::float64, E::f64},
                               Pair{DType::int4, E::i4},
                               Pair{DType::int8, E::i8},
                               Pair{DType::int16, E::i16},
                               Pair{DType::int32, E::i32},
                               Pair{DType::int64, E::i64},
                               Pair{DType::uint2, E::u2},
                               Pair{DType::uint4, E::u4},
                               Pair{DType::uint8, E::u8},
                               Pair{DType::uint16, E::u16},
                               Pair{DType::uint32, E::u32},
                               Pair{DType::uint64, E::u64},
                               Pair{DType::float8e4m3fn, E::f8e4m3},
                               Pair{DType::float8e5m2, E::f8e5m2},
                               Pair{DType::float4e2m1, E::f4e2m1},
                               Pair{DType::float8e8m0, E::f8e8m0}};

ElementType to_type(DType dtype) {
  for (const Pair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.type;
  }
  fail(ErrorCode::unsupported, "openvino: OpenVINO has no element type {}", tensor::name(dtype));
}

// The C interface takes a shape without dims for a mistake of the caller.
tensor::Shape shape_of(const Library& library, const OvTensor* tensor) {
  Shape made{};
  const Status status = library.api().ov_tensor_get_shape(tensor, &made);
  if (status == kInvalidParameter) return {};
  library.check(status);
  tensor::Shape shape(made.dims, made.dims + made.rank);
  library.api().ov_shape_free(&made);
  return shape;
}

}  // namespace

DType to_dtype(ElementType type) {
  for (const Pair& pair : kTypes) {
    if (pair.type == type) return pair.dtype;
  }
  fail(ErrorCode::unsupported, "openvino: ONNX has no equal of OpenVINO's element type {}",
       static_cast<uint32_t>(type));
}

Owned<OvTensor> to_ov(const Library& library, const Tensor& tensor, Tensor& copy) {
  static std::byte nothing[64] = {};
  const ElementType type = to_type(tensor.dtype());
  const tensor::Bytes all = tensor.bytes();
  tensor::Bytes bytes = all.first(tensor::packed_bytes(tensor.dtype(), tensor.count()).value_or(all.size()));
  const size_t alignment = std::max<size_t>(tensor::bit_width(tensor.dtype()) / 8, 1);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0) {
    copy = Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()}));
    bytes = copy.bytes();
  }
  void* const data = bytes.empty() ? nothing : const_cast<std::byte*>(bytes.data());
  tensor::Shape shape = tensor.shape();
  shape.reserve(1);  // a scalar has dims too, though none
  OvTensor* made = nullptr;
  library.check(library.api().ov_tensor_create_from_host_ptr(type, {static_cast<int64_t>(shape.size()), shape.data()},
                                                             data, &made));
  return {made, library.api().ov_tensor_free};
}

Tensor to_tensor(const Library& library, const OvTensor* tensor) {
  const Api& api = library.api();
  ElementType type{};
  library.check(api.ov_tensor_get_element_type(tensor, &type));
  const DType dtype = to_dtype(type);
  const tensor::Shape shape = shape_of(library, tensor);
  size_t size = 0;
  library.check(api.ov_tensor_get_byte_size(tensor, &size));
  void* data = nullptr;
  if (size > 0) library.check(api.ov_tensor_data(tensor, &data));
  const auto* const begin = static_cast<const std::byte*>(data);
  return Tensor(dtype, shape, tensor::make_owned({begin, begin + size}));
}

}  // namespace assay::backends::ov
