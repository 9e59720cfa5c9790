#pragma once

#include <memory>
#include <optional>

#include "base/files.h"
#include "onnx/wire.h"
#include "tensor/tensor.h"

namespace assay::tensorflow {

// A TensorProto; raw elements stay in the file. Empty for types that are not imported, as strings. Error (parse): it is
// damaged.
std::optional<tensor::Tensor> read_tensor_proto(const onnx::Message& message,
                                                const std::shared_ptr<const MappedFile>& file);
// The texts of a TensorProto of strings.
std::vector<std::string> read_string_tensor(const onnx::Message& message);
// The dims of a TensorShapeProto, -1 for those that are not known; empty: not even the rank is.
std::optional<std::vector<int64_t>> read_shape_proto(const onnx::Message& message);

}  // namespace assay::tensorflow
