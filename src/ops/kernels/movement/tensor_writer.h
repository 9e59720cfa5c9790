#pragma once

#include <span>
#include <vector>

#include "ops/eval.h"

namespace assay::ops {

// The tensor of an output that is stored run by run, in any order and from several threads; runs of types narrower
// than a byte must not share one.
class TensorWriter {
 public:
  TensorWriter(Eval& node, uint32_t output)
      : node_(node),
        output_(output),
        dtype_(node.stored(node.out_dtype(output))),
        bytes_(tensor::packed_bytes(dtype_, node.out_count(output)).value()) {}

  template <typename C>
  void write(uint64_t first, std::span<const C> values) {
    tensor::store(dtype_, values, first, bytes_);
  }
  void finish() {
    node_.set_tensor(output_, Tensor(dtype_, node_.out_shape(output_), tensor::make_owned(std::move(bytes_))));
  }

 private:
  Eval& node_;
  uint32_t output_;
  DType dtype_;
  std::vector<std::byte> bytes_;
};

}  // namespace assay::ops
