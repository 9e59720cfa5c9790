#include "debug/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/queries.h"
#include "ir/walk.h"
#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::debug {
namespace {

using ir::ValueId;

Interval hull(const Interval& a, const Interval& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// 0 times anything is 0: an unbounded factor is large, not infinite.
double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval operator*(const Interval& a, const Interval& b) {
  const std::array<double, 4> ends = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                                      product(a.high, b.high)};
  return {std::ranges::min(ends), std::ranges::max(ends)};
}

Interval operator+(const Interval& a, const Interval& b) { return {a.low + b.low, a.high + b.high}; }
Interval operator-(const Interval& a) { return {-a.high, -a.low}; }

Interval reciprocal(const Interval& a) {
  if (a.low <= 0 && a.high >= 0) return {};
  return {1 / a.high, 1 / a.low};
}

Interval absolute(const Interval& a) {
  if (a.low >= 0) return a;
  return {a.high < 0 ? -a.high : 0, std::max(-a.low, a.high)};
}

// The interval of a function that only rises.
Interval risen(const Interval& a, double (*function)(double)) { return {function(a.low), function(a.high)}; }

class Intervals {
 public:
  Intervals(const ir::Model& model, const std::map<ValueId, Interval>& inputs) : model_(model), known_(inputs) {}

  std::map<ValueId, Interval> run() {
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
      const Interval result = is_standard(node) ? of_node(node) : Interval();
      for (const ValueId value : model_[node].results) {
        if (value && is_floating(value)) known_[value] = cleaned(result);
      }
    }
    return std::move(known_);
  }

 private:
  bool is_standard(ir::NodeId node) const { return model_[node].domain == ir::kEmpty; }

  // Infinity from infinity is no number: anything may come.
  static Interval cleaned(const Interval& interval) {
    return std::isnan(interval.low) || std::isnan(interval.high) ? Interval() : interval;
  }

  bool is_floating(ValueId value) const {
    const ir::TypeId type = model_[value].type;
    return type && model_[type].kind == ir::TypeKind::tensor && tensor::is_floating(model_[type].dtype);
  }

  std::optional<std::vector<double>> constant(ValueId value) const {
    const ir::TensorId id = value ? model_[value].constant : ir::TensorId();
    if (!id || model_[id].sparse || model_[value].kind == ir::ValueKind::input) return std::nullopt;
    if (!tensor::is_floating(model_[id].tensor.dtype())) return std::nullopt;
    return tensor::load_elements<double>(model_[id].tensor);
  }

  ValueId operand(ir::NodeId node, uint32_t index) const { return ir::operand(model_, node, index); }

  Interval in(ir::NodeId node, uint32_t index) {
    const ValueId value = operand(node, index);
    if (!value) return {};
    const auto found = known_.find(value);
    if (found != known_.end()) return found->second;
    const std::optional<std::vector<double>> numbers = constant(value);
    if (!numbers || numbers->empty()) return {};
    const auto [low, high] = std::ranges::minmax(*numbers);
    return known_[value] = {low, high};
  }

  double attribute(ir::NodeId node, std::string_view name, double standard) const {
    const ir::Attribute* const found = model_.find_attribute(model_[node], name);
    if (found == nullptr || found->is_reference()) return standard;
    return found->type() == ir::AttributeType::integer ? static_cast<double>(found->integer()) : found->floating();
  }

  std::optional<double> count_of(ValueId value) const {
    const ir::TypeId type = value ? model_[value].type : ir::TypeId();
    if (!type || !model_[type].ranked) return std::nullopt;
    double count = 1;
    for (const ir::DimId dim : model_[type].dims) {
      const std::optional<int64_t> size = model_.dims().as_constant(dim);
      if (!size) return std::nullopt;
      count *= static_cast<double>(*size);
    }
    return count;
  }

  Interval of_node(ir::NodeId node) {
    const std::string_view op = model_.text(model_[node].op);
    const Interval a = in(node, 0);
    switch (ops::traits(model_, node).range) {
      case ops::ValueRange::first:
        return a;
      case ops::ValueRange::first_or_zero:
        return hull(a, {0, 0});
      case ops::ValueRange::all:
        return of_all(node, op);
      case ops::ValueRange::part_of_one:
        return {0, 1};
      case ops::ValueRange::around_zero:
        return {-1, 1};
      default:
        return of_numbers(node, op, a);
    }
  }

  Interval of_numbers(ir::NodeId node, std::string_view op, const Interval& a) {
    if (op == "Where") return of_all(node, op);
    if (op == "Add") return a + in(node, 1);
    if (op == "Sub") return a + -in(node, 1);
    if (op == "Mul") return operand(node, 0) == operand(node, 1) ? square(a) : a * in(node, 1);
    if (op == "Div") return a * reciprocal(in(node, 1));
    const ops::Traits& traits = ops::traits(model_, node);
    const bool is_convolution = traits.product == ops::ProductKind::convolution;
    if (is_convolution || traits.product == ops::ProductKind::matrices) return of_products(node, is_convolution);
    if (traits.is_affine()) return of_batch_norm(node);
    return of_function(node, op, a);
  }

  static Interval square(const Interval& a) {
    const Interval size = absolute(a);
    return {product(size.low, size.low), product(size.high, size.high)};
  }

  Interval of_function(ir::NodeId node, std::string_view op, const Interval& a) {
    if (op == "Neg") return -a;
    if (op == "Abs") return absolute(a);
    if (op == "Relu") return {std::max(a.low, 0.0), std::max(a.high, 0.0)};
    if (op == "LeakyRelu") return of_leaky(a, attribute(node, "alpha", 0.01));
    if (op == "Clip") return clipped(a, {limit(node, 1).low, limit(node, 2).high});
    if (op == "Exp") return risen(a, std::exp);
    if (op == "Sqrt" && a.low >= 0) return risen(a, std::sqrt);
    if (op == "Log" && a.low > 0) return risen(a, std::log);
    if (op == "Reciprocal") return reciprocal(a);
    if (op == "Pow") return of_power(node, a);
    if (op == "ReduceSum") return of_sum(node, a);
    if (op == "LayerNormalization") return of_layer_norm(node);
    return {};
  }

  static Interval of_leaky(const Interval& a, double alpha) {
    return hull({std::max(a.low, 0.0), std::max(a.high, 0.0)}, a * Interval{alpha, alpha});
  }

  static Interval clipped(const Interval& a, const Interval& to) {
    return {std::min(std::max(a.low, to.low), to.high), std::min(std::max(a.high, to.low), to.high)};
  }

  // Given as an operand; an open end where it is left out.
  Interval limit(ir::NodeId node, uint32_t index) { return operand(node, index) ? in(node, index) : Interval(); }

  Interval of_all(ir::NodeId node, std::string_view op) {
    const uint32_t first = op == "Where" ? 1 : 0;
    Interval all = in(node, first);
    for (uint32_t i = first + 1; i < model_[node].operands.size(); ++i) {
      const Interval other = in(node, i);
      if (op == "Max")
        all = {std::max(all.low, other.low), std::max(all.high, other.high)};
      else if (op == "Min")
        all = {std::min(all.low, other.low), std::min(all.high, other.high)};
      else
        all = hull(all, other);
    }
    return all;
  }

  Interval of_power(ir::NodeId node, const Interval& a) {
    const Interval exponent = in(node, 1);
    if (exponent.low == 2 && exponent.high == 2) return square(a);
    if (exponent.low != exponent.high || a.low < 0 || exponent.low < 0) return {};
    return {std::pow(a.low, exponent.low), std::pow(a.high, exponent.low)};
  }

  Interval of_sum(ir::NodeId node, const Interval& a) {
    const std::optional<double> from = count_of(operand(node, 0)), to = count_of(model_[node].results[0]);
    if (!from || !to || *to == 0) return {};
    const double terms = *from / *to;
    return {product(a.low, terms), product(a.high, terms)};
  }

  // Each element is within the root of their number of the mean, in deviations.
  Interval of_layer_norm(ir::NodeId node) {
    const std::optional<double> count = count_of(operand(node, 1));
    if (!count) return {};
    const double reach = std::sqrt(*count);
    const Interval scaled = Interval{-reach, reach} * in(node, 1);
    return operand(node, 2) ? scaled + in(node, 2) : scaled;
  }

  Interval of_batch_norm(ir::NodeId node) {
    const Interval variance = in(node, 4);
    if (variance.low < 0) return {};
    const double epsilon = attribute(node, "epsilon", 1e-5);
    const Interval deviation = {std::sqrt(variance.low + epsilon), std::sqrt(variance.high + epsilon)};
    return (in(node, 0) + -in(node, 3)) * reciprocal(deviation) * in(node, 1) + in(node, 2);
  }

  // Each result is a sum over the weights of its channel: the positive ones take one end, the negative ones the other.
  Interval of_products(ir::NodeId node, bool is_convolution) {
    const std::optional<std::vector<double>> weights = constant(operand(node, 1));
    if (!weights || weights->empty()) return {};
    const tensor::Shape& shape = model_[model_[operand(node, 1)].constant].tensor.shape();
    const bool has_rows = is_convolution || attribute(node, "transB", 0) != 0;
    const auto channels = static_cast<size_t>(has_rows ? shape.front() : shape.back());
    if (shape.size() < 2 || (!is_convolution && shape.size() > 2)) return {};
    std::vector<double> positive(channels), negative(channels);
    for (size_t i = 0; i < weights->size(); ++i) {
      const size_t channel = has_rows ? i / (weights->size() / channels) : i % channels;
      ((*weights)[i] > 0 ? positive : negative)[channel] += (*weights)[i];
    }
    Interval a = in(node, 0);
    if (is_convolution) a = hull(a, {0, 0});  // of padding
    Interval all = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (size_t k = 0; k < channels; ++k) {
      const Interval sum = {product(a.low, positive[k]) + product(a.high, negative[k]),
                            product(a.high, positive[k]) + product(a.low, negative[k])};
      all = hull(all, sum);
    }
    const double alpha = attribute(node, "alpha", 1), beta = attribute(node, "beta", 1);
    all = all * Interval{alpha, alpha};
    return operand(node, 2) ? all + in(node, 2) * Interval{beta, beta} : all;
  }

  const ir::Model& model_;
  std::map<ValueId, Interval> known_;
};

}  // namespace

bool Interval::is_bounded() const { return std::isfinite(low) && std::isfinite(high); }
double Interval::magnitude() const { return std::max(std::abs(low), std::abs(high)); }

std::map<ValueId, Interval> value_intervals(const ir::Model& model, const std::map<ValueId, Interval>& inputs) {
  return Intervals(model, inputs).run();
}

}  // namespace assay::debug
