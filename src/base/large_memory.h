#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace assay {

constexpr size_t kHugePage = size_t{2} << 20;

// Memory for arrays that are used out of order. From 2 MB on the system is asked for huge pages: with small ones a
// million records cost more for finding their pages than for reading them. Throws std::bad_alloc.
void* allocate_large(size_t bytes);

// Addresses without memory: who reads or writes there ends with a signal. Throws std::bad_alloc.
std::shared_ptr<const std::byte> reserve_addresses(size_t bytes);

struct FreeLarge {
  void operator()(void* memory) const { std::free(memory); }
};

// Memory for `T`s that its owner makes and destroys.
template <typename T>
using LargeMemory = std::unique_ptr<T[], FreeLarge>;

template <typename T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) {}  // NOLINT: as the standard asks

  T* allocate(size_t count) { return static_cast<T*>(allocate_large(count * sizeof(T))); }
  void deallocate(T* items, size_t) { std::free(items); }
  friend bool operator==(LargeAllocator, LargeAllocator) { return true; }
};

template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace assay
