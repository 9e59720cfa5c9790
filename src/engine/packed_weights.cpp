#include "engine/packed_weights.h"

#include "base/large_memory.h"

namespace assay::engine {

PackedWeights::Bytes PackedWeights::get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                                        const std::function<void(std::byte*)>& fill) {
  const std::scoped_lock lock(mutex_);
  Form& kept = forms_[{weights.bytes().data(), form}];
  if (Bytes bytes = kept.bytes.lock(); bytes && kept.size_bytes == size_bytes) return bytes;
  std::shared_ptr<std::byte> made(static_cast<std::byte*>(allocate_large(size_bytes)), FreeLarge());
  fill(made.get());
  kept = {made, size_bytes, nullptr};
  return made;
}

void PackedWeights::preset(const std::byte* weights, const std::string& form, const Bytes& bytes, uint64_t size_bytes) {
  const std::scoped_lock lock(mutex_);
  forms_[{weights, form}] = {bytes, size_bytes, bytes};
}

std::vector<PackedWeights::Kept> PackedWeights::kept() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Kept> all;
  for (const auto& [key, form] : forms_) {
    Bytes bytes = form.bytes.lock();
    if (bytes) all.push_back({std::get<0>(key), std::get<1>(key), std::move(bytes), form.size_bytes});
  }
  return all;
}

}  // namespace assay::engine
