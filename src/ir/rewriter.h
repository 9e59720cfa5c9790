#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/edit.h"

namespace assay::ir {

// A value that exists, or a result of a node that a patch adds.
class PatchValue {
 public:
  PatchValue(ValueId existing) : existing_(existing) {}
  bool is_new() const { return !existing_; }

 private:
  friend class Patch;
  friend class Rewriter;
  PatchValue(size_t node, uint32_t result) : node_(node), result_(result) {}
  ValueId existing_;
  size_t node_ = 0;
  uint32_t result_ = 0;
};

struct PatchNode {
  std::string_view op;
  std::string_view domain = {};
  std::string_view name = {};
  std::vector<PatchValue> operands;
  std::vector<Attribute> attributes = {};
  std::vector<TypeId> result_types = {TypeId{}};  // invalid: that of the value it replaces
};

// A local change of one graph, put together without touching the model: nodes to add, values whose uses move, nodes to
// remove. Rewriter::commit applies it as a whole.
class Patch {
 public:
  // Stand-in for the node's result; for further results ask result().
  PatchValue add(PatchNode node);
  PatchValue result(PatchValue of, uint32_t index) const { return {of.node_, index}; }
  void replace(ValueId old_value, PatchValue new_value) { replacements_.push_back({old_value, new_value}); }
  void remove(NodeId node) { removed_.push_back(node); }
  // New nodes stand before this one; by default before the last of the removed nodes.
  void insert_before(NodeId node) { anchor_ = node; }

 private:
  friend class Rewriter;
  struct Replacement {
    ValueId old_value;
    PatchValue new_value;
  };
  std::vector<PatchNode> added_;
  std::vector<Replacement> replacements_;
  std::vector<NodeId> removed_;
  NodeId anchor_;
};

// One applied patch, for explaining and bisecting. Text is made only when it is printed.
struct RewriteStep {
  uint64_t number;          // from 1
  std::string_view reason;  // a literal of the pass
  std::vector<NodeId> removed;
  std::vector<NodeId> added;
};

// Applies patches to a model and keeps account of them: they are numbered across all passes, can be stopped after any
// number, and carry origins from what they replace to what they make.
class Rewriter {
 public:
  explicit Rewriter(Model& model, uint64_t last_step = std::numeric_limits<uint64_t>::max())
      : model_(model), edit_(model), last_step_(last_step) {}

  // Applies the patch. False, and nothing is changed, when the last allowed step is done. A new value takes the name of
  // a removed one that it replaces, so that outputs keep theirs. Types that do not refine what they replace, a new node
  // before its operands, an output that would change its name: bugs of the pass (InternalError).
  bool commit(std::string_view reason, const Patch& patch);
  bool is_done() const { return steps_.size() >= last_step_; }

  const std::vector<RewriteStep>& steps() const { return steps_; }
  // `step 3: merge Conv and BatchNormalization: node `bn1` … -> node …`
  std::string explain(const RewriteStep& step) const;

 private:
  NodeId anchor_of(const Patch& patch) const;
  void check_order(const Patch& patch, NodeId anchor) const;
  void check_types(const Patch& patch) const;
  void check_outputs(const Patch& patch) const;
  void add_nodes(const Patch& patch, NodeId anchor);
  std::vector<Symbol> result_names(const Patch& patch, size_t node);
  ValueId resolve(const PatchValue& value) const;
  Symbol fresh_name(std::string_view base);

  Model& model_;
  Edit edit_;
  uint64_t last_step_;
  uint64_t next_name_ = 0;
  std::vector<RewriteStep> steps_;
  std::vector<NodeId> made_;  // nodes of the patch that is being applied
};

}  // namespace assay::ir
