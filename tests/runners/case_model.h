#pragma once

#include <string>
#include <vector>

#include "exec/backend.h"
#include "runners/case_values.h"

namespace assay::cases {

// One run of a case: with one choice of its variables and one version of its operator set.
struct CaseRun {
  const Case* item = nullptr;
  Scope scope;
  int64_t version = 0;  // 0: the case brings a model of its own
  std::string name;     // `case:f16@11`
};

// All runs of a case: for each choice of its variables at the first and at the last version.
std::vector<CaseRun> runs_of(const CaseFile& file, const Case& item);

struct BuiltCase {
  ir::Model model;
  std::vector<exec::Feed> feeds;
};

// The model of one node (or the case's own) and its inputs. Error (parse) with path and line where the case is wrong.
BuiltCase build(const CaseRun& run);

// What the run expects for this output of its case; null where it is not filled.
const Expected* expected_of(const CaseRun& run, const Output& output);

}  // namespace assay::cases
