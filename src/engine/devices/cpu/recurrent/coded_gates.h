#pragma once

#include <vector>

#include "engine/device/buffer.h"
#include "engine/devices/cpu/recurrent/direction.h"
#include "engine/devices/cpu/tiles/code_zeros.h"

namespace assay::engine::cpu {

// Constant codes of one direction, by which rows are multiplied that become codes before.
class CodedGates {
 public:
  CodedGates(const Layer& layer, const Recurrence& recurrence, const RecurrentCodes& codes);
  // Bytes of scratch memory for so many rows that lie `pitch` numbers apart.
  static uint64_t scratch_bytes(int64_t rows, int64_t pitch);
  // Adds the product of rows that lie one behind the other to the gates `out`. Numbers behind the depth of a row are 0.
  struct Rows {
    const float* numbers;
    int64_t count, pitch;
  };
  void add_product(const Rows& rows, std::byte* scratch, float* out) const;

 private:
  struct Given;
  struct Columns {
    int64_t begin, end;
  };
  // Takes codes in which the columns of a gate are whole vectors.
  CodedGates(const Layer& layer, const Recurrence& recurrence, const RecurrentCodes& wide, int64_t gates);
  void multiply(const Given& given, int64_t first, int64_t count, int64_t column) const;
  void add_sums(const Given& given, const int32_t* sums, Columns columns, float* gates) const;

  int64_t depth_, columns_, gate_;  // columns of all gates and of one
  int64_t out_gate_, out_row_;      // from one gate to the next, and from one row of them
  int64_t panel_columns_;
  Buffer panels_;
  CodeZeros zeros_;
  std::vector<float> scales_;  // by column
};

}  // namespace assay::engine::cpu
