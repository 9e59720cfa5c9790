#include "match/models/words.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"

namespace assay::match {
namespace {

// Bytes of the start, and words spread evenly: enough to tell weights apart without reading them all.
uint64_t hash_sample(tensor::Bytes bytes) {
  constexpr size_t kHead = 64;
  constexpr size_t kWords = 8;
  const size_t head = std::min(bytes.size(), kHead);
  uint64_t hash = hash_text({reinterpret_cast<const char*>(bytes.data()), head});
  if (bytes.size() < kHead + sizeof(uint64_t))
    return hash_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const size_t step = (bytes.size() - sizeof(uint64_t)) / kWords;
  for (size_t i = 1; i <= kWords; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * step, sizeof word);
    hash = mix(hash, word);
  }
  return hash;
}

uint64_t hash_elements(const tensor::Tensor& tensor) {
  uint64_t hash = tensor.size_bytes();
  if (tensor.dtype() == tensor::DType::string) {
    for (const std::string& text : tensor.strings()) hash = mix(hash, hash_text(text));
    return hash;
  }
  return mix(hash, hash_sample(tensor.bytes()));
}

}  // namespace

uint64_t hash_tensor_type(const ir::TensorEntry& entry) {
  const tensor::Tensor& tensor = entry.sparse ? entry.sparse->values : entry.tensor;
  uint64_t hash = mix(static_cast<uint64_t>(tensor.dtype()), entry.sparse != nullptr);
  for (const int64_t dim : entry.sparse ? entry.sparse->dims : tensor.shape()) {
    hash = mix(hash, static_cast<uint64_t>(dim));
  }
  return hash;
}

uint64_t mix(uint64_t hash, uint64_t word) {
  uint64_t x = (hash + 0x9e3779b97f4a7c15ULL) ^ (word * 0xff51afd7ed558ccdULL);
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 32);
}

uint64_t hash_text(std::string_view text) { return std::hash<std::string_view>()(text); }

uint64_t hash_tensor(const ir::TensorEntry& entry) {
  const tensor::Tensor& tensor = entry.sparse ? entry.sparse->values : entry.tensor;
  const std::variant<uint64_t, Error> elements = attempt([&] { return hash_elements(tensor); });
  const uint64_t* hash = std::get_if<uint64_t>(&elements);
  return mix(hash_tensor_type(entry), hash ? *hash : kHashOfUnknown);
}

}  // namespace assay::match
