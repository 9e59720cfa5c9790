#include <cmath>
#include <optional>

#include "base/parallel.h"
#include "ops/kernels/elements/moments.h"
#include "ops/kernels/movement/tensor_writer.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint64_t kRun = 1024;

// Until version 8 `spatial` 0 means statistics for each element of an image instead of each channel.
bool is_spatial(const Node& node) { return node.integer("spatial", 1) != 0; }

// Until version 13 a node trains if it has more outputs than one, unless an old one says `is_test`.
bool is_training(const Node& node, uint32_t outputs) {
  if (node.version() >= 14) return node.flag("training_mode");
  return outputs > 1 && !node.flag("is_test");
}

Dims channels_of(const Infer& node) {
  const Dims& in = node.dims(0);
  if (in.size() < 2) {
    if (in.size() == 1) return {1};  // a batch of single numbers
    fail(ErrorCode::shape, "the input must have batch and channels, its shape is {}", text(in));
  }
  if (!is_spatial(node)) return {in.begin() + 1, in.end()};
  return {in[1]};
}

void infer_batch_normalization(Infer& node) {
  if (!node.is_ranked(0)) return;
  node.set_dims(0, node.dims(0));
  Dims channels = channels_of(node);
  for (uint32_t i = 1; i < 5; ++i) {
    if (!node.has(i) || !node.is_ranked(i)) continue;
    node.require_rank(i, static_cast<int64_t>(channels.size()));
    for (size_t k = 0; k < channels.size(); ++k) {
      channels[k] = unify(channels[k], node.dims(i)[k], "channels and the lengths of scale, bias, mean and variance");
    }
  }
  if (node.version() >= 14 && node.output_count() > 1 && !is_training(node, node.output_count())) {
    fail(ErrorCode::shape, "{} outputs need training_mode", node.output_count());
  }
  for (uint32_t i = 1; i < node.output_count(); ++i) node.set_dims(i, channels);
}

// The input as [batch, channels, inner].
struct Layout {
  uint64_t batch, channels, inner;

  explicit Layout(const Eval& node) {
    const Shape& shape = node.shape(0);
    batch = static_cast<uint64_t>(shape[0]);
    channels = node.count(1);
    inner = batch * channels == 0 ? 0 : node.count(0) / (batch * channels);
  }
};

std::vector<Moments> batch_moments(const Layout& layout, const std::vector<double>& input) {
  std::vector<Moments> result(layout.channels);
  parallel_for(layout.channels, 1, [&](uint64_t c, uint64_t) {
    result[c] = moments_of(layout.batch * layout.inner, [&](uint64_t i) {
      return input[(i / layout.inner * layout.channels + c) * layout.inner + i % layout.inner];
    });
  });
  return result;
}

// Running values move from the given ones towards those of the batch, which older versions also give as they are.
void store_statistics(Eval& node, const std::vector<Moments>& batch) {
  const double momentum = node.floating("momentum");
  std::vector<double> means = node.load<double>(3);
  std::vector<double> variances = node.load<double>(4);
  std::vector<double> saved_means(batch.size());
  std::vector<double> saved_variances(batch.size());
  for (size_t c = 0; c < batch.size(); ++c) {
    means[c] = means[c] * momentum + batch[c].mean * (1 - momentum);
    variances[c] = variances[c] * momentum + batch[c].variance * (1 - momentum);
    saved_means[c] = batch[c].mean;
    saved_variances[c] = batch[c].variance;
  }
  node.store(1, std::move(means));
  node.store(2, std::move(variances));
  node.store(3, std::move(saved_means));
  node.store(4, std::move(saved_variances));
}

// (x - mean) / deviation * scale + bias, run by run.
void normalize(Eval& node, const Layout& layout, const std::vector<Moments>& moments) {
  const std::vector<double> scale = node.load<double>(1);
  const std::vector<double> bias = node.load<double>(2);
  const double epsilon = node.floating("epsilon");
  const Tensor& input = node.tensor_in(0);
  TensorWriter output(node, 0);
  parallel_for(layout.inner == 0 ? 0 : layout.batch * layout.channels, 4, [&](uint64_t begin, uint64_t end) {
    std::vector<double> run(kRun);
    for (uint64_t line = begin; line < end; ++line) {
      const uint64_t c = line % layout.channels;
      const double deviation = std::sqrt(moments[c].variance + epsilon);
      for (uint64_t at = 0; at < layout.inner; at += kRun) {
        const uint64_t first = line * layout.inner + at;
        const std::span<double> part = std::span(run).first(std::min(kRun, layout.inner - at));
        tensor::load(input.dtype(), input.bytes(), first, part);
        for (double& x : part) x = (x - moments[c].mean) / deviation * scale[c] + bias[c];
        output.write(first, std::span<const double>(part));
      }
    }
  });
  output.finish();
}

void eval_batch_normalization(Eval& node) {
  const Layout layout(node);
  std::vector<Moments> moments(layout.channels);
  if (is_training(node, node.output_count())) {
    moments = batch_moments(layout, node.load<double>(0));
    store_statistics(node, moments);
  } else {
    const std::vector<double> means = node.load<double>(3);
    const std::vector<double> variances = node.load<double>(4);
    for (size_t c = 0; c < moments.size(); ++c) moments[c] = {means[c], variances[c]};
    for (uint32_t i = 1; i < std::min<uint32_t>(node.output_count(), 5); ++i) {
      node.store(i, node.load<double>(i % 2 == 1 ? 3 : 4));
    }
  }
  normalize(node, layout, moments);
}

}  // namespace

OperatorRows operator_normalization_batch_normalization() {
  static constexpr Operator kRows[] = {
      {.name = "BatchNormalization",
       .traits = {Nature::normalization, {.variances = {4}}},
       .infer = infer_batch_normalization,
       .eval = eval_batch_normalization},
  };
  return kRows;
}

}  // namespace assay::ops
