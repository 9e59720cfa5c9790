#include "engine/views.h"

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;

double number(size_t index) { return static_cast<double>(index); }

// Rows with a known index are shown where they lie, in the middle of a model and of its inputs.
TEST(Views, a_row_with_a_known_index_is_a_view) {
  constexpr const char* kModels[] = {
      "(float[3,2,4] x) => (float[3,4] y) <int64 i = {-1}> { a = Neg(x) r = Gather<axis = 1>(a, i) y = Abs(r) }",
      "(float[3,2,4] x) => (float[3,2] y) <int64 i = {2}> { r = Gather<axis = -1>(x, i) y = Neg(r) }",
      "(float[3,2,4] x) => (float[1,1,2,4] y) <int32[1,1] i = {1}> { r = Gather(x, i) y = Neg(r) }",
      "(float[3,2,4] x) => (float[2] y) <int64 i = {1}> { r = Gather(x, i) s = Gather<axis = 1>(r, i) y = Neg(s) }",
  };
  for (const std::string text : kModels) {
    const ir::Model model = parsed(("<ir_version: 8, opset_import: [\"\" : 17]> g " + text).c_str());
    const testing_support::EngineRun run = run_on_engine(model, number);
    EXPECT_EQ(difference(run.outputs, run_on_reference(model, number), 0), "") << text;
    for (const std::string& tactic : run.tactics) EXPECT_EQ(tactic, "elementwise.tape") << text;
  }
}

TEST(Views, an_index_outside_is_an_error) {
  const ir::Model model = parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[3,2] x) => (float[2] y) <int64 i = {3}> { y = Gather(x, i) "
      "}");
  EXPECT_THROW(run_on_engine(model, number), Error);
}

// Whatever the model declares for it.
TEST(Views, a_shape_that_data_decides_is_not_planned) {
  constexpr const char* kModels[] = {
      "(int64[3] s, float[1,3,1] x) => (float[1,3,3] y) { y = Expand(x, s) }",
      "(int64[2] s, float[5,2] x) => (float[4,2] y, float[1,2] z) { y, z = Split(x, s) }",
  };
  const auto from_two = [](size_t index) { return static_cast<double>(index + 2); };
  for (const std::string text : kModels) {
    const ir::Model model = parsed(("<ir_version: 8, opset_import: [\"\" : 17]> g " + text).c_str());
    EXPECT_EQ(difference(run_on_engine(model, from_two).outputs, run_on_reference(model, from_two), 0), "") << text;
  }
}

}  // namespace
}  // namespace assay::engine
