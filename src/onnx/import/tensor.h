#pragma once

#include <optional>

#include "ir/model.h"
#include "onnx/import.h"
#include "onnx/import/external.h"
#include "onnx/import/tensor_data.h"

namespace assay::onnx {

inline ir::SourceRange range_of(const Message& message) {
  ir::SourceRange range;
  range.offset = message.offset() - message.header;
  range.size = message.bytes.size() + message.header;
  range.header = message.header;
  range.present = true;
  return range;
}

// Imports TensorProto and SparseTensorProto messages over mapped storage. Sizes are checked here: Error (parse) names
// the tensor.
class TensorImporter {
 public:
  TensorImporter(std::shared_ptr<const MappedFile> file, const ImportOptions& options)
      : file_(std::move(file)), options_(options), external_(options.external_folder) {}

  ir::TensorEntry import(const Message& message);
  ir::TensorEntry import_sparse(const Message& message);

 private:
  // The parts of a TensorProto, before its sizes are checked.
  struct Parts {
    std::string_view name;
    std::string_view doc;
    tensor::DType dtype = tensor::DType::undefined;
    tensor::Shape dims;
    std::optional<Bytes> raw;
    TypedData typed;
    ExternalReference external;
    bool is_external = false;
  };

  static bool is_stripped(const Parts& parts, uint64_t count);
  void read(const Message& message, Parts& parts);
  void read_external(const Message& message, ExternalReference& reference);
  tensor::StoragePtr storage(Parts& parts, uint64_t count);
  tensor::StoragePtr raw_storage(const Parts& parts, uint64_t count);
  tensor::StoragePtr external_storage(const Parts& parts, uint64_t count);

  std::shared_ptr<const MappedFile> file_;
  const ImportOptions& options_;
  ExternalFiles external_;
};

}  // namespace assay::onnx
