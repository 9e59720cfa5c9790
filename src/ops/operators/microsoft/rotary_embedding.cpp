#include <algorithm>
#include <cmath>

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

// Checks all but the positions; returns the number of tokens, where it is known.
Dim infer_turned(Infer& node) {
  infer_same_as_first(node);
  node.require_rank(2, 2);
  node.require_rank(3, 2);
  if (node.is_ranked(2) && node.is_ranked(3)) {
    for (size_t a = 0; a < 2; ++a) unify(node.dims(2)[a], node.dims(3)[a], "dims of the caches");
  }
  if (!node.is_ranked(0)) return {};
  const Dims& dims = node.dims(0);
  if (dims.size() != 3 && dims.size() != 4)
    fail(ErrorCode::shape, "the input must have a rank of 3 or 4, its shape is {}", text(dims));
  if (node.flag("is_packed_batching")) fail(ErrorCode::unsupported, "packed batches are not supported");
  const std::optional<std::vector<int64_t>> shape = numbers(dims);
  const std::optional<int64_t> cached = node.is_ranked(2) ? node.dims(2)[1].number() : std::nullopt;
  if (shape && cached) rotation_of(node, *shape, *cached);
  return dims[0] * dims[dims.size() - 2];
}

void infer_rotary(Infer& node) {
  const Dim tokens = infer_turned(node);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dim positions = product(node.dims(1));
  if (!positions.is(1)) unify(positions, tokens, "numbers of positions and of tokens");
}

// Pairs of a head that follow the positions in time, in height and in width.
std::vector<int64_t> sections(const Node& node) {
  std::vector<int64_t> lengths = node.integers("mrope_section");
  if (lengths.size() != 3 || std::ranges::min(lengths) < 0)
    fail(ErrorCode::shape, "attribute `mrope_section` must be three lengths");
  const int64_t layout = node.integer("mrope_layout", 0);
  if (layout != 0 && layout != 1) fail(ErrorCode::shape, "attribute `mrope_layout` is {}, expected 0 or 1", layout);
  return lengths;
}

void infer_multimodal(Infer& node) {
  const std::vector<int64_t> lengths = sections(node);
  const Dim tokens = infer_turned(node);
  if (node.is_ranked(2))
    unify(node.dims(2)[1], lengths[0] + lengths[1] + lengths[2], "width of the caches and sum of `mrope_section`");
  node.require_rank(1, 3);
  if (!node.is_ranked(1)) return;
  unify(node.dims(1)[0], 3, "streams of positions and 3");
  if (node.is_ranked(0)) unify(node.dims(1)[1] * node.dims(1)[2], tokens, "numbers of positions and of tokens");
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

// Turns the pairs of each head; `position` says which row of the caches a pair of a token takes.
template <typename Position>
void turn_heads(Eval& node, const HeadLayout& layout, const Position& position) {
  const auto half = static_cast<uint64_t>(node.shape(2)[1]);
  const std::vector<double> cosines = node.load<double>(2);
  const std::vector<double> sines = node.load<double>(3);
  const bool interleaves = node.flag("interleaved");
  std::vector<double> data = node.load<double>(0);
  for (uint64_t v = 0; v < layout.vectors(); ++v) {
    const uint64_t at = v % layout.length;
    const uint64_t b = v / layout.length / layout.heads;
    double* head = data.data() + layout.place(b, v / layout.length % layout.heads, at);
    for (uint64_t i = 0; i < half; ++i) {
      const int64_t place = position(b * layout.length + at, i);
      if (place < 0) fail(ErrorCode::shape, "position {} is negative", place);
      const uint64_t row = checked_index(place, static_cast<uint64_t>(node.shape(2)[0])) * half;
      double& first = head[interleaves ? 2 * i : i];
      double& second = head[interleaves ? 2 * i + 1 : i + half];
      const double turned = first * cosines[row + i] - second * sines[row + i];
      second = second * cosines[row + i] + first * sines[row + i];
      first = turned;
    }
  }
  node.store(0, std::move(data));
}

void eval_rotary(Eval& node) {
  const HeadLayout layout(node.shape(0), rotation_of(node, node.shape(0), node.shape(2)[1]).heads);
  const std::vector<int64_t> positions = positions_of(node, layout);
  turn_heads(node, layout, [&](uint64_t token, uint64_t) { return positions[token]; });
}

// The stream of positions that a pair follows: by parts one behind the other, or every third of them.
uint64_t stream_of(uint64_t pair, const std::vector<int64_t>& lengths, bool interleaves) {
  const auto place = static_cast<int64_t>(pair);
  if (!interleaves) return place < lengths[0] ? 0 : place < lengths[0] + lengths[1] ? 1 : 2;
  const uint64_t stream = pair % 3;
  return stream > 0 && place < lengths[stream] * 3 ? stream : 0;
}

void eval_multimodal(Eval& node) {
  const HeadLayout layout(node.shape(0), rotation_of(node, node.shape(0), node.shape(2)[1]).heads);
  const std::vector<int64_t> positions = node.integers_in(1);
  const std::vector<int64_t> lengths = sections(node);
  const bool interleaves = node.integer("mrope_layout", 0) == 1;
  turn_heads(node, layout, [&](uint64_t token, uint64_t pair) {
    return positions[stream_of(pair, lengths, interleaves) * layout.batch * layout.length + token];
  });
}

void infer_gemma(Infer& node) {
  node.require_rank(0, 3);
  for (const uint32_t input : {1U, 2U, 3U, 4U}) {
    node.require_rank(input, 4);
    if (!node.is_ranked(input)) continue;
    const Dims& dims = node.dims(input);
    for (size_t a = 0; a < 3 && node.is_ranked(0); ++a)
      unify(dims[a == 0 ? 0 : a + 1], node.dims(0)[a], "dims of the angles and of the heads");
    if (input % 2 == 1) node.set_dims(input / 2, dims);
    for (size_t a = 0; a < 4 && input % 2 == 0 && node.is_ranked(input - 1); ++a)
      unify(node.dims(input - 1)[a], dims[a], "dims of heads and of these half turned");
  }
}

// Cosines and sines are rounded to the type of the heads.
void eval_gemma(Eval& node) {
  const std::vector<double> angles = node.load<double>(0);
  const auto rounded = [&](double (*function)(double)) {
    std::vector<double> values(angles.size());
    std::ranges::transform(angles, values.begin(), function);
    return load_elements<double>(make_rounded(node.stored(node.dtype(1)), node.shape(0), std::move(values)));
  };
  const std::vector<double> cosines = rounded([](double x) { return std::cos(x); });
  const std::vector<double> sines = rounded([](double x) { return std::sin(x); });
  for (const uint32_t output : {0U, 1U}) {
    const uint32_t input = output * 2 + 1;
    std::vector<double> data = node.load<double>(input);
    const std::vector<double> turned = node.load<double>(input + 1);
    const auto heads = static_cast<uint64_t>(node.shape(input)[1]);
    const auto plane = static_cast<uint64_t>(node.shape(input)[2] * node.shape(input)[3]);
    for (uint64_t i = 0; i < data.size(); ++i) {
      const uint64_t at = i / plane / heads * plane + i % plane;
      data[i] = data[i] * cosines[at] + turned[i] * sines[at];
    }
    node.store(output, std::move(data));
  }
}

}  // namespace

OperatorRows operator_microsoft_rotary_embedding() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "RotaryEmbedding",
       .traits = {Nature::product, {.indices = {1}}},
       .infer = infer_rotary,
       .eval = eval_rotary},
      {.domain = kMicrosoft,
       .name = "MRotaryEmbedding",
       .traits = {Nature::product, {.indices = {1}}},
       .infer = infer_multimodal,
       .eval = eval_multimodal},
      {.domain = kMicrosoft,
       .name = "GemmaRotaryEmbedding",
       .traits = {Nature::product},
       .infer = infer_gemma,
       .eval = eval_gemma},
  };
  return kRows;
}

}  // namespace assay::ops
