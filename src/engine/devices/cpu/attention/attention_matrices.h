#pragma once

#include <cstdint>
#include <vector>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// A stack of matrices of an input or result of a layer, with strides in elements.
struct Matrices {
  int input = -1;          // of the layer; -1: there are none
  bool is_result = false;  // `input` is the number of a result
  std::vector<int64_t> items;
  int64_t row = 0, column = 0;

  bool exist() const { return input >= 0; }
};

// The matrices of an input whose first dims are those of the items, or 1, or missing.
Matrices matrices_of(int input, const TensorDesc& desc, const tensor::Shape& items);

// The offset of an item's matrix from the first one.
int64_t element_of(const Matrices& matrices, const std::vector<int64_t>& items, int64_t item);

// A result as if its dims were in the order in which they were before a Transpose in this one; empty: none.
TensorDesc turned_back(const TensorDesc& out, const std::vector<int64_t>& order);

// The first element of the first matrix.
std::byte* first_byte(const Matrices& matrices, const Arguments& arguments);

}  // namespace assay::engine::cpu
