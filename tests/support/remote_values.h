#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tensor/named.h"

namespace assay::testing_support {

inline bool same(const tensor::Tensor& a, const tensor::Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == tensor::DType::string) return std::ranges::equal(a.strings(), b.strings());
  return std::ranges::equal(a.bytes(), b.bytes());
}

// Equal to the last bit, declared types included.
inline bool same(const tensor::Datum& a, const tensor::Datum& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_tensor()) return a.declared() == b.declared() && same(a.tensor(), b.tensor());
  if (a.is_map()) return same(a.keys(), b.keys()) && same(a.values(), b.values());
  if (a.is_none()) return true;
  return std::ranges::equal(a.items(), b.items(), [](const auto& x, const auto& y) { return same(x, y); });
}

inline tensor::Tensor strings(tensor::Shape shape, std::vector<std::string> elements) {
  return tensor::Tensor(tensor::DType::string, std::move(shape), tensor::make_strings(std::move(elements)));
}

// A tensor of three elements of every type, with what a damaged message could break besides.
inline tensor::NamedData all_kinds() {
  tensor::NamedData values;
  for (int32_t number = 1; tensor::is_known(static_cast<tensor::DType>(number)); ++number) {
    const auto dtype = static_cast<tensor::DType>(number);
    if (dtype == tensor::DType::string) continue;
    std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, 3));
    const bool is_bool = dtype == tensor::DType::boolean;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(is_bool ? i % 2 : i * 5 % 64);
    const uint32_t unused = static_cast<uint32_t>(bytes.size() * 8) - 3 * tensor::bit_width(dtype);
    bytes.back() &= static_cast<std::byte>(0xff >> unused);
    values.push_back({tensor::name(dtype), tensor::Tensor(dtype, {3, 1}, tensor::make_owned(std::move(bytes)))});
  }
  const std::vector<int64_t> numbers = {-1, 7};
  const tensor::Tensor keys = tensor::make_tensor<int64_t>(tensor::DType::int64, {2}, numbers);
  const tensor::Tensor texts = strings({2}, {"", "z\xc3\xa4h"});
  values.push_back({"strings", strings({1, 2}, {"a b", std::string("nul\0", 4)})});
  values.push_back({"empty", tensor::Tensor(tensor::DType::float32, {0, 3}, tensor::make_owned({}))});
  values.push_back({"no strings", strings({0}, {})});
  values.push_back({"scalar", tensor::Tensor(tensor::DType::uint8, {}, tensor::make_owned({std::byte{5}}))});
  values.push_back({"fill", tensor::Tensor(tensor::DType::int8, {9}, tensor::make_fill({std::byte{3}}, 9))});
  values.push_back({"wide", tensor::Datum(keys, tensor::DType::int32)});
  values.push_back({"none", tensor::Datum()});
  values.push_back({"sequence", tensor::Datum::sequence({keys, tensor::Datum::sequence({}), texts})});
  values.push_back({"map", tensor::Datum::map(keys, texts)});
  values.push_back({"text map", tensor::Datum::map(texts, keys)});
  return values;
}

}  // namespace assay::testing_support
