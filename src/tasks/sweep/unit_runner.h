#pragma once

#include <functional>

#include "sweep/metrics/metric.h"
#include "tasks/sweep/open_model.h"

namespace assay::tasks {

// Units of one model and one shard.
struct UnitGroup {
  size_t model = 0;
  size_t shard = 0;
  std::vector<size_t> columns;
};

// Hears which column is at work, so that a crash can be blamed, and what came of each.
struct UnitListener {
  std::function<void(size_t column)> on_column;
  std::function<void(const results::SweepUnit&)> on_unit;
};

// Runs units. The last model stays open, as the next shard is mostly of the same. What hangs is left to the caller, who
// has the one clock.
class UnitRunner {
 public:
  UnitRunner(const SweepRequest& request, const results::SweepPlan& plan);
  ~UnitRunner();
  void run(const UnitGroup& group, const UnitListener& listener);

 private:
  class Group;
  OpenModel& open(size_t model);

  const SweepRequest& request_;
  const results::SweepPlan& plan_;
  std::vector<std::pair<std::string, sweep::MetricPtr>> metrics_;
  std::shared_ptr<remote::PythonHost> host_;  // of metrics that scripts define
  std::unique_ptr<OpenModel> opened_;
  size_t opened_number_ = 0;
  uint64_t opened_count_ = 0;
};

}  // namespace assay::tasks
