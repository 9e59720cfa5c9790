#include "ops/kernels/recurrent/recurrent_activations.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace assay::ops {
namespace {

struct Entry {
  std::string_view name;  // lower case
  double (*fn)(double x, double alpha, double beta);
  bool takes_alpha = false;
  bool takes_beta = false;
  double alpha = 0;
  double beta = 0;
};

constexpr Entry kEntries[] = {
    {"affine", [](double x, double alpha, double beta) { return alpha * x + beta; }, true, true, 1, 0},
    {"elu", [](double x, double alpha, double) { return x >= 0 ? x : alpha * std::expm1(x); }, true, false, 1},
    {"hardsigmoid", [](double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }, true,
     true, 0.2F, 0.5},
    {"leakyrelu", [](double x, double alpha, double) { return x >= 0 ? x : alpha * x; }, true, false, 0.01F},
    {"relu", [](double x, double, double) { return x < 0 ? 0 : x; }},
    {"scaledtanh", [](double x, double alpha, double beta) { return alpha * std::tanh(beta * x); }, true, true, 1, 1},
    {"sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"softplus", [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"tanh", [](double x, double, double) { return std::tanh(x); }},
    {"thresholdedrelu", [](double x, double alpha, double) { return x > alpha ? x : 0; }, true, false, 1},
};

const Entry& find_entry(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
  for (const Entry& entry : kEntries) {
    if (entry.name == lower) return entry;
  }
  fail(ErrorCode::shape, "activation `{}` is not known", name);
}

// The next entry of a list, or the default where it is used up.
double take(const std::vector<double>& values, size_t& next, bool takes, double otherwise) {
  return takes && next < values.size() ? values[next++] : otherwise;
}

}  // namespace

std::vector<RecurrentActivation> read_recurrent_activations(const Node& node, size_t count,
                                                            std::span<const std::string_view> defaults) {
  std::vector<std::string_view> names;
  if (node.has_attribute("activations")) {
    names = node.strings("activations");
  } else {
    for (size_t i = 0; i < count; ++i) names.push_back(defaults[i % defaults.size()]);
  }
  if (names.size() < count) fail(ErrorCode::shape, "{} activations are given, {} are needed", names.size(), count);
  const std::vector<double> alphas = node.floats("activation_alpha");
  const std::vector<double> betas = node.floats("activation_beta");
  size_t next_alpha = 0;
  size_t next_beta = 0;
  std::vector<RecurrentActivation> result(count);
  for (size_t i = 0; i < count; ++i) {
    const Entry& entry = find_entry(names[i]);
    result[i].fn_ = entry.fn;
    result[i].alpha_ = take(alphas, next_alpha, entry.takes_alpha, entry.alpha);
    result[i].beta_ = take(betas, next_beta, entry.takes_beta, entry.beta);
  }
  return result;
}

}  // namespace assay::ops
