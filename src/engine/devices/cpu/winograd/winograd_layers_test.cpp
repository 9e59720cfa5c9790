#include "engine/devices/cpu/winograd/winograd_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/winograd/term_products.h"
#include "engine/devices/cpu/winograd/transforms.h"
#include "support/engine_run.h"
#include "tensor/derived.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::sine;

struct Window {
  int64_t batch, channels, out_channels, height, width, stride;
  const char* pads;
};

ir::Model drawn_model(const Window& w, const char* follower, const char* special_weight = nullptr,
                      const char* type = "float") {
  std::mt19937 random(1);
  const auto numbers = [&](int64_t count) {
    std::string text = special_weight != nullptr ? special_weight : "0.25";
    for (int64_t i = 1; i < count; ++i) text += fmt::format(",{}", (static_cast<int>(random() % 41) - 20) / 256.0);
    return text;
  };
  return parsed(fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 22]> g ({10}[{0},{1},{2},{3}] x) => (y) <{10}[{4},{1},3,3] w = "
      "{{{5}}}, "
      "{10}[{4}] b = {{{6}}}> {{ s = Conv<kernel_shape = [3, 3], strides = [{7}, {7}], pads = [{8}]>(x, w, b) {9} }}",
      w.batch, w.channels, w.height, w.width, w.out_channels, numbers(w.out_channels * w.channels * 9),
      numbers(w.out_channels), w.stride, w.pads, follower, type));
}

void expect_tactic(const Window& w, const char* follower, const std::string& tactic) {
  const ir::Model model = drawn_model(w, follower);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
  EXPECT_EQ(std::ranges::count(run.tactics, tactic), 1) << w.height << " " << w.width << " " << run.tactics[0];
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 2e-5), "")
      << w.height << " " << w.width << " " << follower;
}

const char* const kFollowers[] = {"y = Identity(s)", "y = Relu(s)", "g = Sigmoid(s) y = Mul(s, g)"};

// Of all divisions and both forms of stride 2: whole tiles, and results that end in the middle of one.
TEST(WinogradLayers, AgreeWithTheReference) {
  for (const char* const follower : kFollowers) {
    expect_tactic({1, 32, 48, 34, 35, 1, "1, 1, 1, 1"}, follower, "conv.winograd");
    expect_tactic({2, 48, 32, 13, 11, 1, "0, 1, 2, 0"}, follower, "conv.winograd");
    expect_tactic({1, 64, 80, 79, 81, 2, "1, 1, 1, 1"}, follower, "conv.winograd");
    expect_tactic({1, 64, 144, 55, 56, 2, "0, 0, 1, 1"}, follower, "conv.winograd");
    expect_tactic({2, 192, 192, 21, 24, 2, "1, 0, 0, 2"}, follower, "conv.winograd");
    expect_tactic({3, 192, 192, 21, 24, 2, "1, 0, 0, 2"}, follower, "conv.winograd");
  }
}

// Results, and the numbers that are added up in between, are rounded to 8 bits. On AMX tiles direct sums are faster.
TEST(WinogradLayers, OfBfloat16AgreeWithTheReference) {
  if (winograd_half_loops() == nullptr) GTEST_SKIP() << "no products of bfloat16 on this processor";
  const Window windows[] = {{1, 32, 48, 34, 35, 1, "1, 1, 1, 1"},
                            {2, 48, 32, 33, 31, 1, "0, 1, 2, 0"},
                            {1, 128, 144, 55, 56, 2, "0, 0, 1, 1"}};
  for (const Window& window : windows) {
    for (const char* const follower : kFollowers) {
      const ir::Model model = drawn_model(window, follower, nullptr, "bfloat16");
      const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
      EXPECT_EQ(std::ranges::count(run.tactics, "conv.winograd"), has_amx_bf16() ? 0 : 1) << window.channels;
      const std::vector<double> expected = testing_support::run_on_reference(model, sine)[0];
      double squares = 0, errors = 0, worst = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        const double error = run.outputs[0][i] - expected[i];
        squares += expected[i] * expected[i];
        errors += error * error;
        worst = std::max(worst, std::fabs(error) - 0x1p-7 * std::fabs(expected[i]));  // a step
      }
      const double mean = std::sqrt(squares / static_cast<double>(expected.size()));
      EXPECT_LT(std::sqrt(errors / static_cast<double>(expected.size())), 0x1p-7 * mean) << follower;
      EXPECT_LT(worst, 0x1p-5 * mean) << follower;
      EXPECT_EQ(std::ranges::count(testing_support::run_on_engine(model, sine, true).tactics, "conv.winograd"), 0);
    }
  }
}

TEST(WinogradLayers, WhatDoesNotPayIsComputedDirectly) {
  expect_tactic({1, 32, 32, 6, 6, 1, "1, 1, 1, 1"}, "y = Relu(s)", "conv.windows");
  expect_tactic({1, 48, 48, 12, 12, 2, "1, 1, 1, 1"}, "y = Relu(s)", "conv.windows");
  expect_tactic({1, 16, 64, 40, 40, 1, "1, 1, 1, 1"}, "y = Relu(s)", "conv.windows");
  expect_tactic({1, 40, 64, 40, 40, 1, "1, 1, 1, 1"}, "y = Relu(s)", "conv.windows");
}

TEST(WinogradLayers, StrictLayersAndThoseWithInexactWeightsAreComputedDirectly) {
  const Window window = {1, 32, 32, 40, 40, 1, "1, 1, 1, 1"};
  const auto tactics = [&](const char* special_weight, bool is_strict) {
    return testing_support::run_on_engine(drawn_model(window, "y = Relu(s)", special_weight), sine, is_strict).tactics;
  };
  EXPECT_EQ(std::ranges::count(tactics(nullptr, false), "conv.winograd"), 1);
  EXPECT_EQ(std::ranges::count(tactics(nullptr, true), "conv.winograd"), 0);
  EXPECT_EQ(std::ranges::count(tactics("inf", false), "conv.winograd"), 0);
}

// Their errors have no long tails in small tiles.
TEST(WinogradLayers, WeightsThatAFewRuleAreComputedInSmallTiles) {
  const auto takes = [](const char* special_weight, const char* variant) {
    const ir::Model model = drawn_model({1, 64, 64, 40, 40, 1, "1, 1, 1, 1"}, "y = Relu(s)", special_weight);
    const engine::ProgramOptions options{.tactics = {.replayed = {{"y", fmt::format("conv.winograd:{}", variant)}}}};
    try {
      return !testing_support::run_on_engine(model, sine, options).tactics.empty();
    } catch (const Error&) {  // the tactic cannot compute the layer
      return false;
    }
  };
  EXPECT_TRUE(takes(nullptr, "lanes/4"));
  EXPECT_FALSE(takes("3", "lanes/4"));
  EXPECT_TRUE(takes("3", "lanes/2"));
}

// As in a plan: they were judged when it was built.
TEST(WinogradLayers, WeightsThatArePackedAreNotJudgedAgain) {
  const ir::Model model = drawn_model({1, 32, 32, 40, 40, 1, "1, 1, 1, 1"}, "y = Relu(s)", "inf");
  const tensor::Tensor& weights = model[model[model[model.main_graph()].initializers[0]].constant].tensor;
  const auto packed = std::make_shared<KeptWeights>();
  for (const WinogradForm& form : winograd_forms()) {
    const uint64_t size = form.terms() * 32 * 32 * sizeof(float);
    const std::shared_ptr<std::byte[]> bytes(new std::byte[size]());
    packed->preset(tensor::identity_of(*weights.storage()), TermProducts::packed_form(form, tile_kernels()),
                   {bytes, bytes.get()}, size);
  }
  EXPECT_EQ(std::ranges::count(testing_support::run_on_engine(model, sine, false, packed).tactics, "conv.winograd"), 1);
}

// What it does not reach in tiles of 4 x 4 has the same bits as without it.
TEST(WinogradLayers, AnInfinityStaysInItsTiles) {
  for (const int64_t stride : {1, 2}) {
    const Window window = {1, 32, 32, 40, 40, stride, "1, 1, 1, 1"};
    const ir::Model model = drawn_model(window, "y = Identity(s)");
    const auto special = [](size_t i) { return i == 41 * 21 ? std::numeric_limits<double>::infinity() : sine(i); };
    const std::vector<double> plain = testing_support::run_on_engine(model, sine).outputs[0];
    const std::vector<double> found = testing_support::run_on_engine(model, special).outputs[0];
    const std::vector<double> expected = testing_support::run_on_reference(model, special)[0];
    const auto side = static_cast<size_t>(40 / stride);
    const size_t first = (static_cast<size_t>(21 / stride) - 1) / 4 * 4;  // of the results in question
    for (size_t i = 0; i < found.size(); ++i) {
      const size_t y = i / side % side;
      const size_t x = i % side;
      const bool is_near = y >= first && y < first + 8 && x >= first && x < first + 8;
      const bool is_right = is_near ? std::isfinite(expected[i]) || !std::isfinite(found[i]) : found[i] == plain[i];
      ASSERT_TRUE(is_right) << y << " " << x;
    }
  }
}

TEST(WinogradLayers, BitsDoNotDependOnThreads) {
  for (const int64_t size : {28, 70}) {
    for (const int64_t stride : {1, 2}) {
      const ir::Model model =
          drawn_model({1, 64, 144, size * stride, size * stride, stride, "1, 1, 1, 1"}, "y = Sigmoid(s)");
      std::vector<std::vector<double>> first;
      for (const unsigned threads : {1U, 2U, 3U, 4U}) {
        const ThreadPool pool(threads);
        const PoolScope scope(pool);
        const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
        EXPECT_EQ(std::ranges::count(run.tactics, "conv.winograd"), 1) << size << " " << stride;
        if (first.empty()) first = run.outputs;
        EXPECT_EQ(run.outputs, first) << threads;
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
