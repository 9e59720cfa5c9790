#include <algorithm>
#include <cmath>

#include "ops/kernels/attention/grouped_attention.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kMask = 3, kAddend = 4, kPastKey = 5, kPastValue = 6, kPastLength = 7, kBeams = 8, kOrigins = 9,
                   kBias = 10;

int64_t head_count(const Node& node) {
  const int64_t heads = node.integer("num_heads");
  if (heads < 1 || heads > INT32_MAX) fail(ErrorCode::shape, "attribute `num_heads` is {}", heads);
  return heads;
}

// True if keys and values are those of another sequence, in inputs 1 and 2; else they are in caches, which the new
// token joins.
bool crosses(const Infer& node) { return node.is_ranked(1) && node.rank(1) == 4; }

struct Sizes {
  Dim batch, keys, present, size, value_size;
};

void check_caches(const Infer& node, uint32_t keys, Sizes& sizes) {
  node.require_rank(keys, 4);
  node.require_rank(keys + 1, 4);
  if (!node.is_ranked(keys) || !node.is_ranked(keys + 1)) return;
  const Dims& k = node.dims(keys);
  const Dims& v = node.dims(keys + 1);
  for (const Dims* dims : {&k, &v}) {
    sizes.batch = unify(sizes.batch, (*dims)[0], "batch sizes");
    unify((*dims)[1], head_count(node), "heads and `num_heads`");
  }
  sizes.present = unify(k[2], v[2], "lengths of keys and values");
  sizes.size = k[3];
  sizes.value_size = v[3];
}

// The number of tokens in the caches; in shared ones there is room for more.
Dim cached_length(const Infer& node, Sizes& sizes) {
  if (!node.flag("past_present_share_buffer")) {
    const Dim past = sizes.present;
    sizes.present = past + Dim(1);
    return past;
  }
  if (!node.has(kPastLength)) fail(ErrorCode::shape, "shared buffers need past_sequence_length");
  const std::optional<int64_t> past = node.integer_of(kPastLength);
  if (!past) return {};
  const std::optional<int64_t> room = sizes.present.number();
  if (*past < 0 || (room && *past >= *room))
    fail(ErrorCode::shape, "past_sequence_length {} is out of range for caches of {}", *past, sizes.present.text());
  return *past;
}

void check_new_token(const Infer& node, const Sizes& sizes) {
  const Dim heads = head_count(node);
  const bool is_packed = !node.has(1);
  if (is_packed != !node.has(2)) fail(ErrorCode::shape, "key and value must be given together");
  const Dim own = crosses(node) || !is_packed ? sizes.size : sizes.size * Dim(2) + sizes.value_size;
  for (const auto& [input, size] : {std::pair{0U, own}, {1U, sizes.size}, {2U, sizes.value_size}}) {
    if (!node.is_ranked(input) || (input > 0 && crosses(node))) continue;
    node.require_rank(input, 3);
    unify(node.dims(input)[0], sizes.batch, "batch sizes");
    unify(node.dims(input)[1], 1, "the length of the input and 1");
    unify(node.dims(input)[2], heads * size, "the width of an input and of its heads");
  }
}

void check_beams(const Infer& node, const Sizes& sizes) {
  node.require_rank(kOrigins, 3);
  const std::optional<int64_t> beams = node.has(kBeams) ? node.integer_of(kBeams) : std::optional<int64_t>(1);
  if (!beams) return;
  if (*beams < 1) fail(ErrorCode::shape, "the beam width is {}", *beams);
  if (*beams > 1 && !node.has(kOrigins)) fail(ErrorCode::shape, "beams need cache_indirection");
  if (!node.is_ranked(kOrigins)) return;
  unify(node.dims(kOrigins)[0] * node.dims(kOrigins)[1], sizes.batch, "the batch size and beams of all entries");
  unify(node.dims(kOrigins)[1], *beams, "the beam width and the second dim of cache_indirection");
  unify(node.dims(kOrigins)[2], sizes.present, "lengths of cache_indirection and of the caches");
}

void infer_decoder(Infer& node) {
  const Dim heads = head_count(node);
  Sizes sizes;
  node.require_rank(0, 3);
  if (node.is_ranked(0)) sizes.batch = node.dims(0)[0];
  const bool is_cross = crosses(node);
  const bool has_caches = node.has(kPastKey) && node.has(kPastValue);
  if (!has_caches && node.has(1) && !node.is_ranked(1)) return node.set_dims(0, Dims(3));
  if (!is_cross && !has_caches) fail(ErrorCode::shape, "past keys and values are needed");
  check_caches(node, is_cross ? 1 : kPastKey, sizes);
  sizes.keys = is_cross ? sizes.present : cached_length(node, sizes) + Dim(1);
  check_new_token(node, sizes);
  check_beams(node, sizes);
  if (node.has(kMask)) {
    node.require_rank(kMask, 2);
    check_key_mask(node, kMask, sizes.batch, 1, sizes.keys);
  }
  const Dims scores = {sizes.batch, heads, 1, sizes.keys};
  node.require_rank(kAddend, 4);
  for (size_t a = 0; a < 4 && node.is_ranked(kAddend); ++a) {
    const bool is_spread = a < 2 && node.dims(kAddend)[a].is(1);
    if (!is_spread) unify(node.dims(kAddend)[a], scores[a], "dims of the attention bias and of the scores");
  }
  node.require_rank(kBias, 1);
  if (node.is_ranked(kBias))
    unify(node.dims(kBias)[0], heads * (sizes.size * Dim(2) + sizes.value_size), "the length of the bias and widths");
  node.set_dims(0, {sizes.batch, 1, heads * sizes.value_size});
  if (is_cross && (node.wants(1) || node.wants(2)))
    fail(ErrorCode::shape, "keys of another sequence make no caches to go on with");
  node.set_dims(1, {sizes.batch, heads, sizes.present, sizes.size});
  node.set_dims(2, {sizes.batch, heads, sizes.present, sizes.value_size});
  node.set_dims(3, scores);
  if (node.wants(3)) node.set_dtype(3, DType::float32);
}

// Columns of an input from `first` on, `width` for each batch entry, with their part of the bias.
std::vector<double> columns(const Eval& node, uint32_t input, uint64_t first, uint64_t width, uint64_t bias_first) {
  const std::vector<double> all = node.load<double>(input);
  const auto row = static_cast<uint64_t>(node.shape(input)[2]);
  const std::vector<double> bias = node.has(kBias) ? node.load<double>(kBias) : std::vector<double>{};
  std::vector<double> result(all.size() / std::max<uint64_t>(row, 1) * width);
  for (uint64_t i = 0; i < result.size(); ++i) {
    result[i] = all[i / width * row + first + i % width] + (bias.empty() ? 0 : bias[bias_first + i % width]);
  }
  return result;
}

struct Cache {
  uint64_t vectors, room, present, past, size;  // vectors: batch * heads

  // The old one with the new vectors behind the past.
  std::vector<double> with(const std::vector<double>& old, const std::vector<double>& fresh) const {
    std::vector<double> result(vectors * present * size);
    for (uint64_t at = 0; at < vectors; ++at) {
      double* to = result.data() + at * present * size;
      std::copy_n(old.begin() + static_cast<ptrdiff_t>(at * room * size), room * size, to);
      std::copy_n(fresh.begin() + static_cast<ptrdiff_t>(at * size), size, to + past * size);
    }
    return result;
  }
};

// Tokens of the past may come from other beams of the same batch entry.
std::vector<double> follow_origins(const Eval& node, const Cache& cache, uint64_t heads, std::vector<double> from) {
  const int64_t beams = node.scalar<int64_t>(kBeams, 1);
  if (beams == 1 || !node.has(kOrigins)) return from;
  const std::vector<int64_t> origins = node.integers_in(kOrigins);
  std::vector<double> result = from;
  for (uint64_t at = 0; at < cache.vectors; ++at) {
    const uint64_t entry = at / heads;
    for (uint64_t t = 0; t < cache.past; ++t) {
      const int64_t origin = origins[entry * cache.present + t];
      if (origin < 0 || origin >= beams) fail(ErrorCode::shape, "beam {} is out of range, there are {}", origin, beams);
      const uint64_t other = entry - entry % static_cast<uint64_t>(beams) + static_cast<uint64_t>(origin);
      const uint64_t source = ((other * heads + at % heads) * cache.present + t) * cache.size;
      std::copy_n(from.begin() + static_cast<ptrdiff_t>(source), cache.size,
                  result.begin() + static_cast<ptrdiff_t>((at * cache.present + t) * cache.size));
    }
  }
  return result;
}

// Scores become weights; places behind the keys, in caches with more room, count nothing.
class Weigher {
 public:
  Weigher(const Eval& node, const GroupedHeads& what, uint64_t keys)
      : mask_(node, kMask, {what.batch, what.heads, what.heads, {1, keys, 0, 0}}),
        filler_(node.floating("mask_filter_value", -10000)),
        heads_(what.heads),
        keys_(keys) {
    shown.resize(what.batch * what.heads * keys);
    if (!node.has(kAddend)) return;
    const auto size = [](uint64_t n) { return static_cast<int64_t>(n); };
    addend_.resize(shown.size());
    BroadcastReader(node.tensor_in(kAddend), {size(what.batch), size(what.heads), 1, size(keys)})
        .read(0, std::span(addend_));
  }

  void operator()(uint64_t b, uint64_t h, uint64_t, std::span<double> scores) {
    const uint64_t row = (b * heads_ + h) * keys_;
    for (uint64_t key = 0; key < keys_; ++key) {
      if (mask_.hides(b, 0, key)) scores[key] += filler_;
      if (!addend_.empty()) scores[key] += addend_[row + key];
      shown[row + key] = scores[key];
    }
    softmax_row(scores.first(keys_), true);
    std::ranges::fill(scores.subspan(keys_), 0.0);
  }

  std::vector<double> shown;

 private:
  KeyMask mask_;
  double filler_;
  uint64_t heads_, keys_;
  std::vector<double> addend_;
};

double scale_of(const Node& node, uint64_t size) {
  const double written = node.floating("scale", 0);
  return written == 0 ? 1 / std::sqrt(static_cast<double>(size)) : written;
}

void finish(Eval& node, const GroupedHeads& what, uint64_t keys, const std::vector<double>& q,
            const std::vector<double>& k, const std::vector<double>& v) {
  Weigher weigher(node, what, keys);
  node.store(0, attend(what, q, k, v, scale_of(node, what.head.size), weigher));
  if (node.wants(3)) node.store(3, std::move(weigher.shown));
}

void eval_decoder(Eval& node) {
  const auto heads = static_cast<uint64_t>(head_count(node));
  const auto batch = static_cast<uint64_t>(node.shape(0)[0]);
  const bool is_cross = node.has(1) && node.rank(1) == 4;
  const uint32_t keys_at = is_cross ? 1 : kPastKey;
  const auto room = static_cast<uint64_t>(node.shape(keys_at)[2]);
  const auto size = static_cast<uint64_t>(node.shape(keys_at)[3]);
  const auto value_size = static_cast<uint64_t>(node.shape(keys_at + 1)[3]);
  const uint64_t width = heads * size;
  const std::vector<double> q = columns(node, 0, 0, width, 0);
  if (is_cross) {
    return finish(node, {batch, heads, heads, {1, room, size, value_size}}, room, q, node.load<double>(1),
                  node.load<double>(2));
  }
  const bool shares = node.flag("past_present_share_buffer");
  const uint64_t past = shares ? static_cast<uint64_t>(node.scalar<int64_t>(kPastLength, 0)) : room;
  const uint64_t present = shares ? room : room + 1;
  const bool is_packed = !node.has(1);
  const Cache keys{batch * heads, room, present, past, size};
  const Cache values{batch * heads, room, present, past, value_size};
  std::vector<double> k =
      keys.with(node.load<double>(kPastKey), columns(node, is_packed ? 0 : 1, is_packed ? width : 0, width, width));
  std::vector<double> v =
      values.with(node.load<double>(kPastValue),
                  columns(node, is_packed ? 0 : 2, is_packed ? 2 * width : 0, heads * value_size, 2 * width));
  finish(node, {batch, heads, heads, {1, present, size, value_size}}, past + 1, q, follow_origins(node, keys, heads, k),
         follow_origins(node, values, heads, v));
  if (node.wants(1)) node.store(1, std::move(k));
  if (node.wants(2)) node.store(2, std::move(v));
}

Dim macs_of_decoder(const Infer& node) {
  if (!node.output(0).type.dims || !node.is_ranked(0)) return {};
  const uint32_t keys = crosses(node) ? 1 : kPastKey;
  if (!node.is_ranked(keys) || !node.is_ranked(keys + 1)) return {};
  return product(std::span(node.dims(keys)).first(3)) * (node.dims(keys)[3] + node.dims(keys + 1)[3]);
}

}  // namespace

OperatorRows operator_microsoft_decoder_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "DecoderMaskedMultiHeadAttention",
       .traits = {Nature::product},
       .infer = infer_decoder,
       .eval = eval_decoder,
       .macs = macs_of_decoder},
  };
  return kRows;
}

}  // namespace assay::ops
