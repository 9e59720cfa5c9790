#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/attention/scaled_scores.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The type in which scores and weights are handed to the bodies.
DType weight_type(const Node& node, DType input) {
  if (!node.has_attribute("softmax_precision")) return input == DType::float64 ? input : DType::float32;
  const auto type = static_cast<DType>(node.integer("softmax_precision"));
  if (type != DType::float32 && type != DType::float16 && type != DType::float64 && type != DType::bfloat16) {
    fail(ErrorCode::shape, "attribute `softmax_precision` is {}, expected 1, 10, 11 or 16",
         node.integer("softmax_precision"));
  }
  return type;
}

void check_body(const Infer& node, std::string_view name, const Type& scores) {
  if (!node.has_attribute(name)) return;
  const ir::GraphId body = node.graph(name);
  const size_t inputs = node.model()[body].inputs.size();
  const size_t outputs = node.model().outputs(body).size();
  if (inputs != 1 || outputs != 1) {
    fail(ErrorCode::shape, "`{}` has {} inputs and {} outputs, expected one of each", name, inputs, outputs);
  }
  node.infer_body(body, std::span(&scores, 1));
}

void infer_flex_attention(Infer& node) {
  for (uint32_t i = 0; i < 3; ++i) node.require_rank(i, 4);
  const Dims q = node.is_ranked(0) ? node.dims(0) : Dims(4);
  const Dims k = node.is_ranked(1) ? node.dims(1) : Dims(4);
  const Dims v = node.is_ranked(2) ? node.dims(2) : Dims(4);
  const Dim batch = unify(unify(q[0], k[0], "batch sizes"), v[0], "batch sizes");
  const Dim heads = unify(k[1], v[1], "heads of keys and values");
  const Dim keys = unify(k[2], v[2], "lengths of keys and values");
  unify(q[3], k[3], "head sizes of queries and keys");
  if (q[1].is_number() && heads.is_number() && (heads.is(0) || *q[1].number() % *heads.number() != 0)) {
    fail(ErrorCode::shape, "{} heads of queries are no multiple of {} heads of keys", q[1].text(), heads.text());
  }
  const Type scores = Type::tensor(weight_type(node, node.dtype(0)), Dims{batch, q[1], q[2], keys});
  check_body(node, "score_mod", scores);
  check_body(node, "prob_mod", scores);
  node.set_dims(0, {batch, q[1], q[2], v[3]});
}

Dim macs_of_flex_attention(const Infer& node) {
  if (!node.all_ranked()) return {};
  return node.dims(0)[0] * node.dims(0)[1] * node.dims(0)[2] * node.dims(1)[2] * (node.dims(0)[3] + node.dims(2)[3]);
}

// All scores or weights, modified by a body.
std::vector<double> modified(const Eval& node, std::string_view name, const Shape& shape, std::vector<double> values) {
  if (!node.has_attribute(name)) return values;
  const DType type = weight_type(node, node.dtype(0));
  const Datum in(make_rounded(node.stored(type), shape, std::move(values)), type);
  const std::vector<Datum> out = node.run_body(node.graph(name), std::span(&in, 1));
  if (!out[0].is_tensor() || out[0].tensor().shape() != shape || out[0].declared() != type) {
    fail(ErrorCode::shape, "`{}` must give back what it gets, {}, it gives {}", name, type_of(in).text(),
         type_of(out[0]).text());
  }
  return load_elements<double>(out[0].tensor());
}

void eval_flex_attention(Eval& node) {
  const Shape& q_shape = node.shape(0);
  const Shape& v_shape = node.shape(2);
  const auto heads = static_cast<uint64_t>(q_shape[1]);
  const auto kv_heads = static_cast<uint64_t>(v_shape[1]);
  const AttentionHead head{static_cast<uint64_t>(q_shape[2]), static_cast<uint64_t>(v_shape[2]),
                           static_cast<uint64_t>(q_shape[3]), static_cast<uint64_t>(v_shape[3])};
  const std::vector<double> q = node.load<double>(0);
  const std::vector<double> k = node.load<double>(1);
  const std::vector<double> v = node.load<double>(2);
  const double scale = node.floating("scale", 1 / std::sqrt(static_cast<double>(head.size)));
  const uint64_t all = static_cast<uint64_t>(q_shape[0]) * heads;
  const uint64_t matrix = head.queries * head.keys;
  const auto kv_of = [&](uint64_t h) { return h / heads * kv_heads + h % heads / (heads / kv_heads); };
  std::vector<double> scores(all * matrix);
  for (uint64_t h = 0; h < all; ++h) {
    score_head(head, q.data() + h * head.queries * head.size, k.data() + kv_of(h) * head.keys * head.size, scale,
               scores.data() + h * matrix);
  }
  const Shape shape = {q_shape[0], q_shape[1], q_shape[2], v_shape[2]};
  scores = modified(node, "score_mod", shape, std::move(scores));
  parallel_for(head.keys == 0 ? 0 : all * head.queries, 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t row = begin; row < end; ++row) {
      softmax_row(std::span(scores).subspan(row * head.keys, head.keys), false);
    }
  });
  scores = modified(node, "prob_mod", shape, std::move(scores));
  std::vector<double> out(all * head.queries * head.value_size);
  for (uint64_t h = 0; h < all; ++h) {
    mix_values(head, scores.data() + h * matrix, v.data() + kv_of(h) * head.keys * head.value_size,
               out.data() + h * head.queries * head.value_size);
  }
  node.store(0, std::move(out));
}

}  // namespace

OperatorRows operator_attention_flex_attention() {
  static constexpr Operator kRows[] = {
      {.domain = "ai.onnx.preview",
       .name = "FlexAttention",
       .traits = {Nature::product},
       .infer = infer_flex_attention,
       .eval = eval_flex_attention,
       .macs = macs_of_flex_attention},
  };
  return kRows;
}

}  // namespace assay::ops
