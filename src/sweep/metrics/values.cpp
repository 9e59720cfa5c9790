#include "sweep/metrics/values.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensor/elements.h"

namespace assay::sweep {
namespace {

const tensor::Tensor* tensor_named(const tensor::NamedData& data, std::string_view name) {
  const auto found = std::ranges::find(data, name, &tensor::NamedDatum::name);
  return found != data.end() && found->value.is_tensor() ? &found->value.tensor() : nullptr;
}

std::string names_of(const tensor::NamedData& data) {
  std::vector<std::string> names;
  for (const tensor::NamedDatum& entry : data) names.push_back(printable(entry.name));
  return names.empty() ? "there is none" : "there are " + join(names, ", ");
}

bool is_same(const tensor::Shape& a, size_t begin_a, const tensor::Shape& b, size_t begin_b) {
  return std::equal(a.begin() + static_cast<std::ptrdiff_t>(begin_a), a.end(),
                    b.begin() + static_cast<std::ptrdiff_t>(begin_b), b.end());
}

uint64_t product(const tensor::Shape& shape, size_t begin) {
  uint64_t count = 1;
  for (size_t i = begin; i < shape.size(); ++i) count *= static_cast<uint64_t>(shape[i]);
  return count;
}

// Shape without the dims of size 1 behind the first `keep`.
tensor::Shape squeezed(const tensor::Shape& shape, size_t keep) {
  tensor::Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < keep || shape[i] != 1) result.push_back(shape[i]);
  }
  return result;
}

}  // namespace

const tensor::Tensor& judged_output(const SampleValues& sample) {
  if (!sample.output.empty()) {
    if (const tensor::Tensor* named = tensor_named(sample.outputs, sample.output)) return *named;
    fail(ErrorCode::usage, "no output is called `{}`; {}", printable(sample.output), names_of(sample.outputs));
  }
  for (const tensor::NamedDatum& output : sample.outputs) {
    if (output.value.is_tensor()) return output.value.tensor();
  }
  fail(ErrorCode::usage, "no output is a tensor");
}

const tensor::Tensor& judged_label(const SampleValues& sample) {
  if (!sample.label.empty()) {
    if (const tensor::Tensor* named = tensor_named(sample.labels, sample.label)) return *named;
    fail(ErrorCode::usage, "the sample has no label `{}`; {}", printable(sample.label), names_of(sample.labels));
  }
  for (const std::string_view name : {"label", "labels", "target"}) {
    if (const tensor::Tensor* named = tensor_named(sample.labels, name)) return *named;
  }
  if (sample.labels.size() == 1 && sample.labels[0].value.is_tensor()) return sample.labels[0].value.tensor();
  fail(ErrorCode::usage, "the sample has no label beside its inputs; {}", names_of(sample.labels));
}

const tensor::Tensor* find_tensor(const tensor::NamedData& data, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    for (const tensor::NamedDatum& entry : data) {
      const bool has_word = to_lower(entry.name).find(word) != std::string::npos;
      if (has_word && entry.value.is_tensor()) return &entry.value.tensor();
    }
  }
  return nullptr;
}

ScoredPlaces::ScoredPlaces(const tensor::Tensor& output, const tensor::Tensor& label) {
  scores_ = tensor::load_elements<double>(output);
  for (const double value : tensor::load_elements<double>(label)) labels_.push_back(static_cast<int64_t>(value));
  const tensor::Shape shape = squeezed(output.shape(), 2);
  const tensor::Shape places = squeezed(label.shape(), 1);
  const uint64_t count = labels_.size();
  if (count == 0 || scores_.size() % count != 0) {
    fail(ErrorCode::usage, "the label has {} element(s), which do not divide the {} of the output", count,
         scores_.size());
  }
  classes_ = scores_.size() / count;
  const bool is_second = shape.size() > 2 && static_cast<uint64_t>(shape[1]) == classes_ &&
                         is_same(shape, 2, places, std::min<size_t>(1, places.size()));
  if (is_second) inner_ = product(shape, 2);
  const bool is_last = !shape.empty() && static_cast<uint64_t>(shape.back()) == classes_;
  if (!is_second && !is_last && classes_ != 1)
    fail(ErrorCode::usage, "no axis of the output has {} classes, as its label wants", classes_);
}

ClassScores ScoredPlaces::scores(uint64_t place) const {
  const uint64_t outer = place / inner_;
  return {scores_.data() + outer * classes_ * inner_ + place % inner_, classes_, inner_};
}

uint64_t ScoredPlaces::best(uint64_t place) const {
  const ClassScores all = scores(place);
  uint64_t best = 0;
  for (uint64_t i = 1; i < all.count; ++i) {
    if (all[i] > all[best]) best = i;
  }
  return best;
}

double SumMetric::score(Rows rows) const {
  std::vector<double> sums;
  for (const std::vector<double>* row : rows) {
    if (row->size() > sums.size()) sums.resize(row->size());
    for (size_t i = 0; i < row->size(); ++i) sums[i] += (*row)[i];
  }
  return sums.empty() ? std::numeric_limits<double>::quiet_NaN() : of_sums(sums);
}

double MeanMetric::of_sums(const std::vector<double>& sums) const { return sums[0] / sums[1]; }

}  // namespace assay::sweep
