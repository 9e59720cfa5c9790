#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tensorflow/import/builder.h"
#include "tensorflow/source/model.h"

namespace assay::tensorflow {

class Importer;

// A list of tensors that have one shape: they stand behind one another in one tensor, whose first dimension counts
// them. Those that were not written are 0.
struct List {
  tensor::DType dtype = tensor::DType::undefined;
  std::optional<Sizes> dims = {};  // of a tensor in the list
  ir::ValueId count = {};          // int64; of a list of which nothing was written, so that no tensor stands for it

  // In the body of a loop that does nothing but write one tensor to it: the tensor, and its index unless it is added at
  // the end.
  bool is_collected = false;
  ir::ValueId written = {};
  ir::ValueId index = {};
};

// A value of the file in the model. Codes of a quantised value stand beside the numbers that they mean.
struct Item {
  ir::ValueId value;     // the numbers
  ir::ValueId codes;     // invalid: not quantised
  std::string variable;  // of a handle: the node that stands for the variable
  const SourceValue* declared = nullptr;
  std::optional<List> list = {};  // the value is a list
};

// A node of the file, at the place in the model where it is made of operators of ONNX.
class Site {
 public:
  Site(Importer& importer, Builder& builder, const SourceGraph& graph, const SourceNode& node, std::vector<Item> inputs,
       std::string_view target);

  const SourceNode& node() const { return node_; }
  bool is_lite() const;
  // The operator of ONNX beside this one in the table of makers.
  std::string_view target() const { return target_; }
  Importer& importer() { return importer_; }
  Builder& build() { return builder_; }

  size_t input_count() const { return inputs_.size(); }
  bool has(size_t index) const;
  const Item& item(size_t index) const;
  const std::vector<Item>& items() const { return inputs_; }
  ir::ValueId input(size_t index) const;
  Values inputs() const;
  // The elements of an input. Error (unsupported) if they are not known: `name` says what they are.
  Ints integers(size_t index, std::string_view name);
  int64_t integer(size_t index, std::string_view name);
  size_t rank(ir::ValueId value);  // Error (unsupported) if it is not known
  // An axis counted from the front.
  int64_t axis(int64_t axis, size_t rank) const;

  bool has_attribute(std::string_view name) const { return node_.attributes.contains(name); }
  int64_t attribute(std::string_view name, int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  Ints list(std::string_view name) const;
  tensor::DType type_attribute(std::string_view name, tensor::DType otherwise) const;

  ir::ValueId add(std::string_view op, Values operands, NamedAttributes attributes = {}) {
    return builder_.add({op, std::move(operands), std::move(attributes)});
  }
  ir::ValueId pointwise(std::string_view op, Values operands, NamedAttributes attributes = {}) {
    return builder_.pointwise({op, std::move(operands), std::move(attributes)});
  }
  ir::ValueId scalar_like(ir::ValueId value, double number) { return builder_.scalar(builder_.dtype(value), number); }
  // Weights with their dimensions in another order; a constant of codes stays one.
  ir::ValueId weights(size_t index, const Ints& order);
  // The value behind the activation that an option asks for.
  ir::ValueId activated(ir::ValueId value);

  // An output; quantised if the file says so. Nothing is done for outputs that the file does not have.
  void give(size_t index, ir::ValueId value);
  void give(size_t index, Item item);
  [[noreturn]] void refuse(std::string_view reason) const;

  // Facts that the file declares of an output; nullptr: none.
  const SourceValue* declared_output(size_t index) const;

  // The outputs that were given, by name.
  std::vector<std::pair<std::string, Item>>& given() { return given_; }

 private:
  ir::ValueId quantized(ir::ValueId value, const SourceValue& declared);

  Importer& importer_;
  Builder& builder_;
  const SourceGraph& graph_;
  const SourceNode& node_;
  std::vector<Item> inputs_;
  std::string_view target_;
  uint32_t first_;  // values that were there before
  std::vector<std::pair<std::string, Item>> given_;
};

// The value that codes stand for.
ir::ValueId dequantized(Builder& builder, ir::ValueId codes, const Quantization& quantization);

}  // namespace assay::tensorflow
