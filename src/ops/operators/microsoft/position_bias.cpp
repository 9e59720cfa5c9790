#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

Dim length_at(const Infer& node, uint32_t input) {
  const std::optional<Elements> known = node.elements(input);
  if (!known) return {};
  if (known->items.size() != 1)
    fail(ErrorCode::shape, "input {} must be one number, it has {}", input, known->items.size());
  const Dim& length = known->items[0];
  if (length.is_number() && *length.number() < 0) fail(ErrorCode::shape, "input {} is {}", input, length.text());
  return length;
}

void infer_relative(Infer& node) {
  if (node.integer("max_distance") < 1)
    fail(ErrorCode::shape, "attribute `max_distance` is {}", node.integer("max_distance"));
  node.require_rank(0, 2);
  Dims dims = {1, Dim(), length_at(node, 1), length_at(node, 2)};
  if (node.is_ranked(0)) {
    dims[1] = node.dims(0)[1];
    const Dim& buckets = node.dims(0)[0];
    const int64_t least = node.flag("is_bidirectional") ? 4 : 2;
    if (buckets.is_number() && *buckets.number() < least)
      fail(ErrorCode::shape, "{} buckets are given, {} are the least", buckets.text(), least);
  }
  node.set_dims(0, std::move(dims));
}

// Half of the buckets stand for one distance each, the others for ever longer ranges of distances.
class Buckets {
 public:
  explicit Buckets(const Eval& node)
      : is_bidirectional_(node.flag("is_bidirectional")),
        count_(node.shape(0)[0] / (is_bidirectional_ ? 2 : 1)),
        most_(static_cast<double>(node.integer("max_distance"))) {}

  uint64_t of(int64_t distance) const {
    const int64_t first = is_bidirectional_ && distance > 0 ? count_ : 0;
    const int64_t steps = is_bidirectional_ ? std::abs(distance) : std::max<int64_t>(-distance, 0);
    const int64_t exact = count_ / 2;
    if (steps < exact) return static_cast<uint64_t>(first + steps);
    const auto unit = static_cast<double>(exact);
    const double part = std::log(static_cast<double>(steps) / unit) / std::log(most_ / unit);
    const double beyond = part * static_cast<double>(count_ - exact);
    const bool is_last = !(beyond < static_cast<double>(count_ - 1 - exact));
    return static_cast<uint64_t>(first + (is_last ? count_ - 1 : exact + static_cast<int64_t>(std::max(beyond, 0.0))));
  }

 private:
  bool is_bidirectional_;
  int64_t count_;
  double most_;
};

// The table is stored head by head.
void eval_relative(Eval& node) {
  const std::vector<double> table = node.load<double>(0);
  const Shape shape = node.out_shape(0);
  const auto buckets = static_cast<uint64_t>(node.shape(0)[0]);
  const Buckets bucket(node);
  std::vector<double> result(node.out_count(0));
  for (uint64_t at = 0; at < result.size(); ++at) {
    const auto key = static_cast<int64_t>(at % static_cast<uint64_t>(shape[3]));
    const uint64_t row = at / static_cast<uint64_t>(shape[3]);
    const auto query = static_cast<int64_t>(row % static_cast<uint64_t>(shape[2]));
    const uint64_t head = row / static_cast<uint64_t>(shape[2]);
    result[at] = table[head * buckets + bucket.of(key - query)];
  }
  node.store(0, std::move(result));
}

int64_t head_count(const Node& node) {
  const int64_t heads = node.integer("num_heads");
  if (heads < 1) fail(ErrorCode::shape, "attribute `num_heads` is {}", heads);
  return heads;
}

void infer_gated(Infer& node) {
  const int64_t heads = head_count(node);
  if (node.has(6)) fail(ErrorCode::unsupported, "tokens without padding are not supported");
  for (const auto& [input, rank] : {std::pair{0U, 3}, {1U, 1}, {2U, 4}, {3U, 2}, {4U, 1}, {5U, 4}})
    node.require_rank(input, rank);
  if (!node.all_ranked()) return node.set_dims(0, Dims(4));
  const Dims& x = node.dims(0);
  if (x[2].is_number() && *x[2].number() % heads != 0)
    fail(ErrorCode::shape, "{} heads do not divide a width of {}", heads, x[2].text());
  unify(x[2], node.dims(1)[0], "the width of the query and the length of its bias");
  unify(node.dims(3)[0], floor_div(x[2], heads), "rows of the weights and the size of a head");
  unify(node.dims(3)[1], node.dims(4)[0], "columns of the weights and the length of their bias");
  const Dim& columns = node.dims(3)[1];
  if (columns.is_number() && *columns.number() % 2 != 0)
    fail(ErrorCode::shape, "the weights have an odd number of columns, {}", columns.text());
  const Dims wanted = {1, heads, x[1], x[1]};
  const Dims scalars = {1, heads, 1, 1};
  for (size_t a = 0; a < 4; ++a) {
    unify(node.dims(2)[a], wanted[a], "dims of `rel_pos` and of the result");
    unify(node.dims(5)[a], scalars[a], "dims of `eco_a` and [1, num_heads, 1, 1]");
  }
  node.set_dims(0, {x[0], heads, x[1], x[1]});
}

// The factor of one query of one head for its row of positions.
double gate_of(std::span<const double> query, const std::vector<double>& weight, const std::vector<double>& bias,
               double factor) {
  const size_t half = bias.size() / 2;
  double sums[2] = {0, 0};
  for (size_t c = 0; c < 2 * half; ++c) {
    double sum = bias[c];
    for (size_t i = 0; i < query.size(); ++i) sum += query[i] * weight[i * bias.size() + c];
    sums[c / half] += sum;
  }
  return sigmoid(sums[0]) * (sigmoid(sums[1]) * factor - 1) + 2;
}

void eval_gated(Eval& node) {
  std::vector<double> query = node.load<double>(0);
  const std::vector<double> query_bias = node.load<double>(1);
  for (size_t i = 0; i < query.size(); ++i) query[i] += query_bias[i % query_bias.size()];
  const std::vector<double> positions = node.load<double>(2);
  const std::vector<double> weight = node.load<double>(3);
  const std::vector<double> bias = node.load<double>(4);
  const std::vector<double> factors = node.load<double>(5);
  const auto heads = static_cast<uint64_t>(head_count(node));
  const auto length = static_cast<uint64_t>(node.shape(0)[1]);
  const uint64_t size = static_cast<uint64_t>(node.shape(0)[2]) / heads;
  std::vector<double> result(node.out_count(0));
  for (uint64_t row = 0; row * length < result.size(); ++row) {
    const uint64_t h = row / length % heads;
    const uint64_t token = row / length / heads * length + row % length;
    const double gate = gate_of(std::span(query).subspan((token * heads + h) * size, size), weight, bias, factors[h]);
    for (uint64_t j = 0; j < length; ++j)
      result[row * length + j] = gate * positions[(h * length + row % length) * length + j];
  }
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_position_bias() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "RelativePositionBias",
       .traits = {Nature::product},
       .infer = infer_relative,
       .eval = eval_relative},
      {.domain = kMicrosoft,
       .name = "GatedRelativePositionBias",
       .traits = {Nature::product},
       .infer = infer_gated,
       .eval = eval_gated},
  };
  return kRows;
}

}  // namespace assay::ops
