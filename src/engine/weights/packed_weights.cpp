#include "engine/weights/packed_weights.h"

#include <algorithm>

#include "base/large_memory.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

std::shared_ptr<std::byte> make_memory(uint64_t size_bytes) {
  return {static_cast<std::byte*>(allocate_large(size_bytes)), FreeLarge()};
}

constexpr uint64_t kFormAlignment = 64;
// The first block for several forms; each further one is as large as all before it, so that small models take little.
constexpr uint64_t kFirstBlock = uint64_t{64} << 10;
constexpr uint64_t kLargestBlock = uint64_t{32} << 20;

}  // namespace

std::shared_ptr<std::byte> FormMemory::take(uint64_t size_bytes) {
  const uint64_t begin = (used_bytes_ + kFormAlignment - 1) / kFormAlignment * kFormAlignment;
  if (begin <= block_bytes_ && size_bytes <= block_bytes_ - begin && block_) {
    used_bytes_ = begin + size_bytes;
    return piece(begin);
  }
  const uint64_t whole = size_bytes < kHugePage ? size_bytes : (size_bytes + kHugePage - 1) / kHugePage * kHugePage;
  block_bytes_ = std::max(whole, std::clamp(2 * block_bytes_, kFirstBlock, kLargestBlock));
  block_ = make_memory(block_bytes_);
  used_bytes_ = size_bytes;
  return piece(0);
}

// A piece of the block, whose holders are counted apart from those of the block.
std::shared_ptr<std::byte> FormMemory::piece(uint64_t begin) const {
  return {block_.get() + begin, [block = block_](std::byte*) {}};
}

Buffer KeptWeights::get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                        const std::function<void(std::byte*)>& fill) {
  const auto given = [&](const Bytes& bytes) { return Buffer{host_address(bytes.get()), size_bytes, bytes}; };
  const std::scoped_lock lock(mutex_);
  Form& kept = forms_[{tensor::identity_of(*weights.storage()), form}];
  if (const Bytes bytes = kept.bytes.lock(); bytes && kept.size_bytes == size_bytes) return given(bytes);
  Bytes bytes;
  if (sink_) {
    bytes = move_out(weights, form, size_bytes, fill);
  } else {
    std::shared_ptr<std::byte> made = memory_.take(size_bytes);
    fill(made.get());
    bytes = std::move(made);
  }
  kept = {.bytes = bytes, .size_bytes = size_bytes, .number = made_++};
  if (forms_.size() >= sweep_at_) sweep();
  return given(bytes);
}

// Forgets forms that no kernel holds any more.
void KeptWeights::sweep() {
  std::erase_if(forms_, [](const auto& item) { return item.second.bytes.expired(); });
  sweep_at_ = std::max<size_t>(1024, 2 * forms_.size());
}

KeptWeights::Bytes KeptWeights::move_out(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                                         const std::function<void(std::byte*)>& fill) {
  Moved& buffer = buffers_[made_ % buffers_.size()];
  if (buffer.size_bytes < size_bytes) {
    buffer = {};
    buffer = {make_memory(size_bytes), size_bytes};
  }
  sink_->begin(weights);
  fill(buffer.bytes.get());
  sink_->add(tensor::identity_of(*weights.storage()), form, {buffer.bytes.get(), size_bytes});
  return reserve_addresses(size_bytes);
}

void KeptWeights::settle() {
  const std::scoped_lock lock(mutex_);
  if (!sink_) return;
  sink_->wait();
  buffers_ = {};
}

bool KeptWeights::has(const tensor::Tensor& weights, const std::string& form) const {
  const std::scoped_lock lock(mutex_);
  const auto found = forms_.find({tensor::identity_of(*weights.storage()), form});
  return found != forms_.end() && !found->second.bytes.expired();
}

void KeptWeights::preset(const void* weights, const std::string& form, const Bytes& bytes, uint64_t size_bytes) {
  const std::scoped_lock lock(mutex_);
  forms_[{weights, form}] = {.bytes = bytes, .size_bytes = size_bytes, .preset = bytes};
}

void KeptWeights::move_out(Sink sink) {
  const std::scoped_lock lock(mutex_);
  sink_ = std::move(sink);
}

bool KeptWeights::moves_out() const {
  const std::scoped_lock lock(mutex_);
  return sink_.has_value();
}

std::vector<KeptWeights::Kept> KeptWeights::kept() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Kept> all;
  for (const auto& [key, form] : forms_) {
    Bytes bytes = form.bytes.lock();
    if (bytes) all.push_back({std::get<0>(key), std::get<1>(key), std::move(bytes), form.size_bytes, form.number});
  }
  std::ranges::sort(all, {}, &Kept::number);
  return all;
}

Buffer TrialWeights::get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                         const std::function<void(std::byte*)>&) {
  const size_t number =
      forms_.try_emplace({tensor::identity_of(*weights.storage()), form}, forms_.size()).first->second;
  blocks_.resize(std::max(blocks_.size(), number + 1));
  Block& block = blocks_[number];
  if (!block.memory.owner || block.memory.bytes < size_bytes) block = {device_.allocate(size_bytes)};
  return block.memory;
}

void TrialWeights::fill() const {
  for (Block& block : blocks_) {
    if (!block.is_filled) device_.fill_sample(block.memory, tensor::DType::undefined);
    block.is_filled = true;
  }
}

std::vector<Extent> TrialWeights::memory() const {
  std::vector<Extent> all;
  for (const Block& block : blocks_) all.push_back({block.memory.first, block.memory.bytes});
  return all;
}

Buffer NotedWeights::get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
                         const std::function<void(std::byte*)>& fill) {
  noted_.push_back(tensor::identity_of(*weights.storage()));
  return weights_.get(weights, form, size_bytes, fill);
}

bool NotedWeights::holds(const tensor::Tensor& weights) const {
  return weights.storage() && std::ranges::find(noted_, tensor::identity_of(*weights.storage())) != noted_.end();
}

}  // namespace assay::engine
