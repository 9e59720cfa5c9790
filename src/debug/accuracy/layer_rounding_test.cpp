#include "debug/accuracy/layer_rounding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/numpy_random.h"
#include "ir/walk.h"
#include "support/parsed_model.h"

namespace assay::debug {
namespace {

// The one node of a model on drawn inputs.
class OneLayer {
 public:
  explicit OneLayer(const char* text, double magnitude = 1)
      : model_(testing_support::parsed(text)), oracle_(model_), rounding_(model_, 0, 0) {
    for (const ir::ValueId input : model_[model_.main_graph()].inputs) {
      tensor::Shape shape;
      for (const ir::DimId dim : model_[model_[input].type].dims) shape.push_back(*model_.dims().as_constant(dim));
      std::vector<float> numbers(tensor::element_count(shape).value());
      for (float& number : numbers) number = static_cast<float>(magnitude * next());
      data_[input] = Datum(tensor::make_tensor(tensor::DType::float32, shape, std::span<const float>(numbers)));
    }
    node_ = *ir::nodes(model_, model_.main_graph()).begin();
    exact_ = oracle_.exact(node_, operands());
  }

  OperandSource operands() {
    return [this](ir::ValueId value) { return data_[value]; };
  }
  compare::Allowance of_runs() {
    const auto samples = [this](ir::ValueId value) { return analysis::Samples{.nominal = data_[value]}; };
    return rounding_.allowance_of(rounding_.run(node_, samples, {})[0]);
  }
  std::optional<compare::Allowance> of_products() {
    return rounding_.of_products(node_, operands(), exact_[0], oracle_);
  }
  compare::Allowance of_drawn_runs() {
    const std::vector<float> deviations = rounding_.deviations_of_products(node_, operands(), exact_[0], oracle_);
    return rounding_.allowance_of(LayerRounding::drawn(node_, exact_[0], deviations, analysis::kMovedRuns));
  }
  std::vector<float> deviations() { return rounding_.deviations_of_products(node_, operands(), exact_[0], oracle_); }
  // Of each element as given by the rough allowance.
  Distances off_by(double share) {
    std::vector<double> numbers = numbers_of(exact_[0]);
    for (double& number : numbers) number += share * number;
    return measure_distances(with_numbers(exact_[0], numbers), exact_[0], {},
                             rounding_.roughly(node_, operands(), exact_));
  }
  std::vector<double> results() const { return numbers_of(exact_[0]); }
  RoughAllowance rough() { return rounding_.roughly(node_, operands(), exact_); }

 private:
  // Sums of even draws, around 0.
  double next() {
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
      sum += static_cast<double>(state_ >> 11) * 0x1p-53 - 0.5;
    }
    return sum;
  }

  uint64_t state_ = 7;
  ir::Model model_;
  LayerOracle oracle_;
  LayerRounding rounding_;
  std::map<ir::ValueId, Datum> data_;
  ir::NodeId node_;
  std::vector<Datum> exact_;
};

const char* const kProduct = "g (float[24,300] x, float[300,40] w) => (float[24,40] y) {y = MatMul(x, w)}";
const char* const kConv = "g (float[1,16,12,12] x, float[8,16,3,3] w) => (float[1,8,10,10] y) {y = Conv(x, w)}";

// A layer that is let pass at a glance would pass if it were looked at closely.
TEST(LayerRounding, RoughAllowancesAreLeastOnes) {
  for (const char* const text :
       {kProduct, kConv, "g (float[8,64] x, float[8,64] w) => (float[8,64] y) {y = Add(x, w)}",
        "g (float[8,64] x) => (float[8,64] y) {y = Tanh(x)}", "g (float[8,64] x) => (float[8,64] y) {y = Neg(x)}"}) {
    OneLayer layer(text);
    const std::vector<double> results = layer.results();
    double squares = 0;
    for (const double result : results) squares += result * result;
    const double rms = std::sqrt(squares / static_cast<double>(results.size()));
    const compare::Allowance close = layer.of_runs();
    const RoughAllowance rough = layer.rough();
    double most = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const double limit = rough.own * std::abs(results[i]);
      most = std::max(most, limit / static_cast<double>(close.of_elements[i]));
    }
    EXPECT_LE(most, 1) << text;
    EXPECT_LE(rough.rms * rms, close.rms) << text;
  }
}

TEST(LayerRounding, ProductsGoAsFarAsTheirSquaresSay) {
  for (const char* const text : {kProduct, kConv}) {
    OneLayer layer(text);
    const compare::Allowance computed = layer.of_products().value();
    const compare::Allowance seen = layer.of_runs();
    EXPECT_NEAR(computed.rms / seen.rms, 1, 0.15) << text;
    EXPECT_NEAR(layer.of_drawn_runs().rms / seen.rms, 1, 0.15) << text;
    double ratio = 0;
    for (size_t i = 0; i < seen.of_elements.size(); ++i) {
      ratio += static_cast<double>(computed.of_elements[i] / seen.of_elements[i]) /
               static_cast<double>(seen.of_elements.size());
    }
    EXPECT_NEAR(ratio, 1, 0.1) << text;
  }
  EXPECT_FALSE(OneLayer("g (float[4] x) => (float[4] y) {y = Exp(x)}").of_products());
}

// Their squares have to fit into floats.
TEST(LayerRounding, ProductsGoAsFarAtAnyMagnitude) {
  const char* const text =
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[6,40] x, float[40,9] w) => (float[6,9] y) {y = MatMul(x, w)})";
  const std::vector<float> expected = OneLayer(text).deviations();
  for (const double magnitude : {1e-15, 1e12}) {
    const std::vector<float> deviations = OneLayer(text, magnitude).deviations();
    ASSERT_EQ(deviations.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(deviations[i]) / (magnitude * magnitude * static_cast<double>(expected[i])), 1,
                  1e-4);
    }
  }
}

TEST(LayerRounding, DistancesAreMeasuredInPartsOfTheAllowance) {
  OneLayer layer(kConv);
  EXPECT_EQ(layer.off_by(0).excess, 0);
  EXPECT_LE(layer.off_by(1e-7).excess, 0.5);
  EXPECT_GT(layer.off_by(1e-4).excess, 1);
  EXPECT_GT(layer.off_by(1e-4).introduced, 0);
}

}  // namespace
}  // namespace assay::debug
