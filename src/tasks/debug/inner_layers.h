#pragma once

#include "debug/accuracy/walk.h"
#include "tasks/culprit.h"

namespace assay::tasks {

// An accused layer, with all that is needed to run it once more.
struct InnerCase {
  const AccuracyRequest& request;
  const ir::Model& model;
  const ir::Model* other = nullptr;  // the second model, where it is its layer
  const tensor::NamedData& inputs;
  Observer& observer;
};

// Finds, in a layer that has a body or calls a function, the inner layer that is accused when the nodes in there stand
// in the graph and their values are shown too. Returns nullopt if there is no such body, if it cannot be opened, if
// only its results were saved, or if no layer is accused then.
std::optional<results::InnerCulprit> find_inner_layer(const InnerCase& found, const debug::Accused& accused);

}  // namespace assay::tasks
