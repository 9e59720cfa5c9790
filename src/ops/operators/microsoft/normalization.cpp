#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/line_norm.h"
#include "ops/kernels/elements/moments.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/kernels/movement/embedding.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// A list along the last axis of an input.
void check_list(const Infer& node, uint32_t list, const Dim& width) {
  if (!node.has(list)) return;
  node.require_rank(list, 1);
  if (node.is_ranked(list))
    unify(width, node.dims(list)[0], "the last dim of the input and the lengths of its factors");
}

std::vector<double> load_or_empty(const Eval& node, uint32_t input) {
  return node.has(input) ? node.load<double>(input) : std::vector<double>{};
}

// The simplified form has no beta.
void infer_skip(Infer& node, bool is_simplified) {
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  if (dims.size() != 2 && dims.size() != 3)
    fail(ErrorCode::shape, "the input must have a rank of 2 or 3, its shape is {}", text(dims));
  if (node.is_ranked(1) && (node.rank(1) > node.rank(0) || broadcast(dims, node.dims(1)).size() != dims.size())) {
    fail(ErrorCode::shape, "skip of shape {} does not fit {}", text(node.dims(1)), text(dims));
  }
  for (uint32_t i = 2; i < (is_simplified ? 4U : 5U); ++i) check_list(node, i, dims.back());
  Dims reduced = dims;
  reduced.back() = 1;
  for (uint32_t i = 1; i < 3; ++i) {
    node.set_dims(i, reduced);
    node.set_dtype(i, DType::float32);
  }
}

void eval_skip(Eval& node, bool is_simplified) {
  std::vector<double> data = node.load<double>(0);
  std::vector<double> skip(data.size());
  BroadcastReader(node.tensor_in(1), node.shape(0)).read(0, std::span(skip));
  const std::vector<double> bias = load_or_empty(node, is_simplified ? 3 : 4);
  LineNorm norm{static_cast<uint64_t>(node.shape(0).back()), node.floating("epsilon"), !is_simplified};
  norm.gamma = node.load<double>(2);
  if (!is_simplified) norm.beta = load_or_empty(node, 3);
  for (uint64_t i = 0; i < data.size(); ++i) data[i] += skip[i] + (bias.empty() ? 0 : bias[i % norm.width]);
  if (node.wants(3)) node.store(3, data);
  norm.apply(data);
  node.store(0, std::move(data));
  if (node.wants(1)) node.store(1, std::move(norm.means));
  if (node.wants(2)) node.store(2, std::move(norm.inverses));
}

void infer_simplified(Infer& node) {
  if (!node.is_ranked(0)) return;
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  Dims reduced = node.dims(0);
  if (node.is_ranked(1)) {
    const Dim width = product(std::span(reduced).subspan(static_cast<size_t>(axis)));
    if (!product(node.dims(1)).is(1)) unify(width, product(node.dims(1)), "elements of a line and of the scale");
  }
  node.set_dims(0, reduced);
  std::fill(reduced.begin() + axis, reduced.end(), Dim(1));
  node.set_dims(1, reduced);
  if (node.wants(1) && node.output(1).type.dtype == DType::undefined) node.set_dtype(1, DType::float32);
}

void eval_simplified(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  LineNorm norm{1, node.floating("epsilon"), false};
  for (auto a = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0))); a < node.shape(0).size();
       ++a) {
    norm.width *= static_cast<uint64_t>(node.shape(0)[a]);
  }
  norm.gamma = node.load<double>(1);
  if (norm.gamma.size() == 1) norm.gamma.resize(norm.width, norm.gamma[0]);
  norm.apply(data);
  node.store(0, std::move(data));
  if (node.wants(1)) node.store(1, std::move(norm.inverses));
}

void infer_embedding(Infer& node) {
  node.require_rank(0, 2);
  for (const uint32_t table : {2U, 3U, 4U}) node.require_rank(table, 2);
  if (node.wants(1)) node.set_dtype(1, DType::int32);
  if (!node.is_ranked(0) || !node.is_ranked(2)) return;
  const Dim width = node.dims(2)[1];
  for (const uint32_t table : {3U, 4U}) {
    if (node.is_ranked(table)) unify(width, node.dims(table)[1], "widths of the embeddings");
  }
  check_list(node, 5, width);
  check_list(node, 6, width);
  for (const uint32_t ids : {1U, 7U}) {
    if (!node.is_ranked(ids)) continue;
    node.require_rank(ids, 2);
    for (size_t a = 0; a < 2; ++a) unify(node.dims(0)[a], node.dims(ids)[a], "dims of the ids");
  }
  if (node.is_ranked(8)) broadcast(node.dims(0), node.dims(8));
  const Dims dims = {node.dims(0)[0], node.dims(0)[1], width};
  node.set_dims(0, dims);
  node.set_dims(1, {node.dims(0)[0]});
  node.set_dims(2, dims);
}

void add_rows(std::vector<double>& sums, const Eval& node, uint32_t table, const std::vector<int64_t>& ids) {
  if (!node.has(table)) return;
  const Tensor& rows = node.tensor_in(table);
  std::vector<double> numbers(static_cast<uint64_t>(node.shape(table)[1]));
  add_named_rows(ids, node.shape(table), sums, [&](uint64_t row) {
    tensor::load(rows.dtype(), rows.bytes(), row * numbers.size(), std::span(numbers));
    return std::span<const double>(numbers);
  });
}

void eval_embedding(Eval& node) {
  std::vector<double> sums(node.out_count(0));
  std::vector<int64_t> positions = places_in_lines(node.shape(0));
  if (node.has(8)) BroadcastReader(node.tensor_in(8), node.shape(0)).read(0, std::span(positions));
  add_rows(sums, node, 2, node.integers_in(0));
  add_rows(sums, node, 3, positions);
  if (node.has(1)) add_rows(sums, node, 4, node.integers_in(1));
  if (node.wants(2)) node.store(2, sums);
  LineNorm norm{static_cast<uint64_t>(node.shape(2)[1]), node.floating("epsilon"), true};
  norm.gamma = node.load<double>(5);
  norm.beta = node.load<double>(6);
  norm.apply(sums);
  node.store(0, std::move(sums));
  if (node.wants(1)) node.store(1, counts_of_mask(node, 7, node.shape(0)));
}

// The place of the channels of an image.
struct ChannelView {
  uint64_t images, channels, plane;
  bool is_last;

  explicit ChannelView(const Eval& node) : is_last(node.integer("channels_last") != 0) {
    const Shape& shape = node.shape(0);
    images = static_cast<uint64_t>(shape[0]);
    channels = static_cast<uint64_t>(is_last ? shape.back() : shape[1]);
    plane = images * channels == 0 ? 0 : node.count(0) / (images * channels);
  }
  uint64_t place(uint64_t image, uint64_t channel, uint64_t at) const {
    return is_last ? (image * plane + at) * channels + channel : (image * channels + channel) * plane + at;
  }
};

void infer_groups(Infer& node, bool has_skip) {
  const int64_t groups = node.integer("groups");
  const int64_t activation = node.integer("activation");
  if (groups < 1) fail(ErrorCode::shape, "`groups` is {}", groups);
  if (activation != 0 && activation != 1) fail(ErrorCode::shape, "`activation` is {}, it must be 0 or 1", activation);
  infer_same_as_first(node);
  if (!node.is_ranked(0)) return;
  if (node.rank(0) < 3)
    fail(ErrorCode::shape, "the input must have a rank of 3 or more, its shape is {}", text(node.dims(0)));
  const Dim channels = node.integer("channels_last") != 0 ? node.dims(0).back() : node.dims(0)[1];
  if (channels.is_number() && *channels.number() % groups != 0) {
    fail(ErrorCode::shape, "{} groups do not divide {} channels", groups, *channels.number());
  }
  check_list(node, 1, channels);
  check_list(node, 2, channels);
  if (has_skip) check_list(node, 4, channels);
  const bool is_image = has_skip && node.is_ranked(3) && node.rank(3) == node.rank(0);
  if (is_image) broadcast(node.dims(0), node.dims(3));
}

// Mean 0 and variance 1 over each group of channels of an image.
void normalize_groups(const Eval& node, const ChannelView& view, std::vector<double>& data) {
  const auto groups = static_cast<uint64_t>(node.integer("groups"));
  const uint64_t width = view.channels / groups;
  const double epsilon = node.floating("epsilon");
  const std::vector<double> gamma = node.load<double>(1);
  const std::vector<double> beta = node.load<double>(2);
  const bool has_silu = node.integer("activation") == 1;
  parallel_for(view.images * groups, 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      const uint64_t first = at % groups * width;
      const auto place = [&](uint64_t i) { return view.place(at / groups, first + i / view.plane, i % view.plane); };
      const Moments moments = moments_of(width * view.plane, [&](uint64_t i) { return data[place(i)]; });
      const double deviation = std::sqrt(moments.variance + epsilon);
      for (uint64_t i = 0; i < width * view.plane; ++i) {
        const uint64_t channel = first + i / view.plane;
        const double y = (data[place(i)] - moments.mean) / deviation * gamma[channel] + beta[channel];
        data[place(i)] = has_silu ? y * sigmoid(y) : y;
      }
    }
  });
}

void eval_group_norm(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  normalize_groups(node, ChannelView(node), data);
  node.store(0, std::move(data));
}

// The skip has the shape of the input, or one number for each channel of an image.
void eval_skip_group_norm(Eval& node) {
  const ChannelView view(node);
  std::vector<double> data = node.load<double>(0);
  const std::vector<double> skip = node.load<double>(3);
  const std::vector<double> bias = load_or_empty(node, 4);
  const bool is_whole = skip.size() == data.size();
  if (!is_whole && skip.size() != view.images * view.channels) {
    fail(ErrorCode::shape, "skip has {} elements, the input {}", skip.size(), data.size());
  }
  for (uint64_t n = 0; n < view.images; ++n) {
    for (uint64_t c = 0; c < view.channels; ++c) {
      for (uint64_t i = 0; i < view.plane; ++i) {
        const uint64_t place = view.place(n, c, i);
        data[place] += skip[is_whole ? place : n * view.channels + c] + (bias.empty() ? 0 : bias[c]);
      }
    }
  }
  if (node.wants(1)) node.store(1, data);
  normalize_groups(node, view, data);
  node.store(0, std::move(data));
}

}  // namespace

OperatorRows operator_microsoft_normalization() {
  static constexpr Operator kRows[] = {
      {.name = "SimplifiedLayerNormalization",
       .traits = {Nature::normalization},
       .infer = infer_simplified,
       .eval = eval_simplified},
      {.domain = kMicrosoft,
       .name = "SkipLayerNormalization",
       .traits = {Nature::normalization},
       .infer = [](Infer& node) { infer_skip(node, false); },
       .eval = [](Eval& node) { eval_skip(node, false); }},
      {.domain = kMicrosoft,
       .name = "SkipSimplifiedLayerNormalization",
       .traits = {Nature::normalization},
       .infer = [](Infer& node) { infer_skip(node, true); },
       .eval = [](Eval& node) { eval_skip(node, true); }},
      {.domain = kMicrosoft,
       .name = "EmbedLayerNormalization",
       .traits = {Nature::normalization, {.indices = {0, 1}}},
       .infer = infer_embedding,
       .eval = eval_embedding},
      {.domain = kMicrosoft,
       .name = "GroupNorm",
       .traits = {Nature::normalization},
       .infer = [](Infer& node) { infer_groups(node, false); },
       .eval = eval_group_norm},
      {.domain = kMicrosoft,
       .name = "SkipGroupNorm",
       .traits = {Nature::normalization},
       .infer = [](Infer& node) { infer_groups(node, true); },
       .eval = eval_skip_group_norm},
  };
  return kRows;
}

}  // namespace assay::ops
