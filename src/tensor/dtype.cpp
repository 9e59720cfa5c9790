#include "tensor/dtype.h"

#include <array>

#include <fmt/core.h>

#include "base/text.h"

namespace assay::tensor {
namespace {

struct Row {
  std::string_view name;
  std::string_view onnx_name;
  DTypeKind kind;
  uint32_t bits;
};

using enum DTypeKind;

// In the order of ONNX's numbers.
constexpr std::array<Row, 29> kRows = {{
    {"undefined", "", none, 0},
    {"float32", "float", floating, 32},
    {"uint8", "uint8", unsigned_integer, 8},
    {"int8", "int8", signed_integer, 8},
    {"uint16", "uint16", unsigned_integer, 16},
    {"int16", "int16", signed_integer, 16},
    {"int32", "int32", signed_integer, 32},
    {"int64", "int64", signed_integer, 64},
    {"string", "string", string, 0},
    {"bool", "bool", boolean, 8},
    {"float16", "float16", floating, 16},
    {"float64", "double", floating, 64},
    {"uint32", "uint32", unsigned_integer, 32},
    {"uint64", "uint64", unsigned_integer, 64},
    {"complex64", "complex64", complex, 64},
    {"complex128", "complex128", complex, 128},
    {"bfloat16", "bfloat16", floating, 16},
    {"float8e4m3fn", "float8e4m3fn", floating, 8},
    {"float8e4m3fnuz", "float8e4m3fnuz", floating, 8},
    {"float8e5m2", "float8e5m2", floating, 8},
    {"float8e5m2fnuz", "float8e5m2fnuz", floating, 8},
    {"uint4", "uint4", unsigned_integer, 4},
    {"int4", "int4", signed_integer, 4},
    {"float4e2m1", "float4e2m1", floating, 4},
    {"float8e8m0", "float8e8m0", floating, 8},
    {"uint2", "uint2", unsigned_integer, 2},
    {"int2", "int2", signed_integer, 2},
    {"float6e2m3", "float6e2m3", floating, 6},
    {"float6e3m2", "float6e3m2", floating, 6},
}};

const Row& row(DType dtype) { return kRows[is_known(dtype) ? static_cast<size_t>(dtype) : 0]; }

}  // namespace

bool is_known(DType dtype) {
  const auto number = static_cast<int32_t>(dtype);
  return number > 0 && number < static_cast<int32_t>(kRows.size());
}

DTypeKind kind(DType dtype) { return row(dtype).kind; }
bool is_floating(DType dtype) { return kind(dtype) == floating; }
bool is_integer(DType dtype) { return kind(dtype) == signed_integer || kind(dtype) == unsigned_integer; }
uint32_t bit_width(DType dtype) { return row(dtype).bits; }
std::string_view onnx_name(DType dtype) { return row(dtype).onnx_name; }

std::optional<uint64_t> packed_bytes(DType dtype, uint64_t count) {
  const uint64_t bits = bit_width(dtype);
  uint64_t bytes = 0;
  if (bits == 0 || __builtin_mul_overflow(count / 8, bits, &bytes)) return std::nullopt;
  if (__builtin_add_overflow(bytes, (count % 8 * bits + 7) / 8, &bytes)) return std::nullopt;
  return bytes;
}

std::string name(DType dtype) {
  if (is_known(dtype) || dtype == DType::undefined) return std::string(row(dtype).name);
  return fmt::format("dtype({})", static_cast<int32_t>(dtype));
}

std::optional<DType> find_dtype(std::string_view name) {
  const std::string wanted = to_lower(name);
  if (wanted == "float4") return DType::float4e2m1;
  for (size_t number = 1; number < kRows.size(); ++number) {
    const bool found = wanted == kRows[number].name || wanted == kRows[number].onnx_name;
    if (found) return static_cast<DType>(number);
  }
  return std::nullopt;
}

}  // namespace assay::tensor
