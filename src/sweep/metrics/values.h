#pragma once

#include <vector>

#include "sweep/metrics/metric.h"

namespace assay::sweep {

// The output that is judged. Error (usage) if there is none.
const tensor::Tensor& judged_output(const SampleValues& sample);
// The label: the named one, `label`, `labels` or `target`, or the only one. Error (usage) if there is none.
const tensor::Tensor& judged_label(const SampleValues& sample);
// The entry whose name holds one of the words; null: none does.
const tensor::Tensor* find_tensor(const tensor::NamedData& data, std::initializer_list<std::string_view> words);

// Scores of classes of one place, `stride` apart.
struct ClassScores {
  const double* first;
  uint64_t count;
  uint64_t stride;
  double operator[](uint64_t number) const { return first[number * stride]; }
};

// An output of scores and its labels. The classes are the axis of the output by which it has more than the label: the
// second of [N, C, ...], the last of [..., C].
class ScoredPlaces {
 public:
  ScoredPlaces(const tensor::Tensor& output, const tensor::Tensor& label);

  uint64_t count() const { return labels_.size(); }
  uint64_t class_count() const { return classes_; }
  ClassScores scores(uint64_t place) const;
  int64_t label(uint64_t place) const { return labels_[place]; }
  // The class with the greatest score; of equal ones the first.
  uint64_t best(uint64_t place) const;

 private:
  std::vector<double> scores_;
  std::vector<int64_t> labels_;
  uint64_t classes_ = 1;
  uint64_t inner_ = 1;  // places behind the axis of classes
};

// A metric whose rows are added up.
class SumMetric : public Metric {
 public:
  double score(Rows rows) const final;

 private:
  // `sums` has the length of the longest row.
  virtual double of_sums(const std::vector<double>& sums) const = 0;
};

// Hits in trials.
class MeanMetric : public SumMetric {
 public:
  bool is_mean() const override { return true; }

 private:
  double of_sums(const std::vector<double>& sums) const override;
};

MetricPtr make_top_k(uint64_t k);
MetricPtr make_f1();
MetricPtr make_miou();
MetricPtr make_perplexity();
MetricPtr make_cosine();
MetricPtr make_wer();
MetricPtr make_map();

}  // namespace assay::sweep
