#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/edit.h"

namespace assay::ir {
namespace {

class Verify : public testing::Test {
 protected:
  Verify() { graph_ = edit_.add_graph(); }

  NodeId node(GraphId graph, std::vector<ValueId> operands, const std::vector<std::string>& outputs) {
    NodeSpec spec;
    spec.op = edit_.intern("Op");
    spec.operands = operands;
    std::vector<Symbol> results;
    for (const std::string& name : outputs) results.push_back(edit_.intern(name));
    spec.results = results;
    return edit_.add_node(graph, spec);
  }
  ValueId value(NodeId id, size_t index = 0) const { return model_[id].results[index]; }
  GraphId body(NodeId parent, std::string_view attribute = "body") {
    const GraphId id = edit_.add_graph();
    edit_.set_attribute(parent, Attribute::of(edit_.intern(attribute), AttributeType::graph, id));
    return id;
  }
  // The codes of the findings, in order.
  std::string codes() {
    check_structure(model_);
    findings_ = Diagnostics();
    verify(model_, findings_);
    std::string text;
    for (const Diagnostic& finding : findings_.all()) text += std::string(finding.code) + ' ' + finding.node + ';';
    return text;
  }

  Model model_;
  Edit edit_{model_};
  GraphId graph_;
  Diagnostics findings_;
};

TEST_F(Verify, a_sorted_graph_has_no_findings) {
  const ValueId x = edit_.add_input(graph_, edit_.intern("X"));
  const NodeId a = node(graph_, {x, x}, {"A", "", "B"});
  const NodeId b = node(graph_, {value(a), value(a, 2), ValueId{}}, {"C"});
  const ValueId outputs[] = {value(b), x, value(b)};
  edit_.set_outputs(graph_, outputs);
  EXPECT_EQ(codes(), "");
}

TEST_F(Verify, outputs_without_names) {
  const ValueId x = edit_.add_input(graph_, edit_.intern("X"));
  const NodeId a = node(graph_, {x}, {"A"});
  const GraphId inner = body(a);
  edit_.graph(inner).name = edit_.intern("inner");
  const ValueId outputs[] = {x, ValueId{}};
  edit_.set_outputs(inner, outputs);
  EXPECT_EQ(codes(), "unnamed_output inner;");
  edit_.set_outputs(graph_, outputs);
  EXPECT_EQ(codes(), "unnamed_output ;unnamed_output inner;");
}

TEST_F(Verify, an_empty_model) {
  Model empty;
  verify(empty, findings_);
  EXPECT_TRUE(findings_.empty());
}

TEST_F(Verify, duplicate_names) {
  edit_.add_input(graph_, edit_.intern("X"));
  edit_.add_initializer(graph_, edit_.intern("X"), edit_.add_tensor({}));
  node(graph_, {}, {"A", "A"});
  node(graph_, {}, {"A"});
  EXPECT_EQ(codes(), "duplicate_name X;duplicate_name A;duplicate_name A;");
  EXPECT_EQ(findings_.error_count(), 3u);
}

TEST_F(Verify, the_same_name_in_two_bodies_is_no_fault) {
  const NodeId holder = node(graph_, {}, {"H"});
  node(body(holder, "then"), {}, {"A"});
  node(body(holder, "else"), {}, {"A"});
  EXPECT_EQ(codes(), "");
}

TEST_F(Verify, a_body_that_shadows_gets_a_warning) {
  const ValueId x = edit_.add_input(graph_, edit_.intern("X"));
  const NodeId holder = node(graph_, {x}, {"H"});
  const GraphId outer = body(holder);
  edit_.add_input(outer, edit_.intern("X"));
  node(body(node(outer, {}, {"I"})), {}, {"H"});
  EXPECT_EQ(codes(), "shadowed_name X;shadowed_name H;");
  EXPECT_EQ(findings_.error_count(), 0u);
}

TEST_F(Verify, functions_do_not_see_the_main_graph) {
  edit_.add_input(graph_, edit_.intern("X"));
  Function function;
  function.body = edit_.add_graph();
  edit_.add_input(function.body, edit_.intern("X"));
  node(function.body, {}, {"X"});
  edit_.add_function(function);
  EXPECT_EQ(codes(), "duplicate_name X;");
}

TEST_F(Verify, undefined_names_are_reported_once_and_only_where_used) {
  edit_.add_undefined(graph_, edit_.intern("unused"));
  const ValueId missing = edit_.add_undefined(graph_, edit_.intern("U"));
  const NodeId a = node(graph_, {missing, missing}, {"A"});
  node(body(a), {missing}, {"B"});
  EXPECT_EQ(codes(), "undefined_name U;");
  const ValueId outputs[] = {edit_.add_undefined(graph_, edit_.intern("V"))};
  edit_.set_outputs(graph_, outputs);
  EXPECT_EQ(codes(), "undefined_name U;undefined_name V;");
}

TEST_F(Verify, a_value_of_a_body_is_not_visible_outside) {
  const NodeId holder = node(graph_, {}, {"H"});
  const NodeId inner = node(body(holder), {}, {"I"});
  node(graph_, {value(inner)}, {"A"});
  EXPECT_EQ(codes(), "undefined_name I;");
}

TEST_F(Verify, unsorted_nodes) {
  const NodeId a = node(graph_, {}, {"A"});
  const NodeId b = node(graph_, {}, {"B"});
  edit_.set_operands(a, std::vector<ValueId>{value(b)});
  EXPECT_EQ(codes(), "not_sorted B;");
  edit_.move_before(b, a);
  EXPECT_EQ(codes(), "");
}

TEST_F(Verify, a_body_that_uses_a_later_value_is_unsorted) {
  const NodeId holder = node(graph_, {}, {"H"});
  const NodeId later = node(graph_, {}, {"L"});
  node(body(node(body(holder), {}, {"I"})), {value(later)}, {"J"});
  EXPECT_EQ(codes(), "not_sorted L;");
}

TEST_F(Verify, cycles) {
  const NodeId a = node(graph_, {}, {"A"});
  edit_.set_operands(a, std::vector<ValueId>{value(a)});
  EXPECT_EQ(codes(), "cycle ;");
  const NodeId b = node(graph_, {value(a)}, {"B"});
  edit_.set_operands(a, std::vector<ValueId>{value(b)});
  node(graph_, {value(b)}, {"C"});
  EXPECT_EQ(codes(), "cycle ;");
  EXPECT_NE(findings_.all()[0].message.find("3 node(s)"), std::string::npos) << findings_.all()[0].message;
}

TEST_F(Verify, a_body_that_uses_its_own_node_is_a_cycle) {
  const NodeId holder = node(graph_, {}, {"H"});
  node(body(holder), {value(holder)}, {"I"});
  EXPECT_EQ(codes(), "cycle ;");
}

TEST_F(Verify, every_disordered_graph_is_reported_once) {
  for (int i = 0; i < 5; ++i) {
    const GraphId inner = body(node(graph_, {}, {"H" + std::to_string(i)}));
    const NodeId a = node(inner, {}, {"A"});
    const NodeId b = node(inner, {}, {"B"});
    edit_.set_operands(a, std::vector<ValueId>{value(b), value(b)});
    if (i % 2 == 0) edit_.set_operands(b, std::vector<ValueId>{value(a)});
  }
  EXPECT_EQ(codes(), "cycle ;not_sorted B;cycle ;not_sorted B;cycle ;");
}

TEST_F(Verify, deep_bodies_wide_fan_out_and_long_chains_are_no_faults) {
  const ValueId x = edit_.add_input(graph_, edit_.intern("X"));
  for (int i = 0; i < 50'000; ++i) node(graph_, {x}, {"w" + std::to_string(i)});
  ValueId last = x;
  for (int i = 0; i < 50'000; ++i) last = value(node(graph_, {last}, {"c" + std::to_string(i)}));
  GraphId inner = graph_;
  for (int i = 0; i < 2'000; ++i) inner = body(node(inner, {}, {"d" + std::to_string(i)}));
  node(inner, {last, x}, {"deepest"});
  EXPECT_EQ(codes(), "");
}

TEST_F(Verify, findings_are_one_line_each) {
  node(graph_, {edit_.add_undefined(graph_, edit_.intern("a\nb"))}, {"c\rd", "c\rd"});
  codes();
  for (const Diagnostic& finding : findings_.all()) {
    EXPECT_EQ(finding.message.find_first_of("\n\r"), std::string::npos) << finding.message;
  }
  EXPECT_EQ(findings_.all().size(), 2u);
}

TEST_F(Verify, gives_orders_that_nodes_could_stand_in) {
  const ValueId x = edit_.add_input(graph_, edit_.intern("X"));
  const NodeId a = node(graph_, {x}, {"A"});
  const NodeId b = node(graph_, {x}, {"B"});
  const NodeId c = node(graph_, {value(b)}, {"C"});
  edit_.set_operand(a, 0, value(c));
  const std::vector<GraphOrder> orders = verify(model_, findings_);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].graph, graph_);
  EXPECT_EQ(orders[0].nodes, (std::vector{b, c, a}));
  edit_.set_operand(b, 0, value(a));
  EXPECT_TRUE(verify(model_, findings_).empty());
}

}  // namespace
}  // namespace assay::ir
