#pragma once

#include <memory>
#include <vector>

#include "onnx/wire.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

namespace assay::onnx {

// The typed data fields of one TensorProto, in file order: float_data, int32_data, int64_data, double_data,
// uint64_data or string_data, packed or not.
struct TypedData {
  std::vector<Field> fields;
};

// Storage over typed data, decoded when its bytes are asked for; data that is one packed run of the element type is
// used where it stands. Error (parse) if the number of elements is not what the shape needs.
tensor::StoragePtr make_typed_storage(std::shared_ptr<const MappedFile> file, TypedData data, tensor::DType dtype,
                                      uint64_t count);

// The number of the field that holds elements of this type, and how many entries `count` elements take there.
uint32_t typed_field(tensor::DType dtype);
uint64_t typed_entries(tensor::DType dtype, uint64_t count);

}  // namespace assay::onnx
