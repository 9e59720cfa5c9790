#pragma once

#include <string>

#include "ir/model.h"
#include "onnx/text.h"

namespace assay::onnx {

// Prints tensors: type, name and content.
class TensorPrinter {
 public:
  explicit TensorPrinter(const TextOptions& options) : options_(options) {}

  // `float[2] x = {1, 2}`; without a name `float[2] {1, 2}`.
  void append(std::string& out, const ir::TensorEntry& entry, std::string_view name);
  // Appends an initializer, which always has a name, be it an empty one.
  void append_initializer(std::string& out, const ir::TensorEntry& entry, std::string_view name);

 private:
  void append_type(std::string& out, const ir::TensorEntry& entry);
  void append_content(std::string& out, const ir::TensorEntry& entry);
  void append_sparse(std::string& out, const ir::SparseTensor& sparse);
  void append_part(std::string& out, const tensor::Tensor& tensor);
  void append_elements(std::string& out, const tensor::Tensor& tensor);

  TextOptions options_;
};

}  // namespace assay::onnx
