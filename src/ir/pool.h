#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"

namespace assay::ir {

// An append-only array with stable addresses that never moves what it holds: a million records cost a million records,
// not the two million of a doubling vector.
template <typename IdType, typename T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool& other) : size_(other.size_) {
    for (const auto& chunk : other.chunks_) chunks_.push_back(std::make_unique<std::array<T, kChunk>>(*chunk));
  }
  Pool& operator=(const Pool& other) { return *this = Pool(other); }
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = default;

  IdType add() {
    ASSAY_CHECK(size_ < IdType::kNone);
    if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<std::array<T, kChunk>>());
    return IdType{size_++};
  }
  T& operator[](IdType id) {
    ASSAY_CHECK(id.index < size_);
    return (*chunks_[id.index / kChunk])[id.index % kChunk];
  }
  const T& operator[](IdType id) const { return const_cast<Pool&>(*this)[id]; }
  uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kChunk = 1024;
  std::vector<std::unique_ptr<std::array<T, kChunk>>> chunks_;
  uint32_t size_ = 0;
};

}  // namespace assay::ir
