#include "engine/devices/cpu/rotary/rotation.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "engine/devices/cpu/rotary/rotary_kernels.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/layers/element_walk.h"

namespace assay::engine::cpu {
namespace {

using Kind = Rotation::Kind;

constexpr int64_t kRotaryGrain = 1 << 14;  // elements
constexpr int64_t kBlock = 1 << 11;        // elements of rows whose pieces are computed one after the other
constexpr size_t kMostOperands = 4, kMostPieces = 8;

// The layout of rows of an operand, or of the result.
struct Stream {
  int input = -1;
  int64_t first = 0;
  std::vector<int64_t> strides;  // by dim of the rows
  int64_t by_position = 0;       // elements from the row of one position to that of the next
};
struct PieceOfRows {
  Kind kind = Kind::copy;
  int64_t width = 0;
  int64_t first = 0;  // in the result
  std::vector<Stream> streams;
};

// The dims before the last one.
TensorDesc rows_of(const TensorDesc& desc) {
  TensorDesc rows = desc;
  if (rows.dims.empty()) return rows;
  rows.dims.pop_back();
  rows.strides.pop_back();
  return rows;
}

bool lies_side_by_side(const TensorDesc& desc) { return desc.dims.back() == 1 || desc.strides.back() == 1; }

class RotationKernel final : public PlainKernel {
 public:
  static std::unique_ptr<RotationKernel> make(const Rotation& rotation) {
    auto kernel = std::unique_ptr<RotationKernel>(new RotationKernel());
    return kernel->read(rotation) ? std::move(kernel) : nullptr;
  }

  void run(const Arguments& arguments) const override {
    if (positions_) check(host<const int64_t>(arguments.inputs[static_cast<size_t>(positions_->input)]));
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kRotaryGrain / width_));
    parallel_for(static_cast<uint64_t>(rows_), grain, [&](uint64_t begin, uint64_t end) {
      run_rows(arguments, static_cast<int64_t>(begin), static_cast<int64_t>(end));
    });
  }

 private:
  RotationKernel() = default;

  bool read(const Rotation& rotation) {
    const TensorDesc rows = rows_of(rotation.out);
    extents_ = walked_extents(rows);
    rows_ = rows.count();
    width_ = rotation.out.dims.back();
    dtype_ = rotation.out.dtype;
    bytes_ = float_bytes(dtype_);
    scale_ = rotation.scale;
    out_.strides = *walked_strides(rows, rows);
    if (!lies_side_by_side(rotation.out) || rotation.pieces.size() > kMostPieces) return false;
    int64_t first = 0;
    for (const Rotation::Piece& given : rotation.pieces) {
      PieceOfRows piece{given.kind, given.width, first, {}};
      for (const Rotation::Operand& operand : given.operands) {
        std::optional<std::vector<int64_t>> strides = walked_strides(rows_of(operand.desc), rows);
        if (!strides || !lies_side_by_side(operand.desc)) return false;
        const int64_t by_position = operand.is_by_position ? rotation.positions->row : 0;
        piece.streams.push_back({operand.input, operand.first, *std::move(strides), by_position});
      }
      first += given.width;
      pieces_.push_back(std::move(piece));
    }
    if (rotation.positions) {
      std::optional<std::vector<int64_t>> strides = walked_strides(rotation.positions->desc, rows);
      if (!strides) return false;
      positions_ = rotation.positions;
      position_strides_ = *std::move(strides);
    }
    join_dims();
    return true;
  }

  // Dims of rows that all run through alike become one.
  void join_dims() {
    std::vector<std::vector<int64_t>*> strides = {&out_.strides};
    for (PieceOfRows& piece : pieces_) {
      for (Stream& stream : piece.streams) strides.push_back(&stream.strides);
    }
    if (positions_) strides.push_back(&position_strides_);
    join_walked(extents_, strides);
  }

  void check(const int64_t* positions) const {
    const int64_t end = positions_->rows - positions_->following;
    for (int64_t i = 0; i < positions_->desc.count(); ++i) {
      if (positions[i] >= 0 && positions[i] < end) continue;
      const bool is_in_cache = positions[i] >= 0 && positions[i] < positions_->rows;
      fail(ErrorCode::shape, "position {} is out of range for {} rows of the cache",
           is_in_cache ? positions[i] + positions_->following : positions[i], positions_->rows);
    }
  }

  void run_rows(const Arguments& arguments, int64_t begin, int64_t end) const {
    const int64_t inner = extents_.back();
    for (int64_t at = begin; at < end;) {
      const int64_t count = std::min(end - at, inner - at % inner);
      run_even(arguments, at, count);
      at += count;
    }
  }

  struct Lines {
    const std::byte* first = nullptr;
    int64_t row = 0;  // in elements
  };
  using Operands = std::array<Lines, kMostOperands>;

  // Rows that have positions at one distance, at most as many as there are, and that distance.
  struct Run {
    int64_t rows = 1, first = 0, step = 0;
  };
  Run find_run(const int64_t* positions, int64_t most) const {
    if (positions == nullptr) return {most};
    const int64_t stride = position_strides_.back();
    Run run{1, *positions, most > 1 ? positions[stride] - *positions : 0};
    while (run.rows < most && positions[run.rows * stride] - positions[(run.rows - 1) * stride] == run.step) ++run.rows;
    return run;
  }

  // Rows of one dim.
  void run_even(const Arguments& arguments, int64_t at, int64_t count) const {
    const int64_t block = std::max<int64_t>(1, kBlock / width_);
    std::byte* const out = host<std::byte>(arguments.outputs[0]) + walked_offset(extents_, out_.strides, at) * bytes_;
    std::array<Operands, kMostPieces> lines;
    for (size_t p = 0; p < pieces_.size(); ++p) {
      for (size_t i = 0; i < pieces_[p].streams.size(); ++i) {
        const Stream& stream = pieces_[p].streams[i];
        const int64_t offset = stream.first + walked_offset(extents_, stream.strides, at);
        const auto* const from = host<const std::byte>(arguments.inputs[static_cast<size_t>(stream.input)]);
        lines[p][i] = {from + offset * bytes_, stream.strides.back()};
      }
    }
    const int64_t* positions = nullptr;
    if (positions_) {
      positions = host<const int64_t>(arguments.inputs[static_cast<size_t>(positions_->input)]) +
                  walked_offset(extents_, position_strides_, at);
    }
    for (int64_t row = 0; row < count;) {
      const int64_t* const here = positions == nullptr ? nullptr : positions + row * position_strides_.back();
      const Run run = find_run(here, std::min(block, count - row));
      for (size_t p = 0; p < pieces_.size(); ++p) {
        Operands part = lines[p];
        for (size_t i = 0; i < pieces_[p].streams.size(); ++i) {
          const int64_t by_position = pieces_[p].streams[i].by_position;
          part[i].first += (row * part[i].row + run.first * by_position) * bytes_;
          part[i].row += run.step * by_position;
        }
        run_piece(pieces_[p], part, out + (row * out_.strides.back() + pieces_[p].first) * bytes_, run.rows);
      }
      row += run.rows;
    }
  }

  void run_piece(const PieceOfRows& piece, const Operands& from, std::byte* to, int64_t rows) const {
    const int64_t row = out_.strides.back();
    if (piece.kind == Kind::copy && scale_ == 1) {
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(from[0].first + r * from[0].row * bytes_, piece.width * bytes_, to + r * row * bytes_);
      }
    } else if (dtype_ == tensor::DType::float32) {
      std::array<TapeView, kMostOperands> views;
      for (size_t i = 0; i < from.size(); ++i) views[i] = {reinterpret_cast<const float*>(from[i].first), from[i].row};
      turn(piece.kind, views,
           {reinterpret_cast<float*>(to), row, static_cast<size_t>(rows), static_cast<size_t>(piece.width)});
    } else {
      for (int64_t r = 0; r < rows; ++r) run_widened(piece, from, to + r * row * bytes_, r);
    }
  }

  // One row of another type, in parts that are computed in float32.
  void run_widened(const PieceOfRows& piece, const Operands& from, std::byte* to, int64_t row) const {
    constexpr int64_t kPart = 256;
    float tiles[kMostOperands + 1][kPart];
    for (int64_t first = 0; first < piece.width; first += kPart) {
      const int64_t width = std::min(kPart, piece.width - first);
      std::array<TapeView, kMostOperands> views;
      for (size_t i = 0; i < piece.streams.size(); ++i) {
        const int64_t share = piece.kind == Kind::pairs && i > 0 ? 2 : 1;  // of pairs one number
        const std::byte* const at = from[i].first + (row * from[i].row + first / share) * bytes_;
        views[i] = {read_floats(dtype_, at, tiles[i], static_cast<size_t>(width / share)), 0};
      }
      turn(piece.kind, views, {tiles[kMostOperands], 0, 1, static_cast<size_t>(width)});
      write_floats(dtype_, tiles[kMostOperands], to + first * bytes_, static_cast<size_t>(width));
    }
  }

  void turn(Kind kind, const std::array<TapeView, kMostOperands>& views, const TapeTarget& out) const {
    if (kind == Kind::copy) {
      for (int64_t r = 0; r < static_cast<int64_t>(out.rows); ++r)
        row_kernels().scale(views[0].first + r * views[0].row, scale_, out.first + r * out.row, out.columns);
      return;
    }
    const RotaryKernels& kernels = rotary_kernels(kind == Kind::pairs ? out.columns / 2 : out.columns);
    if (kind == Kind::pairs) return kernels.pairs(views, out);
    if (kind == Kind::neighbours) return kernels.neighbours(views, scale_, out);
    kind == Kind::sum ? kernels.sum(views, scale_, out) : kernels.difference(views, scale_, out);
  }

  std::vector<int64_t> extents_;  // of the rows, as they lie in the result
  int64_t rows_ = 0, width_ = 1;
  tensor::DType dtype_ = tensor::DType::float32;
  int64_t bytes_ = 0;  // of an element
  float scale_ = 1;
  Stream out_;
  std::vector<PieceOfRows> pieces_;
  std::optional<Rotation::Positions> positions_;
  std::vector<int64_t> position_strides_;
};

}  // namespace

std::unique_ptr<Kernel> make_rotation(const Rotation& rotation) {
  return is_float(rotation.out.dtype) ? RotationKernel::make(rotation) : nullptr;
}

}  // namespace assay::engine::cpu
