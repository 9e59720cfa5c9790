#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"

namespace assay::engine::cpu {

// The rows of a product, block by block, with those together that read the same of their steps: the others are of
// zeros, and not multiplied.
class RowGroups {
 public:
  struct Group {
    int64_t begin, end;  // in the order of the block
    uint64_t steps;      // a bit for each that is read
  };

  RowGroups() = default;  // of rows that read all steps
  // `steps_of` gives the bits of a row.
  RowGroups(int64_t rows, int64_t block_rows, FunctionRef<uint64_t(int64_t row)> steps_of);

  bool is_empty() const { return order_.empty(); }
  // The groups of the block that begins with a row.
  std::span<const Group> of_block(int64_t row) const;
  // The rows of the block, in order.
  const uint16_t* order_of_block(int64_t row) const { return order_.data() + row; }

 private:
  void add_block(int64_t begin, int64_t end, FunctionRef<uint64_t(int64_t row)> steps_of);

  int64_t block_rows_ = 1;
  std::vector<uint16_t> order_;
  std::vector<Group> groups_;
  std::vector<size_t> first_groups_;  // of blocks
};

}  // namespace assay::engine::cpu
