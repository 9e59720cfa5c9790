#include "convert/quantize/shadow_layers.h"

#include <gtest/gtest.h>

#include "ir/queries.h"
#include "support/origin_checks.h"
#include "support/parsed_model.h"

namespace assay::convert {
namespace {

using testing_support::parsed;
using testing_support::value_named;

TEST(ShadowLayers, stand_for_the_nodes_that_they_double) {
  ir::Model model =
      parsed("net (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}> { a = MatMul(x, w)  y = Relu(a) }");
  const uint32_t first_made = model.node_slots();
  const ir::NodeId matmul = model[model.main_graph()].first;
  Diagnostics findings;
  const std::vector<ShadowLayer> layers = add_shadow_layers(model, {}, {{"x", {-2, 2}}, {"a", {-2, 2}}}, findings);
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].result, "a");
  EXPECT_EQ(layers[0].shadow, "a_shadow");
  EXPECT_EQ(layers[0].ranges, std::vector<std::string>{"x"});
  const ir::NodeId shadow = ir::producer(model, value_named(model, "a_shadow"));
  EXPECT_EQ(model.origins().of(shadow), std::vector<ir::NodeId>{matmul});
  EXPECT_EQ(testing_support::own_origins(model, first_made), "");
  EXPECT_GT(model.node_slots(), first_made + 2);
  EXPECT_EQ(ir::operand(model, matmul, 0), value_named(model, "x"));
}

}  // namespace
}  // namespace assay::convert
