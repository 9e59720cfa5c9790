#include "tasks/run/taps.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kUnknownShare = 16;  // of the budget that a value of unknown size is taken for

}  // namespace
bool Taps::is_essential(std::string_view name) const {
  const size_t part = name.find_first_of("[.");
  return !exposed.contains(name) && !(part != std::string_view::npos && exposed.contains(name.substr(0, part)));
}

exec::TapPlan Taps::plan(const std::map<std::string, uint64_t>& sizes, uint64_t budget_bytes) const {
  std::vector<exec::Tap> taps;
  for (const std::string& name : names) {
    const auto size = sizes.find(name);
    taps.push_back({name, size == sizes.end() ? budget_bytes / kUnknownShare : size->second});
  }
  return exec::plan_taps(taps, budget_bytes);
}

Taps choose_taps(const ir::Model& model, const ir::OutputSelection& selection, Diagnostics& findings) {
  Taps taps;
  taps.values = ir::select_outputs(model, selection, findings);
  std::set<uint32_t> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value.valid()) outputs.insert(use.value.index);
  }
  for (const ir::ValueId value : taps.values) {
    taps.names.emplace_back(model.text(model[value].name));
    if (!outputs.contains(value.index)) taps.beyond_outputs.push_back(taps.names.back());
  }
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    if (!outputs.contains(input.index)) taps.exposed.emplace(model.text(model[input].name));
  }
  const std::set<std::string_view> asked(taps.names.begin(), taps.names.end());
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[node].results) {
      if (!value.valid() || outputs.contains(value.index)) continue;
      const std::string_view name = model.text(model[value].name);
      if (selection.is_everything || !asked.contains(name)) taps.exposed.emplace(name);
    }
  }
  return taps;
}

}  // namespace assay::tasks
