#include "ir/naming.h"

#include <gtest/gtest.h>

#include "support/parsed_model.h"

namespace assay::ir {
namespace {

using testing_support::parsed;

TEST(Naming, fresh_names_are_numbered_from_the_second_on) {
  Model model = parsed("g (float[4] x) => (float[4] y) { x_1 = Neg(x) y = Relu(x_1) }");
  Edit edit(model);
  EXPECT_EQ(model.text(fresh_name(edit, "z")), "z");
  EXPECT_EQ(model.text(fresh_name(edit, "z")), "z_1");
  EXPECT_EQ(model.text(fresh_name(edit, "x")), "x_2");
}

TEST(Naming, counted_names_go_on_from_call_to_call) {
  Model model = parsed("g (float[4] x) => (float[4] a_1) { a_1 = Neg(x) }");
  Edit edit(model);
  NameCounter names;
  EXPECT_EQ(model.text(names.next(edit, "a")), "a_0");
  EXPECT_EQ(model.text(names.next(edit, "a")), "a_2");
  EXPECT_EQ(model.text(names.next(edit, "b")), "b_3");
}

TEST(Naming, nodes_are_known_by_their_name_or_that_of_a_result) {
  const Model model = parsed("g (float[4] x) => (float[4] y) { [first] a = Neg(x) y = Relu(a) }");
  const NodeId first = model[model.main_graph()].first;
  EXPECT_EQ(known_name(model, first), "first");
  EXPECT_EQ(known_name(model, model[first].next), "y");
}

}  // namespace
}  // namespace assay::ir
