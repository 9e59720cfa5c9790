#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/edit_log.h"
#include "ir/model.h"
#include "ir/topological_sort.h"

namespace assay::ir {

struct NodeSpec {
  Symbol op = kEmpty;
  Symbol domain = kEmpty;
  std::string_view name = {};  // must live as long as the model: from the mapped file, or Edit::keep()
  Symbol overload = kEmpty;
  std::span<const ValueId> operands = {};
  std::span<const Symbol> results = {};  // names; the empty one leaves an output out
  std::span<const Attribute> attributes = {};
  SourceRange source = {};
};

// The raw mutator of a model. Structure always holds after each call: lists of uses, node order, dirty marks up to the
// main graph. Types are not checked. Ids of what was erased stay dead.
class Edit {
 public:
  enum class Purpose { change, import };  // import: what is added is what stands in the file, nothing becomes dirty

  explicit Edit(Model& model, Purpose purpose = Purpose::change)
      : model_(model), importing_(purpose == Purpose::import) {}

  const Model& model() const { return model_; }
  // A log of the edits by this object and its copies from now on, until nobody holds it any more.
  std::shared_ptr<EditLog> log_edits();

  Symbol intern(std::string_view text) { return model_.symbols_.intern(text); }
  // A copy of the text that lives as long as the model.
  std::string_view keep(std::string_view text) { return model_.text(intern(text)); }
  Header& header();
  Origins& origins() { return model_.origins_; }
  void set_source(std::shared_ptr<const MappedFile> file) { model_.source_ = std::move(file); }

  // The first graph is the main graph.
  GraphId add_graph(Symbol name = kEmpty);
  Graph& graph(GraphId id);  // for name and doc
  size_t add_function(Function function);
  Function& function(size_t index);
  // Functions by index, ascending, that nothing calls; the others move up.
  void erase_functions(std::span<const size_t> indices);

  ValueId add_input(GraphId graph, Symbol name, TypeId type = {});
  ValueId add_initializer(GraphId graph, Symbol name, TensorId tensor);
  ValueId add_undefined(GraphId graph, Symbol name);
  TensorId add_tensor(TensorEntry entry);
  // Makes `tensor` the default of an input.
  void set_default(ValueId input, TensorId tensor);
  void set_tensor(TensorId id, tensor::Tensor tensor);
  // Takes the elements of a dense tensor away; type and shape stay.
  void strip_tensor(TensorId id);
  void set_doc(TensorId id, std::string_view doc);

  // Appends to the graph, or puts the node before another one of it.
  NodeId add_node(GraphId graph, const NodeSpec& spec, NodeId before = {});
  void move_before(NodeId node, NodeId before);  // an invalid `before` moves it to the end
  void order_nodes(const GraphOrder& order);     // of all nodes of the graph
  // Gives the nodes of these graphs ids that ascend in the order, and their results too, so that who goes through them
  // in that order reads memory from one end to the other; where they stand stays. For import only: nobody may hold ids.
  void renumber(std::span<const GraphOrder> orders);
  void set_operand(NodeId node, uint32_t index, ValueId value);
  void set_operands(NodeId node, std::span<const ValueId> values);
  void set_outputs(GraphId graph, std::span<const ValueId> values);
  // The graph's inputs, all of them, in another order.
  void order_inputs(GraphId graph, std::span<const ValueId> inputs);
  void replace_uses(ValueId old_value, ValueId new_value);
  void set_attributes(NodeId node, std::span<const Attribute> attributes);
  void set_attribute(NodeId node, Attribute attribute);
  void remove_attribute(NodeId node, Symbol name);
  // The content of an attribute under another name.
  static Attribute renamed(Attribute attribute, Symbol name);
  void set_op(NodeId node, Symbol op, Symbol domain = kEmpty);
  void rename(NodeId node, std::string_view name);
  void rename(ValueId value, Symbol name);
  void set_type(ValueId value, TypeId type);

  // The node's results must have no uses; its bodies die with it.
  void erase(NodeId node);
  // A body that no attribute holds. Those that an attribute loses, by the calls above, die of themselves: to move a
  // body to another node, give it to that node first.
  void erase(GraphId body);
  // Inputs or initializers without uses; all of one graph are removed in one pass over its lists.
  void erase(std::span<const ValueId> values);
  void erase(ValueId value) { erase({&value, 1}); }

 private:
  ValueId add_value(GraphId graph, Symbol name, ValueKind kind);
  void adopt_bodies(NodeId node, std::span<const GraphId> old_bodies);
  void link(NodeId node, NodeId before);
  void unlink(NodeId node);
  void attach(Use& use);
  void detach(Use& use);
  void kill(NodeId node);
  void kill(std::vector<GraphId> bodies);
  void forget(Value& value);
  void log(NodeId node);
  void log(ValueId value);
  void log_all();
  void touch(NodeId node);
  void touch(GraphId graph);
  void touch_users(ValueId value);
  void permute_nodes(std::span<const NodeId> old_nodes, std::span<const ValueId> old_values);
  void permute_values(std::span<const NodeId> new_nodes, std::span<const ValueId> old_values);

  Model& model_;
  bool importing_;
  std::vector<std::weak_ptr<EditLog>> logs_;
};

}  // namespace assay::ir
