#pragma once

#include <vector>

#include "engine/device/kernel.h"

namespace assay::engine::cpu {

// The one code that an input of the layer holds.
int32_t code_of(const Arguments& arguments, int input, bool is_signed);

// The numbers that the zero points of data and weights take off the sums of a product of codes.
class CodeZeros {
 public:
  struct Given {
    tensor::DType data_type = tensor::DType::uint8;
    int32_t zero = 0;                             // of the data, where it is known
    int input = -1;                               // of the layer, which has it otherwise
    const tensor::Tensor* weights = nullptr;      // int8
    size_t axis = 0;                              // of their result channels or columns
    const std::vector<int32_t>* zeros = nullptr;  // of the weights, by channel or column; empty: all are 0
  };
  explicit CodeZeros(const Given& given);

  bool are_signed() const { return are_signed_; }  // the data
  int32_t of_data(const Arguments& arguments) const;
  // The numbers with which sums begin, by channel or column, for this zero point of the data; `made` may hold them.
  const int32_t* starts(int32_t zero, std::vector<int32_t>& made) const;
  // The starts for codes with a sign that are multiplied as they are.
  const int32_t* plain_starts(int32_t zero, std::vector<int32_t>& made) const;
  // The sums of the weights by channel or column.
  const int32_t* sums() const { return sums_.data(); }
  // By what sums of the data under a window, less the zero point, are multiplied to be added to them; null: nothing is.
  const int32_t* row_factors() const { return row_factors_.empty() ? nullptr : row_factors_.data(); }

 private:
  bool are_signed_;
  int32_t zero_;
  int input_;
  // By channel or column, with room for whole panels of each group.
  std::vector<int32_t> sums_, starts_, row_factors_;
};

}  // namespace assay::engine::cpu
