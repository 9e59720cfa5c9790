#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace assay::ir {

// Memory for small arrays that live as long as the model. Addresses are stable; nothing is freed before the end.
class Arena {
 public:
  template <typename T>
  T* allocate(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* items = static_cast<T*>(take(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(items, count);
    return items;
  }

  template <typename T>
  std::span<const T> copy(std::span<const T> items) {
    T* target = allocate<T>(items.size());
    std::copy(items.begin(), items.end(), target);
    return {target, items.size()};
  }

 private:
  static constexpr size_t kBlockBytes = 256 * 1024;

  void* take(size_t bytes, size_t alignment) {
    const size_t start = (used_ + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || start + bytes > capacity_) return take_from_new_block(bytes);
    used_ = start + bytes;
    return blocks_.back().get() + start;
  }

  void* take_from_new_block(size_t bytes) {
    capacity_ = std::max(bytes, kBlockBytes);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity_));
    used_ = bytes;
    return blocks_.back().get();
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

}  // namespace assay::ir
