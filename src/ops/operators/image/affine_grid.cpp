#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// theta is [batch, axes, axes + 1], size is [batch, channels, lengths of the axes].
void infer_affine_grid(Infer& node) {
  node.require_rank(0, 3);
  node.require_rank(1, 1);
  const std::optional<Elements> size = node.elements(1);
  if (!size) return;
  const size_t rank = size->items.size();
  if (rank != 4 && rank != 5) fail(ErrorCode::shape, "`size` has {} entries, expected 4 or 5", rank);
  const auto axes = static_cast<int64_t>(rank) - 2;
  Dim batch = size->items[0];
  if (node.is_ranked(0)) {
    batch = unify(batch, node.dims(0)[0], "batch sizes of theta and `size`");
    unify(node.dims(0)[1], axes, "rows of theta and spatial axes");
    unify(node.dims(0)[2], axes + 1, "columns of theta and spatial axes plus 1");
  }
  Dims dims = {batch};
  dims.insert(dims.end(), size->items.begin() + 2, size->items.end());
  dims.push_back(axes);
  node.set_dims(0, std::move(dims));
}

// The place of element `i` of an axis that goes from -1 to 1, either between the centers of its outer elements or
// between their borders. The one element of an axis lies in the middle.
double normalized(int64_t i, int64_t length, bool aligns_corners) {
  const auto at = static_cast<double>(i);
  const auto size = static_cast<double>(length);
  if (aligns_corners) return length == 1 ? 0 : -1 + at * 2 / (size - 1);
  return (2 * at + 1) / size - 1;
}

void eval_affine_grid(Eval& node) {
  const std::vector<double> theta = node.load<double>(0);
  const Shape shape = node.out_shape(0);
  const auto axes = static_cast<size_t>(shape.back());
  const bool aligns_corners = node.flag("align_corners");
  std::vector<double> out(node.out_count(0));
  parallel_for(out.size() / axes, 1024, [&](uint64_t begin, uint64_t end) {
    std::vector<double> point(axes + 1, 1);  // x first
    for (uint64_t place = begin; place < end; ++place) {
      uint64_t rest = place;
      for (size_t i = axes; i-- > 0;) {
        const int64_t length = shape[i + 1];
        point[axes - 1 - i] =
            normalized(static_cast<int64_t>(rest % static_cast<uint64_t>(length)), length, aligns_corners);
        rest /= static_cast<uint64_t>(length);
      }
      for (size_t row = 0; row < axes; ++row) {
        double sum = 0;
        for (size_t k = 0; k <= axes; ++k) sum += theta[(rest * axes + row) * (axes + 1) + k] * point[k];
        out[place * axes + row] = sum;
      }
    }
  });
  node.store(0, std::move(out));
}

}  // namespace

OperatorRows operator_image_affine_grid() {
  static constexpr Operator kRows[] = {
      {.name = "AffineGrid",
       .since = 20,
       .traits = {Nature::sampling, {.sizes = {1}, .places = {0}}},
       .infer = infer_affine_grid,
       .eval = eval_affine_grid},
  };
  return kRows;
}

}  // namespace assay::ops
