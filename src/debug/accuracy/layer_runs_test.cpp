#include "debug/accuracy/layer_runs.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ir/walk.h"
#include "support/parsed_model.h"

namespace assay::debug {
namespace {

// A chain of nodes on one input, of which nothing is shown.
class Chain {
 public:
  explicit Chain(const std::string& text)
      : model_(testing_support::parsed(text)),
        oracle_(model_),
        rounding_(model_, 0, 0),
        runner_(model_, rounding_, oracle_, [this](ir::ValueId value) { return value_of(value); }) {
    std::vector<float> numbers(24 * 64);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(3 * i * i % 1009));
    const ir::ValueId input = model_[model_.main_graph()].inputs[0];
    values_[input] = Datum(tensor::make_tensor(tensor::DType::float32, {24, 64}, std::span<const float>(numbers)));
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) add(node);
  }

  const LayerRuns& layer(size_t index) const { return *layers_[index]; }
  void go_on() { runner_.go_on(*layers_.back()); }
  compare::Allowance allowance() const { return rounding_.allowance_of(layers_.back()->results[0]); }

 private:
  Datum value_of(ir::ValueId value) const {
    const auto known = values_.find(value);
    return known != values_.end() ? known->second : Datum(model_[model_[value].constant].tensor);
  }

  void add(ir::NodeId node) {
    auto layer = std::make_shared<LayerRuns>(LayerRuns{.node = node});
    layer->exact = oracle_.exact(node, [this](ir::ValueId value) { return value_of(value); });
    for (const ir::Use& use : model_[node].operands) {
      const bool is_made = use.value && model_[use.value].producer && !layers_.empty();
      layer->operands.push_back({use.value, value_of(use.value), is_made ? layers_.back() : nullptr});
    }
    values_[model_[node].results[0]] = layer->exact[0];
    runner_.begin(*layer);
    layers_.push_back(std::move(layer));
  }

  ir::Model model_;
  LayerOracle oracle_;
  LayerRounding rounding_;
  LayerRunner runner_;
  std::map<ir::ValueId, Datum> values_;
  std::vector<std::shared_ptr<LayerRuns>> layers_;
};

double mean(const compare::Allowance& allowance) {
  double sum = 0;
  for (const float allowed : allowance.of_elements) sum += static_cast<double>(allowed);
  return sum / static_cast<double>(allowance.of_elements.size());
}

// What is let pass after one run would pass after all.
TEST(LayerRuns, EarlyOnesAllowLess) {
  for (const char* const nodes :
       {"m = MatMul(x, x_t) r = Relu(m) y = Mul(r, r)", "m = Tanh(x) r = Add(m, m) y = Softmax(r)",
        "m = Exp(x) r = ReduceMean(m) y = Sqrt(r)"}) {
    SCOPED_TRACE(nodes);
    std::string body = nodes;
    const size_t product = body.find("x_t");
    if (product != std::string::npos) body = "x_t = Transpose(x) " + body;
    Chain chain("g (float[24,64] x) => (y) {" + body + "}");
    EXPECT_EQ(chain.layer(1).runs, 1U);
    const compare::Allowance once = chain.allowance();
    chain.go_on();
    EXPECT_EQ(chain.layer(1).runs, 2U);
    const compare::Allowance twice = chain.allowance();
    chain.go_on();
    EXPECT_TRUE(chain.layer(1).is_complete());
    const compare::Allowance all = chain.allowance();
    EXPECT_LT(mean(once), mean(all));
    EXPECT_LT(mean(twice), mean(all));
    EXPECT_GT(mean(twice), 0.4 * mean(all));
    EXPECT_LE(twice.rms, 1.1 * all.rms);
  }
}

}  // namespace
}  // namespace assay::debug
