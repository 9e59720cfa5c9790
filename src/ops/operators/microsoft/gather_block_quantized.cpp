#include <cmath>

#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The number of quantized numbers in an element of the data: bytes hold two of four bits.
int64_t per_element(const Node& node, DType dtype) {
  const int64_t bits = node.integer("bits");
  if (bits != 4 && bits != 8) fail(ErrorCode::shape, "`bits` is {}, it must be 4 or 8", bits);
  return dtype == DType::uint8 ? 8 / bits : 1;
}

struct Axes {
  size_t gather;
  size_t quantize;
};

Axes axes_of(const Node& node, int64_t rank) {
  return {static_cast<size_t>(normalize_axis(node.integer("gather_axis"), rank)),
          static_cast<size_t>(normalize_axis(node.integer("quantize_axis"), rank))};
}

void check_scales(const Infer& node, const Dims& dims, const Axes& axes, int64_t block) {
  if (!node.is_ranked(2)) return;
  node.require_rank(2, static_cast<int64_t>(dims.size()));
  for (size_t a = 0; a < dims.size(); ++a) {
    unify(a == axes.quantize ? ceil_div(dims[a], block) : dims[a], node.dims(2)[a],
          "dims of the blocks and of the scales");
  }
}

void infer_gather(Infer& node) {
  const int64_t block = node.integer("block_size");
  if (block < 16 || (block & (block - 1)) != 0)
    fail(ErrorCode::shape, "`block_size` {} is no power of 2 from 16 on", block);
  const int64_t packed = per_element(node, node.dtype(0));
  if (!node.is_ranked(0)) return;
  const Axes axes = axes_of(node, node.rank(0));
  Dims dims = node.dims(0);
  dims.back() = dims.back() * Dim(packed);
  if (packed > 1 && axes.quantize + 1 != dims.size())
    fail(ErrorCode::shape, "packed data must be quantized along its last axis");
  check_scales(node, dims, axes, block);
  if (!node.is_ranked(1)) return;
  const auto place = dims.erase(dims.begin() + static_cast<ptrdiff_t>(axes.gather));
  dims.insert(place, node.dims(1).begin(), node.dims(1).end());
  node.set_dims(0, std::move(dims));
}

// The elements of a tensor, those of bytes that hold two numbers unpacked, the last axis cut to `width`.
std::vector<double> unpacked(const Eval& node, uint32_t input, int64_t packed, uint64_t width) {
  const std::vector<double> elements = node.load<double>(input);
  if (packed == 1) return elements;
  const auto bytes = static_cast<uint64_t>(node.shape(input).back());
  std::vector<double> result;
  for (uint64_t i = 0; i < elements.size() / std::max<uint64_t>(bytes, 1) * width; ++i) {
    const auto byte = static_cast<uint64_t>(elements[i / width * bytes + i % width / 2]);
    result.push_back(static_cast<double>(i % width % 2 == 0 ? byte & 15 : byte >> 4));
  }
  return result;
}

void eval_gather(Eval& node) {
  const int64_t packed = per_element(node, node.dtype(0));
  Shape shape = node.shape(0);
  shape.back() *= packed;
  const Axes axes = axes_of(node, node.rank(0));
  const auto block = static_cast<uint64_t>(node.integer("block_size"));
  const std::vector<double> data = unpacked(node, 0, packed, static_cast<uint64_t>(shape.back()));
  const std::vector<double> scales = node.load<double>(2);
  std::vector<double> zeros;
  if (node.has(3)) zeros = unpacked(node, 3, packed, static_cast<uint64_t>(node.shape(2).back()));
  const double zero = node.dtype(0) == DType::uint8 ? std::ldexp(1.0, static_cast<int>(node.integer("bits")) - 1) : 0;
  const AxisView view = view_axis(shape, static_cast<int64_t>(axes.gather));
  const AxisView blocks = view_axis(shape, static_cast<int64_t>(axes.quantize));
  const uint64_t block_count = (blocks.length + block - 1) / block;
  const std::vector<int64_t> indices = node.integers_in(1);
  std::vector<double> result(node.out_count(0));
  for (uint64_t i = 0; i < result.size(); ++i) {
    const uint64_t run = i / view.inner;
    const uint64_t row = checked_index(indices[run % indices.size()], view.length);
    const uint64_t place = view.place(run / indices.size(), row, i % view.inner);
    const uint64_t line = place / blocks.inner;
    const uint64_t at =
        (line / blocks.length * block_count + line % blocks.length / block) * blocks.inner + place % blocks.inner;
    result[i] = (data[place] - (zeros.empty() ? zero : zeros[at])) * scales[at];
  }
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_gather_block_quantized() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "GatherBlockQuantized",
       .traits = {Nature::movement,
                  {.rounding = RoundingClass::continuous,
                   .range = ValueRange::unknown,
                   .indices = {1},
                   .codes = {0},
                   .scales = {2}}},
       .infer = infer_gather,
       .eval = eval_gather},
  };
  return kRows;
}

}  // namespace assay::ops
