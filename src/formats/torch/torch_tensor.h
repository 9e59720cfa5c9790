#pragma once

#include <memory>

#include "base/files.h"
#include "tensor/tensor.h"

namespace assay::formats {

// The tensor, or parameter, that `torch.save` wrote as a zip archive; it is row-major here. Error (parse) for other
// objects and for tensors that are not dense.
tensor::Tensor torch_tensor(const std::shared_ptr<const MappedFile>& file);

}  // namespace assay::formats
