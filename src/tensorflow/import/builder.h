#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/attribute_value.h"
#include "ir/edit.h"
#include "ops/live_inference.h"

namespace assay::tensorflow {

using Values = std::vector<ir::ValueId>;
using Ints = std::vector<int64_t>;
using NamedAttributes = std::vector<std::pair<std::string_view, ir::AttributeValue>>;
using Sizes = std::vector<std::optional<int64_t>>;  // empty items: not known

// A node of ONNX that is to be made.
struct NodeRequest {
  std::string_view op;
  Values operands;
  NamedAttributes attributes = {};
  std::string_view domain = {};
};

// Puts nodes of ONNX and constants into a model, and knows the types of what it made. A value in the order of
// TensorFlow (channels last) may have a twin with channels first; operators on single elements then work on the twins,
// so that the Transposes between them are needed by nothing and go.
class Builder {
 public:
  explicit Builder(ir::Model& model) : model_(model), edit_(model), inference_(edit_) {}

  ir::Model& model() { return model_; }
  ir::Edit& edit() { return edit_; }

  // Chooses the graph in which all that is made from now on stands.
  void enter(ir::GraphId graph) { graph_ = graph; }
  ir::GraphId graph() const { return graph_; }
  ir::GraphId main_graph() const { return model_.main_graph(); }
  // Values that stand for others; those that were made in a body are not there outside of it.
  struct Known {
    std::map<std::pair<ir::ValueId, Ints>, ir::ValueId> transposed;
    std::map<std::pair<ir::ValueId, tensor::DType>, ir::ValueId> cast;
    std::map<ir::ValueId, ir::ValueId> first_of;  // channels last -> its twin
  };
  struct Place {
    ir::GraphId graph;
    Known known;
  };
  // An empty body. It is inferred as soon as a node has it, and while it is filled.
  ir::GraphId add_body(std::string_view name) { return edit_.add_graph(edit_.intern(name)); }
  Place begin_body(ir::GraphId body);
  void end_body(Place outer);
  // Names that are taken, and values that stand for others: to make a body once more, in the place of what was made.
  struct Draft {
    Known known;
    std::set<std::string, std::less<>> names;
    std::set<std::string, std::less<>> node_names;
  };
  Draft draft() const { return {known_, taken_, taken_by_nodes_}; }
  void restore(Draft draft);
  // The node of the file that things are made for from now on: the begin of their names.
  void set_subject(std::string name) { subject_ = std::move(name); }

  Values add_many(const NodeRequest& request, size_t results, std::span<const ir::Attribute> more = {});
  ir::ValueId add(const NodeRequest& request) { return add_many(request, 1).front(); }
  ir::NodeId last_node() const { return last_node_; }
  // A node of an operator that works on single elements, whose operands broadcast.
  ir::ValueId pointwise(const NodeRequest& request);
  // In the main graph, from where bodies have it too.
  ir::ValueId constant(tensor::Tensor tensor);
  ir::ValueId integers(const Ints& items);  // one dimension
  ir::ValueId integer(int64_t item);        // none
  ir::ValueId scalar(tensor::DType dtype, double number);

  // Constants are transposed at once.
  ir::ValueId transpose(ir::ValueId value, const Ints& order);
  ir::ValueId reshape(ir::ValueId value, const Ints& dims);
  ir::ValueId cast(ir::ValueId value, tensor::DType dtype);
  ir::ValueId as_int64(ir::ValueId value) { return cast(value, tensor::DType::int64); }
  // Between channels last and channels first; the way back leads to the value that was there.
  ir::ValueId channels_first(ir::ValueId value);
  ir::ValueId channels_last(ir::ValueId value);

  // Facts about a value, as far as they are known.
  ops::Type type(ir::ValueId value);
  tensor::DType dtype(ir::ValueId value) { return type(value).dtype; }
  std::optional<size_t> rank(ir::ValueId value);
  std::optional<Sizes> sizes(ir::ValueId value);
  const tensor::Tensor* constant_of(ir::ValueId value);
  // All elements of an integer tensor; empty if any is not known.
  std::optional<Ints> known_integers(ir::ValueId value);
  // Each element of an integer tensor of one dimension, as far as they are known.
  std::optional<Sizes> partly_known_integers(ir::ValueId value);
  // True if an integer that computes sizes is surely not negative.
  bool is_size(ir::ValueId value);
  // True if two integers that compute sizes are surely the same.
  bool are_equal(ir::ValueId a, ir::ValueId b);
  // Facts about a type that makers decide by: sizes that only data decides are all the same.
  std::string type_text(ir::ValueId value);
  // Declares what inference cannot find out, as in bodies that are not yet part of a node.
  void declare(ir::ValueId value, tensor::DType dtype, const std::optional<Ints>& dims);

  // Gives a value its name, and the node that makes it; with a number, if another has that name.
  void name(ir::ValueId value, const std::string& name, const std::string& node_name);
  // The name, or with a number, if it is taken; it is taken then.
  ir::Symbol take_name(const std::string& name);
  // Keeps a name for the output that will have it.
  void reserve(const std::string& name) { taken_.insert(name); }
  void release(const std::string& name) { taken_.erase(name); }
  void mark_output(ir::ValueId value) { outputs_.insert(value); }
  bool is_output(ir::ValueId value) const { return outputs_.contains(value); }
  void keep(ir::ValueId value) { kept_.insert(value); }
  void write_types(std::span<const ir::ValueId> values);
  // Removes nodes and constants that nothing uses, but for values that are kept.
  void sweep(ir::GraphId graph);

 private:
  const ops::Inference& inference() { return inference_.now(); }
  ops::Dim number(ir::ValueId value);
  ir::ValueId twin_of(ir::ValueId value) const;
  ir::ValueId pointwise_operand(ir::ValueId value, size_t rank);
  ir::Symbol next_name(std::string_view base);

  ir::Model& model_;
  ir::Edit edit_;
  ops::LiveInference inference_;
  ir::GraphId graph_;
  std::string subject_;
  std::set<std::string, std::less<>> taken_;
  std::set<std::string, std::less<>> taken_by_nodes_;
  ir::NodeId last_node_;
  uint64_t made_ = 0;
  Known known_;
  std::set<ir::ValueId> outputs_;
  std::set<ir::ValueId> kept_;
  std::map<ir::ValueId, ir::TypeId> declared_;
};

// The order of dimensions that moves the channels to the front or to the back.
Ints channels_first_order(size_t rank);
Ints channels_last_order(size_t rank);
// A tensor of one dimension.
tensor::Tensor integer_tensor(const Ints& items);
// The elements in another order of dimensions, made when they are asked for; types of whole bytes.
tensor::Tensor transposed(const tensor::Tensor& tensor, const Ints& order);

}  // namespace assay::tensorflow
