#pragma once

#include "debug/accuracy/walk.h"
#include "tasks/culprit.h"

namespace assay::tasks {

// What is accused, with all that is needed to run it once more.
struct InnerCase {
  const AccuracyRequest& request;
  const ir::Model& model;
  const ir::Model* other = nullptr;  // the second model, where it is its layer
  const tensor::NamedData& inputs;
  Observer& observer;
};

// Of a layer that has a body or calls a function, the layer in there that is accused when the nodes in there stand in
// the graph and their values are shown too. Nothing: it has none, it cannot be opened, only its results were saved, or
// then nobody is accused.
std::optional<results::InnerCulprit> find_inner_layer(const InnerCase& found, const debug::Accused& accused);

}  // namespace assay::tasks
