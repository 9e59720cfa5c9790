#include "ops/kernels/elements/random.h"

#include "ops/kernels/elements/result_type.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The type by the attribute `dtype`, else `otherwise`.
void infer_type(Infer& node, DType otherwise) {
  const int64_t number = node.integer("dtype", static_cast<int64_t>(otherwise));
  const auto dtype = static_cast<DType>(number >= 0 && number < 32 ? number : -1);
  if (dtype == DType::undefined) return;
  if (!may_give(node, dtype))
    fail(ErrorCode::shape, "{} cannot produce elements of type {}", node.op(), tensor::name(dtype));
  node.set_dtype(0, dtype);
}

void infer_by_shape(Infer& node) {
  infer_type(node, DType::float32);
  node.set_dims(0, dims_of(node.integers("shape")));
}

void infer_like(Infer& node) {
  infer_type(node, node.dtype(0));
  infer_same_as_first(node);
}

void eval_normal(Eval& node) {
  const double mean = node.floating("mean");
  const double scale = node.floating("scale");
  NumpyRandom random = random_of(node);
  std::vector<double> values(node.out_count(0));
  for (double& value : values) value = mean + scale * random.normal();
  node.store(0, std::move(values));
}

void eval_uniform(Eval& node) {
  const double low = node.floating("low");
  const double high = node.floating("high");
  NumpyRandom random = random_of(node);
  std::vector<double> values(node.out_count(0));
  for (double& value : values) value = low + (high - low) * random.uniform();
  node.store(0, std::move(values));
}

void eval_bernoulli(Eval& node) {
  NumpyRandom random = random_of(node);
  std::vector<double> values = node.load<double>(0);
  for (double& value : values) {
    if (!(value >= 0 && value <= 1)) fail(ErrorCode::shape, "{} is no probability", value);
    value = random.uniform() < value;
  }
  node.store(0, std::move(values));
}

}  // namespace

OperatorRows operator_random_random() {
  static constexpr Traits kRandom = {Nature::generator, {.rounding = RoundingClass::random, .typed_by = "dtype"}};
  static constexpr Traits kRandomLike = {Nature::generator,
                                         {.rounding = RoundingClass::random, .shapes = {0}, .typed_by = "dtype"}};
  static constexpr Operator kRows[] = {
      {.name = "RandomNormal", .traits = kRandom, .infer = infer_by_shape, .eval = eval_normal, .is_random = true},
      {.name = "RandomUniform", .traits = kRandom, .infer = infer_by_shape, .eval = eval_uniform, .is_random = true},
      {.name = "RandomNormalLike", .traits = kRandomLike, .infer = infer_like, .eval = eval_normal, .is_random = true},
      {.name = "RandomUniformLike",
       .traits = kRandomLike,
       .infer = infer_like,
       .eval = eval_uniform,
       .is_random = true},
      {.name = "Bernoulli", .traits = kRandom, .infer = infer_like, .eval = eval_bernoulli, .is_random = true},
  };
  return kRows;
}

}  // namespace assay::ops
