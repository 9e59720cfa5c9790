#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "onnx/text.h"
#include "scene/make.h"
#include "scene/own_functions.h"
#include "tensor/elements.h"

namespace assay::scene {
namespace {

struct Made {
  explicit Made(std::string_view text) : Made(parsed(text)) {}
  explicit Made(ir::Model given) : model(std::move(given)), inference(model) {
    inference.run();
    made = make_scene(model, inference);
  }
  static ir::Model parsed(std::string_view text) {
    Diagnostics findings;
    return onnx::parse_text(text, findings);
  }
  const results::SceneItems& items() const { return made.scene.items; }
  uint32_t item(std::string_view name) const {
    for (uint32_t i = 0; i < items().size(); ++i) {
      if (items().names[i] == name) return i;
    }
    ADD_FAILURE() << "no box is called " << name;
    return 0;
  }
  std::string parent(std::string_view name) const { return std::string(items().names[items().parents[item(name)]]); }

  ir::Model model;
  ops::Inference inference;
  MadeScene made;
};

constexpr std::string_view kHead = "<ir_version: 8, opset_import: [\"\" : 17]> ";

std::string model_of(std::string_view body) {
  return fmt::format("{}net (float[2,3] x) => (y) <float[3] w = {{1,2,3}}> {{ {} }}", kHead, body);
}

// Holds of every scene.
void expect_whole(const results::Scene& scene) {
  const results::SceneItems& items = scene.items;
  for (uint32_t i = 1; i < items.size(); ++i) {
    const uint32_t parent = items.parents[i];
    ASSERT_LT(parent, i);
    EXPECT_GE(i, items.first_children[parent]);
    EXPECT_LT(i, items.first_children[parent] + items.child_counts[parent]);
    EXPECT_GE(items.x[i], -0.01F);
    EXPECT_LE(items.x[i] + items.widths[i], items.content_widths[parent] + 0.5F);
  }
  const results::SceneLines& lines = scene.lines;
  for (size_t i = 0; i < lines.values.size(); ++i) {
    const uint32_t from = lines.from[i], to = lines.to[i];
    ASSERT_FALSE(from == kNoItem && to == kNoItem);
    const bool is_inside = from != kNoItem && to != kNoItem;
    EXPECT_TRUE(!is_inside || items.parents[from] == items.parents[to]);
    EXPECT_LE(lines.bend_starts[i] + lines.bend_counts[i], lines.bends_x.size());
  }
}

TEST(Scene, boxes_values_and_constants) {
  const Made made(model_of("[\"add\"] a = Add(x, w) [\"relu\"] y = Relu(a)"));
  expect_whole(made.made.scene);
  const results::SceneItems& items = made.items();
  EXPECT_EQ(items.size(), 5u);
  EXPECT_EQ(items.names[0], "net");
  EXPECT_EQ(made.made.scene.operators, (std::vector<std::string>{"Add", "Relu"}));
  const uint32_t add = made.item("add");
  EXPECT_EQ(items.flags[add], results::kHasConstants);
  EXPECT_EQ(items.params[add], 3);
  EXPECT_EQ(items.bytes[add], 24);
  EXPECT_EQ(made.made.scene.chips[0], "w 3 float32");
  EXPECT_EQ(made.made.scene.types[made.made.scene.value_types[1]], "float32[2,3]");
  EXPECT_EQ(items.layers[made.item("x")], 0u);
  EXPECT_EQ(items.layers[made.item("relu")], 2u);
  EXPECT_EQ(made.made.scene.lines.values.size(), 3u);
  EXPECT_EQ(made.made.scene.use_values, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(Scene, groups_from_names) {
  const Made made(
      model_of("[\"/enc/l0/a\"] a = Relu(x) [\"/enc/l0/b\"] b = Neg(a) [\"/enc/l1/c\"] c = Abs(b) "
               "[\"/enc/l1/d\"] d = Exp(c) [\"/head/e\"] y = Sqrt(d)"));
  expect_whole(made.made.scene);
  EXPECT_EQ(made.parent("/enc/l0/b"), "l0");
  EXPECT_EQ(made.parent("l0"), "enc");
  EXPECT_EQ(made.parent("enc"), "net");
  EXPECT_EQ(made.parent("/head/e"), "net") << "a group of one node is the node";
  // From l0 to l1 inside enc, and the pieces inside of both.
  const results::SceneLines& lines = made.made.scene.lines;
  const uint32_t l0 = made.item("l0"), l1 = made.item("l1");
  size_t between = 0, out = 0, in = 0;
  for (size_t i = 0; i < lines.values.size(); ++i) {
    between += lines.from[i] == l0 && lines.to[i] == l1;
    out += lines.from[i] == made.item("/enc/l0/b") && lines.to[i] == kNoItem;
    in += lines.from[i] == kNoItem && lines.to[i] == made.item("/enc/l1/c");
  }
  EXPECT_EQ(between, 1u);
  EXPECT_EQ(out, 1u);
  EXPECT_EQ(in, 1u);
}

TEST(Scene, groups_with_the_same_picture_share_its_bends) {
  const Made made(
      model_of("[\"/a/r\"] p = Relu(x) [\"/a/n\"] q = Neg(p) [\"/a/s\"] s = Add(p, q) "
               "[\"/b/r\"] t = Relu(s) [\"/b/n\"] u = Neg(t) [\"/b/s\"] v = Add(t, u) "
               "[\"/c/r\"] a = Relu(v) [\"/c/longer\"] b = Neg(a) [\"/c/s\"] y = Add(a, b)"));
  expect_whole(made.made.scene);
  const results::SceneLines& lines = made.made.scene.lines;
  std::map<std::string, uint32_t> starts;  // of the line that passes a layer, by its end
  for (size_t i = 0; i < lines.values.size(); ++i) {
    const bool is_inside = lines.from[i] != kNoItem && lines.to[i] != kNoItem;
    if (is_inside && lines.bend_counts[i] == 1)
      starts[std::string(made.items().names[lines.to[i]])] = lines.bend_starts[i];
  }
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_EQ(starts["/a/s"], starts["/b/s"]);
  EXPECT_NE(starts["/a/s"], starts["/c/s"]) << "a box of another width";
  EXPECT_EQ(made.items().x[made.item("/a/n")], made.items().x[made.item("/b/n")]);
  EXPECT_NE(made.items().widths[made.item("/a/n")], made.items().widths[made.item("/c/longer")]);
}

TEST(Scene, types_and_constants_are_known_without_the_inference) {
  const Made made(
      fmt::format("{}net (float[2,3] x) => (y) {{ s = Constant <value_ints = [2,3]> () [\"add\"] t = Add(s, s) "
                  "[\"fill\"] y = ConstantOfShape(t) }}",
                  kHead));
  const FoundTypes& types = made.made.types;
  std::map<std::string, std::vector<double>> folded;
  for (const auto& [value, tensor] : types.folded) {
    folded[std::string(made.model.text(made.model[value].name))] = tensor::load_elements<double>(tensor);
  }
  EXPECT_EQ(folded["s"], (std::vector<double>{2, 3}));
  EXPECT_EQ(folded["t"], (std::vector<double>{4, 6}));
  const results::NodeFacts facts = node_facts(made.model, made.made, made.item("fill"));
  EXPECT_EQ(facts.inputs[0].type, "int64[2]");
  EXPECT_EQ(facts.outputs[0].type, "float32[4,6]");
  EXPECT_EQ(made.items().flags[made.item("add")] & results::kIsClutter, results::kIsClutter);
  EXPECT_EQ(made.items().flags[made.item("fill")] & results::kIsClutter, 0);
}

TEST(Scene, a_node_without_scope_joins_its_neighbours) {
  const Made made(model_of("[\"/l0/a\"] a = Relu(x) [\"plain\"] b = Neg(a) [\"/l0/c\"] y = Abs(b)"));
  EXPECT_EQ(made.parent("plain"), "l0");
}

TEST(Scene, bodies_stand_in_their_nodes_and_take_what_they_capture) {
  const Made made(
      fmt::format("{}net (float[2] x, bool c) => (y) {{ a = Neg(x) [\"choice\"] y = If(c) <then_branch = yes () => (t) "
                  "{{ t = Relu(a) }}, else_branch = no () => (e) {{ e = Abs(a) }}> }}",
                  kHead));
  expect_whole(made.made.scene);
  EXPECT_EQ(made.parent("then_branch"), "choice");
  EXPECT_EQ(made.items().kinds[made.item("else_branch")], static_cast<uint8_t>(results::ItemKind::body));
  EXPECT_EQ(made.items().flags[made.item("choice")] & results::kHasBodies, results::kHasBodies);
  EXPECT_EQ(made.items().child_counts[made.item("then_branch")], 2u);
}

constexpr std::string_view kTwice =
    " <domain: \"d\", opset_import: [\"\" : 17]> twice (a) => (b) { t = Neg(a) b = Neg(t) }";

TEST(Scene, a_function_that_is_called_once_stands_in_its_call) {
  const Made made(
      fmt::format("<ir_version: 8, opset_import: [\"\" : 17, \"d\" : 1]> net (float[2] x) => (y) "
                  "{{ [\"call\"] y = d.twice(x) }}{}",
                  kTwice));
  expect_whole(made.made.scene);
  EXPECT_EQ(made.parent("twice"), "call");
  EXPECT_EQ(made.items().child_counts[made.item("twice")], 4u);
}

TEST(Scene, functions_that_are_called_more_often_are_groups_of_their_own) {
  const Made made(
      fmt::format("<ir_version: 8, opset_import: [\"\" : 17, \"d\" : 1]> net (float[2] x) => (y) "
                  "{{ z = d.twice(x) y = d.twice(z) }}{} <domain: \"d\", opset_import: [\"d\" : 1]> "
                  "endless (a) => (b) {{ b = d.endless(a) }}",
                  kTwice));
  expect_whole(made.made.scene);
  EXPECT_EQ(made.parent("twice"), "functions");
  EXPECT_EQ(made.parent("endless"), "functions");
}

TEST(Scene, calls_get_functions_of_their_own) {
  ir::Model model = Made::parsed(
      fmt::format("<ir_version: 10, opset_import: [\"\" : 17, \"d\" : 1]> net (float[2] x) => (y) "
                  "{{ [\"one\"] z = d.outer(x) [\"two\"] y = d.outer(z) }}{} "
                  "<domain: \"d\", opset_import: [\"\" : 17, \"d\" : 1]> outer (p) => (q) "
                  "{{ [\"in\"] r = d.twice(p) [\"again\"] q = d.twice(r) }} <domain: \"d\", opset_import: [\"d\" : 1]> "
                  "endless (a) => (b) {{ b = d.endless(a) }}",
                  kTwice));
  give_calls_their_functions(model);
  const Made made(std::move(model));
  expect_whole(made.made.scene);
  EXPECT_EQ(made.parent("endless"), "functions");
  size_t count = 0;
  for (uint32_t i = 0; i < made.items().size(); ++i) {
    if (made.items().names[i] == "twice") ++count;
  }
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(made.parent("one_in"), "outer");
  EXPECT_EQ(made.items().names[made.items().parents[made.items().parents[made.item("two_again")]]], "two");
  EXPECT_EQ(made.made.scene.types[made.made.scene.value_types[1]], "float32[2]");
}

TEST(Scene, calls_that_would_add_too_many_nodes_share_their_function) {
  std::string text = "<ir_version: 10, opset_import: [\"\" : 17, \"d\" : 1]> net (float[2] x) => (y) { y = d.f0(x) }";
  for (int i = 0; i < 30; ++i) {
    text += fmt::format(
        " <domain: \"d\", opset_import: [\"\" : 17, \"d\" : 1]> f{0} (a) => (b) {{ t = d.f{1}(a) b = d.f{1}(t) }}", i,
        i + 1);
  }
  ir::Model model = Made::parsed(text + " <domain: \"d\", opset_import: [\"\" : 17]> f30 (a) => (b) { b = Neg(a) }");
  give_calls_their_functions(model);
  EXPECT_GT(model.functions().size(), 1000u);
  EXPECT_LT(model.functions().size(), 100'000u);
}

// Blocks without names: Mul, Relu, Neg, Add.
std::string blocks(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format("a{0} = Mul(v{0}, w) b{0} = Relu(a{0}) c{0} = Neg(b{0}) v{1} = Add(c{0}, v{0}) ", i, i + 1);
  }
  return fmt::format("{}net (float[2,3] v0) => (float[2,3] v{}) <float[3] w = {{1,2,3}}> {{ {} }}", kHead, count, text);
}

TEST(Scene, repeats_are_groups_of_one_class) {
  const Made made(blocks(20));
  expect_whole(made.made.scene);
  const results::SceneItems& items = made.items();
  const uint32_t all = made.item("20 × block A");
  EXPECT_EQ(items.kinds[all], static_cast<uint8_t>(results::ItemKind::repeat));
  EXPECT_EQ(items.child_counts[all], 20u);
  const uint32_t first = items.first_children[all];
  for (uint32_t i = first; i < first + 20; ++i) {
    EXPECT_EQ(items.repeats[i], items.repeats[first]);
    EXPECT_EQ(items.child_counts[i], 4u);
  }
}

TEST(Scene, no_group_has_too_many_children) {
  const Made made(blocks(5000));
  expect_whole(made.made.scene);
  EXPECT_LE(std::ranges::max(made.items().child_counts), 300u);
  EXPECT_EQ(std::ranges::count(made.items().kinds, 1), 20000);
}

TEST(Scene, the_same_model_gives_the_same_scene) {
  const Made a(blocks(300)), b(blocks(300));
  EXPECT_EQ(a.items().x, b.items().x);
  EXPECT_EQ(a.items().names.text, b.items().names.text);
  EXPECT_EQ(a.made.scene.lines.bends_x, b.made.scene.lines.bends_x);
}

TEST(Scene, cycles_and_unknown_values_are_shown) {
  const Made made(model_of("a = Add(x, b) b = Relu(a) y = Foo(b, nowhere)"));
  expect_whole(made.made.scene);
  EXPECT_EQ(std::ranges::count(made.items().kinds, 1), 3);
}

TEST(Scene, nodes_in_a_wrong_order_are_put_right) {
  const Made made(model_of("[\"last\"] y = Relu(a) [\"first\"] a = Neg(x)"));
  EXPECT_LT(made.items().orders[made.item("first")], made.items().orders[made.item("last")]);
}

TEST(Scene, hostile_names) {
  const std::string name = "</script>\xff" + std::string(5000, 'n');
  const Made made(model_of(fmt::format("[\"{}\"] y = Relu(x)", name)));
  for (uint32_t i = 0; i < made.items().size(); ++i) EXPECT_LE(made.items().names[i].size(), 1100u);
}

TEST(Scene, numbers_of_values_go_on_with_constants) {
  const Made made(model_of("[\"add\"] y = Add(x, w)"));
  const results::NodeFacts facts = node_facts(made.model, made.made, made.item("add"));
  ASSERT_EQ(facts.inputs.size(), 2u);
  EXPECT_FALSE(facts.inputs[0].is_constant);
  EXPECT_TRUE(facts.inputs[1].is_constant);
  EXPECT_EQ(facts.inputs[0].type, "float32[2,3]");
  EXPECT_EQ(facts.inputs[1].type, "float32[3]");
  EXPECT_GE(facts.inputs[1].value, made.made.values.size());
  const ir::ValueId weight = value_of(made.made, facts.inputs[1].value);
  EXPECT_EQ(made.model.text(made.model[weight].name), "w");
  EXPECT_FALSE(value_of(made.made, 100000));
}

TEST(Scene, attributes_are_found_by_name_and_text) {
  const Made made(model_of("[\"soft\"] y = Softmax<axis = 1>(x)"));
  const ir::NodeId node = made.made.nodes[made.item("soft")];
  EXPECT_TRUE(has_attribute(made.model, node, "ax", ""));
  EXPECT_TRUE(has_attribute(made.model, node, "axis", "1"));
  EXPECT_FALSE(has_attribute(made.model, node, "axis", "2"));
}

}  // namespace
}  // namespace assay::scene
