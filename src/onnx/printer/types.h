#pragma once

#include <string>

#include "ir/model.h"

namespace assay::onnx {

// `float`, `int64`, …; `dtype(77)` for a number that ONNX does not list.
void append_dtype(std::string& out, tensor::DType dtype);

// Prints types.
class TypePrinter {
 public:
  explicit TypePrinter(const ir::Model& model) : model_(model) {}

  void append(std::string& out, ir::TypeId id) { append(out, id, 0); }
  // A name behind its type, where that is known.
  void append_named(std::string& out, ir::TypeId type, std::string_view name);

 private:
  void append(std::string& out, ir::TypeId id, int depth);
  void append_kind(std::string& out, const ir::Type& type, int depth);
  void append_wrapped(std::string& out, const ir::Type& type, int depth);
  void append_tensor(std::string& out, const ir::Type& type);
  void append_opaque(std::string& out, const ir::Type& type);
  void append_dim(std::string& out, ir::DimId dim);

  const ir::Model& model_;
};

}  // namespace assay::onnx
