#pragma once

#include <span>
#include <string_view>

#include "tensorflow/import/site.h"

namespace assay::tensorflow {

// A row of the table of operators: names in TensorFlow and in TFLite, if there are such operators, the function that
// makes the same of operators of ONNX, and the operator of ONNX that it makes, where several rows share the function.
struct Maker {
  std::string_view tensorflow;
  std::string_view lite;
  void (*make)(Site& site);
  std::string_view target = {};
};

using Makers = std::span<const Maker>;

// The families, a file each.
Makers elementwise_makers();
Makers activation_makers();
Makers reduction_makers();
Makers convolution_makers();
Makers pooling_makers();
Makers matrix_makers();
Makers normalization_makers();
Makers resize_makers();
Makers shape_makers();
Makers slice_makers();
Makers join_makers();
Makers index_makers();
Makers block_makers();
Makers quantization_makers();
Makers control_makers();
Makers list_makers();
Makers recurrent_makers();

// All families.
std::span<const Makers> all_makers();
// The row of an operator; nullptr: it is not known.
const Maker* find_maker(bool is_lite, std::string_view op);

}  // namespace assay::tensorflow
