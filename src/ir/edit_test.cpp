#include "ir/edit.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "ir/verify.h"

namespace assay::ir {
namespace {

// X -> a -> b -> Y, with an initializer W that both nodes read.
class EditTest : public testing::Test {
 protected:
  EditTest() {
    graph_ = edit_.add_graph(edit_.intern("g"));
    x_ = edit_.add_input(graph_, edit_.intern("X"));
    w_ = edit_.add_initializer(graph_, edit_.intern("W"), tensor({1, 2}));
    a_ = node("a", {x_, w_}, "A");
    b_ = node("b", {result(a_), w_}, "Y");
    const ValueId outputs[] = {result(b_)};
    edit_.set_outputs(graph_, outputs);
  }
  ~EditTest() override { check_structure(model_); }

  TensorId tensor(std::vector<float> values) {
    TensorEntry entry;
    entry.tensor = tensor::make_tensor(tensor::DType::float32, {static_cast<int64_t>(values.size())},
                                       std::span<const float>(values));
    return edit_.add_tensor(std::move(entry));
  }
  NodeId node(std::string_view name, std::vector<ValueId> operands, std::string_view output, GraphId graph = {},
              NodeId before = {}) {
    NodeSpec spec;
    spec.op = edit_.intern("Add");
    spec.name = edit_.keep(name);
    spec.operands = operands;
    const Symbol results[] = {edit_.intern(output)};
    spec.results = results;
    return edit_.add_node(graph ? graph : graph_, spec, before);
  }
  ValueId result(NodeId id) const { return model_[id].results[0]; }
  size_t use_count(ValueId value) const {
    size_t count = 0;
    for (const Use& use : uses(model_, value)) count += use.value == value;
    return count;
  }
  std::string order(GraphId graph) const {
    std::string names;
    for (const NodeId id : nodes(model_, graph)) names += model_[id].name;
    return names;
  }
  // A body of `parent` with one node that reads the outer value.
  GraphId body(NodeId parent, std::string_view attribute, ValueId captured) {
    const GraphId id = edit_.add_graph();
    const NodeId inner = node("inner", {captured, captured}, "I", id);
    const ValueId outputs[] = {result(inner)};
    edit_.set_outputs(id, outputs);
    edit_.set_attribute(parent, Attribute::of(edit_.intern(attribute), AttributeType::graph, id));
    return id;
  }

  Model model_;
  Edit edit_{model_};
  GraphId graph_;
  ValueId x_, w_;
  NodeId a_, b_;
};

TEST_F(EditTest, uses_are_listed_with_user_and_place) {
  EXPECT_EQ(use_count(w_), 2u);
  EXPECT_EQ(use_count(result(b_)), 1u);
  const Use& use = *uses(model_, result(a_)).begin();
  EXPECT_EQ(use.user, b_);
  EXPECT_EQ(use.index, 0u);
  EXPECT_EQ(model_.outputs(graph_)[0].value, result(b_));
}

TEST_F(EditTest, sets_one_operand) {
  edit_.set_operand(b_, 1, result(a_));
  EXPECT_EQ(use_count(w_), 1u);
  EXPECT_EQ(use_count(result(a_)), 2u);
  edit_.set_operand(b_, 1, ValueId{});
  EXPECT_EQ(use_count(result(a_)), 1u);
  EXPECT_THROW(edit_.set_operand(b_, 2, w_), InternalError);
}

TEST_F(EditTest, operand_lists_shrink_and_grow) {
  for (const size_t size : {1u, 5u, 0u, 2u, 100u}) {
    edit_.set_operands(b_, std::vector<ValueId>(size, w_));
    EXPECT_EQ(use_count(w_), size + 1);
    EXPECT_EQ(use_count(result(a_)), 0u);
    check_structure(model_);
  }
}

TEST_F(EditTest, replaces_all_uses_with_captures_and_outputs) {
  const GraphId inner = body(b_, "then", result(a_));
  edit_.replace_uses(result(a_), x_);
  EXPECT_EQ(use_count(result(a_)), 0u);
  EXPECT_EQ(use_count(x_), 4u);
  EXPECT_EQ(model_[model_[inner].first].operands[1].value, x_);
  edit_.replace_uses(result(b_), x_);
  EXPECT_EQ(model_.outputs(graph_)[0].value, x_);
  EXPECT_THROW(edit_.replace_uses(x_, x_), InternalError);
}

TEST_F(EditTest, moves_nodes) {
  node("c", {x_}, "C", graph_, a_);
  EXPECT_EQ(order(graph_), "cab");
  edit_.move_before(b_, model_[graph_].first);
  EXPECT_EQ(order(graph_), "bca");
  edit_.move_before(b_, NodeId{});
  edit_.move_before(a_, a_);
  edit_.move_before(a_, b_);
  EXPECT_EQ(order(graph_), "cab");
  const GraphId inner = body(b_, "then", x_);
  EXPECT_THROW(edit_.move_before(a_, model_[inner].first), InternalError);
  model_ = Model();
}

TEST_F(EditTest, erases_nodes_and_their_results) {
  EXPECT_THROW(edit_.erase(a_), InternalError);
  edit_.replace_uses(result(a_), x_);
  edit_.erase(a_);
  EXPECT_FALSE(model_[a_].alive);
  EXPECT_FALSE(model_[result(a_)].alive);
  EXPECT_EQ(order(graph_), "b");
  EXPECT_EQ(model_[graph_].node_count, 1u);
  EXPECT_EQ(use_count(w_), 1u);
}

TEST_F(EditTest, erasing_a_node_releases_what_its_bodies_capture) {
  const NodeId holder = node("if", {x_}, "H");
  const GraphId outer = body(holder, "then", result(a_));
  const GraphId inner = body(model_[outer].first, "body", w_);
  const ValueId input = edit_.add_input(inner, edit_.intern("P"));
  const ValueId weight = edit_.add_initializer(inner, edit_.intern("Q"), tensor({1}));
  EXPECT_EQ(use_count(w_), 4u);
  edit_.erase(holder);
  EXPECT_EQ(use_count(w_), 2u);
  EXPECT_EQ(use_count(result(a_)), 1u);
  EXPECT_FALSE(model_[model_[inner].outputs_node].alive);
  EXPECT_FALSE(model_[input].alive || model_[weight].alive);
}

TEST_F(EditTest, a_body_that_its_attribute_loses_dies) {
  const NodeId holder = node("if", {x_}, "H");
  body(holder, "then", w_);
  EXPECT_EQ(use_count(w_), 4u);
  body(holder, "then", w_);
  EXPECT_EQ(use_count(w_), 4u) << "the body that was replaced still uses it";
  edit_.remove_attribute(holder, edit_.intern("then"));
  EXPECT_EQ(use_count(w_), 2u);
  EXPECT_TRUE(model_[holder].attributes.empty());
}

TEST_F(EditTest, a_body_moves_to_another_node) {
  const GraphId inner = body(a_, "then", w_);
  edit_.set_attribute(b_, Attribute::of(edit_.intern("then"), AttributeType::graph, inner));
  edit_.remove_attribute(a_, edit_.intern("then"));
  EXPECT_EQ(model_[inner].parent, b_);
  EXPECT_EQ(model_.enclosing(inner), graph_);
  EXPECT_EQ(use_count(w_), 4u);
}

TEST_F(EditTest, erases_inputs_and_initializers) {
  const ValueId unused[] = {edit_.add_input(graph_, edit_.intern("U")),
                            edit_.add_initializer(graph_, edit_.intern("V"), tensor({3})),
                            edit_.add_initializer(graph_, edit_.intern("T"), tensor({4}))};
  EXPECT_THROW(edit_.erase(w_), InternalError);
  edit_.erase(unused);
  EXPECT_EQ(model_[graph_].inputs, std::vector<ValueId>{x_});
  EXPECT_EQ(model_[graph_].initializers, std::vector<ValueId>{w_});
  EXPECT_THROW(edit_.erase(unused[0]), InternalError);
}

TEST_F(EditTest, a_default_makes_an_input_an_initializer_too) {
  edit_.set_default(x_, tensor({1, 2}));
  edit_.set_default(x_, tensor({3, 4}));
  EXPECT_EQ(model_[graph_].initializers, (std::vector<ValueId>{w_, x_}));
  EXPECT_THROW(edit_.set_default(w_, tensor({1})), InternalError);
}

TEST_F(EditTest, sets_attributes) {
  const Symbol axis = edit_.intern("axis");
  edit_.set_attribute(a_, Attribute::of(axis, int64_t{1}));
  edit_.set_attribute(a_, Attribute::of(edit_.intern("alpha"), 0.5f));
  edit_.set_attribute(a_, Attribute::of(axis, int64_t{2}));
  ASSERT_EQ(model_[a_].attributes.size(), 2u);
  EXPECT_EQ(model_.find_attribute(model_[a_], "axis")->integer(), 2);
  EXPECT_EQ(model_.find_attribute(model_[a_], "alpha")->floating(), 0.5f);
  edit_.remove_attribute(a_, axis);
  edit_.remove_attribute(a_, axis);
  EXPECT_EQ(model_.find_attribute(model_[a_], "axis"), nullptr);
}

TEST_F(EditTest, an_edited_attribute_stays_so_when_it_is_set_again) {
  const std::array attributes = {Attribute::of(edit_.intern("axis"), int64_t{1})};
  edit_.set_attributes(a_, attributes);
  edit_.set_attributes(a_, attributes);
  EXPECT_TRUE(model_[a_].attributes[0].dirty());
}

TEST_F(EditTest, renames_retypes_and_changes_the_operator) {
  edit_.rename(a_, "new");
  edit_.rename(result(a_), edit_.intern("N"));
  edit_.set_op(a_, edit_.intern("Mul"), edit_.intern("d"));
  const TypeId type = model_.types().unranked_tensor(tensor::DType::int8);
  edit_.set_type(result(a_), type);
  EXPECT_EQ(describe(model_, a_), "node `new` (Mul)");
  EXPECT_EQ(model_.text(model_[a_].domain), "d");
  EXPECT_EQ(model_[result(a_)].type, type);
}

TEST_F(EditTest, left_out_operands_and_results) {
  NodeSpec spec;
  spec.op = edit_.intern("Op");
  const ValueId operands[] = {ValueId{}, w_, ValueId{}};
  const Symbol results[] = {kEmpty, edit_.intern("R")};
  spec.operands = operands;
  spec.results = results;
  const NodeId id = edit_.add_node(graph_, spec);
  EXPECT_FALSE(model_[id].results[0].valid());
  EXPECT_EQ(model_[model_[id].results[1]].index, 1u);
  edit_.erase(id);
}

TEST_F(EditTest, what_is_imported_is_not_dirty) {
  Model model;
  Edit import(model, Edit::Purpose::import);
  const GraphId graph = import.add_graph();
  const ValueId input = import.add_input(graph, import.intern("X"));
  NodeSpec spec;
  const ValueId operands[] = {input};
  spec.operands = operands;
  const NodeId node = import.add_node(graph, spec);
  import.header().ir_version = 8;
  EXPECT_FALSE(model.is_edited() || model.is_header_edited() || model[graph].dirty || model[node].dirty);
  Edit(model).rename(node, "n");
  EXPECT_TRUE(model.is_edited() && model[graph].dirty && model[node].dirty);
  EXPECT_FALSE(model.is_header_edited());
}

TEST_F(EditTest, an_edit_marks_everything_above_it) {
  Model model;
  Edit import(model, Edit::Purpose::import);
  const GraphId main = import.add_graph();
  const NodeId holder = import.add_node(main, {});
  const GraphId body = import.add_graph();
  const NodeId inner = import.add_node(body, {});
  const Attribute attributes[] = {Attribute::of(import.intern("body"), AttributeType::graph, body)};
  import.set_attributes(holder, attributes);
  const NodeId other = import.add_node(main, {});
  Edit(model).rename(inner, "n");
  EXPECT_TRUE(model[body].dirty && model[holder].dirty && model[main].dirty);
  EXPECT_FALSE(model[other].dirty);
}

TEST_F(EditTest, nodes_are_put_in_another_order) {
  const NodeId c = node("c", {x_, w_}, "C");
  edit_.order_nodes({graph_, {c, a_, b_}});
  EXPECT_EQ(order(graph_), "cab");
  EXPECT_TRUE(model_.is_before(c, a_));
  EXPECT_TRUE(model_.is_before(a_, b_));
}

// Permutations of many cycles; every node keeps its result and operands.
TEST_F(EditTest, ids_follow_any_order) {
  std::vector<NodeId> asked = {a_, b_};
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i);
    asked.push_back(node(name, {x_, result(asked[asked.size() / 2])}, "R" + name));
  }
  const auto facts = [&](NodeId id) {
    std::string text(model_[id].name);
    for (const Use& use : model_[id].operands) text += " " + std::string(model_.text(model_[use.value].name));
    return text + " " + std::string(model_.text(model_[result(id)].name));
  };
  std::shuffle(asked.begin(), asked.end(), std::minstd_rand(3));
  std::vector<std::string> expected, found;
  for (const NodeId id : asked) expected.push_back(facts(id));
  const std::string places = order(graph_);
  const GraphOrder order_asked{graph_, asked};
  Edit(model_, Edit::Purpose::import).renumber({&order_asked, 1});
  EXPECT_EQ(order(graph_), places);
  std::vector<NodeId> ids;
  for (const NodeId id : nodes(model_, graph_)) ids.push_back(id);
  std::ranges::sort(ids);
  for (const NodeId id : ids) found.push_back(facts(id));
  EXPECT_EQ(found, expected);
}

TEST_F(EditTest, ids_follow_the_order_and_places_stay) {
  const NodeId c = node("c", {x_, w_}, "C");
  const GraphId inner = body(b_, "body", result(a_));
  const GraphOrder asked{graph_, {c, a_, b_}};
  Edit(model_, Edit::Purpose::import).renumber({&asked, 1});
  EXPECT_EQ(order(graph_), "abc");
  std::vector<NodeId> ids;
  for (const NodeId id : nodes(model_, graph_)) ids.push_back(id);
  EXPECT_LT(ids[2], ids[0]);
  EXPECT_LT(ids[0], ids[1]);
  EXPECT_LT(result(ids[2]), result(ids[0]));
  EXPECT_LT(result(ids[0]), result(ids[1]));
  EXPECT_EQ(model_.text(model_[result(ids[0])].name), "A");
  EXPECT_EQ(model_[ids[1]].operands[0].value, result(ids[0]));
  EXPECT_EQ(model_[inner].parent, ids[1]);
  EXPECT_EQ(use_count(result(ids[0])), 3u);
}

}  // namespace
}  // namespace assay::ir
