#include "tasks/debug/observed.h"

#include "exec/feeds.h"

namespace assay::tasks {

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

std::optional<tensor::Datum> ObservedValues::find(std::string_view name) {
  const auto known = names_.find(name);
  return known == names_.end() ? std::nullopt : find(known->second);
}

}  // namespace assay::tasks
