#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

int64_t drawn_size(std::mt19937& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
}

double whole(size_t i) { return static_cast<double>(i * 7 % 120); }

void expect_same(const std::string& text, int64_t opset) {
  const ir::Model model = parsed(fmt::format("<ir_version: 9, opset_import: [\"\" : {}]> ", opset) + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, whole);
  ASSERT_EQ(std::ranges::count(run.tactics, "movement.pad"), 1) << text;
  ASSERT_EQ(difference(run.outputs, testing_support::run_on_reference(model, whole), 0), "") << text;
}

// Of any rank, also of pictures whose channels lie innermost: the reference's elements.
TEST(Pad, ModesAndTypes) {
  constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
  constexpr const char* kTypes[] = {"float", "float16", "int8", "uint8", "int64", "bool", "double"};
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const bool is_picture = round % 3 == 0;
    const std::string mode = kModes[random() % 4];
    const std::string type = is_picture ? kTypes[random() % 4] : kTypes[random() % 7];
    const int64_t rank = is_picture ? 4 : drawn_size(random, 1, 5);
    std::vector<int64_t> dims, pads;
    for (int64_t a = 0; a < rank; ++a) dims.push_back(drawn_size(random, 1, 9));
    for (int64_t a = 0; a < 2 * rank; ++a) {
      const bool pads_axis = random() % 3 == 0;
      const int64_t least = mode == "constant" ? -(dims[static_cast<size_t>(a % rank)] - 1) / 2 : 0;
      pads.push_back(pads_axis ? drawn_size(random, least, 12) : 0);
    }
    pads[static_cast<size_t>(rank - 1)] = 1;  // or the node is left out
    const std::string before = is_picture ? "MaxPool<kernel_shape = [1,1]>(a)" : "Identity(a)";
    const bool is_filled = mode == "constant" && random() % 2 == 0;
    expect_same(fmt::format("g ({0}[{1}] a{2}) => ({0} y) <int64[{3}] p = {{{4}}}> {{ x = {5}  y = Pad<mode = \"{6}\">"
                            "(x, p{7}) }}",
                            type, fmt::join(dims, ","), is_filled ? ", " + type + " v" : "", pads.size(),
                            fmt::join(pads, ","), before, mode, is_filled ? ", v" : ""),
                19);
  }
}

// Pads of some axes, those of an attribute, one channel that becomes several, long rows by several threads.
TEST(Pad, Forms) {
  for (const unsigned threads : {1U, 3U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    expect_same("g (float[2,3,4] x) => (float y) <int64[4] p = {1,2,3,0}, int64[2] a = {-1,0}> { y = Pad(x, p, , a) }",
                18);
    expect_same("g (float[2,3] x) => (float y) { y = Pad<pads = [0,1,2,0], value = 2.5>(x) }", 10);
    expect_same("g (float16[2,3] x) => (float16 y) { y = Pad<mode = \"reflect\", pads = [1,1,0,2]>(x) }", 10);
    expect_same(
        "g (float[1,1,4,4] x) => (float y) <int64[8] p = {0,1,0,0,0,2,0,0}> { m = MaxPool<kernel_shape = [2,2]>(x)  "
        "q = Pad<mode = \"edge\">(m, p)  y = AveragePool<kernel_shape = [1,1]>(q) }",
        18);
    expect_same(
        "g (float[1,40,70,60] x) => (float y) <int64[8] p = {0,0,3,5,0,0,4,2}> { y = Pad<mode = \"reflect\">"
        "(x, p) }",
        18);
  }
}

// The reference counts the memory of its result before it takes any.
TEST(Pad, OfAnEndlessAxisIsTheReferences) {
  const ir::Model model = parsed(
      "<ir_version: 9, opset_import: [\"\" : 19]> g (float[1,5] x) => (float y) "
      "<int64[4] p = {0, 1099511627776, 0, 0}> { y = Pad<mode = \"wrap\">(x, p) }");
  EXPECT_THROW(testing_support::run_on_engine(model, whole), Error);
}

}  // namespace
}  // namespace assay::engine::cpu
