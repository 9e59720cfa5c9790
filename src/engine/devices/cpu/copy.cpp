#include "engine/devices/cpu/copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/rows/row_kernels.h"

namespace assay::engine::cpu {
namespace {

struct Dim {
  int64_t size;
  int64_t from;  // strides
  int64_t to;
};

// Dims in the order of the target, outermost first; neighbours that lie alike in both are one.
std::vector<Dim> joined_dims(const TensorDesc& from, const TensorDesc& to) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < to.dims.size(); ++i) {
    if (to.dims[i] != 1) dims.push_back({to.dims[i], from.strides[i], to.strides[i]});
  }
  std::ranges::stable_sort(dims, std::ranges::greater(), &Dim::to);
  std::vector<Dim> joined;
  for (const Dim& dim : dims) {
    const bool joins =
        !joined.empty() && joined.back().from == dim.from * dim.size && joined.back().to == dim.to * dim.size;
    if (joins)
      joined.back() = {joined.back().size * dim.size, dim.from, dim.to};
    else
      joined.push_back(dim);
  }
  return joined;
}

// As many numbers as 16 bytes hold.
template <typename T>
struct Group {
  static constexpr size_t kCount = 16 / sizeof(T);
  using Lanes [[gnu::vector_size(16)]] = T;
};

// The lower or the upper halves of two vectors, one element of each in turn.
template <typename T, size_t kFirst, size_t... kIndex>
typename Group<T>::Lanes zipped(typename Group<T>::Lanes a, typename Group<T>::Lanes b,
                                std::index_sequence<kIndex...>) {
  constexpr size_t kCount = Group<T>::kCount;
  return __builtin_shufflevector(a, b, (kFirst + kIndex / 2 + kIndex % 2 * kCount)...);
}

// A square of as many rows and columns as a vector holds, turned.
template <typename T>
void turn_square(const T* from, int64_t from_row, T* to, int64_t to_row) {
  constexpr size_t kCount = Group<T>::kCount;
  constexpr auto kLanes = std::make_index_sequence<kCount>();
  typename Group<T>::Lanes rows[kCount];
  typename Group<T>::Lanes zips[kCount];
  for (size_t i = 0; i < kCount; ++i) std::memcpy(&rows[i], from + static_cast<int64_t>(i) * from_row, sizeof rows[i]);
  for (size_t stage = 1; stage < kCount; stage *= 2) {
    for (size_t i = 0; i < kCount / 2; ++i) {
      zips[2 * i] = zipped<T, 0>(rows[i], rows[i + kCount / 2], kLanes);
      zips[2 * i + 1] = zipped<T, kCount / 2>(rows[i], rows[i + kCount / 2], kLanes);
    }
    std::ranges::copy(zips, rows);
  }
  for (size_t i = 0; i < kCount; ++i) std::memcpy(to + static_cast<int64_t>(i) * to_row, &rows[i], sizeof rows[i]);
}

template <typename T>
class CopyKernel final : public PlainKernel {
 public:
  CopyKernel(const TensorDesc& from, const TensorDesc& to) : dims_(joined_dims(from, to)), is_empty_(to.count() == 0) {
    while (dims_.size() < 2) dims_.insert(dims_.begin(), {1, 0, 0});
    for (size_t i = 0; i + 2 < dims_.size(); ++i) outer_ *= dims_[i].size;
    if (dims_.back().size < kBlock) block_ = kBlock * kBlock;
  }

  void run(const Arguments& arguments) const override {
    if (is_empty_) return;
    const T* const from = host<const T>(arguments.inputs[0]);
    T* const to = host<T>(arguments.outputs[0]);
    const Dim& middle = dims_[dims_.size() - 2];
    const int64_t block = rows_at_once();
    const int64_t blocks = (middle.size + block - 1) / block;
    const int64_t work = block * dims_.back().size;
    const int64_t least = are_rows_dense() ? kLeastElements / 4 : kLeastElements;
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, least / std::max<int64_t>(work, 1)));
    parallel_for(static_cast<uint64_t>(outer_ * blocks), grain, [&](uint64_t begin, uint64_t end) {
      for (auto piece = static_cast<int64_t>(begin); piece < static_cast<int64_t>(end); ++piece) {
        copy_piece(from, to, piece / blocks,
                   {piece % blocks * block, std::min(piece % blocks * block + block, middle.size)});
      }
    });
  }

 private:
  static constexpr int64_t kBlock = 16;
  static constexpr int64_t kLeastElements = 1 << 15;

  bool are_rows_dense() const { return dims_.back().from == 1 && dims_.back().to == 1; }

  int64_t rows_at_once() const {
    if (are_rows_dense()) return 1;
    return dims_.back().size < kBlock ? kBlock * kBlock : kBlock;
  }

  // Some rows of the two innermost dims, in square tiles: one side is always read or written across.
  void copy_piece(const T* from, T* to, int64_t outer, Lane lane) const {
    for (size_t i = dims_.size() - 2; i-- > 0;) {
      const int64_t at = outer % dims_[i].size;
      outer /= dims_[i].size;
      from += at * dims_[i].from;
      to += at * dims_[i].to;
    }
    const Dim& rows = dims_[dims_.size() - 2];
    const Dim& columns = dims_.back();
    if constexpr (sizeof(T) == 4 || sizeof(T) == 1) {
      if (rows.from == 1 && rows.to == 3 && columns.size == 3 && columns.to == 1) {
        interleave(from + lane.begin, to + 3 * lane.begin, lane.end - lane.begin, columns.from);
        return;
      }
    }
    if (are_rows_dense()) {
      for (int64_t r = lane.begin; r < lane.end; ++r) {
        std::memcpy(to + r * rows.to, from + r * rows.from, static_cast<size_t>(columns.size) * sizeof(T));
      }
      return;
    }
    for (int64_t c = 0; c < columns.size; c += kBlock) {
      const int64_t end = std::min(c + kBlock, columns.size);
      int64_t done = lane.begin;
      if constexpr (sizeof(T) <= 4) {
        if (rows.from == 1 && columns.to == 1 && end == c + kBlock) done = turn(from, to, c, lane);
      }
      for (int64_t r = done; r < lane.end; ++r) {
        const T* const source = from + r * rows.from;
        T* const target = to + r * rows.to;
        for (int64_t i = c; i < end; ++i) target[i * columns.to] = source[i * columns.from];
      }
    }
  }

  // kBlock columns of as many rows as whole squares have; returns where it stopped.
  int64_t turn(const T* from, T* to, int64_t column, Lane lane) const {
    constexpr auto kSide = static_cast<int64_t>(Group<T>::kCount);
    const int64_t from_row = dims_.back().from;
    const int64_t to_row = dims_[dims_.size() - 2].to;
    int64_t r = lane.begin;
    for (; r + kSide <= lane.end; r += kSide) {
      for (int64_t c = column; c < column + kBlock; c += kSide) {
        turn_square(from + c * from_row + r, from_row, to + r * to_row + c, to_row);
      }
    }
    return r;
  }

  // Pictures of three channels, one after the other, pixel by pixel.
  static void interleave(const T* first, T* to, int64_t count, int64_t stride) {
    using Element = std::conditional_t<sizeof(T) == 1, uint8_t, float>;
    const auto* const from = reinterpret_cast<const Element*>(first);
    const Element* const rows[] = {from, from + stride, from + 2 * stride};
    if constexpr (sizeof(T) == 1)
      row_kernels().interleave3_bytes(rows, to, static_cast<size_t>(count));
    else
      row_kernels().interleave3(rows, reinterpret_cast<Element*>(to), static_cast<size_t>(count));
  }

  std::vector<Dim> dims_;
  bool is_empty_;
  int64_t outer_ = 1;
  int64_t block_ = kBlock;  // rows at once
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

}  // namespace

std::unique_ptr<Kernel> make_copies(const std::vector<CopyPart>& parts) { return std::make_unique<PartsKernel>(parts); }

std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to) {
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
