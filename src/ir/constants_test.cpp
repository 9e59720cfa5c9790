#include "ir/constants.h"

#include <gtest/gtest.h>

#include "ir/walk.h"
#include "support/parsed_model.h"

namespace assay::ir {
namespace {

using testing_support::parsed;

tensor::Tensor one() {
  const float number = 1;
  return tensor::make_tensor<float>(tensor::DType::float32, {}, {&number, 1});
}

TEST(Constants, are_initializers_where_a_graph_can_have_them) {
  Model model = parsed(
      "<ir_version: 8, opset_import: [\"\" : 17, \"d\" : 1]> g (float[4] x) => (float[4] y) { y = d.f(x) }\n"
      "<domain: \"d\", opset_import: [\"\" : 17]> f (a) => (b) { b = Neg(a) }");
  Edit edit(model);
  const ValueId outer = add_constant(edit, {model.main_graph(), edit.intern("c"), one()});
  EXPECT_EQ(model[outer].kind, ValueKind::initializer);
  const GraphId body = model.functions()[0].body;
  const ValueId inner = add_constant(edit, {body, edit.intern("d"), one(), model[body].first});
  ASSERT_EQ(model[inner].kind, ValueKind::result);
  EXPECT_EQ(model.text(model[model[inner].producer].op), "Constant");
  EXPECT_EQ(model[body].first, model[inner].producer);
}

TEST(Constants, are_dropped_when_nothing_uses_them) {
  Model model = parsed(
      "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { c = Constant<value_float = 1.0>() "
      "n = Neg(x) y = Add(x, w) }");
  Edit edit(model);
  const std::vector<ValueId> initializers = model[model.main_graph()].initializers;
  const NodeId constant = model[model.main_graph()].first;
  const NodeId other = model[constant].next;
  drop_unused(edit, initializers[0]);
  drop_unused(edit, model[constant].results[0]);
  drop_unused(edit, model[other].results[0]);
  EXPECT_TRUE(model[initializers[0]].alive);
  EXPECT_FALSE(model[constant].alive);
  EXPECT_TRUE(model[other].alive);
}

TEST(Walk, live_nodes_and_values_are_those_of_all_graphs_and_none_that_died) {
  Model model = parsed("g (float[4] x) => (float[4] y) { n = Neg(x) y = Relu(x) }");
  const auto count = [](const auto& range) {
    size_t items = 0;
    for (const auto item : range) items += item.valid();
    return items;
  };
  EXPECT_EQ(count(live_nodes(model)), 2u);
  EXPECT_EQ(count(live_values(model)), 3u);
  Edit(model).erase(model[model.main_graph()].first);
  EXPECT_EQ(count(live_nodes(model)), 1u);
  EXPECT_EQ(count(live_values(model)), 2u);
}

}  // namespace
}  // namespace assay::ir
