#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "tensor/storage.h"

namespace assay::onnx {

// The reference of a TensorProto to data outside the model file.
struct ExternalReference {
  std::string_view location;  // relative path, in the model file
  std::optional<uint64_t> offset;
  std::optional<uint64_t> length;
};

// The files beside a model that hold its weights, each mapped once, when the first tensor names it. A location may not
// leave the folder: no absolute path, no `..`, no symbolic link to the outside.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The range as storage; Error (io, parse) if the file is missing, outside the folder or too short. Without
  // `needed_bytes` it reaches to the end of the file.
  tensor::StoragePtr open(const ExternalReference& reference, std::optional<uint64_t> needed_bytes);

 private:
  std::shared_ptr<const MappedFile> map(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

// Error (parse) unless the location is a relative path without `..`.
void check_location(std::string_view location);

// Stands for weights that were left unread on request; asking for them is an Error (io).
tensor::StoragePtr make_unread(std::string_view location, uint64_t size_bytes);

}  // namespace assay::onnx
