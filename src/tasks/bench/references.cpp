#include "tasks/bench/references.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tasks/bench/raw_inputs.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

// One way to measure how far numbers are from those of a reference.
struct LossFunction {
  std::string_view name;
  double (*of)(const std::vector<double>& seen, const std::vector<double>& expected, const ReferenceCheck& check);
};

double share_beyond(const std::vector<double>& seen, const std::vector<double>& expected, const ReferenceCheck& check) {
  uint64_t count = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    const bool is_same = seen[i] == expected[i] || (std::isnan(seen[i]) && std::isnan(expected[i]));
    const bool is_near = std::abs(seen[i] - expected[i]) <= check.atol + check.rtol * std::abs(expected[i]);
    if (!is_same && !is_near) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(seen.size());
}

// Sums a function of the distances of elements; those that are equal, infinities and NaN included, are 0 apart.
template <typename Add>
double of_distances(const std::vector<double>& seen, const std::vector<double>& expected, const Add& add) {
  double result = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    const bool is_same = seen[i] == expected[i] || (std::isnan(seen[i]) && std::isnan(expected[i]));
    const double distance = is_same ? 0 : std::abs(seen[i] - expected[i]);
    result = std::isnan(distance) ? distance : add(result, distance);
    if (std::isnan(result)) return result;
  }
  return result;
}

double mean_absolute(const std::vector<double>& seen, const std::vector<double>& expected, const ReferenceCheck&) {
  const auto add = [](double sum, double distance) { return sum + distance; };
  return of_distances(seen, expected, add) / static_cast<double>(seen.size());
}

double mean_square(const std::vector<double>& seen, const std::vector<double>& expected, const ReferenceCheck&) {
  const auto add = [](double sum, double distance) { return sum + distance * distance; };
  return of_distances(seen, expected, add) / static_cast<double>(seen.size());
}

double greatest(const std::vector<double>& seen, const std::vector<double>& expected, const ReferenceCheck&) {
  return of_distances(seen, expected, [](double most, double distance) { return std::max(most, distance); });
}

double cosine(const std::vector<double>& seen, const std::vector<double>& expected, const ReferenceCheck&) {
  constexpr double kLeastNorm = 1e-12;
  double dot = 0;
  double seen_square = 0;
  double expected_square = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    dot += seen[i] * expected[i];
    seen_square += seen[i] * seen[i];
    expected_square += expected[i] * expected[i];
  }
  const double norm = std::sqrt(seen_square) * std::sqrt(expected_square);
  return norm < kLeastNorm ? 1 : 1 - dot / norm;
}

constexpr std::array kLosses = {LossFunction{"l0", share_beyond}, LossFunction{"l1", mean_absolute},
                                LossFunction{"l2", mean_square}, LossFunction{"lInf", greatest},
                                LossFunction{"cos", cosine}};

const LossFunction& loss_function(const std::string& name) {
  const auto found = std::ranges::find(kLosses, name, &LossFunction::name);
  if (found != kLosses.end()) return *found;
  fail(ErrorCode::usage, "there is no loss `{}`; expected one of {}", printable(name), fmt::join(loss_names(), ", "));
}

results::ReferenceLoss loss_to_file(const ReferenceCheck& check, const tensor::Tensor& seen, const RawInput& file) {
  tensor::NamedData expected = {{file.name, tensor::Datum(seen)}};
  read_raw_inputs({file}, expected, "output");
  return loss_of(check, file.name, seen, expected[0].value.tensor());
}

}  // namespace

results::ReferenceLoss loss_of(const ReferenceCheck& check, const std::string& output, const tensor::Tensor& seen,
                               const tensor::Tensor& expected) {
  results::ReferenceLoss loss{.output = output, .fault = {}};
  const std::vector<double> a = tensor::load_elements<double>(seen);
  const std::vector<double> b = tensor::load_elements<double>(expected);
  if (a.empty() || a.size() != b.size()) {
    loss.fault = a.empty() ? "the output has no elements: nothing was compared" : "the output has another size";
    return loss;
  }
  loss.loss = loss_function(check.loss).of(a, b, check);
  loss.passed = loss.loss < check.threshold;  // never for NaN
  return loss;
}

std::vector<std::string_view> loss_names() {
  std::vector<std::string_view> names;
  for (const LossFunction& loss : kLosses) names.push_back(loss.name);
  return names;
}

std::vector<results::ReferenceLoss> check_references(const ReferenceCheck& check, const tensor::NamedData& inputs,
                                                     const RunOnce& run) {
  std::vector<results::ReferenceLoss> losses;
  for (size_t pair = 0; pair < check.pairs.size(); ++pair) {
    tensor::NamedData set = inputs;
    read_raw_inputs(check.pairs[pair].inputs, set);
    const tensor::NamedData outputs = run(set);
    for (const RawInput& file : check.pairs[pair].outputs) {
      const auto seen = std::ranges::find(outputs, file.name, &tensor::NamedDatum::name);
      if (seen == outputs.end()) {
        fail(ErrorCode::usage, "`{}` is given for output `{}`, which the model does not have", printable(file.path),
             printable(file.name));
      }
      if (!seen->value.is_tensor() || seen->value.tensor().dtype() == tensor::DType::string)
        fail(ErrorCode::usage, "output `{}` has no numbers: no file of bytes can hold it", printable(file.name));
      losses.push_back(loss_to_file(check, seen->value.tensor(), file));
      losses.back().pair = pair;
    }
  }
  return losses;
}

}  // namespace assay::tasks
