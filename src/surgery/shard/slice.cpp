#include "surgery/shard/slice.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"

namespace assay::surgery {
namespace {

// A tensor as rows of neighbouring elements, of which the same range is taken from each.
struct Strip {
  uint64_t rows = 1;
  uint64_t row_size = 0;  // elements
  uint64_t begin = 0;     // of the range in each row
  uint64_t size = 0;
};

Strip strip_of(const tensor::Shape& shape, const Part& part) {
  Strip strip;
  uint64_t inner = 1;
  strip.rows = static_cast<uint64_t>(part.groups);
  for (size_t i = 0; i < part.axis; ++i) strip.rows *= static_cast<uint64_t>(shape[i]);
  for (size_t i = part.axis + 1; i < shape.size(); ++i) inner *= static_cast<uint64_t>(shape[i]);
  strip.row_size = static_cast<uint64_t>(shape[part.axis] / part.groups) * inner;
  strip.size = strip.row_size / static_cast<uint64_t>(part.count);
  strip.begin = strip.size * static_cast<uint64_t>(part.index);
  return strip;
}

class SliceStorage final : public tensor::Storage {
 public:
  SliceStorage(tensor::StoragePtr whole, const Strip& strip, uint32_t bits)
      : whole_(std::move(whole)), strip_(strip), bits_(bits) {}

  uint64_t size_bytes() const override { return (strip_.rows * strip_.size * bits_ + 7) / 8; }

  Bytes bytes() const override {
    std::call_once(once_, [this] {
      bytes_.reserve(size_bytes());
      stream([this](Bytes piece) { bytes_.insert(bytes_.end(), piece.begin(), piece.end()); });
    });
    return bytes_;
  }

  void stream(FunctionRef<void(Bytes piece)> sink) const override {
    const bool is_whole_bytes =
        strip_.row_size * bits_ % 8 == 0 && strip_.begin * bits_ % 8 == 0 && strip_.size * bits_ % 8 == 0;
    is_whole_bytes ? stream_rows(sink) : stream_packed(sink);
  }

 private:
  void stream_rows(FunctionRef<void(Bytes piece)> sink) const {
    const Bytes bytes = whole_->bytes();
    for (uint64_t row = 0; row < strip_.rows; ++row) {
      sink(bytes.subspan((row * strip_.row_size + strip_.begin) * bits_ / 8, strip_.size * bits_ / 8));
    }
  }

  // Elements narrower than a byte that begin or end inside one.
  void stream_packed(FunctionRef<void(Bytes piece)> sink) const {
    const Bytes bytes = whole_->bytes();
    const unsigned mask = (1U << bits_) - 1;
    const uint64_t per_byte = 8 / bits_;
    unsigned filled = 0;
    uint64_t done = 0;
    const auto flush = [&] {
      const std::byte byte{static_cast<unsigned char>(filled)};
      sink({&byte, 1});
      filled = 0;
    };
    for (uint64_t i = 0; i < strip_.rows * strip_.size; ++i) {
      const uint64_t from = i / strip_.size * strip_.row_size + strip_.begin + i % strip_.size;
      const unsigned byte = std::to_integer<unsigned>(bytes[from / per_byte]);
      const unsigned element = byte >> (from % per_byte * bits_) & mask;
      filled |= element << (done % per_byte * bits_);
      if (++done % per_byte == 0) flush();
    }
    if (done % per_byte != 0) flush();
  }

  tensor::StoragePtr whole_;
  Strip strip_;
  uint32_t bits_;
  mutable std::once_flag once_;
  mutable std::vector<std::byte> bytes_;
};

}  // namespace

tensor::Tensor slice_of(const tensor::Tensor& tensor, const Part& part) {
  tensor::Shape shape = tensor.shape();
  ASSAY_CHECK(part.axis < shape.size() && shape[part.axis] % (part.count * part.groups) == 0);
  const Strip strip = strip_of(shape, part);
  shape[part.axis] /= part.count;
  const uint32_t bits = tensor::bit_width(tensor.dtype());
  const Bytes pattern = tensor.storage() ? tensor.storage()->fill_pattern() : Bytes{};
  tensor::StoragePtr storage;
  if (!pattern.empty() && bits >= 8) {
    storage = tensor::make_fill({pattern.begin(), pattern.end()}, strip.rows * strip.size);
  } else {
    storage = std::make_shared<SliceStorage>(tensor.storage(), strip, bits);
  }
  return tensor::Tensor(tensor.dtype(), std::move(shape), std::move(storage));
}

}  // namespace assay::surgery
