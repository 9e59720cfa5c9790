#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kPads = 2, kBias = 3;
constexpr uint64_t kMostElements = uint64_t{1} << 32;  // before pads take some away

const Operator& unpadded() { return *find_operator("", "ConvTranspose", 11); }

// The dims before anything is taken away at the ends.
std::optional<Dims> whole_dims(const Infer& node) {
  std::vector<Knowledge> known;
  for (uint32_t i = 0; i < 2; ++i) known.push_back({node.type(i), node.constant(i), {}});
  Knowledge result = {node.output(0).type};
  Infer inner(node, node.space(), known, std::span(&result, 1), nullptr);
  unpadded().infer(inner);
  return result.type.dims;
}

// Pads: all begins, then all ends.
void infer_dynamic(Infer& node) {
  if (node.has_attribute("pads")) fail(ErrorCode::shape, "pads are an input, not an attribute");
  std::optional<Dims> dims = whole_dims(node);
  node.require_rank(kPads, 1);
  node.require_rank(kBias, 1);
  if (!dims) return;
  if (node.is_ranked(kBias)) unify(node.dims(kBias)[0], (*dims)[1], "filters and the length of the bias");
  const size_t axes = dims->size() - 2;
  if (node.is_ranked(kPads)) unify(node.dims(kPads)[0], static_cast<int64_t>(2 * axes), "pads and twice the axes");
  const std::optional<Elements> pads = node.elements(kPads);
  for (size_t a = 0; a < axes && node.has(kPads); ++a) {
    Dim& dim = (*dims)[a + 2];
    if (!pads || pads->items.size() != 2 * axes) {
      dim = Dim();
      continue;
    }
    for (const Dim& pad : {pads->items[a], pads->items[a + axes]}) {
      if (pad.is_number() && (*pad.number() < 0 || *pad.number() > INT32_MAX))
        fail(ErrorCode::shape, "a pad is {}", pad.text());
      dim = dim - pad;
    }
    if (dim.is_number() && *dim.number() < 0)
      fail(ErrorCode::shape, "pads of {} and {} take away more than there is", pads->items[a].text(),
           pads->items[a + axes].text());
  }
  node.set_dims(0, std::move(*dims));
}

void eval_dynamic(Eval& node) {
  Shape shape = node.out_shape(0);
  const size_t axes = shape.size() - 2;
  const std::vector<int64_t> pads = node.has(kPads) ? node.integers_in(kPads) : std::vector<int64_t>(2 * axes);
  for (size_t a = 0; a < axes; ++a) shape[a + 2] += pads[a] + pads[a + axes];
  if (tensor::element_count(shape).value_or(kMostElements) >= kMostElements)
    fail(ErrorCode::limit, "{} elements before the pads take some away are too many", text(dims_of(shape)));
  const Datum inputs[] = {node.datum(0), node.datum(1), node.has(kBias) ? node.datum(kBias) : Datum()};
  const Type type = Type::tensor(node.out_dtype(0), dims_of(shape));
  Datum whole;
  Eval inner(node, inputs, std::span(&type, 1), std::span(&whole, 1), node.runner(), node.is_wide());
  unpadded().eval(inner);
  const std::vector<int64_t> strides = row_major_strides(shape);
  int64_t first = 0;
  for (size_t a = 0; a < axes; ++a) first += pads[a] * strides[a + 2];
  node.set_tensor(0, copy_strided(whole.tensor(), node.out_shape(0), first, strides));
}

Dim macs_of_transposed(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * product(std::span(node.dims(1)).subspan(1));
}

}  // namespace

OperatorRows operator_microsoft_conv_transpose() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "ConvTransposeWithDynamicPads",
       .traits = {Nature::product, {.sizes = {2}}},
       .infer = infer_dynamic,
       .eval = eval_dynamic,
       .macs = macs_of_transposed},
  };
  return kRows;
}

}  // namespace assay::ops
