#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/sweep.h"
#include "tensor/named.h"

namespace assay::sweep {

// All that a metric may look at for one sample.
struct SampleValues {
  const tensor::NamedData& outputs;
  const tensor::NamedData& labels;               // entries of the sample that are no inputs
  const tensor::NamedData* reference = nullptr;  // outputs of the reference; null: this is the reference
  std::string output = {};                       // the one that is judged; empty: the first
  std::string label = {};                        // likewise
};

using Rows = std::span<const std::vector<double>* const>;

// A measure of a whole data set. Each sample gives a row of numbers, and a score follows from any set of rows in their
// order: from those of a shard, of all shards, or of samples drawn with repetition.
class Metric {
 public:
  virtual ~Metric() = default;
  // Error (usage) for outputs and labels that do not fit the metric.
  virtual std::vector<double> measure(const SampleValues& sample) const = 0;
  // NaN without rows.
  virtual double score(Rows rows) const = 0;
  // True for a row that measure() may have given, as those of a file need not be.
  virtual bool is_row(const std::vector<double>& row) const { return row.size() == 2; }
  virtual bool is_better_higher() const { return true; }
  // True if a row is a number of hits and of trials, so that samples can be paired one by one.
  virtual bool is_mean() const { return false; }
  // True if it compares with the reference, which itself has no score.
  virtual bool needs_reference() const { return false; }
};

using MetricPtr = std::unique_ptr<Metric>;

// `top1`, `top5`, `map`, `miou`, `f1`, `perplexity`, `wer`, `cosine`, `latency`; `FILE.py:FUNCTION` is the user's,
// whose rows come from elsewhere. Error (usage) for another word.
MetricPtr make_metric(std::string_view word);
// True for a metric that a script defines.
bool is_script_metric(std::string_view word);

}  // namespace assay::sweep
