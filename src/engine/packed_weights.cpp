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

void PackedWeights::add_kept(const std::pair<const Key, Form>& form, std::vector<Kept>& all) {
  Bytes bytes = form.second.bytes.lock();
  const auto& [weights, name] = form.first;
  if (bytes) all.push_back({weights, name, std::move(bytes), form.second.size_bytes});
}

std::vector<PackedWeights::Kept> PackedWeights::kept() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Kept> all;
  for (const auto& form : forms_) add_kept(form, all);
  return all;
}

std::vector<PackedWeights::Kept> PackedWeights::kept_of(const tensor::Tensor& weights) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Kept> all;
  const std::byte* const first = weights.bytes().data();
  for (auto form = forms_.lower_bound({first, ""}); form != forms_.end() && std::get<0>(form->first) == first; ++form) {
    add_kept(*form, all);
  }
  return all;
}

}  // namespace assay::engine
