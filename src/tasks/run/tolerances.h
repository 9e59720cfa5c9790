#pragma once

#include "analysis/allowances.h"
#include "compare/options.h"
#include "exec/data_source.h"
#include "tasks/run/subject.h"

namespace assay::tasks {

// Allowed differences of outputs, from the model's arithmetic: the reference computes them for an iteration when they
// are first asked for.
class Tolerances {
 public:
  // All of them must outlive it.
  Tolerances(const RunRequest& request, const RunSubject& subject, exec::DataSource& inputs, Observer& observer)
      : request_(request), subject_(subject), inputs_(inputs), observer_(observer) {}

  // Allowance of an output (compare::CompareOptions::allowance); null: it has none.
  const compare::Allowance* find(const compare::ComparedAt& at, std::string_view name_a, std::string_view name_b,
                                 bool is_final);

 private:
  const analysis::Allowances& of_iteration(uint64_t iteration, uint32_t runs);

  const RunRequest& request_;
  const RunSubject& subject_;
  exec::DataSource& inputs_;
  Observer& observer_;
  std::optional<uint64_t> known_of_;  // the iteration
  uint32_t known_by_ = 0;             // moved runs
  bool needs_all_runs_ = false;       // something was beyond what fewer allow
  analysis::Allowances known_;
  std::optional<uint64_t> unknown_of_;  // the iteration that has none
  compare::Allowance unknown_;
};

}  // namespace assay::tasks
