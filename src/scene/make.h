#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/inference.h"
#include "results/scene.h"
#include "scene/tree.h"

namespace assay::scene {

using results::kNoItem;

// A scene, and what of the model its parts show.
struct MadeScene {
  results::Scene scene;
  std::vector<ir::NodeId> nodes;       // by item; invalid for others
  std::vector<ir::ValueId> values;     // by value of the scene
  std::vector<uint32_t> item_of_node;  // by node id; kNoItem: it is a constant
  std::vector<uint32_t> scene_values;  // by value id; kNoItem: a constant
};

// The boxes of a model in boxes. It looks at no types, so that inference can run beside it.
Tree grouped_tree(const ir::Model& model);
// The boxes, lines and places of a model; `inference` is of it and has run, `tree` is its grouped_tree().
MadeScene make_scene(const ir::Model& model, const ops::Inference& inference, Tree tree);
inline MadeScene make_scene(const ir::Model& model, const ops::Inference& inference) {
  return make_scene(model, inference, grouped_tree(model));
}

// Numbers of values as facts name them: those of the scene, behind them the constants.
uint32_t value_number(const MadeScene& made, ir::ValueId value);
// Invalid for a number that no value has.
ir::ValueId value_of(const MadeScene& made, uint32_t number);

// Facts of one box of it.
results::NodeFacts node_facts(const ir::Model& model, const ops::Inference& inference, const MadeScene& made,
                              uint32_t item);

// True if the node has an attribute with that in its name (in lower case) and, unless `text` is empty, with that text;
// or, without a text, documentation in which the name stands.
bool has_attribute(const ir::Model& model, ir::NodeId node, std::string_view name, std::string_view text);

}  // namespace assay::scene
