#include <cmath>
#include <limits>

#include "ops/kernels/attention/grouped_attention.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/product/batched_product.h"
#include "ops/kernels/quantization/requantize.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kWeights = 1, kBias = 2;
constexpr uint32_t kInputScale = 3, kWeightScale = 4, kInputZero = 6, kWeightZero = 7;  // of QAttention

// The numbers of the inputs that both operators have.
struct Inputs {
  uint32_t mask, past, addend;
};

bool is_quantized(const Node& node) { return node.op() == "QAttention"; }

Inputs inputs_of(const Node& node) {
  if (is_quantized(node)) return {5, 8, UINT32_MAX};
  return {3, 4, 5};
}

// Widths of queries, keys and values side by side.
struct Widths {
  Dim q, k, v;
};

int64_t head_count(const Node& node) {
  const int64_t heads = node.integer("num_heads");
  if (heads < 1 || heads > INT32_MAX) fail(ErrorCode::shape, "`num_heads` is {}", heads);
  return heads;
}

Widths widths_of(const Node& node, const Dim& all) {
  const int64_t heads = head_count(node);
  const std::vector<int64_t> written = node.integers("qkv_hidden_sizes");
  if (written.empty()) {
    if (all.is_number() && *all.number() % (3 * heads) != 0)
      fail(ErrorCode::shape, "a width of {} does not divide into 3 times {} heads", all.text(), heads);
    const Dim third = floor_div(all, 3);
    return {third, third, third};
  }
  if (written.size() != 3) fail(ErrorCode::shape, "`qkv_hidden_sizes` has {} entries, expected 3", written.size());
  for (const int64_t width : written) {
    if (width < 1 || width > INT32_MAX || width % heads != 0)
      fail(ErrorCode::shape, "`qkv_hidden_sizes` has an entry of {}, there are {} heads", width, heads);
  }
  unify(written[0], written[1], "widths of queries and keys");
  unify(all, written[0] + written[1] + written[2], "the width of the weights and the sum of `qkv_hidden_sizes`");
  return {written[0], written[1], written[2]};
}

void check_attributes(const Node& node) {
  head_count(node);
  if (node.flag("do_rotary")) fail(ErrorCode::unsupported, "turning by position within the operator is not supported");
  if (node.flag("past_present_share_buffer")) fail(ErrorCode::unsupported, "shared buffers are not supported");
}

// One for all, or one for each column of the weights.
void check_factor(const Infer& node, uint32_t input, const Dim& columns) {
  if (!node.is_ranked(input) || product(node.dims(input)).is(1)) return;
  unify(product(node.dims(input)), columns, "columns of the weights and factors for them");
}

void check_quantization(const Infer& node, const Dim& columns) {
  for (const uint32_t input : {kInputScale, kInputZero}) {
    if (!node.is_ranked(input) || !product(node.dims(input)).is_number() || product(node.dims(input)).is(1)) continue;
    fail(ErrorCode::shape, "input {} must be one element, its shape is {}", input, text(node.dims(input)));
  }
  check_factor(node, kWeightScale, columns);
  check_factor(node, kWeightZero, columns);
}

// The number of earlier tokens.
Dim past_length(const Infer& node, uint32_t past, const Dim& batch, const Widths& widths) {
  if (!node.has(past)) return 0;
  node.require_rank(past, 5);
  if (!node.is_ranked(past)) return {};
  const Dims& dims = node.dims(past);
  const int64_t heads = head_count(node);
  unify(widths.q, widths.v, "widths of keys and values, where there is a past,");
  unify(dims[0], 2, "the first dim of the past and 2");
  unify(dims[1], batch, "batch sizes of past and input");
  unify(dims[2], heads, "heads of the past and of the attribute");
  unify(dims[4], floor_div(widths.q, heads), "sizes of heads of past and input");
  return dims[3];
}

void check_addend(const Infer& node, uint32_t input, const Dims& scores) {
  if (!node.has(input)) return;
  if (node.has(inputs_of(node).past)) fail(ErrorCode::shape, "a past and an attention bias cannot be given together");
  node.require_rank(input, 4);
  if (!node.is_ranked(input)) return;
  for (size_t a = 0; a < 4; ++a) {
    const bool is_spread = a < 2 && node.dims(input)[a].is(1);
    if (!is_spread) unify(node.dims(input)[a], scores[a], "dims of the attention bias and of the scores");
  }
}

void infer_attention(Infer& node) {
  check_attributes(node);
  node.require_rank(0, 3);
  node.require_rank(kWeights, 2);
  node.require_rank(kBias, 1);
  if (!node.is_ranked(0) || !node.is_ranked(kWeights)) return;
  const Dims& x = node.dims(0);
  unify(x[2], node.dims(kWeights)[0], "the width of the input and rows of the weights");
  const Dim& columns = node.dims(kWeights)[1];
  if (node.is_ranked(kBias)) unify(columns, node.dims(kBias)[0], "columns of the weights and the length of the bias");
  if (is_quantized(node)) check_quantization(node, columns);
  const Widths widths = widths_of(node, columns);
  const Inputs at = inputs_of(node);
  const Dim keys = past_length(node, at.past, x[0], widths) + x[1];
  const int64_t heads = head_count(node);
  check_key_mask(node, at.mask, x[0], x[1], keys);
  check_addend(node, at.addend, {x[0], heads, x[1], keys});
  node.set_dims(0, {x[0], x[1], widths.v});
  const Dim size = floor_div(widths.q, heads);
  const Dim value_size = floor_div(widths.v, heads);
  node.set_dims(1, {2, x[0], heads, keys, size.equals(value_size) ? size : Dim()});
  if (!size.is_number() || !value_size.is_number() || size.equals(value_size) || !node.wants(1)) return;
  fail(ErrorCode::shape, "heads of {} and {} elements cannot be stacked for the second output", size.text(),
       value_size.text());
}

Tensor centered(const Eval& node, uint32_t input, uint32_t zero, uint32_t scale) {
  std::vector<double> values = node.load<double>(input);
  const PerItem zeros(node.has(zero) ? node.load<double>(zero) : std::vector<double>{0});
  const PerItem scales(node.load<double>(scale));
  const auto columns = static_cast<uint64_t>(node.shape(input).back());
  for (uint64_t i = 0; i < values.size(); ++i) values[i] = (values[i] - zeros[i % columns]) * scales[i % columns];
  return make_rounded(DType::float64, node.shape(input), std::move(values));
}

// [batch, length, q + k + v]
std::vector<double> project(const Eval& node) {
  const int64_t columns = node.shape(kWeights)[1];
  const Shape shape = {node.shape(0)[0], node.shape(0)[1], columns};
  std::vector<double> result = is_quantized(node) ? matmul(centered(node, 0, kInputZero, kInputScale),
                                                           centered(node, kWeights, kWeightZero, kWeightScale), shape)
                                                  : matmul(node.tensor_in(0), node.tensor_in(kWeights), shape);
  if (!node.has(kBias)) return result;
  const std::vector<double> bias = node.load<double>(kBias);
  for (uint64_t i = 0; i < result.size(); ++i) result[i] += bias[i % bias.size()];
  return result;
}

// Tokens and heads of one of the three parts, behind those of the past: [batch, heads, past + length, size].
struct Part {
  uint64_t from = 0;  // first column
  uint64_t size = 0;  // of a head
  uint64_t past = 0;  // first element of the past
};

class Projection {
 public:
  Projection(const Eval& node, uint64_t heads)
      : all_(project(node)),
        columns_(static_cast<uint64_t>(node.shape(kWeights)[1])),
        batch_(static_cast<uint64_t>(node.shape(0)[0])),
        length_(static_cast<uint64_t>(node.shape(0)[1])),
        heads_(heads) {
    const uint32_t input = inputs_of(node).past;
    if (!node.has(input)) return;
    past_ = node.load<double>(input);
    past_length_ = static_cast<uint64_t>(node.shape(input)[3]);
  }

  uint64_t keys() const { return past_length_ + length_; }
  uint64_t past_half() const { return past_.size() / 2; }

  std::vector<double> part(const Part& what, bool has_past) const {
    std::vector<double> result;
    for (uint64_t at = 0; at < batch_ * heads_; ++at) {
      if (has_past) {
        const uint64_t run = past_length_ * what.size;
        append(result, past_, what.past + at * run, run);
      }
      for (uint64_t t = 0; t < length_; ++t) {
        append(result, all_, (at / heads_ * length_ + t) * columns_ + what.from + at % heads_ * what.size, what.size);
      }
    }
    return result;
  }

 private:
  static void append(std::vector<double>& to, const std::vector<double>& from, uint64_t first, uint64_t count) {
    const auto begin = from.begin() + static_cast<ptrdiff_t>(first);
    to.insert(to.end(), begin, begin + static_cast<ptrdiff_t>(count));
  }

  std::vector<double> all_, past_;
  uint64_t columns_, batch_, length_, heads_;
  uint64_t past_length_ = 0;
};

// Scores become weights: what is masked gets a large negative number added, what comes later counts nothing.
class Weigher {
 public:
  Weigher(const Eval& node, const GroupedHeads& heads, const std::vector<double>& addend)
      : mask_(node, inputs_of(node).mask, heads),
        heads_(heads),
        addend_(addend),
        filler_(node.floating("mask_filter_value", -10000)),
        is_causal_(node.flag("unidirectional")) {}

  void operator()(uint64_t b, uint64_t h, uint64_t i, std::span<double> scores) const {
    const uint64_t row = ((b * heads_.heads + h) * heads_.head.queries + i) * heads_.head.keys;
    const uint64_t past = heads_.head.keys - heads_.head.queries;
    for (uint64_t key = 0; key < scores.size(); ++key) {
      if (!addend_.empty()) scores[key] += addend_[row + key];
      if (mask_.hides(b, i, key)) scores[key] += filler_;
      if (is_causal_ && key > i + past) scores[key] = -std::numeric_limits<double>::infinity();
    }
    softmax_row(scores, true);
  }

 private:
  KeyMask mask_;
  const GroupedHeads& heads_;
  const std::vector<double>& addend_;
  double filler_;
  bool is_causal_;
};

std::vector<double> load_addend(const Eval& node, const GroupedHeads& heads) {
  const uint32_t input = inputs_of(node).addend;
  if (!node.has(input)) return {};
  const auto size = [](uint64_t n) { return static_cast<int64_t>(n); };
  const Shape shape = {size(heads.batch), size(heads.heads), size(heads.head.queries), size(heads.head.keys)};
  std::vector<double> result(*tensor::element_count(shape));
  BroadcastReader(node.tensor_in(input), shape).read(0, std::span(result));
  return result;
}

void eval_attention(Eval& node) {
  const auto heads = static_cast<uint64_t>(head_count(node));
  const Widths widths = widths_of(node, node.shape(kWeights)[1]);
  const auto width = static_cast<uint64_t>(*widths.q.number());
  const auto value_width = static_cast<uint64_t>(*widths.v.number());
  const Projection projection(node, heads);
  const std::vector<double> q = projection.part({0, width / heads, 0}, false);
  std::vector<double> k = projection.part({width, width / heads, 0}, true);
  const std::vector<double> v = projection.part({2 * width, value_width / heads, projection.past_half()}, true);
  const GroupedHeads what{
      static_cast<uint64_t>(node.shape(0)[0]),
      heads,
      heads,
      {static_cast<uint64_t>(node.shape(0)[1]), projection.keys(), width / heads, value_width / heads}};
  const std::vector<double> addend = load_addend(node, what);
  const double written = node.floating("scale", 0);
  const uint64_t depth = width / heads;
  const double scale = written == 0 ? 1 / std::sqrt(static_cast<double>(depth)) : written;
  node.store(0, pack_attended(attend(what, q, k, v, scale, Weigher(node, what, addend)), what));
  if (!node.wants(1)) return;
  k.insert(k.end(), v.begin(), v.end());
  node.store(1, std::move(k));
}

Dim macs_of_attention(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(kWeights)) return {};
  const Dims& x = node.dims(0);
  const Widths widths = widths_of(node, node.dims(kWeights)[1]);
  const uint32_t past = inputs_of(node).past;
  const Dim keys = x[1] + (!node.has(past) ? Dim(0) : node.is_ranked(past) ? node.dims(past)[3] : Dim());
  return product(x) * node.dims(kWeights)[1] + x[0] * x[1] * keys * (widths.q + widths.v);
}

}  // namespace

OperatorRows operator_microsoft_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "Attention",
       .traits = {Nature::product},
       .infer = infer_attention,
       .eval = eval_attention,
       .macs = macs_of_attention},
      {.domain = kMicrosoft,
       .name = "QAttention",
       .traits = {Nature::product, {.codes = {0, 1}, .scales = {3, 4}}},
       .infer = infer_attention,
       .eval = eval_attention,
       .macs = macs_of_attention},
  };
  return kRows;
}

}  // namespace assay::ops
