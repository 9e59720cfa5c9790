#include "engine/devices/cpu/copies/cast_copy.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/copies/copy_block.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tape/tape_kernels.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kTile = 4096;  // elements that are converted while they are in the first cache
constexpr int64_t kMostColumns = kTile / kCopyBlock;
constexpr int64_t kGrain = 1 << 14;  // elements

// T: what is read.
template <typename T>
class CastCopyKernel final : public PlainKernel {
 public:
  CastCopyKernel(const TensorDesc& from, const TensorDesc& to, const std::optional<Quantizer>& quantizer)
      : dims_(copy_dims(from, to)),
        from_type_(from.dtype),
        to_type_(to.dtype),
        quantizer_(quantizer),
        is_empty_(to.count() == 0) {
    for (size_t i = 0; i + 2 < dims_.size(); ++i) outer_ *= dims_[i].size;
    columns_ = std::min(kMostColumns, dims_.back().size);
    rows_ = std::max<int64_t>(1, kTile / std::max<int64_t>(columns_, 1) / kCopyBlock * kCopyBlock);
  }

  void run(const Arguments& arguments) const override {
    if (is_empty_) return;
    const T* const from = host<const T>(arguments.inputs[0]);
    auto* const to = host<std::byte>(arguments.outputs[0]);
    const int64_t row_blocks = parts_of(rows().size, rows_);
    const int64_t blocks = row_blocks * parts_of(dims_.back().size, columns_);
    const auto grain = static_cast<uint64_t>(parts_of(kGrain, rows_ * columns_));
    parallel_for(static_cast<uint64_t>(outer_ * blocks), grain, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        convert(from, to, i / blocks, {i % blocks % row_blocks * rows_, i % blocks / row_blocks * columns_});
      }
    });
  }

 private:
  struct Corner {
    int64_t row, column;
  };

  const CopyDim& rows() const { return dims_[dims_.size() - 2]; }

  // A block of the two innermost dims.
  void convert(const T* from, std::byte* to, int64_t outer, Corner corner) const {
    const CopyPlace place = copy_place(dims_, outer);
    CopyDim r = rows();
    CopyDim c = dims_.back();
    from += place.from + corner.row * r.from + corner.column * c.from;
    to += (place.to + corner.row * r.to + corner.column) * float_bytes(to_type_);
    r.size = std::min(rows_, r.size - corner.row);
    c.size = std::min(columns_, c.size - corner.column);
    if (c.from == 1) return write({from, r.from}, to, r, c.size);
    if (quantizer_ && r.from == 1) return turn_codes(from, to, r, c);
    alignas(64) T tile[kTile];
    copy_block(CopyBlock<T>{from, tile, {r.size, r.from, c.size}, c});
    write({tile, c.size}, to, r, c.size);
  }

  // Turns numbers that lie by column as codes: they are faster to move.
  void turn_codes(const T* from, std::byte* to, const CopyDim& rows, const CopyDim& columns) const {
    alignas(64) uint8_t tile[kTile];
    float numbers[kTile];
    for (int64_t c = 0; c < columns.size; ++c) {
      auto* const codes = reinterpret_cast<std::byte*>(tile + c * rows.size);
      quantize(from + c * columns.from, numbers, codes, static_cast<size_t>(rows.size));
    }
    copy_block(CopyBlock<uint8_t>{tile, reinterpret_cast<uint8_t*>(to), rows, {columns.size, rows.size, columns.to}});
  }

  struct Rows {
    const T* first;
    int64_t pitch;
  };
  void write(Rows from, std::byte* to, const CopyDim& rows, int64_t columns) const {
    const bool is_whole = from.pitch == columns && rows.to == columns;
    const int64_t count = is_whole ? rows.size * columns : columns;
    for (int64_t r = 0; r < (is_whole ? 1 : rows.size); ++r) {
      convert_row(from.first + r * from.pitch, to + r * rows.to * float_bytes(to_type_), static_cast<size_t>(count));
    }
  }

  void convert_row(const T* from, std::byte* to, size_t count) const {
    float numbers[kTile];
    if (quantizer_) return quantize(from, numbers, to, count);
    if (to_type_ == tensor::DType::float32)
      load_floats(from_type_, from, reinterpret_cast<float*>(to), count);
    else
      store_floats(to_type_, read_floats(from_type_, from, numbers, count), to, count);
  }

  void quantize(const T* from, float* numbers, std::byte* to, size_t count) const {
    const bool are_signed = to_type_ == tensor::DType::int8;
    load_floats(from_type_, from, numbers, count);
    tape_kernels().unary(are_signed ? ElementOp::quantize_signed : ElementOp::quantize_unsigned, {numbers, 0},
                         {numbers, 0, 1, count}, quantizer_->scale, static_cast<float>(quantizer_->zero));
    store_floats(to_type_, numbers, to, count);
  }

  std::vector<CopyDim> dims_;
  tensor::DType from_type_, to_type_;
  std::optional<Quantizer> quantizer_;
  bool is_empty_;
  int64_t outer_ = 1;
  int64_t rows_ = 1;  // of a block
  int64_t columns_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> make_cast_copy(const TensorDesc& from, const TensorDesc& to,
                                       const std::optional<Quantizer>& quantizer) {
  const std::vector<CopyDim> dims = copy_dims(from, to);
  if (dims.back().size != 1 && dims.back().to != 1) return {};
  switch (tensor::bit_width(from.dtype)) {
    case 8:
      return std::make_unique<CastCopyKernel<uint8_t>>(from, to, quantizer);
    case 16:
      return std::make_unique<CastCopyKernel<uint16_t>>(from, to, quantizer);
    default:
      return std::make_unique<CastCopyKernel<uint32_t>>(from, to, quantizer);
  }
}

}  // namespace assay::engine::cpu
