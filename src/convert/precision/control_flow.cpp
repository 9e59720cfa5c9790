#include "convert/precision/control_flow.h"

#include "ops/traits.h"

namespace assay::convert {
namespace {

// Puts ties together by the places of a node's operands and results, and of a body's inputs and outputs.
class TieMaker {
 public:
  TieMaker(const ir::Model& model, ir::NodeId node) : model_(model), node_(node) {}

  void operand(TypeTie& tie, size_t index) { use(tie, node_, index); }
  void result(TypeTie& tie, size_t index) { value(tie, model_[node_].results, index); }
  void body_input(TypeTie& tie, ir::GraphId body, size_t index) { value(tie, model_[body].inputs, index); }
  void body_output(TypeTie& tie, ir::GraphId body, size_t index) { use(tie, model_[body].outputs_node, index); }
  bool is_whole() const { return is_whole_; }

 private:
  void use(TypeTie& tie, ir::NodeId user, size_t index) {
    is_whole_ = is_whole_ && index < model_[user].operands.size();
    tie.uses.push_back({user, static_cast<uint32_t>(index)});
  }
  void value(TypeTie& tie, std::span<const ir::ValueId> values, size_t index) {
    is_whole_ = is_whole_ && index < values.size();
    if (is_whole_ && values[index]) tie.values.push_back(values[index]);
  }

  const ir::Model& model_;
  ir::NodeId node_;
  bool is_whole_ = true;
};

std::vector<TypeTie> if_ties(const ir::Model& model, ir::NodeId node, TieMaker& make) {
  std::vector<TypeTie> ties(model[node].results.size());
  for (size_t i = 0; i < ties.size(); ++i) {
    make.result(ties[i], i);
    for (const ir::GraphId body : model.bodies(model[node])) make.body_output(ties[i], body, i);
  }
  return ties;
}

std::vector<TypeTie> loop_ties(const ir::Model& model, ir::NodeId node, TieMaker& make) {
  const ir::GraphId body = model.bodies(model[node])[0];
  const size_t carried = model[node].operands.size() - std::min<size_t>(2, model[node].operands.size());
  std::vector<TypeTie> ties(std::max(model[node].results.size(), carried));
  for (size_t i = 0; i < ties.size(); ++i) {
    if (i < carried) {
      make.operand(ties[i], 2 + i);
      make.body_input(ties[i], body, 2 + i);
    }
    make.body_output(ties[i], body, 1 + i);
    if (i < model[node].results.size()) make.result(ties[i], i);
  }
  return ties;
}

// Before version 9 the first operand holds lengths and is not handed on.
std::vector<TypeTie> scan_ties(const ir::Model& model, ir::NodeId node, int64_t version, TieMaker& make) {
  const ir::GraphId body = model.bodies(model[node])[0];
  const size_t first = version < 9 ? 1 : 0;
  const ir::Attribute* scanned_count = model.find_attribute(model[node], "num_scan_inputs");
  const size_t operands = model[node].operands.size() - std::min(first, model[node].operands.size());
  const bool is_sane = scanned_count && scanned_count->type() == ir::AttributeType::integer &&
                       scanned_count->integer() >= 0 && static_cast<uint64_t>(scanned_count->integer()) <= operands;
  if (!is_sane) return {};
  const size_t states = operands - static_cast<size_t>(scanned_count->integer());
  std::vector<TypeTie> ties(std::max(operands, states));
  for (size_t i = 0; i < operands; ++i) {
    make.operand(ties[i], first + i);
    make.body_input(ties[i], body, i);
  }
  for (size_t i = 0; i < model[body].inputs.size() && i < states; ++i) make.body_output(ties[i], body, i);
  for (size_t i = 0; i < model[node].results.size(); ++i) {
    TypeTie& tie = i < states ? ties[i] : ties.emplace_back();
    make.result(tie, i);
    if (i >= states) make.body_output(tie, body, i);
  }
  return ties;
}

}  // namespace

std::vector<TypeTie> control_flow_ties(const ir::Model& model, ir::NodeId node, int64_t version) {
  const ops::Bodies way = ops::traits(model, node).bodies;
  const size_t bodies = model.bodies(model[node]).size();
  if (bodies != (way == ops::Bodies::one_of_two ? 2 : 1)) return {};
  TieMaker make(model, node);
  std::vector<TypeTie> ties;
  if (way == ops::Bodies::one_of_two) ties = if_ties(model, node, make);
  if (way == ops::Bodies::again) ties = loop_ties(model, node, make);
  if (way == ops::Bodies::along_axes) ties = scan_ties(model, node, version, make);
  if (!make.is_whole()) ties.clear();
  return ties;
}

}  // namespace assay::convert
