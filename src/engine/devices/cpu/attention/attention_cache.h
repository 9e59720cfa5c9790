#pragma once

#include <array>
#include <vector>

#include "engine/devices/cpu/attention/attention_matrices.h"

namespace assay::engine::cpu {

// Rows of numbers that an attention reads, with strides in elements.
struct FloatRows {
  const float* first = nullptr;
  int64_t row = 0, column = 0;
  int64_t begin = 0, end = 0;  // range of the rows

  int64_t size() const { return end - begin; }
};

// The keys or the values of an attention: those of the past, then those that the layer is given. What is read for the
// first time is kept on the way, while it is in the first cache.
class AttentionRows {
 public:
  struct Form {
    tensor::DType dtype;  // of those that are given; what else is there of bfloat16 is rounded to it
    std::vector<int64_t> items;
    int64_t rows = 0, width = 0;
    bool is_large = false;  // to be kept past the processor's caches
  };
  // Rows to read, and dense rows of floats for those that do not lie so.
  struct Wanted {
    int64_t item, begin, end;
    bool keeps;
    float* tile;
    int64_t tile_row;
  };

  AttentionRows(Form form, Matrices fresh, AttentionCache cache);

  // True if the rows of an item are kept, and by no other item.
  bool are_kept_by(int64_t item) const;
  // Rows of the past, and those behind them; one of the two may be none.
  std::array<FloatRows, 2> read(const Arguments& arguments, const Wanted& wanted) const;
  // Keeps what lies in columns, of which a few rows are no piece of memory, before anything is read.
  void keep_columns(const Arguments& arguments, int64_t item) const;
  // Keeps the rows from `begin` on, which nobody reads; the tile has room for kStep.
  void keep_rest(const Arguments& arguments, int64_t item, int64_t begin, float* tile) const;
  static constexpr int64_t kStep = 32;  // rows that stay in the first cache

  bool has_dense_rows() const;
  // True if the rows can be multiplied where they lie.
  bool lie_in_rows() const { return has_dense_rows() && form_.dtype == tensor::DType::float32; }

 private:
  struct Part {
    const Matrices* matrices;
    tensor::DType dtype;
    int64_t first;  // row
    int64_t begin, end;
  };
  std::array<Part, 2> parts(int64_t begin, int64_t end) const;
  FloatRows read_part(const Arguments& arguments, const Part& part, const Wanted& wanted) const;
  FloatRows widen_part(const Arguments& arguments, const Part& part, const Wanted& wanted) const;
  void keep_part(const Arguments& arguments, const Part& part, int64_t item) const;
  void keep_run(const float* from, std::byte* to, int64_t count) const;
  const std::byte* place(const Arguments& arguments, const Part& part, int64_t item) const;
  std::byte* kept_place(const Arguments& arguments, int64_t item, int64_t row) const;
  bool keeps_columns() const { return cache_.kept.exist() && cache_.kept.column != 1; }

  Form form_;
  Matrices fresh_;
  AttentionCache cache_;
};

}  // namespace assay::engine::cpu
