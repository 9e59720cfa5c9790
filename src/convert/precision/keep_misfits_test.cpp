#include "convert/precision/keep_misfits.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::convert {
namespace {

TEST(KeepMisfits, nodes_stay_whose_measured_values_are_too_large_or_all_tiny) {
  const ir::Model model = testing_support::parsed(
      "g (float[4] x) => (float[4] y) { [big] a = Exp(x) [small] b = Neg(a) [unseen] c = Abs(b) "
      "[fits] d = Relu(x) [tiny] y = Sqrt(c) }");
  HalfOptions options;
  keep_misfits(model, {{"a", 40'000.F}, {"x", 1.F}, {"d", 30'000.F}, {"y", 1e-6F}}, 0.5, options);
  std::map<std::string, std::string> kept;
  for (const auto& [node, reason] : options.choice.kept) kept[std::string(model[node].name)] = reason;
  EXPECT_EQ(kept, (std::map<std::string, std::string>{{"big", "its values reach 4e+04"},
                                                      {"small", "its values reach 4e+04"},
                                                      {"tiny", "its values are not above 1e-06"}}));
  EXPECT_EQ(options.measured.size(), 4u);
}

}  // namespace
}  // namespace assay::convert
