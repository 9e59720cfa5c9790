#include "passes/same.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace assay::passes {
namespace {

using tensor::Bytes;
using tensor::Tensor;

constexpr uint64_t kSampleBytes = 1024;

uint64_t hash_bytes(Bytes bytes) {
  uint64_t hash = bytes.size();
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash = mix(hash, word);
  }
  for (; at < bytes.size(); ++at) hash = mix(hash, static_cast<uint64_t>(bytes[at]));
  return hash;
}

uint64_t hash_text(std::string_view text) { return hash_bytes(std::as_bytes(std::span(text))); }

uint64_t hash_strings(const Tensor& tensor) {
  constexpr uint64_t kMost = 64;
  uint64_t hash = 0;
  for (const std::string& text : tensor.strings().first(std::min(kMost, tensor.count()))) {
    hash = mix(hash, hash_text(text));
  }
  return hash;
}

// The elements; those of one pattern are not written out for it.
Bytes content(const Tensor& tensor) {
  const Bytes pattern = tensor.storage() ? tensor.storage()->fill_pattern() : Bytes{};
  return pattern.empty() ? tensor.bytes() : pattern;
}

uint64_t hash_sample(const Tensor& tensor) {
  if (tensor.dtype() == tensor::DType::string) return hash_strings(tensor);
  const Bytes bytes = content(tensor);
  if (bytes.size() <= 3 * kSampleBytes) return hash_bytes(bytes);
  const uint64_t first = hash_bytes(bytes.first(kSampleBytes));
  const uint64_t middle = hash_bytes(bytes.subspan(bytes.size() / 2, kSampleBytes));
  return mix(mix(first, middle), hash_bytes(bytes.last(kSampleBytes)));
}

template <typename T>
uint64_t hash_items(std::span<const T> items) {
  return hash_bytes(std::as_bytes(items));
}

template <typename T>
bool is_same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

bool is_same_sparse(const ir::TensorEntry& a, const ir::TensorEntry& b) {
  if (!a.sparse || !b.sparse) return a.sparse == b.sparse;
  return a.sparse->dims == b.sparse->dims && is_same(a.sparse->values, b.sparse->values) &&
         is_same(a.sparse->indices, b.sparse->indices);
}

bool is_same_list(const ir::Model& model, std::span<const ir::TensorId> a, std::span<const ir::TensorId> b) {
  return std::ranges::equal(a, b, [&](ir::TensorId left, ir::TensorId right) {
    return left == right || (is_same_sparse(model[left], model[right]) &&
                             (model[left].sparse || is_same(model[left].tensor, model[right].tensor)));
  });
}

}  // namespace

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 32);
}

uint64_t type_hash(const Tensor& tensor) {
  uint64_t hash = mix(static_cast<uint64_t>(tensor.dtype()), tensor.shape().size());
  for (const int64_t dim : tensor.shape()) hash = mix(hash, static_cast<uint64_t>(dim));
  return hash;
}

std::optional<uint64_t> sample_hash(const Tensor& tensor) {
  try {
    return mix(type_hash(tensor), hash_sample(tensor));
  } catch (const Error&) {  // weights that were left unread, or a damaged file: they are like no others
    return std::nullopt;
  }
}

bool is_same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.storage() == b.storage()) return true;
  try {
    if (a.dtype() == tensor::DType::string) return std::ranges::equal(a.strings(), b.strings());
    const bool has_patterns = !content(a).empty() && !content(b).empty() &&
                              a.storage()->fill_pattern().empty() == b.storage()->fill_pattern().empty();
    return has_patterns && is_same_bits<std::byte>(content(a), content(b));
  } catch (const Error&) {
    return false;
  }
}

uint64_t hash(const ir::Model& model, const ir::Attribute& attribute) {
  using ir::AttributeType;
  uint64_t hash = mix(attribute.name().index, static_cast<uint64_t>(attribute.type()));
  if (attribute.is_reference()) return mix(hash, attribute.reference_target().index);
  switch (attribute.type()) {
    case AttributeType::integer:
    case AttributeType::integers:
      return mix(hash, hash_items(attribute.integers()));
    case AttributeType::floating:
    case AttributeType::floats:
      return mix(hash, hash_items(attribute.floats()));
    case AttributeType::string:
    case AttributeType::strings:
      return mix(hash, hash_items(attribute.strings()));
    case AttributeType::type:
    case AttributeType::types:
      return mix(hash, hash_items(attribute.types()));
    default:
      break;
  }
  if (!attribute.holds_tensors()) return hash;
  for (const ir::TensorId id : attribute.tensors()) {
    const ir::TensorEntry& entry = model[id];
    hash = mix(hash, sample_hash(entry.sparse ? entry.sparse->values : entry.tensor).value_or(0));
  }
  return hash;
}

bool is_same(const ir::Model& model, const ir::Attribute& a, const ir::Attribute& b) {
  using ir::AttributeType;
  if (a.name() != b.name() || a.type() != b.type() || a.reference_target() != b.reference_target()) return false;
  if (a.is_reference()) return true;
  switch (a.type()) {
    case AttributeType::integer:
    case AttributeType::integers:
      return is_same_bits(a.integers(), b.integers());
    case AttributeType::floating:
    case AttributeType::floats:
      return is_same_bits(a.floats(), b.floats());
    case AttributeType::string:
    case AttributeType::strings:
      return is_same_bits(a.strings(), b.strings());
    case AttributeType::type:
    case AttributeType::types:
      return is_same_bits(a.types(), b.types());
    case AttributeType::graph:
    case AttributeType::graphs:
    case AttributeType::undefined:
      return false;
    default:
      return is_same_list(model, a.tensors(), b.tensors());
  }
}

}  // namespace assay::passes
