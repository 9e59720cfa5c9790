#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/fourier/fourier_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

void expect_alike(const std::string& inputs, const std::string& constants, const std::string& node, int version = 17) {
  const std::string text =
      fmt::format("<ir_version: 9, opset_import: [\"\" : {}]> g ({}) => (float y) <{}> {{ y = {} }}", version, inputs,
                  constants, node);
  const ir::Model model = testing_support::parsed(text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  ASSERT_EQ(run.tactics, std::vector<std::string>{"fourier.lines"}) << text;
  const auto expected = testing_support::run_on_reference(model, testing_support::sine);
  EXPECT_EQ(testing_support::difference(run.outputs, expected, 2e-7), "") << text;
}

TEST(FourierLines, LengthsAndParts) {
  const ThreadPool pool(2);
  const PoolScope scope(pool);
  for (const int length : {1, 2, 3, 4, 8, 12, 17, 30, 49, 64, 100}) {
    for (const int parts : {1, 2}) {
      for (const int inverse : {0, 1}) {
        const std::string node = fmt::format("DFT<axis = 1, inverse = {}>(x)", inverse);
        expect_alike(fmt::format("float[11,{},{}] x", length, parts), "", node);
      }
    }
    const std::string node = "DFT<axis = 1, onesided = 1>(x)";
    expect_alike(fmt::format("float[3,{},1] x", length), "", node);
  }
}

TEST(FourierLines, AxesAndGivenLengths) {
  for (const int axis : {0, 1, 2, -2}) {
    for (const int length : {3, 6, 9}) {
      const std::string constants = fmt::format("int64 n = {{{}}}, int64 axis = {{{}}}", length, axis);
      expect_alike("float[4,5,6,2] x", constants, "DFT(x, n, axis)", 20);
      expect_alike("float[4,5,6,2] x", constants, "DFT<inverse = 1, onesided = 1>(x, n, axis)", 20);
      expect_alike("float[4,5,6,1] x", constants, "DFT<onesided = 1>(x, n, axis)", 20);
    }
  }
}

TEST(FourierLines, Frames) {
  const ThreadPool pool(3);
  const PoolScope scope(pool);
  const std::string constants = "int64 step = {7}, int64 length = {20}";
  for (const int onesided : {0, 1}) {
    const std::string begin = fmt::format("STFT<onesided = {}>(x, step, ", onesided);
    expect_alike("float[2,200,1] x, float[20] w", constants, begin + "w, length)");
    expect_alike("float[2,200,1] x", constants, begin + ", length)");
    expect_alike("float[2,200] x, float[20] w", constants, begin + "w)");
  }
  expect_alike("float[2,90,2] x, float[20] w", constants, "STFT<onesided = 0>(x, step, w)");
}

// One step that splits whole transforms of 6 numbers by 3, and by itself.
TEST(FourierKernels, EverySet) {
  std::vector<std::complex<double>> roots;
  for (int k = 0; k < 6; ++k) roots.push_back(std::polar(1.0, -std::numbers::pi * k / 3));
  for (const FourierKernels* const set : all_fourier_kernels()) {
    const auto lines = static_cast<size_t>(set->lines);
    std::vector<double> x(6 * 2 * lines), y(x.size()), whole(x.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = testing_support::sine(i);
    set->step({6, 6, 1}, roots, x.data(), whole.data());
    set->step({2, 6, 1}, roots, x.data(), y.data());
    set->step({3, 3, 2}, roots, std::vector(y).data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], whole[i], 1e-12) << set->name << i;
    for (size_t line = 0; line < lines; ++line) {
      double sum = 0;
      for (size_t k = 0; k < 6; ++k) sum += x[k * 2 * lines + line];
      EXPECT_NEAR(whole[line], sum, 1e-12) << set->name;
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
