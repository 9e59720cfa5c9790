#include "engine/lowering/spell_top_k.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::run_on_engine;
using testing_support::run_on_reference;

double few_numbers(size_t i) { return static_cast<double>(i * 7919 % 23); }

void expect_rows(const std::string& type, const std::string& results, const std::string& node) {
  const std::string text =
      fmt::format("<ir_version: 9, opset_import: [\"\" : 18]> g ({}[3,5,4] x) => ({}) <int64[1] k = {{2}}> {{ {} }}",
                  type, results, node);
  const ir::Model model = testing_support::parsed(text);
  const testing_support::EngineRun run = run_on_engine(model, few_numbers);
  EXPECT_EQ(difference(run.outputs, run_on_reference(model, few_numbers), 0), "") << text;
  EXPECT_EQ(std::ranges::count(run.tactics, "top_k.rows"), 1) << text;
}

TEST(SpellTopK, IsComputedAlongTheLastDim) {
  for (const int axis : {0, 1, -2, 2}) {
    expect_rows("float", "float y, int64 i", fmt::format("y, i = TopK<axis = {}, largest = 0>(x, k)", axis));
    expect_rows("int64", "int64 y, int64 i", fmt::format("y, i = TopK<axis = {}>(x, k)", axis));
  }
  expect_rows("float", "int64 i", "y, i = TopK<axis = 1>(x, k)");
}

}  // namespace
}  // namespace assay::engine
