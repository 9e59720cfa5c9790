#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "sweep/metrics/values.h"
#include "tensor/elements.h"

namespace assay::sweep {
namespace {

constexpr int64_t kVoid = 255;      // of segmentations: a place without a class
constexpr int64_t kPadding = -100;  // of tokens

// The share of places whose label is among the k classes with the greatest scores; of equal ones the first count.
class TopK final : public MeanMetric {
 public:
  explicit TopK(uint64_t k) : k_(k) {}

  std::vector<double> measure(const SampleValues& sample) const override {
    const ScoredPlaces places(judged_output(sample), judged_label(sample));
    double hits = 0;
    for (uint64_t i = 0; i < places.count(); ++i) hits += is_hit(places.scores(i), places.label(i));
    return {hits, static_cast<double>(places.count())};
  }

 private:
  bool is_hit(const ClassScores& scores, int64_t label) const {
    if (scores.count == 1) return scores[0] == static_cast<double>(label);  // the model gives classes
    if (label < 0 || static_cast<uint64_t>(label) >= scores.count) return false;
    const double own = scores[static_cast<uint64_t>(label)];
    if (std::isnan(own)) return false;
    uint64_t before = 0;
    for (uint64_t i = 0; i < scores.count; ++i)
      before += scores[i] > own || (scores[i] == own && i < static_cast<uint64_t>(label));
    return before < k_;
  }

  uint64_t k_;
};

// The classes that places are taken for: the best, or with one score each whether it is above one half.
std::vector<int64_t> taken_classes(const ScoredPlaces& places) {
  std::vector<int64_t> classes(places.count());
  for (uint64_t i = 0; i < places.count(); ++i) {
    const ClassScores scores = places.scores(i);
    classes[i] = scores.count > 1 ? static_cast<int64_t>(places.best(i)) : static_cast<int64_t>(scores[0] > 0.5);
  }
  return classes;
}

// F1 of the second of two classes; of more, the mean of all that occur. Rows: for each class true and false positives,
// and false negatives.
class F1 final : public SumMetric {
 public:
  std::vector<double> measure(const SampleValues& sample) const override {
    const ScoredPlaces places(judged_output(sample), judged_label(sample));
    const std::vector<int64_t> taken = taken_classes(places);
    const uint64_t classes = std::max<uint64_t>(2, places.class_count());
    std::vector<double> row(3 * classes);
    for (uint64_t i = 0; i < places.count(); ++i) {
      const int64_t label = places.label(i);
      if (label < 0 || static_cast<uint64_t>(label) >= classes) continue;
      const bool is_right = label == taken[i];
      row[static_cast<uint64_t>(3 * taken[i]) + (is_right ? 0 : 1)] += 1;
      if (!is_right) row[static_cast<uint64_t>(3 * label) + 2] += 1;
    }
    return row;
  }

  bool is_row(const std::vector<double>& row) const override { return row.size() >= 6 && row.size() % 3 == 0; }

 private:
  double of_sums(const std::vector<double>& sums) const override {
    const size_t classes = sums.size() / 3;
    if (classes == 2) return of_class(sums, 1).value_or(0);
    double total = 0;
    double count = 0;
    for (size_t i = 0; i < classes; ++i) {
      const std::optional<double> one = of_class(sums, i);
      total += one.value_or(0);
      count += one ? 1 : 0;
    }
    return count == 0 ? 0 : total / count;
  }

  // None of a class that neither is nor is taken for one.
  static std::optional<double> of_class(const std::vector<double>& sums, size_t number) {
    const double right = sums[3 * number];
    const double all = 2 * right + sums[3 * number + 1] + sums[3 * number + 2];
    return all == 0 ? std::nullopt : std::optional(2 * right / all);
  }
};

// The mean over classes of intersection over union. Rows: for each class both. The model gives scores or classes.
class MeanIou final : public SumMetric {
 public:
  std::vector<double> measure(const SampleValues& sample) const override {
    const ScoredPlaces places(judged_output(sample), judged_label(sample));
    std::vector<double> row(places.class_count() > 1 ? 2 * places.class_count() : 0);
    for (uint64_t i = 0; i < places.count(); ++i) {
      if (places.label(i) == kVoid || places.label(i) < 0) continue;
      const int64_t taken =
          places.class_count() > 1 ? static_cast<int64_t>(places.best(i)) : static_cast<int64_t>(places.scores(i)[0]);
      add(taken, places.label(i), row);
    }
    return row;
  }

  bool is_row(const std::vector<double>& row) const override { return row.size() % 2 == 0; }

 private:
  static void add(int64_t taken, int64_t label, std::vector<double>& row) {
    constexpr int64_t kMostClasses = 65536;
    const int64_t greatest = std::max(taken, label);
    if (taken < 0 || greatest >= kMostClasses)
      fail(ErrorCode::usage, "class {} is beyond all sense", taken < 0 ? taken : greatest);
    if (row.size() < static_cast<size_t>(2 * greatest + 2)) row.resize(static_cast<size_t>(2 * greatest + 2));
    row[static_cast<size_t>(2 * label + 1)] += 1;
    if (taken == label)
      row[static_cast<size_t>(2 * label)] += 1;
    else
      row[static_cast<size_t>(2 * taken + 1)] += 1;
  }

  double of_sums(const std::vector<double>& sums) const override {
    double total = 0;
    double count = 0;
    for (size_t i = 0; i + 1 < sums.size(); i += 2) {
      if (sums[i + 1] == 0) continue;
      total += sums[i] / sums[i + 1];
      ++count;
    }
    return count == 0 ? 0 : total / count;
  }
};

// exp of the mean negative log-likelihood of the labels, by a softmax of the scores. A label of -100 is none.
class Perplexity final : public SumMetric {
 public:
  bool is_better_higher() const override { return false; }

  std::vector<double> measure(const SampleValues& sample) const override {
    const ScoredPlaces places(judged_output(sample), judged_label(sample));
    double loss = 0;
    double count = 0;
    for (uint64_t i = 0; i < places.count(); ++i) {
      if (places.label(i) == kPadding) continue;
      loss += loss_at(places.scores(i), places.label(i));
      ++count;
    }
    return {loss, count};
  }

 private:
  static double loss_at(const ClassScores& scores, int64_t label) {
    if (label < 0 || static_cast<uint64_t>(label) >= scores.count)
      fail(ErrorCode::usage, "the label {} is no class of {}", label, scores.count);
    double greatest = scores[0];
    for (uint64_t i = 1; i < scores.count; ++i) greatest = std::max(greatest, scores[i]);
    double sum = 0;
    for (uint64_t i = 0; i < scores.count; ++i) sum += std::exp(scores[i] - greatest);
    return greatest + std::log(sum) - scores[static_cast<uint64_t>(label)];
  }

  double of_sums(const std::vector<double>& sums) const override { return std::exp(sums[0] / sums[1]); }
};

// The mean cosine between outputs and those of the reference.
class Cosine final : public MeanMetric {
 public:
  bool needs_reference() const override { return true; }

  std::vector<double> measure(const SampleValues& sample) const override {
    const SampleValues other{*sample.reference, sample.labels, nullptr, sample.output, sample.label};
    const std::vector<double> a = tensor::load_elements<double>(judged_output(sample));
    const std::vector<double> b = tensor::load_elements<double>(judged_output(other));
    if (a.size() != b.size()) fail(ErrorCode::usage, "{} elements beside {} of the reference", a.size(), b.size());
    double product = 0;
    double square_a = 0;
    double square_b = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      product += a[i] * b[i];
      square_a += a[i] * a[i];
      square_b += b[i] * b[i];
    }
    if (square_a == 0 && square_b == 0) return {1, 1};
    return {square_a == 0 || square_b == 0 ? 0 : product / (std::sqrt(square_a) * std::sqrt(square_b)), 1};
  }
};

}  // namespace

MetricPtr make_top_k(uint64_t k) { return std::make_unique<TopK>(k); }
MetricPtr make_f1() { return std::make_unique<F1>(); }
MetricPtr make_miou() { return std::make_unique<MeanIou>(); }
MetricPtr make_perplexity() { return std::make_unique<Perplexity>(); }
MetricPtr make_cosine() { return std::make_unique<Cosine>(); }

}  // namespace assay::sweep
