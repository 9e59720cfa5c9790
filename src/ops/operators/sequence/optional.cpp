#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_optional(Infer& node) {
  if (!node.has(0)) return;
  if (node.type(0).known) node.set_type(0, Type::optional(node.type(0)));
}

void eval_optional(Eval& node) {
  if (node.has(0)) node.set(0, node.datum(0));
}

void infer_has_element(Infer& node) {
  node.set_dtype(0, DType::boolean);
  node.set_dims(0, {});
}

void eval_has_element(Eval& node) { node.store(0, std::vector<uint64_t>{node.has(0) ? 1U : 0U}); }

// From version 18 on also of a plain tensor or sequence, which is its own element.
void infer_get_element(Infer& node) {
  if (!node.has(0)) return;
  const Type& type = node.type(0);
  if (type.is_optional()) {
    node.set_type(0, type.element ? *type.element : Type());
  } else if (type.known) {
    node.set_type(0, type);
  }
}

void eval_get_element(Eval& node) {
  if (!node.has(0)) fail(ErrorCode::shape, "the optional is empty");
  node.set(0, node.datum(0));
}

}  // namespace

OperatorRows operator_sequence_optional() {
  static constexpr Operator kRows[] = {
      {.name = "Optional", .since = 15, .traits = {Nature::container}, .infer = infer_optional, .eval = eval_optional},
      {.name = "OptionalHasElement",
       .since = 15,
       .traits = {Nature::container},
       .infer = infer_has_element,
       .eval = eval_has_element},
      {.name = "OptionalGetElement",
       .since = 15,
       .traits = {Nature::container},
       .infer = infer_get_element,
       .eval = eval_get_element},
  };
  return kRows;
}

}  // namespace assay::ops
