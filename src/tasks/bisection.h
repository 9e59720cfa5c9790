#pragma once

#include <string>
#include <variant>

#include "results/bisection.h"
#include "tasks/convert.h"
#include "tasks/debug.h"
#include "tasks/edit.h"

namespace assay::tasks {

// Finds the step of a rewrite or a conversion after which a model fails.
struct BisectionRequest {
  ModelSource model;
  std::variant<PassRequest, ConvertRequest> steps;  // applied one step more or less
  InputRequest inputs;
  ComparisonRequest comparison;
  CheckRequest check;    // used if nothing is compared
  std::string artifact;  // the file that is checked
  bool keeps_artifact = false;
  std::string output;      // the model after that step; empty: none
  std::string least_good;  // before it
  std::string reduced;     // the smallest part of the model after that step that still fails; empty: none is looked for
  onnx::SaveOptions save;
};
results::BisectionReport debug_bisect(const BisectionRequest& request, Observer& observer);

// Finds the tactics that make a plan of the engine fail, among those in which two records differ.
struct TacticSearchRequest {
  ModelSource model;
  std::string good_tactics;  // files
  std::string bad_tactics;
  InputRequest inputs;
  ComparisonRequest comparison;
  CheckRequest check;    // used if nothing is compared
  std::string artifact;  // the plan that is checked
  bool keeps_artifact = false;
};
results::TacticReport debug_tactics(const TacticSearchRequest& request, Observer& observer);

}  // namespace assay::tasks
