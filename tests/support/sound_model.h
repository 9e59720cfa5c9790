#pragma once

#include <string>

#include "ir/verify.h"
#include "ops/inference.h"

namespace assay::testing_support {

// What verification finds, and where inference does not agree with the types that the model declares, line by line;
// empty: nothing. The model's lists must be sound.
inline std::string faults_of(const ir::Model& model) {
  ir::check_structure(model);
  Diagnostics findings;
  ir::verify(model, findings);
  std::string faults;
  for (const Diagnostic& finding : findings.all()) faults += finding.message + '\n';
  ops::Inference inference(model);
  inference.run();
  for (const ops::InferenceFinding& finding : inference.findings()) faults += finding.message + '\n';
  return faults;
}

}  // namespace assay::testing_support
