#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "engine/lowering/lower.h"
#include "engine/plan/saved_plan.h"
#include "ir/model.h"

namespace assay::backends {

// Shapes of inputs, by name.
using Shapes = std::map<std::string, tensor::Shape>;

// A model lowered for one set of input shapes, and where the values of its source went.
class Lowered {
 public:
  // No layer takes in the values `apart` of the main graph.
  Lowered(const ir::Model& source, const Shapes& shapes, std::span<const std::string> apart,
          const engine::Precision& precision);
  // Takes a lowered model as it was saved.
  Lowered(const engine::SavedPlan& plan, size_t number);

  const ir::Model& model() const { return model_; }
  const std::vector<engine::ValuePlace>& values() const { return values_; }
  const engine::NodeOrigins& origins() const { return origins_; }
  // The value that a value of the source is now; invalid: it is computed inside a layer.
  ir::ValueId current(std::string_view name) const;
  // The layer that computes a value inside; empty: none is known.
  std::string layer_with(std::string_view name) const;

 private:
  // All outputs of the model then, as values of the source.
  std::vector<ir::ValueId> keep_apart(const ir::Model& source, std::span<const std::string> values);
  void find_values(const ir::Model& source, std::span<const ir::ValueId> outputs);
  void find_origins(const ir::Model& source);
  void place_outputs(const ir::Model& source, std::span<const ir::ValueId> outputs);
  void index();
  void release_weights() const;

  ir::Model model_;
  std::vector<engine::ValuePlace> values_;
  engine::NodeOrigins origins_;
  std::unordered_map<std::string_view, size_t> places_;        // of values of the source, by name
  std::unordered_map<std::string_view, ir::ValueId> by_name_;  // of the main graph
};

}  // namespace assay::backends
