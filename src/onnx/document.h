#pragma once

#include <filesystem>
#include <memory>

#include "onnx/wire.h"

namespace assay::onnx {

// A model file as it was written: its messages and fields in file order, read when asked for, nothing resolved and
// nothing lost.
class Document {
 public:
  // Error (io) if the file cannot be mapped; Error (parse) if its top level is not that of an ONNX model: a damaged
  // field, no graph or two, no opset_import from IR version 3 on.
  static Document open(const std::filesystem::path& path);
  explicit Document(std::shared_ptr<const MappedFile> file);

  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  Message root() const { return {file_->bytes(), file_->bytes().data()}; }

 private:
  void check_top_level() const;
  std::shared_ptr<const MappedFile> file_;
};

}  // namespace assay::onnx
