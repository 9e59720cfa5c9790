#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Scales lines to a mean square of 1.
void normalize(std::span<double> line, double epsilon) {
  double sum = 0;
  for (const double x : line) sum += x * x;
  const double factor = 1 / std::sqrt(sum / static_cast<double>(line.size()) + epsilon);
  for (double& x : line) x *= factor;
}

void infer_gated_norm(Infer& node) {
  const std::string_view word = node.string("activation");
  if (word != "silu" && word != "swish" && word != "sigmoid")
    fail(ErrorCode::shape, "attribute `activation` is `{}`", word);
  infer_same_as_first(node);
  node.require_rank(1, 1);
  if (!node.is_ranked(0)) return;
  if (node.rank(0) < 1) fail(ErrorCode::shape, "X must have a rank of 1 or more");
  node.require_broadcasts_to(2, node.dims(0));
  const Dim& width = node.dims(0).back();
  if (!node.is_ranked(1) || !width.is_number() || !node.dims(1)[0].is_number()) return;
  const int64_t group = *node.dims(1)[0].number();
  if (group < 1 || *width.number() % group != 0)
    fail(ErrorCode::shape, "groups of {} elements do not divide lines of {}", group, width.text());
}

void eval_gated_norm(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const std::vector<double> scale = node.load<double>(1);
  const std::vector<double> gate = node.load<double>(2);
  const bool is_silu = node.string("activation") != "sigmoid";
  for (uint64_t i = 0; i < data.size(); i += scale.size())
    normalize(std::span(data).subspan(i, scale.size()), node.floating("epsilon"));
  for (uint64_t i = 0; i < data.size(); ++i)
    data[i] *= scale[i % scale.size()] * sigmoid(gate[i]) * (is_silu ? gate[i] : 1);
  node.store(0, std::move(data));
}

// Branches of equal width along the last dims of an input: [..., C, H], or [..., C * H] where `num_branches` says C.
struct Branches {
  Dims outer;  // dims before them
  Dim count, width;

  explicit Branches(const Infer& node) {
    const Dims& dims = node.dims(0);
    const int64_t flat = node.integer("num_branches");
    const size_t own = flat > 0 ? 1 : 2;
    if (flat < 0) fail(ErrorCode::shape, "attribute `num_branches` is {}", flat);
    if (dims.size() < own)
      fail(ErrorCode::shape, "the first input must have a rank of {} or more, its shape is {}", own, text(dims));
    outer.assign(dims.begin(), dims.end() - static_cast<ptrdiff_t>(own));
    count = own == 1 ? Dim(flat) : dims[dims.size() - 2];
    if (own == 2) {
      width = dims.back();
    } else if (dims.back().is_number()) {
      if (*dims.back().number() % flat != 0)
        fail(ErrorCode::shape, "{} branches do not divide lines of {}", flat, dims.back().text());
      width = *dims.back().number() / flat;
    }
  }
};

uint64_t branch_count(const Eval& node) {
  const int64_t flat = node.integer("num_branches");
  const Shape& shape = node.shape(0);
  return static_cast<uint64_t>(flat > 0 ? flat : shape[shape.size() - 2]);
}

// Error unless an operand of branches has one number for each of them, or one for each element.
void check_mix(const Infer& node, uint32_t input, const Branches& branches) {
  if (!node.is_ranked(input)) return;
  const Dim given = product(node.dims(input));
  const Dim least = product(branches.outer) * branches.count;
  const Dim most = least * branches.width;
  if (!given.is_number() || !least.is_number() || !most.is_number()) return;
  if (given.is(*least.number()) || given.is(*most.number())) return;
  fail(ErrorCode::shape, "input {} of shape {} has neither one number for each branch nor one for each element", input,
       text(node.dims(input)));
}

void infer_branch_norm(Infer& node) {
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  const Branches branches(node);
  if (!node.is_ranked(1)) return;
  const Dim given = product(node.dims(1));
  const Dim all = branches.count * branches.width;
  const bool is_known = given.is_number() && branches.width.is_number() && all.is_number();
  if (is_known && !given.is(*branches.width.number()) && !given.is(*all.number()))
    fail(ErrorCode::shape, "a scale of shape {} does not fit {} branches of {}", text(node.dims(1)),
         branches.count.text(), branches.width.text());
}

void eval_branch_norm(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const uint64_t count = branch_count(node);
  const int64_t flat = node.integer("num_branches");
  const uint64_t width = static_cast<uint64_t>(node.shape(0).back()) / (flat > 0 ? count : 1);
  for (uint64_t i = 0; i < data.size(); i += width)
    normalize(std::span(data).subspan(i, width), node.floating("epsilon"));
  if (node.has(1)) {
    const std::vector<double> scale = node.load<double>(1);
    for (uint64_t i = 0; i < data.size(); ++i) data[i] *= scale[i % scale.size()];
  }
  node.store(0, std::move(data));
}

void infer_pre_mix(Infer& node) {
  if (!node.is_ranked(0)) return;
  const Branches branches(node);
  check_mix(node, 1, branches);
  Dims dims = branches.outer;
  dims.push_back(branches.width);
  node.set_dims(0, std::move(dims));
}

// Factor of an element by a list with one number for each branch or for each element.
double factor(const std::vector<double>& mix, uint64_t branch, uint64_t element, uint64_t branches) {
  return mix[mix.size() == branches ? branch : element];
}

void eval_pre_mix(Eval& node) {
  const std::vector<double> streams = node.load<double>(0);
  const std::vector<double> mix = node.load<double>(1);
  const uint64_t count = branch_count(node);
  std::vector<double> sums(node.out_count(0));
  const auto width = static_cast<uint64_t>(node.out_shape(0).back());
  for (uint64_t i = 0; i < streams.size(); ++i) {
    const uint64_t branch = i / width;
    sums[branch / count * width + i % width] +=
        node.floating("reduction_scale") * streams[i] * factor(mix, branch, i, streams.size() / width);
  }
  node.store(0, std::move(sums));
}

void infer_post_mix(Infer& node) {
  if (!node.is_ranked(0)) return;
  const Branches branches(node);
  check_mix(node, 2, branches);
  Dims block = branches.outer;
  block.push_back(branches.width);
  Dims streams = branches.outer;
  streams.insert(streams.end(), 2, branches.count);
  for (const auto& [input, wanted] : {std::pair(1U, block), std::pair(3U, streams)}) {
    node.require_rank(input, static_cast<int64_t>(wanted.size()));
    for (size_t a = 0; a < wanted.size() && node.is_ranked(input); ++a)
      unify(node.dims(input)[a], wanted[a], "dims of streams and of what is mixed with them");
  }
  node.set_dims(0, node.dims(0));
}

// A stream is itself, or a sum of all by a column of `stream_mix`, and its share of the block's result.
void eval_post_mix(Eval& node) {
  const std::vector<double> streams = node.load<double>(0);
  const std::vector<double> block = node.load<double>(1);
  const std::vector<double> mix = node.load<double>(2);
  const std::vector<double> matrix = node.has(3) ? node.load<double>(3) : std::vector<double>();
  const uint64_t count = branch_count(node);
  const auto width = static_cast<uint64_t>(node.shape(1).back());
  std::vector<double> result(streams.size());
  for (uint64_t i = 0; i < result.size(); ++i) {
    const uint64_t branch = i / width;
    const uint64_t line = branch / count;
    const uint64_t to = branch % count;
    double sum = matrix.empty() ? streams[i] : 0;
    for (uint64_t from = 0; from < count && !matrix.empty(); ++from)
      sum += matrix[(line * count + from) * count + to] * streams[(line * count + from) * width + i % width];
    result[i] = sum + factor(mix, branch, i, streams.size() / width) * block[line * width + i % width];
  }
  node.store(0, std::move(result));
}

void infer_gated_add(Infer& node) {
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  Dims rows = node.dims(0);
  if (rows.empty()) fail(ErrorCode::shape, "X must have a rank of 1 or more");
  node.require_broadcasts_to(1, rows);
  rows.back() = 1;
  node.require_broadcasts_to(2, rows);
}

void eval_gated_add(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const std::vector<double> scaled = node.load<double>(1);
  const std::vector<double> gate = node.load<double>(2);
  const auto width = static_cast<uint64_t>(node.shape(0).back());
  for (uint64_t i = 0; i < data.size(); ++i) data[i] += scaled[i] * gate[i / width];
  node.store(0, std::move(data));
}

void infer_scaled_silu(Infer& node) {
  infer_same_as_first(node);
  if (node.is_ranked(1) && product(node.dims(1)).is_number() && !product(node.dims(1)).is(1))
    fail(ErrorCode::shape, "the scale must be one number, its shape is {}", text(node.dims(1)));
}

void eval_scaled_silu(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const double scale = node.scalar<double>(1, node.floating("alpha"));
  for (double& x : data) x = scale * x * sigmoid(scale * x);
  node.store(0, std::move(data));
}

void infer_engram_gate(Infer& node) {
  if (node.wants(1) && !node.has(5)) fail(ErrorCode::shape, "`gated_value_normed` needs `conv_norm_scale`");
  for (const uint32_t input : {0U, 1U}) node.require_rank(input, 4);
  node.require_rank(2, 3);
  for (const uint32_t input : {3U, 4U, 5U}) node.require_rank(input, 2);
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  for (const uint32_t input : {3U, 4U, 5U}) {
    for (size_t a = 0; a < 2 && node.is_ranked(input); ++a)
      unify(dims[a + 2], node.dims(input)[a], "dims of keys and of their scales");
  }
  for (size_t a = 0; a < 4 && node.is_ranked(1); ++a) unify(dims[a], node.dims(1)[a], "dims of keys and of queries");
  for (const size_t a : {0U, 1U, 3U}) {
    if (node.is_ranked(2)) unify(dims[a], node.dims(2)[std::min<size_t>(a, 2)], "dims of keys and of values");
  }
}

// The line normalized, each element times its scale.
std::vector<double> scaled_line(const std::vector<double>& data, uint64_t line, uint64_t width, double epsilon,
                                const std::vector<double>& scale) {
  const auto begin = data.begin() + static_cast<ptrdiff_t>(line * width);
  std::vector<double> result(begin, begin + static_cast<ptrdiff_t>(width));
  normalize(result, epsilon);
  for (uint64_t i = 0; i < width; ++i) result[i] *= scale[(line * width + i) % scale.size()];
  return result;
}

double engram_gate(std::span<const double> key, std::span<const double> query) {
  constexpr double kLeast = 1e-6;
  double dot = 0;
  for (uint64_t i = 0; i < key.size(); ++i) dot += key[i] * query[i];
  dot /= std::sqrt(static_cast<double>(key.size()));
  const double root = std::sqrt(std::max(std::abs(dot), kLeast));
  return sigmoid(dot == 0 ? 0 : std::copysign(root, dot));
}

void eval_engram_gate(Eval& node) {
  const std::vector<double> keys = node.load<double>(0);
  const std::vector<double> queries = node.load<double>(1);
  const std::vector<double> values = node.load<double>(2);
  const double epsilon = node.floating("epsilon");
  const auto width = static_cast<uint64_t>(node.shape(0)[3]);
  const auto copies = static_cast<uint64_t>(node.shape(0)[2]);
  std::vector<double> gated(keys.size());
  for (uint64_t line = 0; line * width < keys.size(); ++line) {
    const double gate = engram_gate(scaled_line(keys, line, width, epsilon, node.load<double>(3)),
                                    scaled_line(queries, line, width, epsilon, node.load<double>(4)));
    for (uint64_t i = 0; i < width; ++i) gated[line * width + i] = gate * values[line / copies * width + i];
  }
  if (node.wants(1)) {
    std::vector<double> normed;
    for (uint64_t line = 0; line * width < gated.size(); ++line) {
      const std::vector<double> own = scaled_line(gated, line, width, epsilon, node.load<double>(5));
      normed.insert(normed.end(), own.begin(), own.end());
    }
    node.store(1, std::move(normed));
  }
  node.store(0, std::move(gated));
}

}  // namespace

OperatorRows operator_microsoft_branches() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "BranchwiseRMSNorm",
       .traits = {Nature::normalization},
       .infer = infer_branch_norm,
       .eval = eval_branch_norm},
      {.domain = kMicrosoft,
       .name = "EngramGate",
       .traits = {Nature::normalization},
       .infer = infer_engram_gate,
       .eval = eval_engram_gate},
      {.domain = kMicrosoft,
       .name = "GatedAdd",
       .traits = {Nature::elementwise},
       .infer = infer_gated_add,
       .eval = eval_gated_add},
      {.domain = kMicrosoft,
       .name = "GatedRMSNorm",
       .traits = {Nature::normalization},
       .infer = infer_gated_norm,
       .eval = eval_gated_norm},
      {.domain = kMicrosoft,
       .name = "HyperConnectionPreMix",
       .traits = {Nature::product},
       .infer = infer_pre_mix,
       .eval = eval_pre_mix},
      {.domain = kMicrosoft,
       .name = "HyperConnectionPostMix",
       .traits = {Nature::product},
       .infer = infer_post_mix,
       .eval = eval_post_mix},
      {.domain = kMicrosoft,
       .name = "ScaledSiLU",
       .traits = {Nature::elementwise, {.rounding = RoundingClass::activation}},
       .infer = infer_scaled_silu,
       .eval = eval_scaled_silu},
  };
  return kRows;
}

}  // namespace assay::ops
