#pragma once

#include <filesystem>

#include "ir/types.h"
#include "tensor/datum.h"

namespace assay::onnx {

// Reads a file that holds one serialized TensorProto, SequenceProto, OptionalProto or MapProto, as ONNX's backend tests
// store inputs and outputs. Which one it is follows from `type`, a type of `types`. Damage is an Error (parse).
tensor::Datum read_value(const std::filesystem::path& path, const ir::TypeTable& types, ir::TypeId type);

}  // namespace assay::onnx
