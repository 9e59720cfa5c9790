#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/large_memory.h"

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
  static constexpr size_t kFirstBytes = size_t{32} << 10;
  static constexpr size_t kMostBytes = size_t{32} << 20;  // of a block that is not for one array

  void* take(size_t bytes, size_t alignment) {
    const size_t start = (used_ + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || start + bytes > capacity_) return take_from_new_block(bytes);
    used_ = start + bytes;
    return blocks_.back().get() + start;
  }

  void* take_from_new_block(size_t bytes) {
    capacity_ = std::max(bytes, std::clamp(2 * capacity_, kFirstBytes, kMostBytes));
    blocks_.emplace_back(static_cast<std::byte*>(allocate_large(capacity_)));
    used_ = bytes;
    return blocks_.back().get();
  }

  std::vector<LargeMemory<std::byte>> blocks_;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

}  // namespace assay::ir
