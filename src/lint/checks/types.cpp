#include "lint/check.h"

namespace assay::lint {
namespace {

void look_at_types(const Subject& subject, Findings& findings) {
  for (const ops::InferenceFinding& finding : subject.inference.findings()) {
    const bool is_schema = finding.code == "schema";
    // Backends run models whose value_infos have wrong shapes, with a warning.
    const bool is_warning = finding.code == "declared_shape" || finding.code == "limit";
    const LintLevel level = is_warning ? LintLevel::warning : LintLevel::exception;
    findings.add(level, is_schema ? kChecker : kReference, finding.code, finding.node, finding.message);
  }
}

}  // namespace

Check check_types() {
  return {"attributes, types and shapes that break the rules of an operator or contradict the declared ones",
          20,
          {{.at_model = look_at_types}}};
}

}  // namespace assay::lint
