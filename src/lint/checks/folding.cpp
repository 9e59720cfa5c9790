#include <fmt/format.h>

#include "ir/queries.h"
#include "lint/check.h"
#include "ops/traits.h"

namespace assay::lint {
namespace {

// True for nodes that stay on purpose: constants themselves, and the forms of quantised or sparse weights.
bool stays(const ir::Model& model, ir::NodeId node) {
  const ops::Traits& traits = ops::traits(model, node);
  const bool fills = traits.is(ops::Nature::generator) && traits.typed_by == "value";
  return ir::is_constant_node(model, node) || fills || traits.is(ops::Nature::quantization);
}

class ConstantNodes {
 public:
  explicit ConstantNodes(const Subject& subject)
      : subject_(subject), model_(subject.model), constant_(model_.node_slots()) {
    for (const ir::NodeId id : ir::nodes(model_, model_.main_graph())) constant_[id.index] = is_constant(id);
  }

  bool contains(ir::NodeId node) const { return constant_[node.index]; }

 private:
  // Deterministic, and all that it reads is constant.
  bool is_constant(ir::NodeId id) const {
    const ir::Node& node = model_[id];
    const ops::Callee& callee = subject_.callees[id];
    if (!callee.op || callee.op->is_random || !model_.bodies(node).empty()) return false;
    for (const ir::Use& use : node.operands) {
      if (!use.value.valid()) continue;
      const ir::Value& value = model_[use.value];
      const bool is_initializer = value.kind == ir::ValueKind::initializer;
      if (!is_initializer && !(value.producer.valid() && contains(value.producer))) return false;
    }
    return true;
  }

  const Subject& subject_;
  const ir::Model& model_;
  std::vector<bool> constant_;  // by node
};

// A region of constant nodes is reported where it ends: at nodes whose results go to what is not constant.
void look_at_folding(const Subject& subject, Findings& findings) {
  const ir::Model& model = subject.model;
  if (!subject.is_sound) return;
  const ConstantNodes constants(subject);
  for (const ir::NodeId id : ir::nodes(model, model.main_graph())) {
    if (!constants.contains(id) || stays(model, id)) continue;
    bool ends_here = false;
    for (const ir::ValueId result : model[id].results) {
      if (!result.valid()) continue;
      for (const ir::Use& use : ir::uses(model, result)) {
        ends_here = ends_here || !constants.contains(use.user) || stays(model, use.user);
      }
    }
    if (ends_here) {
      findings.add(LintLevel::info, kAnalysis, "unfolded_constant", id,
                   "its inputs are all constant: it can be computed once and stored");
    }
  }
}

}  // namespace

Check check_folding() { return {"constant subgraphs that are left unfolded", 60, {{.at_model = look_at_folding}}}; }

}  // namespace assay::lint
