#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/inference.h"
#include "results/scene.h"
#include "scene/found_types.h"
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
  FoundTypes types;
};

// Boxes after which the parts of the model's file that they were read from are given back: names stand there.
inline constexpr uint32_t kBoxesBetweenReleases = 1U << 16U;
void release_source(const ir::Model& model);

// The boxes of a model in boxes.
Tree grouped_tree(const ir::Model& model);
// The boxes, lines and places of a model; `tree` is its grouped_tree(). Neither looks at types, so that inference can
// run beside them.
MadeScene make_boxes(const ir::Model& model, Tree tree);
// Adds what is known of types, and what follows from it: costs, texts of constants.
void add_types(const ir::Model& model, FoundTypes types, MadeScene& made);
// All of it; `inference` is of the model and has run.
inline MadeScene make_scene(const ir::Model& model, const ops::Inference& inference) {
  MadeScene made = make_boxes(model, grouped_tree(model));
  add_types(model, find_types(model, inference), made);
  return made;
}

// Numbers of values as facts name them: those of the scene, behind them the constants.
uint32_t value_number(const MadeScene& made, ir::ValueId value);
// Invalid for a number that no value has.
ir::ValueId value_of(const MadeScene& made, uint32_t number);

// Facts of one box of it.
results::NodeFacts node_facts(const ir::Model& model, const MadeScene& made, uint32_t item);

// True if the node has an attribute with that in its name (in lower case) and, unless `text` is empty, with that text;
// or, without a text, documentation in which the name stands.
bool has_attribute(const ir::Model& model, ir::NodeId node, std::string_view name, std::string_view text);

}  // namespace assay::scene
