#include "ops/kernels/attention/heads.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

struct Rotation {
  int64_t heads = 0;
  int64_t size = 0;     // of a head
  int64_t rotated = 0;  // elements of a head that are turned
};

// Packed inputs tell the size of a head by `num_heads`, where only a part is turned, and else by the caches.
Rotation rotation_of(const Node& node, std::span<const int64_t> shape, int64_t cached) {
  Rotation rotation;
  rotation.rotated = node.integer("rotary_embedding_dim", 0);
  const int64_t heads = node.integer("num_heads", 0);
  if (rotation.rotated < 0 || heads < 0) fail(ErrorCode::shape, "`num_heads` or `rotary_embedding_dim` is negative");
  if (rotation.rotated > 0 && heads == 0) fail(ErrorCode::shape, "`rotary_embedding_dim` needs `num_heads`");
  const bool is_packed = shape.size() == 3;
  rotation.size = !is_packed ? shape[3] : rotation.rotated > 0 ? shape[2] / heads : cached * 2;
  if (rotation.size == 0) fail(ErrorCode::shape, "heads have no elements");
  rotation.heads = is_packed ? shape[2] / rotation.size : shape[1];
  if (rotation.rotated == 0) rotation.rotated = rotation.size;
  const bool fits = !is_packed || rotation.heads * rotation.size == shape[2];
  if (!fits || rotation.rotated > rotation.size || rotation.rotated != cached * 2) {
    fail(ErrorCode::shape, "caches of width {} do not fit heads of {} elements, {} of them turned", cached,
         rotation.size, rotation.rotated);
  }
  return rotation;
}

void infer_rotary(Infer& node) {
  infer_same_as_first(node);
  node.require_rank(2, 2);
  node.require_rank(3, 2);
  if (node.is_ranked(2) && node.is_ranked(3)) {
    for (size_t a = 0; a < 2; ++a) unify(node.dims(2)[a], node.dims(3)[a], "dims of the caches");
  }
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  if (dims.size() != 3 && dims.size() != 4)
    fail(ErrorCode::shape, "the input must have a rank of 3 or 4, its shape is {}", text(dims));
  if (node.flag("is_packed_batching")) fail(ErrorCode::unsupported, "packed batches are not supported");
  const std::optional<std::vector<int64_t>> shape = numbers(dims);
  const std::optional<int64_t> cached = node.is_ranked(2) ? node.dims(2)[1].number() : std::nullopt;
  if (shape && cached) rotation_of(node, *shape, *cached);
  if (!node.is_ranked(1)) return;
  const Dim positions = product(node.dims(1));
  const Dim wanted = dims[0] * dims[dims.size() - 2];
  if (!positions.is(1)) unify(positions, wanted, "numbers of positions and of tokens");
}

// A single position is that of the first token, the others following it.
std::vector<int64_t> positions_of(const Eval& node, const HeadLayout& layout) {
  std::vector<int64_t> positions = node.integers_in(1);
  if (node.rank(1) == 2) return positions;
  const int64_t first = positions[0];
  positions.clear();
  for (uint64_t i = 0; i < layout.batch * layout.length; ++i) {
    positions.push_back(first + static_cast<int64_t>(i % layout.length));
  }
  return positions;
}

void eval_rotary(Eval& node) {
  const auto half = static_cast<uint64_t>(node.shape(2)[1]);
  const Rotation rotation = rotation_of(node, node.shape(0), node.shape(2)[1]);
  const HeadLayout layout(node.shape(0), rotation.heads);
  const std::vector<int64_t> positions = positions_of(node, layout);
  const std::vector<double> cosines = node.load<double>(2);
  const std::vector<double> sines = node.load<double>(3);
  const bool interleaves = node.flag("interleaved");
  std::vector<double> data = node.load<double>(0);
  for (uint64_t v = 0; v < layout.vectors(); ++v) {
    const uint64_t at = v % layout.length;
    const uint64_t b = v / layout.length / layout.heads;
    double* head = data.data() + layout.place(b, v / layout.length % layout.heads, at);
    const int64_t position = positions[b * layout.length + at];
    if (position < 0) fail(ErrorCode::shape, "position {} is negative", position);
    const uint64_t row = checked_index(position, static_cast<uint64_t>(node.shape(2)[0])) * half;
    for (uint64_t i = 0; i < half; ++i) {
      double& first = head[interleaves ? 2 * i : i];
      double& second = head[interleaves ? 2 * i + 1 : i + half];
      const double turned = first * cosines[row + i] - second * sines[row + i];
      second = second * cosines[row + i] + first * sines[row + i];
      first = turned;
    }
  }
  node.store(0, std::move(data));
}

}  // namespace

OperatorRows operator_microsoft_rotary_embedding() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "RotaryEmbedding",
       .traits = {Nature::product, {.indices = {1}}},
       .infer = infer_rotary,
       .eval = eval_rotary},
  };
  return kRows;
}

}  // namespace assay::ops
