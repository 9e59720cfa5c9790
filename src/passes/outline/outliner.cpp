#include "passes/outline/outliner.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/constants.h"
#include "ir/queries.h"
#include "passes/same.h"
#include "schema/imports.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr std::string_view kDomain = "assay.outlined";
constexpr int64_t kFirstIrVersion = 8;      // that has functions
constexpr uint64_t kMostInnerBytes = 1024;  // of a constant that goes into the function

class Outliner {
 public:
  Outliner(PassRun& run, const NodeClasses& classes, const match::Repeat& repeat)
      : run_(run), model_(run.model()), edit_(run.edit()), classes_(classes), repeat_(repeat) {}

  bool run();

 private:
  using Values = std::vector<ValueId>;  // one for each occurrence

  NodeId node(size_t occurrence, size_t place) const { return classes_.nodes()[repeat_.starts[occurrence] + place]; }
  bool is_inside(NodeId node, size_t occurrence) const;
  void find_inputs();
  void find_outputs();
  bool is_used_outside(ValueId value, size_t occurrence) const;
  const tensor::Tensor* common_constant(const Values& values);
  std::string function_name() const;
  void make_function();
  void copy_nodes(ir::GraphId body);
  ValueId add_constant(ir::GraphId body, const tensor::Tensor& tensor, std::string_view name);
  std::vector<ValueId> call_operands(size_t occurrence) const;
  NodeId add_call(size_t occurrence, const Values& old_values);
  void make_call(size_t occurrence);
  void import_domain();

  PassRun& run_;
  ir::Model& model_;
  ir::Edit& edit_;
  const NodeClasses& classes_;
  const match::Repeat& repeat_;
  std::map<Values, size_t> input_numbers_;
  std::map<std::pair<size_t, uint32_t>, size_t> input_of_;  // by place and operand
  std::vector<Values> inputs_;
  std::vector<std::pair<size_t, uint32_t>> outputs_;  // place and number of the result
  std::unordered_map<ValueId, ValueId> copies_;       // of the first occurrence
  std::unordered_map<ValueId, ValueId> replaced_;     // results of occurrences by those of calls
  Values inner_;                                      // by input: what stands for it in the function
  std::vector<bool> is_operand_;                      // by input: not a constant of the function
  std::string name_;
};

bool Outliner::is_inside(NodeId node, size_t occurrence) const {
  const size_t place = classes_.place_of(node);
  const size_t start = repeat_.starts[occurrence];
  return place >= start && place < start + repeat_.length;
}

// Operands from outside; those that are one value in every occurrence are one input.
void Outliner::find_inputs() {
  for (size_t i = 0; i < repeat_.length; ++i) {
    for (uint32_t k = 0; k < model_[node(0, i)].operands.size(); ++k) {
      Values values;
      for (size_t n = 0; n < repeat_.starts.size(); ++n) values.push_back(operand(model_, node(n, i), k));
      const NodeId source = producer(model_, values.front());
      const bool is_main = source && model_[source].graph == model_.main_graph();
      if (!values.front() || (is_main && is_inside(source, 0))) continue;
      const auto [input, is_new] = input_numbers_.try_emplace(values, inputs_.size());
      if (is_new) inputs_.push_back(values);
      input_of_[{i, k}] = input->second;
    }
  }
}

bool Outliner::is_used_outside(ValueId value, size_t occurrence) const {
  for (const ir::Use& use : ir::uses(model_, value)) {
    const NodeId user = model_.ancestor_in(use.user, model_.main_graph());
    if (model_[user].is_outputs || !is_inside(user, occurrence)) return true;
  }
  return false;
}

void Outliner::find_outputs() {
  for (size_t i = 0; i < repeat_.length; ++i) {
    for (uint32_t k = 0; k < model_[node(0, i)].results.size(); ++k) {
      bool is_output = false;
      for (size_t n = 0; n < repeat_.starts.size() && result(model_, node(0, i), k); ++n) {
        is_output = is_output || is_used_outside(result(model_, node(n, i), k), n);
      }
      if (is_output) outputs_.emplace_back(i, k);
    }
  }
}

// A small tensor that is the same in every occurrence stays a constant.
const tensor::Tensor* Outliner::common_constant(const Values& values) {
  const tensor::Tensor* first = run_.constant(values.front());
  if (!first || first->size_bytes() > kMostInnerBytes) return nullptr;
  const bool is_common = std::ranges::all_of(values, [&](ValueId value) {
    const tensor::Tensor* other = run_.constant(value);
    return other && (value == values.front() || is_same(*first, *other));
  });
  return is_common ? first : nullptr;
}

std::string Outliner::function_name() const {
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(model_.functions(),
                               [&](const ir::Function& item) { return model_.text(item.name) == name; });
  };
  for (size_t number = 0;; ++number) {
    std::string name = fmt::format("repeat_{}", number);
    if (!is_taken(name)) return name;
  }
}

ValueId Outliner::add_constant(ir::GraphId body, const tensor::Tensor& tensor, std::string_view name) {
  const NodeId made = ir::add_constant_node(edit_, {body, edit_.intern(name), tensor});
  edit_.origins().merge(made, {});
  return model_[made].results[0];
}

void Outliner::copy_nodes(ir::GraphId body) {
  for (size_t i = 0; i < repeat_.length; ++i) {
    const NodeId from = node(0, i);
    std::vector<ValueId> operands;
    for (uint32_t k = 0; k < model_[from].operands.size(); ++k) {
      const ValueId value = operand(model_, from, k);
      const auto input = input_of_.find({i, k});
      operands.push_back(input != input_of_.end() ? inner_[input->second] : value ? copies_.at(value) : ValueId());
    }
    std::vector<ir::Symbol> results;
    for (const ValueId value : model_[from].results) results.push_back(value ? model_[value].name : ir::kEmpty);
    const std::vector<ir::Attribute> attributes(model_[from].attributes.begin(), model_[from].attributes.end());
    const ir::NodeSpec spec = {.op = model_[from].op,
                               .domain = model_[from].domain,
                               .name = model_[from].name,
                               .overload = model_[from].overload,
                               .operands = operands,
                               .results = results,
                               .attributes = attributes,
                               .source = {}};
    const NodeId made = edit_.add_node(body, spec);
    std::vector<NodeId> sources;
    for (size_t n = 0; n < repeat_.starts.size(); ++n) sources.push_back(node(n, i));
    edit_.origins().merge(made, sources);
    for (uint32_t k = 0; k < results.size(); ++k) {
      if (result(model_, from, k)) copies_[result(model_, from, k)] = result(model_, made, k);
    }
  }
}

void Outliner::make_function() {
  name_ = function_name();
  const ir::GraphId body = edit_.add_graph(edit_.intern(name_));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::string name = fmt::format("{}_input_{}", name_, i);
    const tensor::Tensor* constant = common_constant(inputs_[i]);
    is_operand_.push_back(constant == nullptr);
    const ValueId value = constant ? add_constant(body, *constant, name) : edit_.add_input(body, edit_.intern(name));
    inner_.push_back(value);
  }
  copy_nodes(body);
  std::vector<ValueId> outputs;
  for (const auto& [place, number] : outputs_) outputs.push_back(copies_.at(result(model_, node(0, place), number)));
  edit_.set_outputs(body, outputs);
  ir::Function function;
  function.domain = edit_.intern(kDomain);
  function.name = edit_.intern(name_);
  function.body = body;
  function.opset_imports = model_.header().opset_imports;
  function.dirty = true;
  edit_.add_function(std::move(function));
}

void Outliner::import_domain() {
  ir::Header& header = edit_.header();
  header.ir_version = std::max(header.ir_version, kFirstIrVersion);
  schema::import_domain(model_, kDomain);
}

std::vector<ValueId> Outliner::call_operands(size_t occurrence) const {
  std::vector<ValueId> operands;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_operand_[i]) continue;
    const auto found = replaced_.find(inputs_[i][occurrence]);
    operands.push_back(found == replaced_.end() ? inputs_[i][occurrence] : found->second);
  }
  return operands;
}

// The call stands behind the last of its nodes, and its results take their names.
NodeId Outliner::add_call(size_t occurrence, const Values& old_values) {
  const std::vector<ValueId> operands = call_operands(occurrence);
  std::vector<ir::Symbol> names;
  for (const ValueId value : old_values) names.push_back(model_[value].name);
  ir::NodeSpec spec;
  spec.op = edit_.intern(name_);
  spec.domain = edit_.intern(kDomain);
  spec.operands = operands;
  spec.results = names;
  return edit_.add_node(model_.main_graph(), spec, model_[node(occurrence, repeat_.length - 1)].next);
}

void Outliner::make_call(size_t occurrence) {
  Values old_values;
  for (const auto& [place, number] : outputs_) old_values.push_back(result(model_, node(occurrence, place), number));
  const NodeId call = add_call(occurrence, old_values);
  for (uint32_t i = 0; i < old_values.size(); ++i) {
    const ValueId made = result(model_, call, i);
    edit_.set_type(made, model_[old_values[i]].type);
    edit_.replace_uses(old_values[i], made);
    edit_.origins().replace(old_values[i], made);
    replaced_[old_values[i]] = made;
  }
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < repeat_.length; ++i) nodes.push_back(node(occurrence, i));
  edit_.origins().merge(call, nodes);
  for (size_t i = repeat_.length; i-- > 0;) edit_.erase(nodes[i]);
}

bool Outliner::run() {
  find_inputs();
  find_outputs();
  if (outputs_.empty() || !run_.rewriter().record("the same nodes occur in several places", node(0, 0))) return false;
  import_domain();
  make_function();
  for (size_t n = 0; n < repeat_.starts.size(); ++n) make_call(n);
  run_.forget_callees();
  return true;
}

}  // namespace

bool outline(PassRun& run, const NodeClasses& classes, const match::Repeat& repeat) {
  return Outliner(run, classes, repeat).run();
}

}  // namespace assay::passes
