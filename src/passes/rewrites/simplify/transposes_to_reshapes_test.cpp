#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {
namespace {

using testing_support::nodes_after;
using testing_support::rewritten;

std::string model(const std::string& type, const std::string& perm) {
  return "g (" + type + " x) => (y) {y = Transpose" + perm + "(x)}";
}

TEST(TransposesToReshapes, MovesDimsOfSizeOne) {
  const testing_support::Rewritten outcome =
      rewritten("transposes-to-reshapes", model("float[1,5,1,3]", "<perm=[0,2,1,3]>"));
  EXPECT_EQ(outcome.nodes, "y = Reshape (x, constant_0)");
  EXPECT_NE(outcome.text.find("constant_0 = {1, 1, 5, 3}"), std::string::npos) << outcome.text;
}

TEST(TransposesToReshapes, WorksWithOneOpenDim) {
  const testing_support::Rewritten outcome =
      rewritten("transposes-to-reshapes", model("float[N,1,3]", "<perm=[1,0,2]>"));
  EXPECT_NE(outcome.text.find("constant_0 = {1, -1, 3}"), std::string::npos) << outcome.text;
}

TEST(TransposesToReshapes, TurnsDimsAroundByDefault) {
  EXPECT_EQ(nodes_after("transposes-to-reshapes", model("float[1,4]", "")), "y = Reshape (x, constant_0)");
}

TEST(TransposesToReshapes, KeepsWhatMovesElements) {
  for (const auto& [type, perm] : {std::pair{"float[1,5,2,3]", "<perm=[0,2,1,3]>"},
                                   {"float[N,1,M]", "<perm=[1,0,2]>"},
                                   {"float[1,0,3]", "<perm=[1,0,2]>"},
                                   {"float[2,3]", ""}}) {
    EXPECT_EQ(rewritten("transposes-to-reshapes", model(type, perm)).steps, 0u) << type;
  }
}

}  // namespace
}  // namespace assay::passes
