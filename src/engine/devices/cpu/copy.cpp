#include "engine/devices/cpu/copy.h"

#include <algorithm>
#include <functional>

#include "base/parallel.h"
#include "engine/devices/cpu/copies/cast_copy.h"
#include "engine/devices/cpu/copies/copy_block.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

template <typename T>
class CopyKernel final : public PlainKernel {
 public:
  CopyKernel(const TensorDesc& from, const TensorDesc& to) : dims_(copy_dims(from, to)), is_empty_(to.count() == 0) {
    if (are_rows_dense() && row_bytes() <= kShortBytes)
      std::ranges::stable_sort(dims_.begin(), dims_.end() - 1, std::ranges::greater(), &CopyDim::from);
    for (size_t i = 0; i + 2 < dims_.size(); ++i) outer_ *= dims_[i].size;
  }

  void run(const Arguments& arguments) const override {
    if (is_empty_) return;
    const T* const from = host<const T>(arguments.inputs[0]);
    T* const to = host<T>(arguments.outputs[0]);
    if (dims_.size() == 2 && dims_[0].size == 1 && are_rows_dense()) return copy_whole(from, to);
    const CopyDim& middle = dims_[dims_.size() - 2];
    const int64_t block = rows_at_once();
    const int64_t blocks = parts_of(middle.size, block);
    const int64_t work = block * dims_.back().size;
    const int64_t least = are_rows_dense() ? kLeastElements / 4 : kLeastElements;
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, least / std::max<int64_t>(work, 1)));
    parallel_for(static_cast<uint64_t>(outer_ * blocks), grain, [&](uint64_t begin, uint64_t end) {
      for (auto piece = static_cast<int64_t>(begin); piece < static_cast<int64_t>(end); ++piece) {
        const int64_t row = piece % blocks * block;
        copy_rows(from, to, piece / blocks, {row, std::min(row + block, middle.size)});
      }
    });
  }

 private:
  static constexpr int64_t kLeastElements = 1 << 15;
  static constexpr int64_t kShortBytes = 512;  // of rows that are read in the order of their memory
  static constexpr int64_t kAtOnceBytes = 4096;

  int64_t row_bytes() const { return dims_.back().size * static_cast<int64_t>(sizeof(T)); }
  bool are_rows_dense() const { return dims_.back().from == 1 && dims_.back().to == 1; }

  int64_t rows_at_once() const {
    if (are_rows_dense()) return std::max<int64_t>(1, kAtOnceBytes / row_bytes());
    return dims_.back().size < kCopyBlock ? kCopyBlock * kCopyBlock : kCopyBlock;
  }

  // One piece of memory on either side.
  void copy_whole(const T* from, T* to) const {
    parallel_for(static_cast<uint64_t>(dims_.back().size), kLeastElements, [&](uint64_t begin, uint64_t end) {
      std::memcpy(to + begin, from + begin, (end - begin) * sizeof(T));
    });
  }

  // Some rows of the two innermost dims.
  void copy_rows(const T* from, T* to, int64_t outer, Lane lane) const {
    const CopyPlace place = copy_place(dims_, outer);
    CopyDim rows = dims_[dims_.size() - 2];
    from += place.from + lane.begin * rows.from;
    to += place.to + lane.begin * rows.to;
    rows.size = lane.end - lane.begin;
    copy_block(CopyBlock<T>{from, to, rows, dims_.back()});
  }

  std::vector<CopyDim> dims_;
  bool is_empty_;
  int64_t outer_ = 1;
};

class PartsKernel final : public PlainKernel {
 public:
  explicit PartsKernel(const std::vector<CopyPart>& parts) {
    for (const CopyPart& part : parts) {
      const uint64_t bytes = static_cast<uint64_t>(part.to_offset) * tensor::bit_width(part.to.dtype) / 8;
      parts_.push_back({part.input, bytes, make_copy(part.from, part.to)});
    }
  }
  void run(const Arguments& arguments) const override {
    for (const Part& part : parts_) {
      const Arguments moved{{arguments.inputs[part.input]}, {arguments.outputs[0] + part.to_bytes}, {}};
      static_cast<const PlainKernel&>(*part.kernel).run(moved);
    }
  }

 private:
  struct Part {
    size_t input;
    uint64_t to_bytes;
    std::unique_ptr<Kernel> kernel;
  };
  std::vector<Part> parts_;
};

// Parts of rows side by side, such as the channels of pixels: each row is written from one end to the other.
class RowPartsKernel final : public PlainKernel {
 public:
  // Null: the parts are something else.
  static std::unique_ptr<Kernel> make(const std::vector<CopyPart>& parts) {
    auto kernel = std::make_unique<RowPartsKernel>();
    for (const CopyPart& part : parts) {
      if (part.to.count() != 0 && !kernel->add(part)) return {};
    }
    return kernel->parts_.size() > 1 ? std::move(kernel) : nullptr;
  }

  void run(const Arguments& arguments) const override {
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kGrain / to_row_));
    parallel_for(static_cast<uint64_t>(rows_), grain, [&](uint64_t begin, uint64_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        for (const Part& part : parts_) {
          std::memcpy(host<std::byte>(arguments.outputs[0]) + part.to + row * to_row_,
                      host<const std::byte>(arguments.inputs[part.input]) + row * part.from_row, part.bytes);
        }
      }
    });
  }

 private:
  static constexpr int64_t kGrain = 1 << 15;  // bytes
  struct Part {
    size_t input;
    size_t bytes;      // of a row
    int64_t from_row;  // bytes from one to the next
    int64_t to;        // of the first
  };

  bool add(const CopyPart& part) {
    const std::vector<CopyDim> dims = copy_dims(part.from, part.to);
    const int64_t bytes = tensor::bit_width(part.to.dtype) / 8;
    const bool are_rows = dims.size() == 2 && dims[0].size > 1 && dims[1].from == 1 && dims[1].to == 1;
    if (!are_rows || (!parts_.empty() && (dims[0].size != rows_ || dims[0].to * bytes != to_row_))) return false;
    rows_ = dims[0].size;
    to_row_ = dims[0].to * bytes;
    parts_.push_back(
        {part.input, static_cast<size_t>(dims[1].size * bytes), dims[0].from * bytes, part.to_offset * bytes});
    return true;
  }

  std::vector<Part> parts_;
  int64_t rows_ = 0;
  int64_t to_row_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_copies(const std::vector<CopyPart>& parts) {
  std::unique_ptr<Kernel> rows = RowPartsKernel::make(parts);
  return rows ? std::move(rows) : std::make_unique<PartsKernel>(parts);
}

std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to) {
  if (from.dtype != to.dtype) return make_cast_copy(from, to);
  switch (tensor::bit_width(to.dtype)) {
    case 8:
      return std::make_unique<CopyKernel<uint8_t>>(from, to);
    case 16:
      return std::make_unique<CopyKernel<uint16_t>>(from, to);
    case 32:
      return std::make_unique<CopyKernel<uint32_t>>(from, to);
    case 64:
      return std::make_unique<CopyKernel<uint64_t>>(from, to);
    default:
      struct Wide {
        uint64_t halves[2];
      };
      return std::make_unique<CopyKernel<Wide>>(from, to);
  }
}

}  // namespace assay::engine::cpu
