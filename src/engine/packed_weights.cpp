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
  kept = {made, size_bytes};
  return made;
}

}  // namespace assay::engine
