#include "tasks/run/tolerances.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tasks/permitted.h"

namespace assay::tasks {
namespace {

constexpr uint32_t kEarlyRuns = 1;  // moved runs, which mostly allow enough

}  // namespace

const compare::Allowance* Tolerances::find(const compare::ComparedAt& at, std::string_view name_a,
                                           std::string_view name_b, bool is_final) {
  needs_all_runs_ = needs_all_runs_ || is_final;
  if (unknown_of_ == at.iteration) return &unknown_;
  try {
    const analysis::Allowances& known = of_iteration(at.iteration, needs_all_runs_ ? analysis::kMovedRuns : kEarlyRuns);
    const auto found = known.contains(name_a) ? known.find(name_a) : known.find(name_b);
    return found == known.end() ? nullptr : &found->second;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    unknown_of_ = at.iteration;
    unknown_ = {.reason = "the reference cannot run the model: " + error.line(), .is_unknown = true};
    return &unknown_;
  }
}

const analysis::Allowances& Tolerances::of_iteration(uint64_t iteration, uint32_t runs) {
  if (known_of_ == iteration && known_by_ >= runs) return known_;
  known_of_.reset();
  observer_.info(fmt::format("Computing tolerances: the reference runs {} times", runs + 1));
  const ir::Model& model = subject_.loaded->model;
  Counter counter(observer_, "nodes", model[model.main_graph()].node_count);
  const std::vector<std::string>& names = subject_.taps.names;
  known_ = analysis::allowances(model, *inputs_.get(iteration), {names.begin(), names.end()},
                                {.max_memory_bytes = subject_.session.max_memory_bytes,
                                 .max_steps = subject_.session.max_steps,
                                 .max_work = subject_.session.max_work,
                                 .least_roundoff = permitted_roundoff(request_.backends, subject_.session.settings),
                                 .post_process =
                                     [this](std::string_view name, const tensor::Datum& value) {
                                       return compare::post_process(name, value, request_.post_processing);
                                     },
                                 .runs = runs,
                                 .on_node = [&] { counter.advance(); }});
  known_of_ = iteration;
  known_by_ = runs;
  return known_;
}

}  // namespace assay::tasks
