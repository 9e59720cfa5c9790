#include "tasks/debug/observed.h"

#include "base/error.h"
#include "base/text.h"
#include "debug/accuracy/layer_oracle.h"
#include "exec/feeds.h"
#include "ir/walk.h"

namespace assay::tasks {

tensor::NamedData make_first_inputs(LoadedModel& loaded, const InputRequest& request, Observer& observer) {
  std::optional<tensor::NamedData> inputs =
      make_inputs(loaded.model, request, observer, loaded.findings).source->get(0);
  if (!inputs) fail(ErrorCode::usage, "there are no inputs");
  return std::move(*inputs);
}

std::vector<ops::InputDatum> as_input_data(const ir::Model& model, std::span<const tensor::NamedDatum> feeds) {
  std::map<std::string_view, ir::ValueId> by_name;
  for (const ir::ValueId input : model[model.main_graph()].inputs)
    by_name.emplace(model.text(model[input].name), input);
  std::vector<ops::InputDatum> inputs;
  for (const tensor::NamedDatum& feed : feeds) inputs.push_back({by_name.at(feed.name), feed.value});
  return inputs;
}

ObservedValues::ObservedValues(const ir::Model& model, const tensor::NamedData& inputs, uint64_t max_memory_bytes)
    : model_(model), inputs_(inputs), max_memory_bytes_(max_memory_bytes) {
  for (const ir::ValueId value : model[model.main_graph()].inputs) names_.emplace(model.text(model[value].name), value);
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[node].results) {
      if (value) names_.emplace(model.text(model[value].name), value);
    }
  }
}

void ObservedValues::run() {
  has_run_ = true;
  Diagnostics ignored;
  const std::vector<exec::Feed> feeds = exec::check_feeds(exec::signature_of(model_), inputs_, ignored);
  const std::vector<ops::InputDatum> inputs = as_input_data(model_, feeds);
  for (const ops::InputDatum& input : inputs) values_[input.value] = input.datum;
  std::vector<ir::ValueId> wanted;
  for (const auto& [name, value] : names_) {
    if (model_[value].producer) wanted.push_back(value);
  }
  ops::Interpreter interpreter(model_, {.max_memory_bytes = max_memory_bytes_});
  const auto go_on = [](ir::NodeId, const Error& error) { return error.code() != ErrorCode::limit; };
  const ops::FailureSink failures(go_on);
  interpreter.run(
      inputs, wanted, [&](ir::ValueId value, const tensor::Datum& datum) { values_[value] = datum; }, &failures);
}

std::optional<tensor::Datum> ObservedValues::find(ir::ValueId value) {
  if (!has_run_) run();
  const auto found = values_.find(value);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<tensor::Datum> ObservedValues::find(std::string_view name) { return find(name, {}); }

std::optional<tensor::Datum> ObservedValues::find(std::string_view name,
                                                  const std::map<ir::ValueId, tensor::Datum>& changed) {
  const auto known = names_.find(name);
  if (known == names_.end()) return std::nullopt;
  const auto found = changed.find(known->second);
  return found == changed.end() ? find(known->second) : found->second;
}

tensor::Datum ObservedValues::operand(ir::ValueId value, const std::map<ir::ValueId, tensor::Datum>& changed) {
  const auto found = changed.find(value);
  if (found != changed.end()) return found->second;
  if (const ir::TensorId constant = model_[value].constant) return tensor::Datum(model_[constant].tensor);
  std::optional<tensor::Datum> known = find(value);
  if (!known)
    fail(ErrorCode::unsupported, "the value of `{}` is not known", printable(model_.text(model_[value].name)));
  return std::move(*known);
}

std::map<ir::ValueId, tensor::Datum> ObservedValues::following(std::span<const tensor::NamedDatum> given) {
  std::map<ir::ValueId, tensor::Datum> changed;
  if (given.empty()) return changed;
  for (const tensor::NamedDatum& one : given) changed.insert_or_assign(names_.at(one.name), one.value);
  debug::LayerOracle oracle(model_, max_memory_bytes_);
  for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
    bool follows = false;
    ir::for_each_operand(model_, node, [&](ir::ValueId value) { follows = follows || changed.contains(value); });
    if (!follows) continue;
    const std::vector<tensor::Datum> results =
        oracle.declared(node, [&](ir::ValueId value) { return operand(value, changed); });
    for (size_t k = 0; k < results.size() && k < model_[node].results.size(); ++k) {
      if (model_[node].results[k]) changed.try_emplace(model_[node].results[k], results[k]);
    }
  }
  return changed;
}

}  // namespace assay::tasks
