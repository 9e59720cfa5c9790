#include "ops/live_memory.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"

namespace assay::ops {
namespace {

template <typename Fn>
void for_each_tensor(const tensor::Datum& datum, Fn&& fn) {
  if (datum.is_tensor()) fn(datum.tensor());
  if (datum.is_map()) fn(datum.keys()), fn(datum.values());
  if (!datum.is_sequence()) return;
  for (const tensor::Datum& item : datum.items()) for_each_tensor(item, fn);
}

uint64_t bytes_of(const tensor::Tensor& tensor) {
  const bool is_text = tensor.dtype() == tensor::DType::string;
  return tensor.size_bytes() + (is_text ? tensor.count() * sizeof(std::string) : 0);
}

}  // namespace

void LiveMemory::add(const tensor::Datum& output, std::span<const tensor::Datum> inputs) {
  std::unordered_set<const tensor::Storage*> given;
  for (const tensor::Datum& input : inputs) {
    for_each_tensor(input, [&](const tensor::Tensor& tensor) { given.insert(tensor.storage().get()); });
  }
  for_each_tensor(output, [&](const tensor::Tensor& tensor) {
    if (tensor.storage() && !given.contains(tensor.storage().get())) add(tensor);
  });
  if (entries_.size() >= sweep_at_) sweep();
}

void LiveMemory::add(const tensor::Tensor& tensor) {
  Entry& entry = entries_[tensor.storage().get()];
  if (!entry.storage.expired()) return;
  bytes_ -= entry.bytes;  // of a dead one at the same place
  entry = {tensor.storage(), bytes_of(tensor)};
  bytes_ += entry.bytes;
}

uint64_t LiveMemory::left(uint64_t wanted) {
  const auto rest = [&] { return most_bytes_ - std::min(most_bytes_, bytes_ + held_bytes_); };
  if (rest() < wanted) sweep();
  return rest();
}

void LiveMemory::require(uint64_t bytes) {
  const uint64_t rest = left(bytes);
  if (rest >= bytes) return;
  throw Error(ErrorCode::limit,
              fmt::format("it needs {} of memory, {} are left", human_bytes(bytes), human_bytes(rest)))
      .remedied_by("max_memory");
}

void LiveMemory::sweep() {
  std::erase_if(entries_, [&](const auto& item) {
    if (!item.second.storage.expired()) return false;
    bytes_ -= item.second.bytes;
    return true;
  });
  sweep_at_ = std::max<size_t>(1024, 2 * entries_.size());
}

}  // namespace assay::ops
