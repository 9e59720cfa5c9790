#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/large_memory.h"

namespace assay::ir {

// An append-only array with stable addresses that never moves what it holds. Each chunk is as large as all before it;
// what is not used yet of the last one takes addresses, but no memory.
template <typename IdType, typename T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool& other) : Pool() {
    for (uint32_t chunk = 0; size_ < other.size_; ++chunk) {
      const uint32_t count = std::min(other.size_ - size_, chunk_size(chunk));
      chunks_[chunk] = make_chunk(chunk);
      std::uninitialized_copy_n(other.chunks_[chunk].get(), count, chunks_[chunk].get());
      size_ += count;
    }
  }
  Pool(Pool&& other) noexcept : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  Pool& operator=(Pool other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Pool() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (uint32_t i = 0; i < size_; ++i) std::destroy_at(&at(i));
    }
  }

  IdType add() {
    ASSAY_CHECK(size_ < kMost);
    const uint32_t chunk = chunk_of(size_);
    if (!chunks_[chunk]) chunks_[chunk] = make_chunk(chunk);
    std::construct_at(&at(size_));
    return IdType{size_++};
  }
  T& operator[](IdType id) {
    ASSAY_CHECK(id.index < size_);
    return at(id.index);
  }
  const T& operator[](IdType id) const { return const_cast<Pool&>(*this)[id]; }
  uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kFirst = 32;  // of the first two chunks
  static constexpr uint32_t kFirstBits = std::bit_width(kFirst) - 1;
  static constexpr uint32_t kMost = IdType::kNone;

  static uint32_t chunk_of(uint32_t index) { return static_cast<uint32_t>(std::bit_width(index >> kFirstBits)); }
  static uint32_t chunk_start(uint32_t chunk) { return chunk == 0 ? 0 : kFirst << (chunk - 1); }
  static uint32_t chunk_size(uint32_t chunk) { return chunk == 0 ? kFirst : kFirst << (chunk - 1); }
  static LargeMemory<T> make_chunk(uint32_t chunk) {
    return LargeMemory<T>(static_cast<T*>(allocate_large(size_t{chunk_size(chunk)} * sizeof(T))));
  }
  T& at(uint32_t index) {
    const uint32_t chunk = chunk_of(index);
    return chunks_[chunk][index - chunk_start(chunk)];
  }

  std::array<LargeMemory<T>, 33 - kFirstBits> chunks_;
  uint32_t size_ = 0;
};

}  // namespace assay::ir
