#include "engine/lowering/attention_sums.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

double part(size_t i) { return static_cast<double>(i % 11) / 8 - 0.6; }

std::string numbers(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",", (static_cast<double>(i % 9) - 4) / 4);
  return text;
}

// The steps that an attention of four windows and two heads takes, of which scores are between products.
size_t steps_of(const std::string& scores, bool is_attention, const std::string& outputs = "float y") {
  const ir::Model model = testing_support::parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4,2,3,5] q, float[4,2,5,3] k, float[4,2,3,5] v) => ({}) "
      "<float[1,2,3,3] bias = {{{}}}, float[1,4,1,3,3] mask = {{{}}}, float[2,1,1] factors = {{2, 0.5}}, float[2,3,1] "
      "rows = {{1,2,3,4,5,6}}, int64[5] wide = {{1,4,2,3,3}}, int64[4] narrow = {{4,2,3,3}}> {{ p = MatMul(q, k) {} w "
      "= Softmax(s) y = MatMul(w, v) }}",
      outputs, numbers(18), numbers(36), scores));
  ir::Model changed = model.copy();
  ir::Rewriter rewriter(changed);
  join_attention_sums(changed, rewriter);
  const auto expected = testing_support::run_on_reference(model, part);
  EXPECT_EQ(testing_support::difference(testing_support::run_on_reference(changed, part), expected, 1e-6), "")
      << scores;
  const testing_support::EngineRun run = testing_support::run_on_engine(model, part);
  EXPECT_EQ(testing_support::difference(run.outputs, expected, 1e-6), "") << scores;
  EXPECT_EQ(std::ranges::count(run.tactics, "attention.blocks"), is_attention ? 1 : 0) << scores;
  return rewriter.steps().size();
}

constexpr const char* kShifted = "a = Add(p, bias) r = Reshape(a, wide) b = Add(mask, r) s = Reshape(b, narrow)";
constexpr const char* kScaled = "m = Mul(p, factors) ";

TEST(AttentionSums, OfWindowsAreOne) { EXPECT_EQ(steps_of(kShifted, true), 1u); }

TEST(AttentionSums, HeadsHaveScaledQueries) {
  EXPECT_EQ(steps_of("s = Mul(factors, p)", true), 1u);
  EXPECT_EQ(steps_of(std::string(kScaled) + "s = Add(m, bias)", true), 1u);
  EXPECT_EQ(
      steps_of(std::string(kScaled) + "a = Add(m, bias) r = Reshape(a, wide) b = Add(r, mask) s = Reshape(b, narrow)",
               true),
      2u);
}

TEST(AttentionSums, LeaveOthersAlone) {
  EXPECT_EQ(steps_of("s = Mul(p, rows)", false), 0u);
  EXPECT_EQ(steps_of("s = Add(p, bias)", true), 0u);
  EXPECT_EQ(steps_of(kShifted, false, "float y, float r"), 0u);
}

}  // namespace
}  // namespace assay::engine
