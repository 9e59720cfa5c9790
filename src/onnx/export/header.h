#pragma once

#include <string_view>
#include <vector>

#include "ir/model.h"
#include "onnx/export/rope.h"
#include "onnx/wire.h"

namespace assay::onnx {

// Versions that are written in place of the model's; 0: as they are.
struct Versions {
  int64_t ir = 0;
  int64_t opset = 0;  // of the domain ai.onnx
  friend bool operator==(const Versions&, const Versions&) = default;
};

// Writes the fields of a ModelProto that say facts about the whole model, each where the source has the first of its
// kind. What is the same as in the source keeps its bytes.
class HeaderExporter {
 public:
  HeaderExporter(const ir::Model& model, const Versions& versions) : model_(model), versions_(versions) {}

  static bool is_header(uint32_t number);
  void source_field(Rope& rope, const Field& field) { write_once(rope, field.number); }
  // Fields whose numbers are smaller than the graph's, for a model without source.
  void before_graph(Rope& rope);
  // Writes the fields that the source did not have.
  void rest(Rope& rope);

 private:
  void write_once(Rope& rope, uint32_t number);
  void write(Rope& rope, uint32_t number);
  void number_field(Rope& rope, uint32_t number, int64_t value, bool is_needed);
  void opset_imports(Rope& rope);
  void metadata(Rope& rope);
  const Message* source();

  const ir::Model& model_;
  Versions versions_;
  Message root_;
  std::vector<uint32_t> written_;
};

// Writes a list of operator-set imports; those that the source message has too keep its bytes.
void write_opset_imports(Rope& rope, uint32_t number, const ir::Model& model, const Message* source,
                         const std::vector<ir::OpsetImport>& imports);

}  // namespace assay::onnx
