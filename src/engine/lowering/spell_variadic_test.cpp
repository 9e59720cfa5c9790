#include "engine/lowering/spell_variadic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::run_on_engine;
using testing_support::run_on_reference;

// Some of them NaN, which stays.
double some_number(size_t index) {
  return index % 11 == 5 ? std::numeric_limits<double>::quiet_NaN() : std::sin(static_cast<double>(index) + 2);
}

TEST(SpellVariadic, IsComputedByOperatorsOfTwo) {
  for (const char* const op : {"Sum", "Max", "Min", "Mean"}) {
    for (const char* const operands : {"a, b, c", "a, b, c, a", "c, b"}) {
      const std::string text = fmt::format(
          "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3,4] a, float[4] b, float[3,1] c) => (float y) {{ y = "
          "{}({}) }}",
          op, operands);
      const ir::Model model = testing_support::parsed(text);
      const testing_support::EngineRun run = run_on_engine(model, some_number);
      const double most = op[0] == 'S' || op == std::string_view("Mean") ? 1e-6 : 0;
      EXPECT_EQ(difference(run.outputs, run_on_reference(model, some_number), most), "") << text;
      for (const std::string& tactic : run.tactics) EXPECT_EQ(tactic, "elementwise.tape") << text;
    }
  }
}

}  // namespace
}  // namespace assay::engine
