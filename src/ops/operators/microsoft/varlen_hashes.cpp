#include <algorithm>

#include "ops/kernels/attention/sequences.h"
#include "ops/kernels/text/grams.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kBounds = 3, kPast = 4, kOffsets = 5, kEnd = 6, kSegments = 7, kPastSegments = 8, kCaptured = 9;
constexpr uint32_t kSegmentsOut = 2, kUpdates = 3;

void infer_hashes(Infer& node) {
  const int64_t longest = counted(node, "max_ngram_size");
  if (longest < 2) fail(ErrorCode::shape, "attribute `max_ngram_size` is {}, expected 2 or more", longest);
  const Dim heads = Dim(longest - 1) * Dim(counted(node, "n_head_per_ngram"));
  const int64_t slots = node.integer("state_update_capacity");
  if (slots < 0 || slots > 8) fail(ErrorCode::shape, "attribute `state_update_capacity` is {}, expected 0 to 8", slots);
  if ((slots > 0) != node.has(kCaptured))
    fail(ErrorCode::shape, "`capture_count` goes with a `state_update_capacity` above 0");
  if (node.wants(kSegmentsOut) && !node.has(kSegments))
    fail(ErrorCode::shape, "output {} needs segments of the ids", kSegmentsOut);
  for (const uint32_t input : {0U, 1U, 2U, kBounds, kOffsets, kSegments, kCaptured}) node.require_rank(input, 1);
  for (const uint32_t input : {kPast, kPastSegments}) {
    node.require_rank(input, 2);
    if (node.is_ranked(input)) unify(node.dims(input)[1], longest - 1, "ids of the past");
  }
  for (const uint32_t input : {2U, kOffsets}) {
    if (node.is_ranked(input)) unify(node.dims(input)[0], heads, "heads and numbers of heads");
  }
  if (node.is_ranked(0) && node.is_ranked(kSegments))
    unify(node.dims(0)[0], node.dims(kSegments)[0], "ids and segments");
  node.set_dims(0, {node.is_ranked(0) ? node.dims(0)[0] : Dim(), heads});
  const Dim batch = node.is_ranked(kBounds) ? node.dims(kBounds)[0] - Dim(1) : Dim();
  for (const uint32_t input : {kPast, kPastSegments, kCaptured}) {
    if (node.is_ranked(input)) unify(batch, node.dims(input)[0], "sequences and rows of the past");
  }
  for (const uint32_t output : {1U, kSegmentsOut}) {
    if (node.wants(output)) node.set_dims(output, {batch, Dim(longest - 1)});
  }
  if (node.wants(kUpdates)) node.set_dims(kUpdates, {batch, Dim(slots), Dim(longest - 1)});
}

std::vector<int64_t> integers_or_none(const Eval& node, uint32_t input) {
  return node.has(input) ? node.integers_in(input) : std::vector<int64_t>();
}

// Ids and segments that the sequences leave for the next call.
struct Kept {
  std::vector<int64_t> ids, segments, updates;
};

void append(std::vector<int64_t>& list, std::span<const int64_t> items) {
  list.insert(list.end(), items.begin(), items.end());
}

void keep(const Eval& node, const GramContext& context, uint64_t length, int64_t captured, Kept& kept) {
  append(kept.ids, context.last(length));
  if (node.has(kSegments)) append(kept.segments, context.last_segments(length));
  const auto slots = node.integer("state_update_capacity");
  const int64_t count = std::clamp<int64_t>(captured, 0, std::min(slots, static_cast<int64_t>(length)));
  for (int64_t slot = 0; slot < slots; ++slot) {
    const std::vector<int64_t> none(static_cast<uint64_t>(node.integer("max_ngram_size") - 1), node.integer("pad_id"));
    append(kept.updates, slot < count ? context.last(static_cast<uint64_t>(slot) + 1) : std::span(none));
  }
}

void eval_hashes(Eval& node) {
  const std::vector<int64_t> ids = node.integers_in(0);
  const std::vector<uint64_t> bounds = sequence_bounds(node, kBounds, ids.size());
  const std::vector<int64_t> past = integers_or_none(node, kPast);
  const std::vector<int64_t> segments = integers_or_none(node, kSegments);
  const std::vector<int64_t> past_segments = integers_or_none(node, kPastSegments);
  const std::vector<int64_t> captured = integers_or_none(node, kCaptured);
  const auto back = static_cast<uint64_t>(node.integer("max_ngram_size")) - 1;
  const GramHashes grams(node, kOffsets);
  GramContext context(node, kEnd);
  std::vector<int64_t> hashes;
  Kept kept;
  for (uint64_t b = 0; b + 1 < bounds.size(); ++b) {
    const uint64_t length = bounds[b + 1] - bounds[b];
    if (length == 0) fail(ErrorCode::shape, "sequence {} has no tokens", b);
    context.begin(past, b);
    context.add(std::span(ids).subspan(bounds[b], length));
    if (!past_segments.empty()) context.begin_segments(std::span(past_segments).subspan(b * back, back));
    if (!segments.empty()) context.add_segments(std::span(segments).subspan(bounds[b], length));
    grams.add_to(hashes, context, length);
    keep(node, context, length, captured.empty() ? 0 : captured[b], kept);
  }
  node.store(0, std::move(hashes));
  if (node.wants(1)) node.store(1, std::move(kept.ids));
  if (node.wants(kSegmentsOut)) node.store(kSegmentsOut, std::move(kept.segments));
  if (node.wants(kUpdates)) node.store(kUpdates, std::move(kept.updates));
}

}  // namespace

OperatorRows operator_microsoft_varlen_hashes() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "VarlenNGramHashMapping",
       .traits = {Nature::text, {.indices = {0}}},
       .infer = infer_hashes,
       .eval = eval_hashes},
  };
  return kRows;
}

}  // namespace assay::ops
