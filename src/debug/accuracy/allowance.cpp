#include "debug/accuracy/allowance.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::debug {
namespace {

constexpr std::array<std::string_view, 9> kSums = {
    "MatMul", "Gemm", "Conv", "ConvTranspose", "ReduceSum", "ReduceMean", "AveragePool", "GlobalAveragePool", "Einsum"};
// Polynomials and table steps stand for these; their errors are some units of the greatest values around.
constexpr double kUnitsOfOperators = 4;
constexpr double kUnitsOfOperands = 4;  // by which they are moved
constexpr double kDoubts = 1.5;         // of an operand that nobody has seen
constexpr int kSamples = 3;

// -1 or 1, by position and sample: the same in every run.
double sign_of(uint64_t index, uint64_t sample) {
  uint64_t mixed = (index + 1) * 0x9E3779B97F4A7C15ULL + sample * 0xBF58476D1CE4E5B9ULL;
  mixed ^= mixed >> 31;
  mixed *= 0x94D049BB133111EBULL;
  return ((mixed >> 40) & 1) != 0 ? 1 : -1;
}

double finite_or_zero(double number) { return std::isfinite(number) ? number : 0; }

}  // namespace

double unit_roundoff(tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::float64:
      return std::ldexp(1, -48);  // sums in the oracle itself are no better
    case tensor::DType::float32:
      return std::ldexp(1, -24);
    case tensor::DType::float16:
      return std::ldexp(1, -11);
    case tensor::DType::bfloat16:
      return std::ldexp(1, -8);
    default:
      return tensor::is_floating(dtype) ? std::ldexp(1, -3) : 0;
  }
}

double root_mean_square(std::span<const double> numbers) {
  double sum = 0;
  uint64_t count = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    sum += number * number;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

AllowanceMaker::AllowanceMaker(const ir::Model& model, LayerOracle& oracle, double least_unit)
    : model_(model), oracle_(oracle), least_unit_(least_unit) {}

double AllowanceMaker::unit_of(const Datum& datum) const {
  const double unit = unit_roundoff(datum.declared());
  return unit == 0 ? 0 : std::max(unit, least_unit_);
}

bool AllowanceMaker::is_sum_of_products(ir::NodeId node) const {
  return std::ranges::find(kSums, model_.text(model_[node].op)) != kSums.end();
}

// Terms of one element of the result, by the shapes of what is summed over.
double AllowanceMaker::length_of_sums(ir::NodeId node, const OperandSource& operands,
                                      const std::vector<Datum>& exact) const {
  double most_elements = 1, most_columns = 1, weights = 0, weight_rows = 1;
  for (size_t i = 0; i < model_[node].operands.size(); ++i) {
    const ir::ValueId value = model_[node].operands[i].value;
    const Datum datum = value ? operands(value) : Datum();
    if (!is_numeric(datum)) continue;
    const tensor::Shape& shape = datum.tensor().shape();
    most_elements = std::max(most_elements, static_cast<double>(datum.tensor().count()));
    if (!shape.empty()) most_columns = std::max(most_columns, static_cast<double>(shape.back()));
    if (i != 1 || shape.size() < 3) continue;
    weights = static_cast<double>(datum.tensor().count());
    weight_rows = static_cast<double>(std::max<int64_t>(1, shape[0]));
  }
  const std::string_view op = model_.text(model_[node].op);
  if (op == "Conv" || op == "ConvTranspose") return std::max(1.0, weights / weight_rows);
  const bool reduces = op.starts_with("Reduce") || op.ends_with("Pool");
  if (!reduces || exact.empty() || !exact[0].is_tensor()) return most_columns;
  return std::max(1.0, most_elements / static_cast<double>(std::max<uint64_t>(exact[0].tensor().count(), 1)));
}

// The sums of the magnitudes of what the node adds up.
std::vector<Datum> AllowanceMaker::magnitudes(ir::NodeId node, const OperandSource& operands) {
  return oracle_.exact(node, [&](ir::ValueId value) {
    const Datum datum = operands(value);
    if (!is_numeric(datum) || !tensor::is_floating(datum.tensor().dtype())) return datum;
    std::vector<double> numbers = numbers_of(datum);
    for (double& number : numbers) number = std::abs(number);
    return with_numbers(datum, std::move(numbers));
  });
}

Datum AllowanceMaker::moved(const Datum& datum, const Allowances& doubt, double units, uint64_t salt) const {
  if (!is_numeric(datum) || !tensor::is_floating(datum.tensor().dtype())) return datum;
  std::vector<double> numbers = numbers_of(datum);
  const double unit = unit_of(datum) * units;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double by = doubt && i < doubt->size() ? kDoubts * (*doubt)[i] : unit * std::abs(numbers[i]);
    numbers[i] += sign_of(i, salt) * finite_or_zero(by);
  }
  return with_numbers(datum, std::move(numbers));
}

// How far the results move when the operands do.
void AllowanceMaker::add_spread(ir::NodeId node, const OperandSource& operands, const std::vector<Datum>& exact,
                                const std::function<Allowances(ir::ValueId)>& doubts,
                                std::vector<std::vector<double>>& made) {
  const bool is_sum = is_sum_of_products(node);
  std::vector<std::vector<double>> spreads(exact.size());
  const double units = kUnitsOfOperands + std::sqrt(length_of_sums(node, operands, exact)) / 4;
  for (int sample = 0; sample < kSamples; ++sample) {
    const std::vector<Datum> other = oracle_.exact(node, [&](ir::ValueId value) {
      const Allowances doubt = doubts(value);
      if (is_sum && !doubt) return operands(value);  // the magnitudes say what its rounding does
      return moved(operands(value), doubt, units, sample * 1000003ULL + value.index * 31);
    });
    for (size_t k = 0; k < exact.size() && k < other.size(); ++k) {
      if (made[k].empty() || !is_numeric(other[k]) || other[k].tensor().shape() != exact[k].tensor().shape()) continue;
      const std::vector<double> before = numbers_of(exact[k]);
      const std::vector<double> after = numbers_of(other[k]);
      spreads[k].resize(before.size());
      for (size_t i = 0; i < before.size(); ++i) {
        const double by = before[i] == after[i] ? 0 : finite_or_zero(std::abs(after[i] - before[i]));
        spreads[k][i] = std::max(spreads[k][i], by);
      }
    }
  }
  for (size_t k = 0; k < made.size(); ++k) {
    if (spreads[k].empty()) continue;
    const double floor = tensor::is_floating(exact[k].declared()) ? root_mean_square(spreads[k]) : 0;
    for (size_t i = 0; i < made[k].size(); ++i) made[k][i] += std::max(spreads[k][i], floor);
  }
}

std::vector<Allowances> AllowanceMaker::least(const std::vector<Datum>& exact) const {
  std::vector<Allowances> allowances;
  for (const Datum& datum : exact) {
    if (!is_numeric(datum)) {
      allowances.push_back(nullptr);
      continue;
    }
    std::vector<double> made = numbers_of(datum);
    const double units = unit_of(datum) * kUnitsOfOperators;
    const double rms = root_mean_square(made);
    for (double& number : made) number = units * (finite_or_zero(std::abs(number)) + rms);
    allowances.push_back(std::make_shared<const std::vector<double>>(std::move(made)));
  }
  return allowances;
}

std::vector<Allowances> AllowanceMaker::make(ir::NodeId node, const OperandSource& operands,
                                             const std::vector<Datum>& exact,
                                             const std::function<Allowances(ir::ValueId)>& doubts) {
  const bool is_sum = is_sum_of_products(node);
  std::vector<std::vector<double>> made(exact.size());
  const std::vector<Datum> sums = is_sum ? magnitudes(node, operands) : std::vector<Datum>();
  const double length = length_of_sums(node, operands, exact);
  for (size_t k = 0; k < exact.size(); ++k) {
    if (!is_numeric(exact[k])) continue;
    const std::vector<double> numbers = numbers_of(exact[k]);
    const double unit = unit_of(exact[k]);
    made[k].resize(numbers.size());
    const double rms = root_mean_square(numbers);
    for (size_t i = 0; i < numbers.size(); ++i) {
      made[k][i] = unit * kUnitsOfOperators * (finite_or_zero(std::abs(numbers[i])) + (is_sum ? 0 : rms));
    }
    if (k >= sums.size()) continue;
    const std::vector<double> magnitude = numbers_of(sums[k]);
    // Kernels that transform their operands first, as Winograd's, lose some more.
    const double factor = unit * (3 + std::sqrt(length) / 5) * (model_.text(model_[node].op) == "Conv" ? 2 : 1);
    for (size_t i = 0; i < numbers.size(); ++i) made[k][i] += factor * finite_or_zero(magnitude[i]);
  }
  bool is_doubtful = !is_sum;
  for (const ir::Use& use : model_[node].operands) is_doubtful = is_doubtful || (use.value && doubts(use.value));
  if (is_doubtful) add_spread(node, operands, exact, doubts, made);
  std::vector<Allowances> allowances;
  for (std::vector<double>& one : made) {
    allowances.push_back(one.empty() ? nullptr : std::make_shared<const std::vector<double>>(std::move(one)));
  }
  return allowances;
}

}  // namespace assay::debug
