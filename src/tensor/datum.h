#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace assay::tensor {

// A value at run time: nothing (an empty optional), a tensor, a sequence or a map. An optional with content is its
// content. Cheap to copy; immutable.
//
// A tensor has a declared element type beside the one that it is stored in: in fp64 mode every floating tensor is
// stored as float64, whatever the model declares.
class Datum {
 public:
  enum class Kind : uint8_t { none, tensor, sequence, map };

  Datum() = default;
  Datum(Tensor tensor);  // NOLINT: a tensor is a datum
  Datum(Tensor tensor, DType declared);
  static Datum sequence(std::vector<Datum> items);
  // Entry i is keys[i] -> values[i]; both one-dimensional, keys sorted.
  static Datum map(Tensor keys, Tensor values);

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  bool is_sequence() const { return kind_ == Kind::sequence; }
  bool is_map() const { return kind_ == Kind::map; }

  // Each needs its kind.
  const Tensor& tensor() const;
  DType declared() const;
  const std::vector<Datum>& items() const;
  const Tensor& keys() const;
  const Tensor& values() const;

 private:
  Kind kind_ = Kind::none;
  DType declared_ = DType::undefined;
  Tensor tensor_;  // of a map: its values
  std::shared_ptr<const std::vector<Datum>> items_;
  std::shared_ptr<const Tensor> keys_;
};

}  // namespace assay::tensor
