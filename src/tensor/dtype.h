#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::tensor {

// Element types with ONNX's numbers. A number that is not listed is carried as it is (is_known() is false).
enum class DType : int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

enum class DTypeKind : uint8_t { none, floating, complex, signed_integer, unsigned_integer, boolean, string };

bool is_known(DType dtype);  // false for undefined and for numbers that are not listed
DTypeKind kind(DType dtype);
bool is_floating(DType dtype);
bool is_integer(DType dtype);
// Bits of one element; 0 for strings and for what is not known.
uint32_t bit_width(DType dtype);
// Bytes of `count` densely packed elements; empty where that overflows or the width is not known.
std::optional<uint64_t> packed_bytes(DType dtype, uint64_t count);

// `float32`; `dtype(77)` for a number that is not listed.
std::string name(DType dtype);
// The word of ONNX's text syntax and schema: `float`; empty for what is not known.
std::string_view onnx_name(DType dtype);
std::optional<DType> find_dtype(std::string_view name);  // either spelling, any case

}  // namespace assay::tensor
