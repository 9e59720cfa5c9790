#pragma once

#include <functional>

#include "tasks/inputs.h"
#include "tasks/load.h"

namespace assay::tasks {

// A model that can be run, with the first set of its inputs.
struct Subject {
  LoadedModel loaded;
  tensor::NamedData inputs;
};

// Loads a model, changes it by `prepare`, and makes its inputs; the observer is told the findings. Error (parse) if the
// model is invalid, (usage) if there are no inputs.
Subject open_subject(const ModelSource& model, const InputRequest& inputs, Observer& observer,
                     const std::function<void(LoadedModel&)>& prepare = {});

}  // namespace assay::tasks
