#include <array>
#include <cmath>

#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr std::string_view kDomain = "ai.onnx.preview.training";

// The inputs are R, T, all tensors to be optimized and then, in the same order, their gradients and their states of
// each kind; the outputs new tensors and new states.

void check_same_dims(const Infer& node, uint32_t first, uint32_t second) {
  if (!node.is_ranked(first) || !node.is_ranked(second)) return;
  const Dims& a = node.dims(first);
  const Dims& b = node.dims(second);
  bool fits = a.size() == b.size();
  for (size_t i = 0; fits && i < a.size(); ++i) fits = !a[i].is_number() || !b[i].is_number() || a[i].equals(b[i]);
  if (!fits) {
    fail(ErrorCode::shape, "inputs {} and {} must have one shape, seen {} and {}", first, second, text(a), text(b));
  }
}

template <uint32_t States>
void infer_optimizer(Infer& node) {
  const uint32_t given = node.input_count() - 2;
  const uint32_t count = given / (States + 2);
  if (count == 0 || given % (States + 2) != 0)
    fail(ErrorCode::shape, "{} tensors are no groups of {}", given, States + 2);
  if (node.output_count() != count * (States + 1)) {
    fail(ErrorCode::shape, "{} outputs do not fit {} optimized tensors", node.output_count(), count);
  }
  for (const uint32_t scalar : {0U, 1U}) {
    if (node.is_ranked(scalar) && product(node.dims(scalar)).is_number() && !product(node.dims(scalar)).is(1)) {
      fail(ErrorCode::shape, "input {} must be a scalar, its shape is {}", scalar, text(node.dims(scalar)));
    }
  }
  for (uint32_t i = 0; i < given; ++i) check_same_dims(node, 2 + i % count, 2 + i);
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    const uint32_t source = i < count ? 2 + i : 2 + count + i;
    if (node.dtype(source) != DType::undefined) node.set_dtype(i, node.dtype(source));
    if (node.is_ranked(2 + i % count)) node.set_dims(i, node.dims(2 + i % count));
  }
}

// One element: the optimized number, its gradient and its states, which `step` changes.
template <uint32_t States>
struct Item {
  double x;
  double gradient;
  std::array<double, States> states;
};

template <uint32_t States, typename Step>
void optimize(Eval& node, Step step) {
  const uint32_t count = (node.input_count() - 2) / (States + 2);
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<double> x = node.load<double>(2 + i);
    const std::vector<double> gradient = node.load<double>(2 + count + i);
    std::array<std::vector<double>, States> states;
    for (uint32_t s = 0; s < States; ++s) states[s] = node.load<double>(2 + (2 + s) * count + i);
    for (size_t k = 0; k < x.size(); ++k) {
      Item<States> item{x[k], gradient[k], {}};
      for (uint32_t s = 0; s < States; ++s) item.states[s] = states[s][k];
      step(item);
      x[k] = item.x;
      for (uint32_t s = 0; s < States; ++s) states[s][k] = item.states[s];
    }
    node.store(i, std::move(x));
    for (uint32_t s = 0; s < States; ++s) node.store((1 + s) * count + i, std::move(states[s]));
  }
}

void eval_adagrad(Eval& node) {
  const double norm = node.floating("norm_coefficient");
  const double epsilon = node.floating("epsilon");
  const auto t = static_cast<double>(node.scalar<int64_t>(1, 0));
  const double rate = node.scalar<double>(0, 0) / (1 + t * node.floating("decay_factor"));
  optimize<1>(node, [=](Item<1>& item) {
    const double g = norm * item.x + item.gradient;
    double& squares = item.states[0];
    squares += g * g;
    item.x -= rate * g / (std::sqrt(squares) + epsilon);
  });
}

void eval_adam(Eval& node) {
  const double norm = node.floating("norm_coefficient");
  const double norm_post = node.floating("norm_coefficient_post");
  const double alpha = node.floating("alpha");
  const double beta = node.floating("beta");
  const double epsilon = node.floating("epsilon");
  const auto t = static_cast<double>(node.scalar<int64_t>(1, 0));
  const double r = node.scalar<double>(0, 0);
  const double rate = t > 0 ? r * std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : r;
  optimize<2>(node, [=](Item<2>& item) {
    const double g = norm * item.x + item.gradient;
    auto& [mean, squares] = item.states;
    mean = alpha * mean + (1 - alpha) * g;
    squares = beta * squares + (1 - beta) * g * g;
    item.x = (1 - norm_post) * (item.x - rate * mean / (std::sqrt(squares) + epsilon));
  });
}

bool is_nesterov(const Node& node) {
  const std::string_view mode = node.string("mode");
  if (mode == "nesterov") return true;
  if (mode == "standard") return false;
  fail(ErrorCode::shape, "attribute `mode` must be nesterov or standard, it is `{}`", mode);
}

void infer_momentum(Infer& node) {
  is_nesterov(node);
  infer_optimizer<1>(node);
}

void eval_momentum(Eval& node) {
  const double norm = node.floating("norm_coefficient");
  const double alpha = node.floating("alpha");
  const double beta = node.scalar<int64_t>(1, 0) > 0 ? node.floating("beta") : 1;
  const double rate = node.scalar<double>(0, 0);
  const bool nesterov = is_nesterov(node);
  optimize<1>(node, [=](Item<1>& item) {
    const double g = norm * item.x + item.gradient;
    double& velocity = item.states[0];
    velocity = alpha * velocity + beta * g;
    item.x -= rate * (nesterov ? g + alpha * velocity : velocity);
  });
}

}  // namespace

OperatorRows operator_training_optimizers() {
  static constexpr Operator kRows[] = {
      {.domain = kDomain,
       .name = "Adagrad",
       .traits = {Nature::training},
       .infer = infer_optimizer<1>,
       .eval = eval_adagrad},
      {.domain = kDomain, .name = "Adam", .traits = {Nature::training}, .infer = infer_optimizer<2>, .eval = eval_adam},
      {.domain = kDomain,
       .name = "Momentum",
       .traits = {Nature::training},
       .infer = infer_momentum,
       .eval = eval_momentum},
  };
  return kRows;
}

}  // namespace assay::ops
