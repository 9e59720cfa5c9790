#include "match/uses.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::match {
namespace {

using testing_support::parsed;

// Whether `Relu` is the only user of the first node's result.
bool is_only_relu(std::string_view nodes) {
  const ir::Model model = parsed("g (float[4] x, bool c) => (float[4] y) {\n" + std::string(nodes) + "\n}");
  const ir::NodeId first = model[model.main_graph()].first;
  ir::NodeId relu;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (model.text(model[node].op) == "Relu") relu = node;
  }
  return is_only_for(model, ir::result(model, first), relu);
}

TEST(Uses, a_value_is_only_for_a_node_that_reads_it_once_and_alone) {
  EXPECT_TRUE(is_only_relu("a = Neg(x) y = Relu(a)"));
  EXPECT_FALSE(is_only_relu("a = Neg(x) b = Relu(a) y = Add(a, b)"));
  EXPECT_FALSE(is_only_relu("y = Neg(x) b = Relu(y)"));
  EXPECT_FALSE(is_only_relu("a = Neg(x) b = Relu(x) y = Abs(a)"));
}

TEST(Uses, the_first_result_is_enough_unless_another_is_used) {
  const auto is_enough = [](std::string_view outputs, std::string_view nodes) {
    const ir::Model model = parsed("g (float[4] x) => (" + std::string(outputs) + ") {\n" + std::string(nodes) + "\n}");
    return is_first_result_enough(model, model[model.main_graph()].first);
  };
  EXPECT_TRUE(is_enough("float[4] y", "y, m = Dropout(x)"));
  EXPECT_FALSE(is_enough("float[4] y, bool[4] m", "y, m = Dropout(x)"));
}

}  // namespace
}  // namespace assay::match
