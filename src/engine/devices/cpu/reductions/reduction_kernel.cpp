#include "engine/devices/cpu/reductions/reduction_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

using Kind = Reduction::Kind;

constexpr int64_t kReducedTile = 1024;        // elements of a row, or columns, that are summed at once
constexpr int64_t kSummed = 64;               // rows whose sum is added to the others as one
constexpr int64_t kReductionGrain = 1 << 14;  // elements read
constexpr int64_t kFewPieces = 8;             // of work, so that they are divided further
constexpr int64_t kLeastShared = 256;         // columns of such a piece
constexpr int64_t kWholeVectors = 16;         // elements
constexpr int64_t kBuffered = 2 * kReducedTile;

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Elements that are in no memory of float32.
struct ReductionBuffer {
  alignas(64) float floats[kBuffered];
  alignas(64) uint16_t halves[kBuffered];
};

class ReductionKernel final : public PlainKernel {
 public:
  ReductionKernel(Kind kind, const ReductionExtents& extents, ReducedElements elements)
      : kind_(kind), e_(extents), dtype_(elements.dtype), tape_(std::move(elements.tape)) {
    const bool is_divided = e_.outer * parts_of(e_.inner, kReducedTile) < kFewPieces;
    if (is_divided) chunks_ = parts_of(e_.reduced, e_.inner == 1 ? kReducedTile : kSummed);
    const bool are_shared = is_divided && chunks_ == 1 && e_.reduced * e_.inner >= 2 * kReductionGrain;
    const int64_t shares = are_shared ? std::clamp<int64_t>(e_.inner / kLeastShared, 1, 4) : 1;
    tiles_ = std::max(shares, parts_of(e_.inner, kReducedTile));
    tile_ = rounded_up(parts_of(e_.inner, tiles_), kWholeVectors);
    tiles_ = parts_of(e_.inner, tile_);
  }

  uint64_t workspace_bytes() const override {
    return chunks_ == 1 ? 0 : static_cast<uint64_t>(e_.outer * chunks_ * e_.inner) * sizeof(double);
  }

  void run(const Arguments& arguments) const override {
    if (e_.inner == 1)
      chunks_ == 1 ? run_rows(arguments) : run_long_rows(arguments);
    else
      chunks_ == 1 ? run_columns(arguments) : run_long_columns(arguments);
  }

 private:
  // Neighbours in the order of memory, at most kBuffered.
  const float* read(const Arguments& arguments, int64_t first, int64_t count, ReductionBuffer& buffer) const {
    const auto size = static_cast<size_t>(count);
    if (!tape_) {
      const auto* const in = host<const std::byte>(arguments.inputs[0]);
      return read_floats(dtype_, in + first * float_bytes(dtype_), buffer.floats, size);
    }
    void* const made = dtype_ == tensor::DType::float32 ? static_cast<void*>(buffer.floats) : buffer.halves;
    tape_->run(nullptr, made, arguments.inputs, first, first + count);
    return read_floats(dtype_, made, buffer.floats, size);
  }

  template <typename Fn>
  static void divide(int64_t pieces, int64_t elements, Fn&& fn) {
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kReductionGrain / std::max<int64_t>(elements, 1)));
    parallel_for(static_cast<uint64_t>(pieces), grain, [&](uint64_t begin, uint64_t end) {
      ReductionBuffer buffer;
      fn(static_cast<int64_t>(begin), static_cast<int64_t>(end), buffer);
    });
  }

  bool is_maximum() const { return kind_ == Kind::maximum; }

  // The result of a part of a row.
  double part_of_row(const float* x, int64_t count) const {
    const RowKernels& rows = row_kernels();
    const auto size = static_cast<size_t>(count);
    if (is_maximum()) return rows.greatest(x, size);
    const bool is_square = kind_ == Kind::square || kind_ == Kind::length;
    return is_square ? rows.sum_of_squares(x, 0, size) : rows.sum(x, size);
  }
  void add_part(double part, double& total) const {
    if (!is_maximum()) {
      total += part;
      return;
    }
    total = part > total || part != part ? part : total;
  }
  double nothing() const { return is_maximum() ? static_cast<double>(kLowest) : 0; }

  void write_row(const Arguments& arguments, int64_t row, double total) const {
    if (kind_ == Kind::mean) total /= static_cast<double>(e_.reduced);
    if (kind_ == Kind::length) total = std::sqrt(total);
    const auto made = static_cast<float>(total);
    store_floats(dtype_, &made, host<std::byte>(arguments.outputs[0]) + row * float_bytes(dtype_), 1);
  }

  // Several short rows are read at once.
  void run_rows(const Arguments& arguments) const {
    const int64_t group = std::max<int64_t>(1, kBuffered / e_.reduced);
    divide(e_.outer, e_.reduced, [&](int64_t begin, int64_t end, ReductionBuffer& buffer) {
      for (int64_t row = begin; row < end; row += group) {
        if (e_.reduced > kReducedTile) {
          write_row(arguments, row, total_of_row(arguments, row, buffer));
          continue;
        }
        const int64_t count = std::min(group, end - row);
        const float* const x = read(arguments, row * e_.reduced, count * e_.reduced, buffer);
        for (int64_t i = 0; i < count; ++i) {
          double total = nothing();
          add_part(part_of_row(x + i * e_.reduced, e_.reduced), total);
          write_row(arguments, row + i, total);
        }
      }
    });
  }

  double total_of_row(const Arguments& arguments, int64_t row, ReductionBuffer& buffer) const {
    double total = nothing();
    for (int64_t first = 0; first < e_.reduced; first += kReducedTile) {
      const int64_t count = std::min(kReducedTile, e_.reduced - first);
      add_part(part_of_row(read(arguments, row * e_.reduced + first, count, buffer), count), total);
    }
    return total;
  }

  // Few rows: threads share the parts of each.
  void run_long_rows(const Arguments& arguments) const {
    auto* const parts = host<double>(arguments.workspace);
    divide(e_.outer * chunks_, kReducedTile, [&](int64_t begin, int64_t end, ReductionBuffer& buffer) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % chunks_ * kReducedTile;
        const int64_t count = std::min(kReducedTile, e_.reduced - first);
        parts[i] = part_of_row(read(arguments, i / chunks_ * e_.reduced + first, count, buffer), count);
      }
    });
    for (int64_t row = 0; row < e_.outer; ++row) {
      double total = nothing();
      for (int64_t i = 0; i < chunks_; ++i) add_part(parts[row * chunks_ + i], total);
      write_row(arguments, row, total);
    }
  }

  // Columns of one of the outer ones.
  struct Columns {
    int64_t outer, first, count;
  };

  // Rows that lie side by side.
  void add_rows(float* sums, const float* x, int64_t rows, size_t count) const {
    const RowKernels& kernels = row_kernels();
    if (kind_ == Kind::sum || kind_ == Kind::mean) return kernels.add(sums, x, static_cast<size_t>(rows), count);
    if (!is_maximum()) return kernels.add_squares(sums, x, nullptr, static_cast<size_t>(rows), count);
    for (int64_t r = 0; r < rows; ++r, x += count) kernels.maximum(sums, x, count);
  }

  // Reduces rows [first, end).
  void part_of_columns(const Arguments& arguments, const Columns& columns, int64_t first, int64_t end, float* part,
                       ReductionBuffer& buffer) const {
    const auto count = static_cast<size_t>(columns.count);
    std::fill_n(part, count, static_cast<float>(nothing()));
    const bool are_whole = columns.count == e_.inner;
    const int64_t group = are_whole ? std::max<int64_t>(1, kBuffered / e_.inner) : 1;
    for (int64_t row = first; row < end; row += group) {
      const int64_t rows = std::min(group, end - row);
      const int64_t at = (columns.outer * e_.reduced + row) * e_.inner + columns.first;
      add_rows(part, read(arguments, at, are_whole ? rows * e_.inner : columns.count, buffer), rows, count);
    }
  }

  // Adds up parts of columns, each of which is at `part_of(number)` by then.
  template <typename PartOf>
  void add_parts(float* total, size_t count, int64_t parts, PartOf&& part_of) const {
    std::fill_n(total, count, static_cast<float>(nothing()));
    for (int64_t i = 0; i < parts; ++i) add_columns(part_of(i), total, count);
  }
  void add_columns(const float* part, float* total, size_t count) const {
    const RowKernels& kernels = row_kernels();
    is_maximum() ? kernels.maximum(total, part, count) : kernels.add(total, part, 1, count);
  }

  // `total`: in the result, where that is float32.
  template <typename Fn>
  void write_columns(const Arguments& arguments, const Columns& columns, Fn&& sum_up) const {
    const auto count = static_cast<size_t>(columns.count);
    float tile[kReducedTile];
    std::byte* const to =
        host<std::byte>(arguments.outputs[0]) + (columns.outer * e_.inner + columns.first) * float_bytes(dtype_);
    float* const total = place_floats(dtype_, to, tile);
    sum_up(total);
    if (kind_ == Kind::mean) row_kernels().scale(total, 1.0F / static_cast<float>(e_.reduced), total, count);
    if (kind_ == Kind::length) {
      for (size_t i = 0; i < count; ++i) total[i] = std::sqrt(total[i]);
    }
    write_floats(dtype_, total, to, count);
  }

  Columns columns_of(int64_t piece) const {
    const int64_t first = piece % tiles_ * tile_;
    return {piece / tiles_, first, std::min(tile_, e_.inner - first)};
  }

  void run_columns(const Arguments& arguments) const {
    divide(e_.outer * tiles_, e_.reduced * std::min(e_.inner, tile_),
           [&](int64_t begin, int64_t end, ReductionBuffer& buffer) {
             float part[kReducedTile];
             for (int64_t i = begin; i < end; ++i) {
               const Columns columns = columns_of(i);
               const auto make_part = [&](int64_t number, float* to) {
                 const int64_t first = number * kSummed;
                 part_of_columns(arguments, columns, first, std::min(e_.reduced, first + kSummed), to, buffer);
               };
               write_columns(arguments, columns, [&](float* total) {
                 if (e_.reduced <= kSummed) return make_part(0, total);
                 add_parts(total, static_cast<size_t>(columns.count), parts_of(e_.reduced, kSummed),
                           [&](int64_t number) {
                             make_part(number, part);
                             return part;
                           });
               });
             }
           });
  }

  // Few columns: threads share the parts of their sums.
  void run_long_columns(const Arguments& arguments) const {
    auto* const parts = host<float>(arguments.workspace);
    const int64_t pieces = e_.outer * tiles_;
    const auto place = [&](const Columns& columns, int64_t chunk) {
      return parts + (columns.outer * chunks_ + chunk) * e_.inner + columns.first;
    };
    divide(pieces * chunks_, kSummed * std::min(e_.inner, tile_),
           [&](int64_t begin, int64_t end, ReductionBuffer& buffer) {
             for (int64_t i = begin; i < end; ++i) {
               const Columns columns = columns_of(i / chunks_);
               const int64_t chunk = i % chunks_;
               part_of_columns(arguments, columns, chunk * kSummed, std::min(e_.reduced, (chunk + 1) * kSummed),
                               place(columns, chunk), buffer);
             }
           });
    for (int64_t i = 0; i < pieces; ++i) {
      const Columns columns = columns_of(i);
      write_columns(arguments, columns, [&](float* total) {
        add_parts(total, static_cast<size_t>(columns.count), chunks_,
                  [&](int64_t chunk) { return place(columns, chunk); });
      });
    }
  }

  Kind kind_;
  ReductionExtents e_;
  tensor::DType dtype_;
  std::optional<Tape> tape_;
  int64_t chunks_ = 1;            // of each row, or of columns, that are computed apart
  int64_t tiles_ = 1, tile_ = 1;  // of columns
};

}  // namespace

std::unique_ptr<Kernel> make_reduction(Reduction::Kind kind, const ReductionExtents& extents,
                                       ReducedElements elements) {
  return std::make_unique<ReductionKernel>(kind, extents, std::move(elements));
}

}  // namespace assay::engine::cpu
