#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

struct Picture {
  int64_t batch, channels, height, width;
};

int64_t drawn(std::mt19937& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
}

uint64_t scattered(unsigned seed, size_t i) {
  return ((i + 1) * 0x9E3779B97F4A7C15U + seed * 0xBF58476D1CE4E5B9U) >> 40;
}

// Numbers of which many are equal, some none, and zeros of both signs.
std::function<double(size_t)> special(unsigned seed) {
  return [seed](size_t i) {
    const uint64_t number = scattered(seed, i);
    const uint64_t kind = number % 40;
    if (kind == 0) return std::numeric_limits<double>::quiet_NaN();
    if (kind == 1) return -std::numeric_limits<double>::infinity();
    return kind < 10 ? -0.0 : kind < 20 ? 0.0 : static_cast<double>(number / 40 % 9) - 7;
  };
}

std::function<double(size_t)> codes(unsigned seed) {
  return [seed](size_t i) { return static_cast<double>(scattered(seed, i) % 100); };
}

std::string drawn_pool(std::mt19937& random, const Picture& picture, int order = 0) {
  const int64_t high = drawn(random, 1, 6);
  const int64_t wide = drawn(random, 1, 6);
  const int64_t apart = drawn(random, 1, 2);
  const auto pad = [&](int64_t kernel) { return drawn(random, 0, kernel - 1); };
  const int64_t top = std::max(pad(high), (high - 1) * apart + 1 - picture.height);
  const int64_t left = std::max(pad(wide), (wide - 1) * apart + 1 - picture.width);
  return fmt::format(
      "MaxPool<kernel_shape = [{},{}], strides = [{},{}], dilations = [{},{}], pads = [{},{},{},{}], "
      "ceil_mode = {}, storage_order = {}>(x)",
      high, wide, drawn(random, 1, 3), drawn(random, 1, 3), apart, apart, top, left, pad(high), pad(wide), random() % 2,
      order);
}

// Also which zero of several it is.
void expect_alike(const ir::Model& model, const std::function<double(size_t)>& number, const std::string& what,
                  const char* tactic = "pool.channels_last") {
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  ASSERT_NE(std::ranges::find(run.tactics, tactic), run.tactics.end()) << what;
  const std::vector<std::vector<double>> expected = testing_support::run_on_reference(model, number);
  ASSERT_EQ(difference(run.outputs, expected, 0), "") << what;
  for (size_t i = 0; i < expected[0].size(); ++i) {
    const bool is_zero = expected[0][i] == 0;
    ASSERT_TRUE(!is_zero || std::signbit(run.outputs[0][i]) == std::signbit(expected[0][i])) << what << " " << i;
  }
}

TEST(MaximumPool, AnyGeometry) {
  std::mt19937 random(11);
  for (int round = 0; round < 80; ++round) {
    const Picture picture{drawn(random, 1, 2), drawn(random, 1, 80), drawn(random, 1, 13), drawn(random, 1, 13)};
    const std::string pool = drawn_pool(random, picture);
    for (const char* const type : {"float", "bfloat16", "float16", "int8", "uint8"}) {
      const std::string text = fmt::format("g ({}[{},{},{},{}] x) => ({} y) {{ y = {} }}", type, picture.batch,
                                           picture.channels, picture.height, picture.width, type, pool);
      const bool is_code = std::string_view(type).ends_with("int8");
      expect_alike(parsed("<ir_version: 10, opset_import: [\"\" : 22]> " + text),
                   is_code ? codes(static_cast<unsigned>(round)) : special(static_cast<unsigned>(round)), text);
    }
  }
}

TEST(Pool, PicturesOfOneRow) {
  for (const char* const pool :
       {"MaxPool<kernel_shape = [3], strides = [2]>", "MaxPool<kernel_shape = [4], pads = [1,2], dilations = [2]>",
        "MaxPool<kernel_shape = [3], auto_pad = \"SAME_UPPER\", strides = [2]>",
        "MaxPool<kernel_shape = [2], strides = [2], ceil_mode = 1>", "GlobalMaxPool",
        "AveragePool<kernel_shape = [3], pads = [1,1]>",
        "AveragePool<kernel_shape = [4], pads = [2,1], strides = [3], count_include_pad = 1>"}) {
    const ir::Model model = parsed(fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 22]> g (float[2,19,23] x) => (float y) {{ y = {}(x) }}", pool));
    const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
    EXPECT_EQ(std::ranges::count(run.tactics, "pool.channels_last"), 1) << pool;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, testing_support::sine), 1e-6), "")
        << pool;
  }
}

// Of many channels, some are computed at a time, by several threads.
TEST(MaximumPool, ManyChannels) {
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    for (const char* const type : {"float", "bfloat16", "uint8"}) {
      for (const char* const op : {"MaxPool<kernel_shape = [5,5], pads = [2,2,2,2]>", "GlobalMaxPool"}) {
        if (std::string_view(op) == "GlobalMaxPool" && std::string_view(type) == "uint8") continue;
        const std::string text = fmt::format("g ({}[1,1030,5,11] x) => ({} y) {{ y = {}(x) }}", type, type, op);
        expect_alike(parsed("<ir_version: 10, opset_import: [\"\" : 22]> " + text), codes(threads), text);
      }
    }
  }
}

// As planes, and with the channels innermost where the layer before leaves them so.
TEST(MaximumPlaces, AnyGeometry) {
  std::mt19937 random(12);
  for (int round = 0; round < 120; ++round) {
    const Picture picture{drawn(random, 1, 2), drawn(random, 1, round % 8 == 0 ? 600 : 20), drawn(random, 1, 13),
                          drawn(random, 1, 40)};
    const std::string pool = drawn_pool(random, picture, round % 2);
    const std::string before = round % 4 < 2 ? "x = Identity(a)" : "x = MaxPool<kernel_shape = [1,1]>(a)";
    for (const char* const type : {"float", "float16", "int8", "uint8"}) {
      const std::string text =
          fmt::format("g ({}[{},{},{},{}] a) => ({} y, int64 i) {{ {}  y, i = {} }}", type, picture.batch,
                      picture.channels, picture.height, picture.width, type, before, pool);
      const bool is_code = std::string_view(type).ends_with("int8");
      expect_alike(parsed("<ir_version: 10, opset_import: [\"\" : 22]> " + text),
                   is_code ? codes(static_cast<unsigned>(round)) : special(static_cast<unsigned>(round)), text,
                   "pool.places");
    }
  }
}

// Windows that see only padding, large pictures in blocks of lines, one row, long steps; by several threads.
TEST(MaximumPlaces, UnusualPools) {
  for (const unsigned threads : {1U, 3U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    for (const char* const text :
         {"g (float[1,2,3,4] x) => (float y, int64 i) { y, i = MaxPool<kernel_shape = [2,3], pads = [5,4,6,7]>(x) }",
          "g (int8[1,2,3,4] x) => (int8 y, int64 i) { y, i = MaxPool<kernel_shape = [2,3], pads = [5,4,6,7]>(x) }",
          "g (float[1,3,300,211] x) => (float y, int64 i) { y, i = MaxPool<kernel_shape = [3,3], strides = [2,2]>(x) }",
          "g (float[2,5,70] x) => (float y, int64 i) { y, i = MaxPool<kernel_shape = [5], strides = [3]>(x) }",
          "g (float[1,4,90,80] x) => (float y, int64 i) { y, i = MaxPool<kernel_shape = [2,40], strides = [31,7], "
          "dilations = [33,1], storage_order = 1>(x) }"}) {
      expect_alike(parsed(std::string("<ir_version: 10, opset_import: [\"\" : 22]> ") + text), special(threads), text,
                   "pool.places");
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
