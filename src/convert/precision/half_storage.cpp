#include "convert/precision/half_storage.h"

#include <algorithm>
#include <mutex>

#include "convert/precision/half_kernels.h"
#include "tensor/derived.h"

namespace assay::convert {
namespace {

using tensor::Bytes;
using tensor::DType;

class HalfStorage final : public tensor::Storage {
 public:
  HalfStorage(tensor::StoragePtr floats, DType half, bool clamps)
      : floats_(std::move(floats)), half_(half), clamps_(clamps), count_(floats_->size_bytes() / sizeof(float)) {}

  uint64_t size_bytes() const override { return count_ * sizeof(uint16_t); }

  Bytes bytes() const override {
    std::call_once(once_, [this] {
      codes_.resize(count_);
      narrow_floats(half_, floats_->bytes(), clamps_, codes_);
      let_go_of(*floats_);
    });
    return std::as_bytes(std::span(codes_));
  }

  void stream(FunctionRef<void(Bytes piece)> sink) const override {
    constexpr uint64_t kPiece = uint64_t{1} << 20;  // elements
    std::vector<uint16_t> codes(std::min(kPiece, count_));
    const Bytes floats = floats_->bytes();
    for (uint64_t done = 0; done < count_; done += kPiece) {
      const std::span<uint16_t> piece(codes.data(), std::min(kPiece, count_ - done));
      narrow_floats(half_, floats.subspan(done * sizeof(float), piece.size() * sizeof(float)), clamps_, piece);
      sink(std::as_bytes(piece));
    }
    let_go_of(*floats_);
  }

 private:
  tensor::StoragePtr floats_;
  DType half_;
  bool clamps_;
  uint64_t count_;
  mutable std::once_flag once_;
  mutable std::vector<uint16_t> codes_;
};

}  // namespace

tensor::Tensor to_half(const tensor::Tensor& floats, DType half, bool clamps) {
  const tensor::StoragePtr& storage = floats.storage();
  if (!storage) return {half, floats.shape(), nullptr};
  const Bytes pattern = storage->fill_pattern();
  if (pattern.size() != sizeof(float)) {
    return {half, floats.shape(), std::make_shared<HalfStorage>(storage, half, clamps)};
  }
  std::vector<std::byte> code(sizeof(uint16_t));
  uint16_t bits = 0;
  narrow_floats(half, pattern, clamps, {&bits, 1});
  std::copy_n(reinterpret_cast<const std::byte*>(&bits), sizeof bits, code.begin());
  return {half, floats.shape(), tensor::make_fill(std::move(code), floats.count())};
}

}  // namespace assay::convert
