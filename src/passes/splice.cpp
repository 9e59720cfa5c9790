#include "passes/splice.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "passes/handing_on.h"

namespace assay::passes {

using ir::NodeId;
using ir::ValueId;

std::string Splicer::refusal(const Job& job) const {
  const ir::Model& model = run_.model();
  const ir::Node& node = model[job.node];
  const std::vector<ValueId>& inputs = model[job.contents].inputs;
  const std::span<const ir::Use> outputs = model.outputs(job.contents);
  if (!job.takes_operands && !inputs.empty()) return "its branch has inputs";
  if ((job.takes_operands && node.operands.size() > inputs.size()) || node.results.size() > outputs.size()) {
    return "it has more operands or results than the node it replaces";
  }
  for (uint32_t i = 0; i < node.results.size(); ++i) {
    const ValueId wanted = result(model, job.node, i);
    if (!wanted || !model[wanted].first_use) continue;
    const ValueId given = outputs[i].value;
    bool is_given = given && model[given].kind != ir::ValueKind::undefined;
    for (uint32_t k = 0; k < inputs.size(); ++k)
      is_given = is_given && (inputs[k] != given || operand(model, job.node, k));
    if (!is_given) return fmt::format("nothing computes `{}`", printable(model.text(model[wanted].name)));
  }
  return {};
}

std::string Splicer::unique_prefix(NodeId node) {
  std::string prefix(ir::known_name(run_.model(), node));
  const uint64_t uses = prefixes_[prefix]++;
  return uses == 0 ? prefix : fmt::format("{}_{}", prefix, uses);
}

// Gives the outer value's name to the value that was made for the result. If an outer value cannot be replaced, a copy
// takes its name.
void Splicer::hand_over(const Handover& item, NodeId node, std::vector<NodeId>& made) {
  const ir::Model& model = run_.model();
  ir::Edit& edit = run_.edit();
  const ir::TypeId type = model[item.from].type;
  const bool is_made = item.to.index >= first_made_ && model[item.to].kind == ir::ValueKind::result;
  if (is_made && type && !model.types().refines(model[item.to].type, type)) edit.set_type(item.to, type);
  const bool fits = run_.rewriter().can_replace(item.from, item.to);
  const ValueId to = fits ? item.to : add_copy(item, node, made);
  if (is_output(model, item.from)) {
    edit.rename(to, model[item.from].name);
    if (type) edit.set_type(to, type);
  } else if (is_made && !is_output(model, to)) {
    edit.rename(to, model[item.from].name);
  }
  edit.replace_uses(item.from, to);
  edit.origins().replace(item.from, to);
}

ValueId Splicer::add_copy(const Handover& item, NodeId node, std::vector<NodeId>& made) {
  const ir::Model& model = run_.model();
  made.push_back(add_identity(run_.edit(), {model[node].graph, item.to, model[item.from].name, node}));
  const ValueId copy = model[made.back()].results[0];
  run_.edit().set_type(copy, model[item.from].type);
  return copy;
}

NodeId Splicer::splice(const Job& job, std::string_view reason) {
  if (run_.rewriter().is_done()) return {};
  const ir::Model& model = run_.model();
  const ir::ClonePlan plan = {job.node, unique_prefix(job.node), job.bindings, job.drops_named_dims};
  first_made_ = model.value_slots();
  ir::Cloner cloner(run_.model(), run_.edit(), plan);
  const std::vector<ValueId> inputs = model[job.contents].inputs;
  for (uint32_t i = 0; i < inputs.size(); ++i) cloner.map(inputs[i], operand(model, job.node, i));
  std::vector<NodeId> made = cloner.copy_contents(job.contents);
  const NodeId behind = model[job.node].next;
  NodeId first = made.empty() ? NodeId{} : made.front();
  for (uint32_t i = 0; i < model[job.node].results.size(); ++i) {
    const ValueId from = result(model, job.node, i);
    if (!from || !model[from].first_use) continue;
    hand_over({from, cloner.mapped(model.outputs(job.contents)[i].value)}, job.node, made);
  }
  if (!first && !made.empty()) first = made.front();
  run_.edit().erase(job.node);
  run_.rewriter().record(reason, job.node, std::move(made));
  return first ? first : behind;
}

}  // namespace assay::passes
