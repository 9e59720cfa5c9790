#include "ops/kernels/elements/random.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void check_ratio(double ratio) {
  if (!(ratio >= 0 && ratio < 1)) fail(ErrorCode::shape, "the ratio must be in [0, 1), it is {}", ratio);
}

void infer_dropout(Infer& node) {
  node.require_rank(1, 0);
  node.require_rank(2, 0);
  if (const std::optional<double> ratio = node.number_of(1)) check_ratio(*ratio);
  infer_same_as_first(node);
}

void infer_dropout_attributes(Infer& node) {
  check_ratio(node.floating("ratio"));
  infer_same_as_first(node);
}

// Everything is kept.
void pass_through(Eval& node) {
  node.set_tensor(0, node.tensor_in(0));
  if (!node.wants(1)) return;
  node.store(1, std::vector<double>(node.count(0), 1));
}

// Drops elements; kept ones are scaled, so that the mean stays.
void drop(Eval& node, double ratio) {
  NumpyRandom random = random_of(node);
  std::vector<double> data = node.load<double>(0);
  std::vector<double> mask(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    mask[i] = random.uniform() >= ratio;
    data[i] *= mask[i] / (1 - ratio);
  }
  node.store(0, std::move(data));
  node.store(1, std::move(mask));
}

// Before version 7 the attribute `is_test` decides, up to version 11 nothing is dropped.
void eval_dropout_attributes(Eval& node) {
  const double ratio = node.floating("ratio");
  const bool drops = node.version() < 7 && !node.flag("is_test") && ratio != 0;
  if (!drops) return pass_through(node);
  drop(node, ratio);
}

void eval_dropout(Eval& node) {
  const bool is_training = node.scalar<uint64_t>(2, 0) != 0;
  const double ratio = node.scalar<double>(1, 0.5);
  if (!is_training || ratio == 0) return pass_through(node);
  drop(node, ratio);
}

}  // namespace

OperatorRows operator_activation_dropout() {
  static constexpr Traits kExact = {Nature::noise, {.rounding = RoundingClass::exact, .range = ValueRange::first}};
  static constexpr Operator kRows[] = {
      {.name = "Dropout",
       .traits = kExact,
       .infer = infer_dropout_attributes,
       .eval = eval_dropout_attributes,
       .is_random = true},
      {.name = "Dropout",
       .since = 12,
       .traits = kExact,
       .infer = infer_dropout,
       .eval = eval_dropout,
       .is_random = true},
  };
  return kRows;
}

}  // namespace assay::ops
