#include "backends/engine/lowered.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/memory.h"
#include "engine/layers/layer.h"
#include "engine/plan/plan_models.h"
#include "ir/edit.h"
#include "ir/rewriter.h"
#include "ir/verify.h"
#include "tensor/derived.h"

namespace assay::backends {

Lowered::Lowered(const ir::Model& source, const Shapes& shapes, std::span<const std::string> apart,
                 const engine::Precision& precision)
    : model_(source.copy()) {
  engine::fix_shapes(model_, shapes);
  const std::vector<ir::ValueId> outputs = keep_apart(source, apart);
  ir::Rewriter rewriter(model_);
  engine::lower(model_, rewriter, precision);
  find_values(source, outputs);
  find_origins(source);
  index();
  release_weights();
}

// The source model is number 0.
Lowered::Lowered(const engine::SavedPlan& plan, size_t number)
    : model_(engine::read_model(plan.file(), number + 1, plan.manifest().planned[number].weights)),
      values_(plan.manifest().planned[number].values) {
  for (const engine::LayerRecord& layer : plan.manifest().planned[number].layers) {
    origins_.try_emplace(layer.name, layer.origins);
  }
  index();
}

// Releases weights that passes looked at; layers that pack them look again, one after the other.
void Lowered::release_weights() const {
  for (uint32_t i = 0; i < model_.tensor_slots(); ++i) {
    const tensor::StoragePtr& storage = model_[ir::TensorId{i}].tensor.storage();
    if (storage) tensor::let_go_of(*storage);
  }
  return_freed_memory();
}

// Values that are outputs are in no layer.
std::vector<ir::ValueId> Lowered::keep_apart(const ir::Model& source, std::span<const std::string> values) {
  std::vector<ir::ValueId> outputs;
  for (const ir::Use& use : model_.outputs(model_.main_graph())) outputs.push_back(use.value);
  if (values.empty()) return outputs;
  const std::set<std::string_view> names(values.begin(), values.end());
  for (uint32_t i = 0; i < source.value_slots(); ++i) {
    const ir::Value& value = source[ir::ValueId{i}];
    const bool is_result = value.alive && value.graph == source.main_graph() && value.kind == ir::ValueKind::result;
    const bool is_known = std::ranges::find(outputs, ir::ValueId{i}) != outputs.end();
    if (is_result && !is_known && names.contains(source.text(value.name))) outputs.push_back(ir::ValueId{i});
  }
  ir::Edit(model_).set_outputs(model_.main_graph(), outputs);
  return outputs;
}

void Lowered::find_values(const ir::Model& source, std::span<const ir::ValueId> outputs) {
  std::unordered_map<ir::NodeId, ir::NodeId> layers;  // by node of the source
  for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
    for (const ir::NodeId made_from : model_.origins().of(node)) layers.try_emplace(made_from, node);
  }
  for (uint32_t i = 0; i < source.value_slots(); ++i) {
    const ir::Value& value = source[ir::ValueId{i}];
    if (!value.alive || value.graph != source.main_graph()) continue;
    engine::ValuePlace place{.name = std::string(source.text(value.name)), .now = {}, .layer = {}};
    const ir::ValueId now = model_.origins().current(ir::ValueId{i});
    const bool is_there = now.valid() && model_[now].alive && model_[now].graph == model_.main_graph();
    if (is_there) place.now = model_.text(model_[now].name);
    const bool is_inside = !is_there && value.kind == ir::ValueKind::result;
    const auto layer = is_inside ? layers.find(value.producer) : layers.end();
    if (layer != layers.end()) place.layer = ir::describe(model_, layer->second);
    values_.push_back(std::move(place));
  }
  place_outputs(source, outputs);
}

void Lowered::find_origins(const ir::Model& source) {
  for (const ir::NodeId layer : ir::nodes(model_, model_.main_graph())) {
    std::vector<std::string>& names = origins_[std::string(engine::layer_name(model_, layer))];
    for (const ir::NodeId node : model_.origins().of(layer)) {
      const std::string_view name = source[node].name;
      names.emplace_back(name.empty() ? engine::layer_name(source, node) : name);
    }
  }
}

// Outputs keep their places, whatever is computed in another precision.
void Lowered::place_outputs(const ir::Model& source, std::span<const ir::ValueId> outputs) {
  std::unordered_map<std::string_view, std::string_view> now;
  for (size_t i = 0; i < outputs.size(); ++i) {
    now.emplace(source.text(source[outputs[i]].name),
                model_.text(model_[model_.outputs(model_.main_graph())[i].value].name));
  }
  for (engine::ValuePlace& place : values_) {
    const auto found = now.find(place.name);
    if (found == now.end()) continue;
    place.now = found->second;
    place.layer.clear();
  }
}

void Lowered::index() {
  for (size_t i = 0; i < values_.size(); ++i) places_.try_emplace(values_[i].name, i);
  for (uint32_t i = 0; i < model_.value_slots(); ++i) {
    const ir::Value& value = model_[ir::ValueId{i}];
    if (value.alive && value.graph == model_.main_graph()) by_name_.try_emplace(model_.text(value.name), i);
  }
}

ir::ValueId Lowered::current(std::string_view name) const {
  const auto place = places_.find(name);
  if (place == places_.end() || values_[place->second].now.empty()) return {};
  const auto found = by_name_.find(values_[place->second].now);
  return found == by_name_.end() ? ir::ValueId{} : found->second;
}

std::string Lowered::layer_with(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? "" : values_[place->second].layer;
}

}  // namespace assay::backends
