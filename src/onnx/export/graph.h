#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "onnx/export/rope.h"
#include "onnx/export/tensor.h"
#include "onnx/wire.h"

namespace assay::onnx {

// Encodes graphs, nodes and functions. What is clean is copied from the source, byte for byte; fields that the model
// does not hold are carried over in their place.
class GraphExporter {
 public:
  GraphExporter(const ir::Model& model, TensorExporter& tensors);

  // True if the source's bytes can be used as they are.
  bool is_clean(ir::GraphId graph) const;
  bool is_clean(const ir::Function& function) const;
  Rope graph(ir::GraphId id);
  Rope function(const ir::Function& function);

 private:
  // The graph that is being written, and where it came from.
  struct Body {
    ir::GraphId id;
    const ir::Function* function = nullptr;
    const ir::SourceRange* source = nullptr;
  };
  // All fields of one kind, written where the source has the first of them.
  struct Section {
    uint32_t number;
    uint32_t second_number;  // of fields that are mixed with it; 0: none
    void (GraphExporter::*write)(Rope&, const Body&);
  };

  void mark_unclean(ir::GraphId graph);
  void find_unclean_nodes();
  bool has_unclean_tensor(const ir::Node& node) const;
  Rope sections_in_order(const Body& body, std::span<const Section> sections);

  void write_name(Rope& rope, const Body& body);
  void write_doc(Rope& rope, const Body& body);
  void write_nodes(Rope& rope, const Body& body);
  void write_initializers(Rope& rope, const Body& body);
  void write_inputs(Rope& rope, const Body& body);
  void write_outputs(Rope& rope, const Body& body);
  void write_value_infos(Rope& rope, const Body& body);
  void collect_described(const Body& body);
  void enter_described(ir::ValueId value);
  void write_described_values(Rope& rope, const Body& body, uint32_t number);
  void write_domain(Rope& rope, const Body& body);
  void write_overload(Rope& rope, const Body& body);
  void write_input_names(Rope& rope, const Body& body);
  void write_output_names(Rope& rope, const Body& body);
  void write_attribute_names(Rope& rope, const Body& body);
  void write_attribute_defaults(Rope& rope, const Body& body);
  void write_opsets(Rope& rope, const Body& body);

  Rope node(ir::NodeId id);
  bool is_clean(const ir::Attribute& attribute) const;
  void attribute_list(Rope& rope, const Message* source, uint32_t number, std::span<const ir::Attribute> attributes);
  Rope attribute(const ir::Attribute& attribute);
  void attribute_numbers(Rope& rope, const ir::Attribute& attribute);
  void attribute_objects(Rope& rope, const ir::Attribute& attribute);
  void graph_values(Rope& rope, const Body& body, uint32_t number, std::span<const ir::ValueId> values);
  void value_field(Rope& rope, uint32_t number, const Field* source, ir::ValueId value);
  std::optional<Message> source_of(const Body& body) const;
  ir::Symbol source_name(ir::ValueId value) const;
  std::string_view name_of(ir::ValueId value) const;

  const ir::Model& model_;
  TensorExporter& tensors_;
  std::vector<bool> unclean_graphs_;
  std::vector<bool> unclean_nodes_;
  // While value_infos are written: values still to be described, by the names that the source has for them.
  std::vector<ir::ValueId> by_symbol_;
  std::vector<ir::Symbol> described_;
  std::vector<ir::ValueId> new_described_;  // results that the source may say nothing of, in order
  int depth_ = 0;
};

}  // namespace assay::onnx
