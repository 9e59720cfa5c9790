#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/places.h"
#include "ops/kernels/text/grams.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kPast = 3;
constexpr uint32_t kOffsets = 4;
constexpr uint32_t kEnd = 5;
constexpr uint32_t kSegments = 6;

int64_t at_least(const Node& node, std::string_view name, int64_t least) {
  const int64_t value = node.integer(name);
  if (value < least || value > INT32_MAX)
    fail(ErrorCode::shape, "attribute `{}` is {}, expected {} or more", name, value, least);
  return value;
}

void infer_hashes(Infer& node) {
  const int64_t longest = at_least(node, "max_ngram_size", 2);
  const int64_t heads = (longest - 1) * at_least(node, "n_head_per_ngram", 1);
  for (const uint32_t input : {0U, kPast, kSegments}) node.require_rank(input, 2);
  for (const uint32_t input : {1U, 2U, kOffsets}) node.require_rank(input, 1);
  if (node.is_ranked(2)) unify(node.dims(2)[0], heads, "heads and `vocab_sizes`");
  if (node.is_ranked(kOffsets)) unify(node.dims(kOffsets)[0], heads, "heads and `head_offsets`");
  if (node.is_ranked(kPast)) unify(node.dims(kPast)[1], longest - 1, "ids of the past");
  node.set_dims(0, {node.is_ranked(0) ? node.dims(0)[0] : Dim(), node.is_ranked(0) ? node.dims(0)[1] : Dim(), heads});
  node.set_dims(1, {node.is_ranked(0) ? node.dims(0)[0] : Dim(), Dim(longest - 1)});
}

void eval_hashes(Eval& node) {
  const GramHashes grams(node, kOffsets);
  const auto length = static_cast<uint64_t>(node.shape(0)[1]);
  GramContext context(node, kEnd);
  const std::vector<int64_t> ids = node.integers_in(0);
  const std::vector<int64_t> past = node.has(kPast) ? node.integers_in(kPast) : std::vector<int64_t>();
  const std::vector<int64_t> segments = node.has(kSegments) ? node.integers_in(kSegments) : std::vector<int64_t>();
  std::vector<int64_t> hashes;
  std::vector<int64_t> present;
  for (uint64_t row = 0; row < static_cast<uint64_t>(node.shape(0)[0]); ++row) {
    context.begin(past, row);
    context.add(std::span(ids).subspan(row * length, length));
    if (!segments.empty()) context.add_segments(std::span(segments).subspan(row * length, length));
    grams.add_to(hashes, context, length);
    const std::span<const int64_t> last = context.last(length);
    present.insert(present.end(), last.begin(), last.end());
  }
  node.store(0, std::move(hashes));
  if (node.wants(1)) node.store(1, std::move(present));
}

void infer_unfold(Infer& node) {
  const int64_t size = at_least(node, "size", 1);
  const int64_t step = at_least(node, "step", 1);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  Dim& along = dims[static_cast<size_t>(normalize_axis(node.integer("dim"), node.rank(0)))];
  if (along.is_number() && *along.number() < size)
    fail(ErrorCode::shape, "windows of {} do not fit a dim of {}", size, along.text());
  along = along.is_number() ? Dim((*along.number() - size) / step + 1) : Dim();
  dims.emplace_back(size);
  node.set_dims(0, std::move(dims));
}

void eval_unfold(Eval& node) {
  const Shape& from = node.shape(0);
  const Shape to = node.out_shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(node.integer("dim"), node.rank(0)));
  uint64_t inner = 1;
  for (size_t a = axis + 1; a < from.size(); ++a) inner *= static_cast<uint64_t>(from[a]);
  const auto windows = static_cast<uint64_t>(to[axis]);
  const auto size = static_cast<uint64_t>(to.back());
  const auto step = static_cast<uint64_t>(node.integer("step"));
  const auto width = static_cast<uint64_t>(from[axis]);
  const auto move = [&]<typename C>(const C&) {
    const std::vector<C> data = node.load<C>(0);
    std::vector<C> result(node.out_count(0));
    for (uint64_t i = 0; i < result.size(); ++i) {
      const uint64_t rest = i / size % inner;
      const uint64_t window = i / size / inner % windows;
      const uint64_t outer = i / size / inner / windows;
      result[i] = data[(outer * width + window * step + i % size) * inner + rest];
    }
    node.store(0, std::move(result));
  };
  if (node.dtype(0) == DType::string) return move(std::string());
  with_carrier(node.dtype(0), move);
}

void infer_mul_integer(Infer& node) {
  if (node.is_ranked(0) && node.is_ranked(2)) node.set_dims(0, broadcast(node.dims(0), node.dims(2)));
}

void eval_mul_integer(Eval& node) {
  const Shape shape = node.out_shape(0);
  std::vector<int64_t> a(node.out_count(0));
  std::vector<int64_t> b(a.size());
  BroadcastReader(node.tensor_in(0), shape).read(0, std::span(a));
  BroadcastReader(node.tensor_in(2), shape).read(0, std::span(b));
  const int64_t a_zero = node.has(1) ? node.integers_in(1).at(0) : 0;
  const int64_t b_zero = node.has(3) ? node.integers_in(3).at(0) : 0;
  for (uint64_t i = 0; i < a.size(); ++i) a[i] = (a[i] - a_zero) * (b[i] - b_zero);
  node.store(0, std::move(a));
}

}  // namespace

OperatorRows operator_microsoft_hashes() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MulInteger",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::exact, .codes = {0, 2}}},
       .infer = infer_mul_integer,
       .eval = eval_mul_integer},
      {.domain = kMicrosoft,
       .name = "NGramHashMapping",
       .traits = {Nature::text, {.rounding = RoundingClass::exact, .indices = {0}}},
       .infer = infer_hashes,
       .eval = eval_hashes},
      {.domain = kMicrosoft,
       .name = "UnfoldTensor",
       .traits = {Nature::movement},
       .infer = infer_unfold,
       .eval = eval_unfold},
  };
  return kRows;
}

}  // namespace assay::ops
