#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ir/model.h"
#include "onnx/export/tensor.h"

namespace assay::onnx {

struct SaveOptions {
  // Put weights of more than `threshold` bytes into this file beside the model.
  std::optional<std::string> external_name;
  uint64_t threshold = 1024;
  uint64_t alignment = 4096;
  bool one_file = true;
  // A file that would be larger than this gets external data though nobody asked: no reader of ONNX accepts it.
  uint64_t single_file_limit = (uint64_t{1} << 31) - 1;
};

struct SaveReport {
  std::string external_name;  // of the file that holds weights; empty: none was written
  uint64_t external_bytes = 0;
};

// Writes a model. One that was not edited keeps its bytes; of an edited one, all that was not touched keeps its bytes.
// Model and data appear under their names only when they are complete.
SaveReport save(const ir::Model& model, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace assay::onnx
