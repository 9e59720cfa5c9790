#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "ir/edit.h"
#include "ir/naming.h"

namespace assay::ir {

// A value that exists, a constant or a result of a node that a patch adds, or none: an operand that is left out.
class PatchValue {
 public:
  PatchValue() = default;
  PatchValue(ValueId existing) : existing_(existing) {}  // NOLINT: values are operands
  bool is_new() const { return kind_ != Kind::existing; }

 private:
  friend class Patch;
  friend class Rewriter;
  enum class Kind : uint8_t { existing, node, constant };
  PatchValue(Kind kind, size_t index, uint32_t result) : kind_(kind), index_(index), result_(result) {}
  ValueId existing_;
  Kind kind_ = Kind::existing;
  size_t index_ = 0;
  uint32_t result_ = 0;
};

struct PatchNode {
  std::string_view op;
  std::string_view domain = {};
  std::string_view name = {};
  std::vector<PatchValue> operands = {};
  std::vector<Attribute> attributes = {};
  std::vector<TypeId> result_types = {TypeId{}};  // invalid: that of the value it replaces
};

// A local change of one graph, put together without touching the model: nodes to add, values whose uses move, nodes to
// remove. Rewriter::commit applies it as a whole.
class Patch {
 public:
  // Stand-in for the node's result; for further results ask result().
  PatchValue add(PatchNode node);
  PatchValue result(PatchValue of, uint32_t index) const { return {PatchValue::Kind::node, of.index_, index}; }
  // A tensor as an initializer, or as a Constant node where there are no initializers: in functions. It is named after
  // the value that it replaces, or `name`, with a number if the model already has that.
  PatchValue add_constant(tensor::Tensor tensor, std::string name = {});
  void replace(ValueId old_value, PatchValue new_value) { replacements_.push_back({old_value, new_value}); }
  // An operand of a node that stays.
  void set_operand(NodeId node, uint32_t index, PatchValue value) { operands_.push_back({node, index, value}); }
  void remove(NodeId node) { removed_.push_back(node); }
  // An input or initializer that nothing uses once the patch is applied.
  void remove(ValueId value) { removed_values_.push_back(value); }
  // New nodes stand before this one; by default before the last of the removed nodes.
  void insert_before(NodeId node) { anchor_ = node; }

 private:
  friend class Rewriter;
  struct Replacement {
    ValueId old_value;
    PatchValue new_value;
  };
  struct Operand {
    NodeId node;
    uint32_t index;
    PatchValue value;
  };
  struct Constant {
    tensor::Tensor tensor;
    std::string name;
  };
  std::vector<PatchNode> added_;
  std::vector<Constant> constants_;
  std::vector<Operand> operands_;
  std::vector<ValueId> removed_values_;
  std::vector<Replacement> replacements_;
  std::vector<NodeId> removed_;
  NodeId anchor_;
};

// One applied patch, for explaining and bisecting. Text is made only when it is printed.
struct RewriteStep {
  uint64_t number;          // from 1
  std::string_view reason;  // of the pass; `{0}` and `{1}` in it are the first removed nodes, by operator and name
  std::vector<NodeId> removed;
  std::vector<NodeId> added;
  std::vector<ValueId> removed_values = {};
  std::vector<std::pair<ValueId, ValueId>> replaced = {};  // values, and what stands in their place
  NodeId changed = {};                                     // a node that stays
};

// Applies patches to a model and keeps account of them: they are numbered across all passes, can be stopped after any
// number, and carry origins from what they replace to what they make.
class Rewriter {
 public:
  explicit Rewriter(Model& model, uint64_t last_step = std::numeric_limits<uint64_t>::max())
      : model_(model), edit_(model), last_step_(last_step) {}

  // Applies the patch. False, and nothing is changed, when the last allowed step is done. A new value takes the name of
  // a removed one that it replaces, and so does an existing one that becomes an output, so that outputs keep theirs.
  // Types that do not refine what they replace, a new node before its operands, an output that would change its name:
  // bugs of the pass (InternalError).
  bool commit(std::string_view reason, const Patch& patch);
  // A change that is no patch, made by `change` through edit(): a step for each of these nodes, which stay, or one step
  // if there are none. Nodes that it adds without an origin stand for no node of the source. False: there are not so
  // many steps left, and nothing is changed.
  bool apply(std::string_view reason, std::span<const NodeId> changed, FunctionRef<void()> change);
  // A change that is no patch (an order, a version), made through edit() by whoever records it; false: it must not be.
  bool record(std::string_view reason);
  // Records a change of one node, which stays.
  bool record(std::string_view reason, NodeId changed);
  // Records that a node gave way to others; made before it is recorded, by whoever asked is_done().
  void record(std::string_view reason, NodeId removed, std::vector<NodeId> added);
  bool is_done() const { return steps_left() == 0; }
  uint64_t steps_left() const { return last_step_ - std::min<uint64_t>(last_step_, steps_.size()); }
  // True if an existing value may stand in for another whose node is then removed: its type says as much, and if the
  // other is an output, it can take over its name.
  bool can_replace(ValueId old_value, ValueId new_value) const;

  const Model& model() const { return model_; }
  Edit& edit() { return edit_; }

  const std::vector<RewriteStep>& steps() const { return steps_; }
  // `step 3: fuse BatchNormalization `bn1` into Conv `conv1``; where the reason names no node, they stand behind it:
  // `step 3: merge two Pads: node … -> node …`
  std::string explain(const RewriteStep& step) const;

 private:
  NodeId anchor_of(const Patch& patch) const;
  void check_order(const Patch& patch, NodeId anchor) const;
  void check_operand(const PatchValue& operand, NodeId anchor) const;
  void check_types(const Patch& patch) const;
  bool refines(ValueId new_value, ValueId old_value) const;
  bool can_be_renamed(ValueId value, GraphId graph) const;
  void add_constants(const Patch& patch, NodeId anchor);
  void add_nodes(const Patch& patch, NodeId anchor);
  void replace(const Patch::Replacement& item);
  Symbol taken_name(const Patch& patch, PatchValue::Kind kind, size_t index, uint32_t result) const;
  ValueId resolve(const PatchValue& value) const;

  Model& model_;
  Edit edit_;
  uint64_t last_step_;
  NameCounter names_;
  std::vector<RewriteStep> steps_;
  std::vector<NodeId> made_;             // nodes of the patch that is being applied
  std::vector<ValueId> made_constants_;  // and its constants
};

}  // namespace assay::ir
