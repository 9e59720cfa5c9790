#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/model.h"
#include "onnx/export/rope.h"
#include "onnx/wire.h"

namespace assay::onnx {

// The place of a model's weights when it is written.
struct Placement {
  // Initializers of more than `threshold` bytes go into this file beside the model; empty: all stay inside.
  std::string external_name;
  uint64_t threshold = 1024;
  uint64_t alignment = 4096;
  bool one_file = true;  // otherwise one file a tensor, named after it
  // Tensors that are only referred to, at no place in particular; whoever reads the model gets them another way.
  std::unordered_set<const ir::TensorEntry*> detached;
  // The model goes to another folder than that of its external data: what lay there must be written anew.
  bool leaves_folder = false;
};

// Tensors that were placed outside, to be written after the model's own bytes are known.
struct ExternalPiece {
  std::string file;
  uint64_t offset = 0;
  tensor::StoragePtr storage;
};

// Encodes tensors and types.
class TensorExporter {
 public:
  TensorExporter(const ir::Model& model, const Placement& placement) : model_(model), placement_(placement) {}

  // True if the bytes in the source still hold for this tensor.
  bool is_clean(const ir::TensorEntry& entry, bool is_initializer) const;
  Rope tensor(const ir::TensorEntry& entry, std::string_view name, bool is_initializer);
  Rope sparse_tensor(const ir::TensorEntry& entry, std::string_view name);
  Rope type(ir::TypeId id) const;
  void value_info(Rope& rope, uint32_t number, std::string_view name, ir::TypeId type);

  std::vector<ExternalPiece> take_external() { return std::move(external_); }

 private:
  bool moves(const ir::TensorEntry& entry) const;
  bool goes_outside(const ir::TensorEntry& entry, bool is_initializer) const;
  Rope reference(const tensor::Tensor& tensor, std::string_view name) const;
  Rope renamed(const Message& source, std::string_view name) const;
  std::string new_file_name(std::string_view tensor_name);
  void place_outside(Rope& rope, const tensor::Tensor& tensor, std::string_view name);
  void encode_content(Rope& rope, const tensor::Tensor& tensor) const;
  Rope dense(const tensor::Tensor& tensor, std::string_view name) const;
  void header(Rope& rope, const tensor::Tensor& tensor, std::string_view name) const;
  Rope shape(const ir::Type& type) const;
  const std::string& type_bytes(ir::TypeId id);

  const ir::Model& model_;
  Placement placement_;
  std::vector<ExternalPiece> external_;
  uint64_t external_end_ = 0;
  std::unordered_set<std::string> file_names_;
  std::unordered_map<ir::TypeId, std::string> type_bytes_;
};

}  // namespace assay::onnx
