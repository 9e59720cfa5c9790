#include "ops/kernels/quantization/cast.h"

#include "base/text.h"
#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/result_type.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Before version 6 the type is written as a word.
DType wanted_type(const Node& node) {
  DType to = DType::undefined;
  if (node.version() < 6) {
    to = tensor::find_dtype(node.string("to")).value_or(DType::undefined);
  } else {
    const int64_t number = node.integer("to");
    if (number > 0 && number < 32) to = static_cast<DType>(number);
  }
  if (may_give(node, to)) return to;
  if (node.version() < 6) fail(ErrorCode::shape, "`{}` is no type to cast to", printable(node.string("to")));
  fail(ErrorCode::shape, "{} is no type to cast to in version {}", node.integer("to"), node.version());
}

CastRules rules_of(const Node& node) { return {node.integer("saturate", 1) != 0, node.string("round_mode", "up")}; }

// Sizes survive a cast to integers that hold them, and to bool.
void infer_cast_elements(Infer& node, DType to) {
  const bool is_bool = to == DType::boolean;
  if (!tensor::is_integer(to) && !is_bool) return infer_same_as_first(node);
  const bool holds_sizes = to == DType::int64 || to == DType::uint64 || to == DType::int32 || to == DType::uint32;
  infer_elements_of_one(node, [&](const Dim& a) {
    if (is_bool && (a.is_number() || (a - Dim(1)).is_non_negative())) return Dim(a.is(0) ? 0 : 1);
    if (is_bool) return Dim();
    if (!a.is_number()) return holds_sizes ? a : Dim();
    const bool fits = *a.number() >= (to == DType::uint64 ? 0 : lowest_of<int64_t>(to)) &&
                      (to == DType::uint64 || *a.number() <= highest_of<int64_t>(to));
    return fits ? a : Dim();
  });
}

void infer_cast(Infer& node) {
  check_cast_rules(rules_of(node));
  const DType to = wanted_type(node);
  node.set_dtype(0, to);
  infer_cast_elements(node, to);
}

void infer_cast_like(Infer& node) {
  check_cast_rules(rules_of(node));
  infer_cast_elements(node, node.dtype(1));
}

void eval_cast(Eval& node) {
  const DType to = node.out_dtype(0);
  node.set_tensor(0, cast(node.tensor_in(0), node.dtype(0), to, node.stored(to), rules_of(node)));
}

}  // namespace

OperatorRows operator_cast_cast() {
  static constexpr Operator kRows[] = {
      {.name = "Cast",
       .traits = {Nature::conversion, {.range = ValueRange::first, .typed_by = "to"}},
       .infer = infer_cast,
       .eval = eval_cast},
      {.name = "CastLike",
       .traits = {Nature::conversion, {.range = ValueRange::first, .shapes = {1}}},
       .infer = infer_cast_like,
       .eval = eval_cast},
  };
  return kRows;
}

}  // namespace assay::ops
