#pragma once

#include <string>
#include <unordered_map>

#include "ir/clone.h"
#include "passes/pass.h"

namespace assay::passes {

// Puts the contents of a body or a function in the place of a node that stands for them.
class Splicer {
 public:
  explicit Splicer(PassRun& run) : run_(run) {}

  struct Job {
    ir::NodeId node;
    ir::GraphId contents;
    const std::map<ir::Symbol, ir::Attribute>* bindings = nullptr;  // see ir::ClonePlan
    bool drops_named_dims = false;
    bool takes_operands = true;  // the inputs of `contents` stand for the operands of the node
  };
  // The outputs of `contents` stand for the results of the node; there must be no refusal(). One step, named `reason`.
  // Gives the first node that came, or the one that stood behind; nothing when the rewriter is done.
  ir::NodeId splice(const Job& job, std::string_view reason);
  // The reason for which a node cannot give way to these contents; empty if it can.
  std::string refusal(const Job& job) const;

 private:
  struct Handover {
    ir::ValueId from;
    ir::ValueId to;
  };

  std::string unique_prefix(ir::NodeId node);
  void hand_over(const Handover& item, ir::NodeId node, std::vector<ir::NodeId>& made);
  ir::ValueId add_copy(const Handover& item, ir::NodeId node, std::vector<ir::NodeId>& made);

  PassRun& run_;
  uint32_t first_made_ = 0;  // values from here on are copies
  std::unordered_map<std::string, uint64_t> prefixes_;
};

}  // namespace assay::passes
