#include "ops/kernels/ml/svm.h"

#include <algorithm>
#include <cmath>

namespace assay::ops {
namespace {

SvmKernel kernel_of(std::string_view name) {
  if (name == "LINEAR") return SvmKernel::linear;
  if (name == "POLY") return SvmKernel::poly;
  if (name == "RBF") return SvmKernel::rbf;
  if (name == "SIGMOID") return SvmKernel::sigmoid;
  fail(ErrorCode::shape, "there is no kernel `{}`", name);
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The matrix whose null vector the probabilities are nearest to.
std::vector<double> coupling_matrix(const std::vector<double>& pairs, size_t classes) {
  std::vector<double> q(classes * classes);
  for (size_t t = 0; t < classes; ++t) {
    for (size_t j = 0; j < classes; ++j) {
      if (j == t) continue;
      const double r = pairs[j * classes + t];
      q[t * classes + t] += r * r;
      q[t * classes + j] = -r * pairs[t * classes + j];
    }
  }
  return q;
}

}  // namespace

double SvmProduct::operator()(std::span<const double> a, std::span<const double> b) const {
  switch (kind) {
    case SvmKernel::linear:
      return dot(a, b);
    case SvmKernel::poly:
      return std::pow(gamma * dot(a, b) + offset, degree);
    case SvmKernel::sigmoid:
      return std::tanh(gamma * dot(a, b) + offset);
    default:
      break;
  }
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::exp(-gamma * sum);
}

SvmProduct svm_product(const Node& node) {
  const std::vector<double> parameters = node.floats("kernel_params");
  if (!parameters.empty() && parameters.size() != 3) {
    fail(ErrorCode::shape, "`kernel_params` has {} numbers, it must have 3", parameters.size());
  }
  SvmProduct product{kernel_of(node.string("kernel_type"))};
  if (parameters.empty()) return product;
  product.gamma = parameters[0];
  product.offset = parameters[1];
  product.degree = parameters[2];
  return product;
}

std::vector<double> couple_probabilities(const std::vector<double>& pairs, size_t classes) {
  const std::vector<double> q = coupling_matrix(pairs, classes);
  const double limit = 0.005 / static_cast<double>(classes);
  std::vector<double> p(classes, 1 / static_cast<double>(classes));
  std::vector<double> qp(classes);
  for (size_t round = 0; round < std::max<size_t>(100, classes); ++round) {
    double pqp = 0;
    for (size_t t = 0; t < classes; ++t) {
      qp[t] = dot(std::span(q).subspan(t * classes, classes), p);
      pqp += p[t] * qp[t];
    }
    const bool is_done = std::ranges::all_of(qp, [&](double x) { return std::abs(x - pqp) < limit; });
    if (is_done) break;
    for (size_t t = 0; t < classes; ++t) {
      const double own = q[t * classes + t];
      const double step = (pqp - qp[t]) / own;
      p[t] += step;
      pqp = (pqp + step * (step * own + 2 * qp[t])) / (1 + step) / (1 + step);
      for (size_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + step * q[t * classes + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

}  // namespace assay::ops
