#include "tensor/datum.h"

#include <utility>

#include "base/check.h"

namespace assay::tensor {

Datum::Datum(Tensor tensor) : kind_(Kind::tensor), declared_(tensor.dtype()), tensor_(std::move(tensor)) {}

Datum::Datum(Tensor tensor, DType declared) : kind_(Kind::tensor), declared_(declared), tensor_(std::move(tensor)) {}

Datum Datum::sequence(std::vector<Datum> items) {
  Datum datum;
  datum.kind_ = Kind::sequence;
  datum.items_ = std::make_shared<const std::vector<Datum>>(std::move(items));
  return datum;
}

Datum Datum::map(Tensor keys, Tensor values) {
  ASSAY_CHECK(keys.count() == values.count());
  Datum datum;
  datum.kind_ = Kind::map;
  datum.declared_ = values.dtype();
  datum.tensor_ = std::move(values);
  datum.keys_ = std::make_shared<const Tensor>(std::move(keys));
  return datum;
}

const Tensor& Datum::tensor() const {
  ASSAY_CHECK(is_tensor());
  return tensor_;
}

DType Datum::declared() const {
  ASSAY_CHECK(is_tensor() || is_map());
  return declared_;
}

const std::vector<Datum>& Datum::items() const {
  ASSAY_CHECK(is_sequence());
  return *items_;
}

const Tensor& Datum::keys() const {
  ASSAY_CHECK(is_map());
  return *keys_;
}

const Tensor& Datum::values() const {
  ASSAY_CHECK(is_map());
  return tensor_;
}

}  // namespace assay::tensor
