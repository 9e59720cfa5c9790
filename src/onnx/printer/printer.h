#pragma once

#include <string>

#include "onnx/printer/tensors.h"
#include "onnx/printer/types.h"
#include "onnx/text.h"

namespace assay::onnx {

// Prints a model so that parse_text and the package `onnx` read it back. Where the package's syntax has no words, the
// printer uses these extensions, which parse_text reads and the package does not:
//   "a/b" () => () {…}                        a quoted name of a body
//   "my-domain"."my-op":"my overload"         quoted parts of an operator
//   "attr/1" = 1                              a quoted name of an attribute
//   float[2] "a/b" = {1, 2}                   a quoted name of a tensor as an attribute
//   tensors = [float[1] {1}, float[1] {2}]    lists of tensors, of graphs and of types (the package drops the items)
//   a: undefined                              an attribute without type and value
//   a: type_proto = ?                         an attribute whose type is not set; seq() and optional() likewise
//   sparse_tensor(float[9]) w = {float[2] {1, 2}, int64[2] {0, 5}}   a sparse tensor: its values, its indices
//   float[N] @"DATA_BATCH" x                  a type with a denotation
//   dtype(77)[N] x                            an element type that ONNX does not list
//   opaque("a b","c.d"), opaque(a,"")         opaque types with names that are not identifiers
//   <doc_string: "text", float[2] w = {…}>    the documentation of a graph
//   float[4] w = {...}  # 4 elements left out   a tensor without its content; parse_text refuses it
// Besides, parse_text takes decimal elements of narrow floats (`float16[2] {1.5, 2}`) and plain elements of narrow
// integers (`int4[2] {-1, 7}`), which are printed as the package reads them: as bit patterns and as packed bytes.
class TextPrinter {
 public:
  TextPrinter(const ir::Model& model, const TextOptions& options) : model_(model), types_(model), tensors_(options) {}

  std::string run();

 private:
  void append_header();
  void append_text_field(std::string_view key, std::string_view text);
  void append_opsets(std::span<const ir::OpsetImport> opsets);
  void append_metadata();

  void append_graph(ir::GraphId id);
  void append_named_types(std::span<const ir::ValueId> values);
  void append_descriptions(ir::GraphId id, std::string_view doc);
  void append_description(bool& is_first);
  void append_value_types(ir::GraphId id, bool& is_first);
  void append_nodes(ir::GraphId id);
  void append_node(const ir::Node& node);
  void append_operator(const ir::Node& node);
  void append_line();  // a line break and the indentation
  std::vector<ir::ValueId> output_values(ir::GraphId id) const;
  bool is_output(ir::ValueId value) const;
  std::string_view name_of(ir::ValueId value) const;

  void append_attributes(std::span<const ir::Attribute> attributes);
  void append_attribute(const ir::Attribute& attribute);
  void append_value(const ir::Attribute& attribute);
  void append_items(const ir::Attribute& attribute);
  void append_objects(const ir::Attribute& attribute);
  void append_type(ir::TypeId type);

  void append_function(const ir::Function& function);
  void append_function_header(const ir::Function& function);
  void append_function_attributes(const ir::Function& function);

  const ir::Model& model_;
  TypePrinter types_;
  TensorPrinter tensors_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace assay::onnx
