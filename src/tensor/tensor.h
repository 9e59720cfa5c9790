#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace assay::tensor {

// A dense row-major array: dtype + shape + shared storage. Cheap to copy; elements are immutable through it.
// Types narrower than a byte are packed as in ONNX's raw_data (first element in the lowest bits).
class Tensor {
 public:
  Tensor() = default;
  // Error (shape) if the storage is smaller than dtype and shape need. A dtype of unknown width takes any storage.
  Tensor(DType dtype, Shape shape, StoragePtr storage);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  uint64_t count() const { return count_; }
  uint64_t size_bytes() const { return storage_ ? storage_->size_bytes() : 0; }
  const StoragePtr& storage() const { return storage_; }

  Bytes bytes() const { return storage_ ? storage_->bytes() : Bytes{}; }
  std::span<const std::string> strings() const;

 private:
  DType dtype_ = DType::undefined;
  Shape shape_;
  uint64_t count_ = 0;
  StoragePtr storage_;
};

template <typename T>
Tensor make_tensor(DType dtype, Shape shape, std::span<const T> elements) {
  const auto* begin = reinterpret_cast<const std::byte*>(elements.data());
  return Tensor(dtype, std::move(shape), make_owned({begin, begin + elements.size_bytes()}));
}

// A tensor whose elements were taken out of the model: its bytes give an Error (unsupported).
Tensor make_stripped(DType dtype, Shape shape);

}  // namespace assay::tensor
