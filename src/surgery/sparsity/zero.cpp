#include "surgery/sparsity/zero.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ir/written.h"
#include "tensor/casts.h"

namespace assay::surgery {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kTile = 4096;

// Both zeros of types that have two.
ZeroPattern plain_pattern(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return {4, 0x7FFFFFFF, 0};
    case DType::float16:
    case DType::bfloat16:
      return {2, 0x7FFF, 0};
    case DType::float8e4m3fn:
    case DType::float8e5m2:
      return {1, 0x7F, 0};
    case DType::float8e4m3fnuz:
    case DType::float8e5m2fnuz:
      return {1, 0xFF, 0};
    default:
      break;
  }
  const uint32_t bits = tensor::bit_width(dtype);
  const bool whole_bytes = tensor::is_integer(dtype) && bits >= 8 && bits <= 32;
  return whole_bytes ? ZeroPattern{bits / 8, ~uint64_t{0}, 0} : ZeroPattern{};
}

Tensor zero_point_of(const ir::Model& model, ir::NodeId dequantize) {
  const std::span<const ir::Use> operands = model[dequantize].operands;
  const ir::ValueId value = operands.size() > 2 ? operands[2].value : ir::ValueId{};
  if (!value) return {};
  if (!model[value].constant) {
    fail(ErrorCode::unsupported, "the zero point `{}` is not a constant", model.text(model[value].name));
  }
  return model[model[value].constant].tensor;
}

std::vector<double> elements(const Tensor& tensor) {
  std::vector<double> values(tensor.count());
  if (!values.empty()) tensor::load(tensor.dtype(), tensor.bytes(), 0, values);
  return values;
}

// Finds the zero point of an element: one for all, one an index of an axis, or one a block along an axis.
class ZeroPoints {
 public:
  ZeroPoints(const ir::Model& model, const Tensor& weight, ir::NodeId dequantize)
      : points_(elements(zero_point_of(model, dequantize))) {
    if (is_uniform()) return;
    const tensor::Shape& shape = weight.shape();
    const int64_t rank = static_cast<int64_t>(shape.size());
    int64_t axis = ir::written_integer(model, model[dequantize], "axis").value_or(1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank)
      fail(ErrorCode::shape, "axis {} of a zero point is out of range for rank {}", axis, rank);
    for (int64_t i = axis + 1; i < rank; ++i) inner_ *= static_cast<uint64_t>(shape[static_cast<size_t>(i)]);
    length_ = static_cast<uint64_t>(shape[static_cast<size_t>(axis)]);
    set_blocks(zero_point_of(model, dequantize), static_cast<size_t>(axis),
               ir::written_integer(model, model[dequantize], "block_size").value_or(0));
  }

  bool is_uniform() const {
    return std::ranges::all_of(points_, [&](double point) { return point == points_[0]; });
  }
  double uniform() const { return points_.empty() ? 0 : points_[0]; }
  double at(uint64_t place) const {
    const uint64_t along = place / inner_ % length_ / block_;
    if (!is_blocked_) return points_[along];
    return points_[(place / inner_ / length_ * blocks_ + along) * inner_ + place % inner_];
  }

 private:
  void set_blocks(const Tensor& points, size_t axis, int64_t block_size) {
    is_blocked_ = points.shape().size() > 1 && block_size > 0;
    if (is_blocked_) block_ = static_cast<uint64_t>(block_size);
    blocks_ = (length_ + block_ - 1) / block_;
    const bool fits = is_blocked_ ? axis < points.shape().size() && points.count() % (blocks_ * inner_) == 0
                                  : points.count() == length_;
    if (!fits) fail(ErrorCode::shape, "{} zero points do not fit an axis of length {}", points.count(), length_);
  }

  std::vector<double> points_;
  uint64_t length_ = 1;
  uint64_t inner_ = 1;
  uint64_t block_ = 1;
  uint64_t blocks_ = 1;
  bool is_blocked_ = false;
};

// 0 for elements that stand for zero, 1 for others.
std::vector<std::byte> nonzero_flags(const Tensor& weight, const ZeroPoints& points) {
  std::vector<std::byte> flags(weight.count());
  const bool uniform = points.is_uniform();
  std::array<double, kTile> tile;
  for (uint64_t first = 0; first < weight.count(); first += kTile) {
    const uint64_t count = std::min(kTile, weight.count() - first);
    tensor::load(weight.dtype(), weight.bytes(), first, std::span(tile.data(), count));
    for (uint64_t i = 0; i < count; ++i) {
      const double zero = uniform ? points.uniform() : points.at(first + i);
      flags[first + i] = std::byte{tile[i] != zero};
    }
  }
  return flags;
}

}  // namespace

bool has_zero(DType dtype, bool is_dequantized) {
  const bool is_float = dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
  const bool is_narrow_float = tensor::is_floating(dtype) && tensor::bit_width(dtype) <= 8;
  const bool is_scale = dtype == DType::float8e8m0;  // has no zero
  const bool is_quantized =
      (tensor::is_integer(dtype) && tensor::bit_width(dtype) <= 32) || (is_narrow_float && !is_scale);
  return is_float || (is_dequantized && is_quantized);
}

ZeroView view_zeros(const ir::Model& model, const Tensor& weight, ir::NodeId dequantize) {
  ZeroView view;
  view.stored = weight.bytes();
  view.pattern = plain_pattern(weight.dtype());
  if (!dequantize && view.pattern.width > 0) return view;
  const ZeroPoints points(model, weight, dequantize);
  const bool bits_tell =
      points.is_uniform() && view.pattern.width > 0 && (points.uniform() == 0 || tensor::is_integer(weight.dtype()));
  if (bits_tell) {
    view.pattern.zero = static_cast<uint64_t>(static_cast<int64_t>(points.uniform()));
    return view;
  }
  view.flags = nonzero_flags(weight, points);
  view.pattern = {1, 0xFF, 0};
  return view;
}

}  // namespace assay::surgery
