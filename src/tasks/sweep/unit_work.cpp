#include "tasks/sweep/unit_work.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "formats/numpy/npz.h"
#include "sweep/folder.h"
#include "sweep/signature.h"

namespace assay::tasks {
namespace {

using results::UnitStatus;

// The power of two of a difference: `-7`, `zero`, `nan`.
std::string bin_of(double difference) {
  if (std::isnan(difference)) return "nan";
  if (difference == 0) return "zero";
  return std::isinf(difference) ? "inf" : std::to_string(std::ilogb(difference));
}

std::vector<std::vector<double>>& rows_of(results::SweepUnit& unit, const std::string& metric) {
  for (auto& [name, rows] : unit.evidence) {
    if (name == metric) return rows;
  }
  return unit.evidence.emplace_back(metric, results::Evidence()).second;
}

}  // namespace

UnitWork::UnitWork(const results::SweepPlan& plan, const sweep::UnitAt& at)
    : column_(at.column), unit_(sweep::blank_unit(plan, at)) {
  unit_.first_sample = plan.shards[at.shard].begin;
}

void UnitWork::fail(const Error& error) {
  if (is_over_) return;
  is_over_ = true;
  unit_.status = sweep::status_of(error);
  unit_.reason = error.line();
  unit_.signature = sweep::signature(unit_.reason);
  unit_.metrics.clear();
  unit_.evidence.clear();
  unit_.difference.reset();
}

void UnitWork::keep_worst(const Sample& sample) {
  worst_ = sample.given;
  for (const tensor::NamedDatum& label : sample.labels) worst_->push_back(label);
  unit_.worst_sample = sample.number;
}

void UnitWork::add_sample(const Sample& sample, const SampleDifference* difference) {
  ++unit_.samples;
  current_ = &sample;
  if (difference != nullptr) add_difference(sample, *difference);
}

void UnitWork::add_difference(const Sample& sample, const SampleDifference& difference) {
  const bool is_first = !unit_.difference;
  if (is_first) unit_.difference.emplace();
  results::UnitDifference& all = *unit_.difference;
  const bool is_worse =
      is_first || difference.max_abs > all.max_abs || (std::isnan(difference.max_abs) && !std::isnan(all.max_abs));
  const bool is_first_failure = !difference.is_same && all.failed == 0;
  ++all.compared;
  all.failed += difference.is_same ? 0 : 1;
  if (difference.is_measured) ++all.bins[bin_of(difference.max_abs)];
  all.max_rel = std::max(all.max_rel, difference.max_rel);
  all.least_cosine = std::min(all.least_cosine, difference.least_cosine);
  if (is_first_failure) first_fault_ = difference.fault;
  if (is_worse) {
    all.max_abs = difference.max_abs;
    all.sample = sample.number;
    all.output = difference.output;
  }
  if (!difference.is_same && (is_worse || is_first_failure)) keep_worst(sample);
}

void UnitWork::measure(const sweep::SampleValues& values, const NamedMetrics& metrics, const MeasuredBy& by) {
  bool is_first = true;
  for (const auto& [name, metric] : metrics) {
    if (metric->needs_reference() && values.reference == nullptr) continue;
    std::vector<double> row;
    if (name == "latency")
      row = {by.run_seconds * 1000, 1};
    else if (sweep::is_script_metric(name))
      row = by.host->score(remote::parse_script_function(name, "metric"), values.outputs, values.labels);
    else
      row = with_frame([&] { return fmt::format("metric {}", name); }, [&] { return metric->measure(values); });
    const double score = row.size() == 2 && metric->is_mean() ? row[0] / row[1] : 1;
    rows_of(unit_, name).push_back(std::move(row));
    // The worst sample of a unit that is not compared is the one that a metric likes least.
    const bool is_judged = is_first && metric->is_better_higher() && !unit_.difference && score < 1;
    if (is_judged && (!worst_ || score < least_score_)) {
      least_score_ = score;
      keep_worst(*current_);
    }
    is_first = false;
  }
}

void UnitWork::save_worst(const std::filesystem::path& folder) {
  unit_.worst_file = fmt::format("worst/{}.npz", unit_.key.substr(0, 16));
  std::error_code error;
  std::filesystem::create_directories(folder / "worst", error);
  try {
    formats::write_npz(folder / unit_.worst_file, *worst_);
  } catch (const Error&) {  // a result without its sample is still one
    unit_.worst_file.clear();
  }
}

void UnitWork::describe_difference() {
  const results::UnitDifference& difference = *unit_.difference;
  const std::string output = printable(difference.output);
  unit_.status = UnitStatus::differs;
  if (!first_fault_.empty())
    unit_.reason = fmt::format("output `{}`: {}", output, first_fault_);
  else
    unit_.reason = fmt::format(
        "output `{}` differs in {} of {} sample(s), most in sample {}: max abs {:.4g}, max rel {:.4g}", output,
        difference.failed, difference.compared, difference.sample, difference.max_abs, difference.max_rel);
  const std::string form = unit_.variant == sweep::kOriginal ? "" : unit_.variant + ": ";
  unit_.signature = fmt::format("{}output of {} {}", form, difference.op.empty() ? "no node" : difference.op,
                                first_fault_.empty() ? "differs" : sweep::signature(first_fault_));
}

void UnitWork::finish(const NamedMetrics& metrics, const std::filesystem::path& folder,
                      const std::function<std::string(std::string_view output)>& op_of) {
  if (is_over_) return;
  is_over_ = true;
  for (const auto& [name, metric] : metrics) {
    std::vector<const std::vector<double>*> rows;
    for (const std::vector<double>& row : rows_of(unit_, name)) rows.push_back(&row);
    if (!rows.empty()) unit_.metrics.emplace_back(name, metric->score(rows));
  }
  std::erase_if(unit_.evidence, [](const auto& entry) { return entry.second.empty(); });
  if (worst_) save_worst(folder);
  if (!unit_.difference) return;
  unit_.difference->op = op_of(unit_.difference->output);
  if (unit_.difference->failed > 0) describe_difference();
}

}  // namespace assay::tasks
