#pragma once

#include <string>
#include <vector>

#include "results/culprit.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Finds the first layer that computes something wrong, and on which side, by layers of two runs beside their truth.
struct AccuracyRequest {
  ModelSource model;
  InputRequest inputs;  // the first set is used
  std::vector<std::string> backends;
  std::vector<std::string> saved_outputs;  // each run in them is a side too
  ModelSource other;  // the model after a conversion or rewrite: its layers are judged as those that they correspond to
  exec::SessionOptions session;
  bool isolate = false;
  double timeout_seconds = 0;
  bool tries_remedies = true;
};
results::AccuracyHunt debug_accuracy(const AccuracyRequest& request, Observer& observer);

}  // namespace assay::tasks
