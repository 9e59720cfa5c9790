#pragma once

#include "remote/python_host.h"
#include "sweep/keys.h"
#include "sweep/metrics/metric.h"
#include "tasks/sweep/sample_comparer.h"

namespace assay::tasks {

using NamedMetrics = std::vector<std::pair<std::string, sweep::MetricPtr>>;

// The numbers of a sample that do not come from its outputs alone.
struct MeasuredBy {
  double run_seconds = 0;
  remote::PythonHost* host = nullptr;  // that runs metrics of scripts
};

// One unit while its samples come.
class UnitWork {
 public:
  UnitWork(const results::SweepPlan& plan, const sweep::UnitAt& at);

  size_t column() const { return column_; }
  bool is_alive() const { return !is_over_; }
  void fail(const Error& error);
  void add_seconds(double seconds) { unit_.seconds += seconds; }
  // `difference` null: of the reference.
  void add_sample(const Sample& sample, const SampleDifference* difference);
  void measure(const sweep::SampleValues& values, const NamedMetrics& metrics, const MeasuredBy& by);
  // Scores, status, and the worst sample, which is saved. `op_of`: the operator that gives an output.
  void finish(const NamedMetrics& metrics, const std::filesystem::path& folder,
              const std::function<std::string(std::string_view output)>& op_of);
  const results::SweepUnit& unit() const { return unit_; }

 private:
  void add_difference(const Sample& sample, const SampleDifference& difference);
  void keep_worst(const Sample& sample);
  void save_worst(const std::filesystem::path& folder);
  void describe_difference();

  size_t column_;
  results::SweepUnit unit_;
  bool is_over_ = false;
  std::string first_fault_;
  std::optional<tensor::NamedData> worst_;  // inputs and labels
  const Sample* current_ = nullptr;
  double least_score_ = 0;
};

}  // namespace assay::tasks
