#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "onnx/wire.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// A checkpoint: tensors by key, and the names that variables have in programs.
struct Checkpoint {
  std::map<std::string, tensor::Tensor> tensors;
  std::map<std::string, std::string> keys;  // by the full name of a variable
};

// The checkpoint whose files begin with `prefix`: `variables/variables`. Elements stay in the files. Error (parse): the
// files are damaged, or a shard is missing.
Checkpoint read_checkpoint(const std::filesystem::path& prefix);

}  // namespace assay::tensorflow
