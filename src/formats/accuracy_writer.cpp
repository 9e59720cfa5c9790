#include <algorithm>

#include "formats/accuracy_classes.h"
#include "formats/accuracy_results.h"
#include "formats/json/python_json.h"

namespace assay::formats {
namespace {

class AccuracyWriter {
 public:
  explicit AccuracyWriter(OutputFile& out) : json_(out) {}

  void write(const results::AccuracyResults& comparisons) {
    json_.begin_object();
    json_.key("lst");
    json_.begin_array();
    for (const results::SavedComparison& comparison : comparisons) write_comparison(comparison);
    json_.end_array();
    end_class("AccuracyResults");
  }

 private:
  void end_class(std::string_view name) {
    json_.key("polygraphy_class");
    json_.string(name);
    json_.end_object();
  }

  void write_comparison(const results::SavedComparison& comparison) {
    json_.begin_object();
    json_.key("lst");
    json_.begin_array();
    for (const results::SavedPair& pair : comparison.pairs) write_pair(pair, comparison.function);
    json_.end_array();
    json_.key("aggregation");
    json_.string(comparison.is_average ? "average" : "per_sample");
    end_class("AccuracyResult");
  }

  void write_pair(const results::SavedPair& pair, const std::string& function) {
    json_.begin_array();
    json_.begin_array();
    json_.string(pair.runner_a);
    json_.string(pair.runner_b);
    json_.end_array();
    json_.begin_array();
    for (const std::vector<results::SavedMetrics>& iteration : pair.iterations) {
      json_.begin_object();
      for (const results::SavedMetrics& metrics : iteration) {
        json_.key(metrics.output);
        write_metrics(metrics, function);
      }
      json_.end_object();
    }
    json_.end_array();
    json_.end_array();
  }

  void write_metrics(const results::SavedMetrics& metrics, const std::string& function) {
    const auto known = std::ranges::find(kMetricClasses, function, &MetricClass::function);
    if (function == "simple" && metrics.absolute[0]) return write_simple(metrics);
    if (known == kMetricClasses.end() || metrics.passed) return json_.boolean(metrics.passed.value_or(false));
    json_.begin_object();
    json_.key(known->field);
    json_.number(metrics.value);
    json_.key("thresholds");
    json_.begin_object();
    json_.key("threshold");
    json_.number(metrics.bound);
    end_class(known->threshold);
    end_class(known->result);
  }

  void write_simple(const results::SavedMetrics& metrics) {
    json_.begin_object();
    for (size_t i = 0; i < kSimpleStatistics.size(); ++i) {
      write_optional(std::string(kSimpleStatistics[i]) + "_absdiff", metrics.absolute[i]);
      write_optional(std::string(kSimpleStatistics[i]) + "_reldiff", metrics.relative[i]);
    }
    json_.key("thresholds");
    json_.begin_object();
    json_.key("check_error_stat");
    json_.string(metrics.statistic);
    json_.key("atol");
    json_.number(metrics.atol);
    json_.key("rtol");
    json_.number(metrics.rtol);
    end_class("SimpleThreshold");
    json_.key("passed");
    metrics.passed ? json_.boolean(*metrics.passed) : json_.null();
    end_class("OutputCompareResult");
  }

  void write_optional(std::string_view key, const std::optional<double>& number) {
    json_.key(key);
    number ? json_.number(*number) : json_.null();
  }

  PythonJson json_;
};

}  // namespace

void save_accuracy_results(const std::filesystem::path& path, const results::AccuracyResults& comparisons) {
  OutputFile out(path);
  AccuracyWriter(out).write(comparisons);
  out.commit();
}

}  // namespace assay::formats
