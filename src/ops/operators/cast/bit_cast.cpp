#include <complex>

#include "ops/evaluate.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

DType wanted_type(const Node& node) {
  const int64_t number = node.integer("to");
  const auto to = static_cast<DType>(number > 0 && number < 32 ? number : 0);
  if (tensor::bit_width(to) != 0) return to;
  fail(ErrorCode::shape, "{} is no type to cast bits to", number);
}

void infer_bit_cast(Infer& node) {
  const DType to = wanted_type(node);
  const DType from = node.dtype(0);
  if (from != DType::undefined && tensor::bit_width(from) != tensor::bit_width(to)) {
    fail(ErrorCode::shape, "elements of {} and {} differ in size", tensor::name(from), tensor::name(to));
  }
  node.set_dtype(0, to);
  infer_same_as_first(node);
}

// The tensor with the bits that its declared type has.
Tensor narrowed(const Tensor& tensor, DType declared) {
  if (tensor.dtype() == declared) return tensor;
  if (tensor::kind(declared) == tensor::DTypeKind::complex) {
    return make_rounded(declared, tensor.shape(), load_elements<std::complex<double>>(tensor));
  }
  return make_rounded(declared, tensor.shape(), load_elements<double>(tensor));
}

void eval_bit_cast(Eval& node) {
  const Tensor from = narrowed(node.tensor_in(0), node.dtype(0));
  const Datum result(Tensor(node.out_dtype(0), from.shape(), from.storage()));
  node.set(0, node.is_wide() ? widen(result) : result);
}

}  // namespace

OperatorRows operator_cast_bit_cast() {
  static constexpr Operator kRows[] = {
      {.name = "BitCast",
       .traits = {Nature::conversion, {.typed_by = "to"}},
       .infer = infer_bit_cast,
       .eval = eval_bit_cast},
  };
  return kRows;
}

}  // namespace assay::ops
