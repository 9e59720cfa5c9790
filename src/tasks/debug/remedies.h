#pragma once

#include "tasks/debug/side_runs.h"

namespace assay::tasks {

// The facts of a culprit against which remedies are tried.
struct RemedyCase {
  const AccuracyRequest& request;
  const ir::Model& model;
  const std::vector<ops::InputDatum>& inputs;
  const SideRuns& runs;
  const debug::Accused& culprit;
};

// Tries other settings of the culprit's backend, and says what the error of the outputs was before and is then. None
// for saved results.
std::vector<results::Remedy> try_remedies(const RemedyCase& given, const std::vector<results::AccuracySide>& sides);

}  // namespace assay::tasks
