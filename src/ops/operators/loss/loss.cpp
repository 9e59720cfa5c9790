#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

enum class Reduction { none, mean, sum };

Reduction reduction_of(const Node& node) {
  const std::string_view word = node.string("reduction");
  if (word == "none") return Reduction::none;
  if (word == "mean") return Reduction::mean;
  if (word == "sum") return Reduction::sum;
  fail(ErrorCode::shape, "attribute `reduction` must be none, mean or sum, it is `{}`", word);
}

// Dims of the labels: those of the scores without the classes.
Dims sample_dims(const Infer& node) {
  const Dims& scores = node.dims(0);
  if (scores.size() < 2) fail(ErrorCode::shape, "scores must have at least rank 2, their shape is {}", text(scores));
  Dims dims = scores;
  dims.erase(dims.begin() + 1);
  if (!node.is_ranked(1)) return dims;
  const Dims& labels = node.dims(1);
  if (labels.size() != dims.size()) {
    fail(ErrorCode::shape, "labels of shape {} do not fit scores of shape {}", text(labels), text(scores));
  }
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = unify(dims[i], labels[i], "dims of scores and labels");
  return dims;
}

void infer_loss(Infer& node) {
  const Reduction reduction = reduction_of(node);
  node.require_rank(2, 1);
  if (reduction != Reduction::none) node.set_dims(0, {});
  if (!node.is_ranked(0)) return;
  Dims dims = sample_dims(node);
  if (node.is_ranked(2)) unify(node.dims(0)[1], node.dims(2)[0], "classes and weights");
  if (reduction == Reduction::none) node.set_dims(0, std::move(dims));
  node.set_dims(1, node.dims(0));
}

// Scores as [samples, classes, places of a sample].
struct Layout {
  explicit Layout(const Shape& shape)
      : samples(static_cast<uint64_t>(shape[0])), classes(static_cast<uint64_t>(shape[1])) {
    for (size_t i = 2; i < shape.size(); ++i) places *= static_cast<uint64_t>(shape[i]);
  }
  uint64_t score(uint64_t label_place, uint64_t label) const {
    return (label_place / places * classes + label) * places + label_place % places;
  }
  uint64_t samples;
  uint64_t classes;
  uint64_t places = 1;
};

// The weight of one label: 0 if it is to be ignored.
class Weights {
 public:
  explicit Weights(const Eval& node)
      : has_ignored_(node.has_attribute("ignore_index")),
        ignored_(node.integer("ignore_index", 0)),
        classes_(node.shape(0)[1]) {
    if (node.has(2)) weights_ = node.load<double>(2);
  }
  bool ignores(int64_t label) const { return has_ignored_ && label == ignored_; }
  double of(int64_t label) const {
    if (ignores(label)) return 0;
    if (label < 0 || label >= classes_) {
      fail(ErrorCode::shape, "label {} is out of range for {} classes", label, classes_);
    }
    return weights_.empty() ? 1 : weights_[static_cast<size_t>(label)];
  }

 private:
  bool has_ignored_;
  int64_t ignored_;
  int64_t classes_;
  std::vector<double> weights_;
};

// Output 0: the loss by logarithms of probabilities. The mean is that of the weights of all labels.
void store_loss(Eval& node, const std::vector<double>& logs) {
  const Layout layout(node.shape(0));
  const Weights weights(node);
  const std::vector<int64_t> labels = node.integers_in(1);
  std::vector<double> losses(labels.size());
  double sum = 0;
  double weight_sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const double weight = weights.of(labels[i]);
    if (!weights.ignores(labels[i])) losses[i] = -logs[layout.score(i, static_cast<uint64_t>(labels[i]))] * weight;
    sum += losses[i];
    weight_sum += weight;
  }
  switch (reduction_of(node)) {
    case Reduction::none:
      return node.store(0, std::move(losses));
    case Reduction::sum:
      return node.store(0, std::vector<double>{sum});
    case Reduction::mean:
      return node.store(0, std::vector<double>{sum / weight_sum});
  }
}

void eval_negative_log_likelihood(Eval& node) { store_loss(node, node.load<double>(0)); }

void log_softmax(std::vector<double>& data, const Layout& layout, uint64_t place) {
  double top = data[layout.score(place, 0)];
  for (uint64_t c = 1; c < layout.classes; ++c) top = std::max(top, data[layout.score(place, c)]);
  double sum = 0;
  for (uint64_t c = 0; c < layout.classes; ++c) sum += std::exp(data[layout.score(place, c)] - top);
  const double log_sum = std::log(sum);
  for (uint64_t c = 0; c < layout.classes; ++c) {
    double& x = data[layout.score(place, c)];
    x = x - top - log_sum;
  }
}

void eval_softmax_cross_entropy(Eval& node) {
  std::vector<double> logs = node.load<double>(0);
  const Layout layout(node.shape(0));
  const uint64_t labels = logs.empty() ? 0 : layout.samples * layout.places;
  parallel_for(labels, 64, [&](uint64_t begin, uint64_t end) {
    for (uint64_t place = begin; place < end; ++place) log_softmax(logs, layout, place);
  });
  store_loss(node, logs);
  node.store(1, std::move(logs));
}

}  // namespace

OperatorRows operator_loss_loss() {
  static constexpr Traits kReduction = {Nature::reduction, {.indices = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "NegativeLogLikelihoodLoss",
       .traits = kReduction,
       .infer = infer_loss,
       .eval = eval_negative_log_likelihood},
      {.name = "SoftmaxCrossEntropyLoss",
       .traits = kReduction,
       .infer = infer_loss,
       .eval = eval_softmax_cross_entropy},
  };
  return kRows;
}

}  // namespace assay::ops
