// What is not edited keeps its bytes, unknown fields at every level included.
#include "onnx/export.h"

#include <gtest/gtest.h>

#include "ir/edit.h"
#include "support/model_checks.h"

namespace assay::onnx {
namespace {

using namespace testing_support;

// Content of the unknown field at each level of the model below.
const std::vector<std::string> kLevels = {
    "in model",  "in opset",  "in graph",         "in node",    "in attribute",      "in tensor",   "in value",
    "in type",   "in shape",  "in dim",           "in inner",   "in inner node",     "in function", "in metadata",
    "in sparse", "in output", "in function node", "in default", "in body attribute", "in info"};

Wire unknown_type() {
  const Wire dim = Wire().integer(1, 2).text(3, "DATA_BATCH").unknown("in dim");
  const Wire shape = Wire().message(1, dim).unknown("in shape");
  return Wire().message(1, Wire().integer(1, 1).message(2, shape)).unknown("in type");
}

// Fields stand in an unusual order and unknown ones are everywhere.
std::string strange_model() {
  Wire inner = Wire().message(1, node("Relu", {"X"}, {"I"}, "inner").unknown("in inner node")).text(2, "body");
  inner.message(12, value_info("I")).unknown("in inner");
  Wire holder = node("If", {"B"}, {"C"}, "holder").text(6, "node doc").unknown("in node");
  holder.message(5, attribute("axis", 1).text(13, "attribute doc").unknown("in attribute"));
  holder.message(5, body_attribute("then", inner).unknown("in body attribute"));
  Wire main = Wire().message(12, value_info("Y", unknown_type()).unknown("in output")).text(2, "g");
  main.message(1, node("Add", {"X", "W"}, {"B"}, "add")).unknown("in graph");
  main.message(5, raw_tensor("W", 1, {2}, "12345678").text(12, "tensor doc").unknown("in tensor"));
  main.message(11, value_info("X", unknown_type()).text(3, "input doc").unknown("in value"));
  main.message(13, value_info("B", unknown_type()).text(3, "info doc").unknown("in info")).message(1, holder);
  main.message(1, node("Relu", {"C"}, {"Y"}, "last")).message(13, value_info("C")).text(10, "graph doc");
  main.message(15, Wire()
                       .message(1, raw_tensor("S", 1, {1}, "1234"))
                       .message(2, raw_tensor("", 7, {1}, "12345678"))
                       .integer(3, 4)
                       .unknown("in sparse"));
  main.message(14, Wire().text(1, "X"));
  const auto function = [](std::string_view name) {
    Wire wire = Wire()
                    .text(10, "d")
                    .text(1, name)
                    .text(13, "overload")
                    .text(4, "a")
                    .text(5, "b")
                    .message(9, Wire().integer(2, 17));
    wire.message(7, node("Relu", {"a"}, {"b"}, "in f").unknown("in function node")).text(6, "alpha");
    wire.message(7, node("Relu", {"b"}, {"c"}, "second"));
    return wire.message(11, attribute("beta", 2).unknown("in default")).unknown("in function");
  };
  Wire whole = Wire().message(25, function("f")).integer(1, 10).message(8, Wire().integer(2, 17).unknown("in opset"));
  whole.unknown("in model")
      .message(7, main)
      .text(2, "producer")
      .message(25, function("g"))
      .message(20, Wire().text(1, "t"));
  return whole.message(14, Wire().text(1, "k").text(2, "v").unknown("in metadata")).message(8, opset(1, "d")).bytes();
}

class Export : public testing::Test {
 protected:
  ir::ValueId value(std::string_view name) const {
    for (uint32_t i = 0; i < model_.value_slots(); ++i) {
      if (model_.text(model_[ir::ValueId{i}].name) == name) return ir::ValueId{i};
    }
    return {};
  }
  ir::NodeId node_named(std::string_view name) const {
    for (uint32_t i = 0; i < model_.node_slots(); ++i) {
      if (model_[ir::NodeId{i}].name == name) return ir::NodeId{i};
    }
    return {};
  }
  // Saves, checks that nothing unknown was lost, and imports again.
  void save_and_reload(size_t lost = 0) {
    ir::check_structure(model_);
    bytes_ = saved(model_);
    size_t missing = 0;
    for (const std::string& content : kLevels) missing += bytes_.find(content) == std::string::npos;
    EXPECT_EQ(missing, lost);
    Diagnostics before, after;
    ir::verify(model_, before);
    model_ = import_file(mapped(bytes_), after);
    EXPECT_EQ(codes(before), codes(after));
    EXPECT_EQ(saved(model_), bytes_);
  }
  bool has(std::string_view text) const { return bytes_.find(text) != std::string::npos; }

  const std::string original_ = strange_model();
  ir::Model model_ = import_bytes(original_);
  ir::Edit edit_{model_};
  std::string bytes_;
};

TEST_F(Export, an_untouched_model_keeps_its_bytes) { EXPECT_EQ(saved(model_), original_); }

TEST_F(Export, an_edit_that_is_taken_back_changes_no_content) {
  const ir::NodeId add = node_named("add");
  edit_.rename(add, "other");
  edit_.rename(add, "add");
  save_and_reload();
}

TEST_F(Export, renamed_node) {
  edit_.rename(node_named("holder"), "renamed");
  save_and_reload();
  EXPECT_TRUE(has("renamed") && !has("holder") && has("node doc") && has("attribute doc"));
  EXPECT_TRUE(has(node("Add", {"X", "W"}, {"B"}, "add").bytes()));
}

TEST_F(Export, edit_in_a_body) {
  edit_.rename(node_named("inner"), "renamed");
  save_and_reload();
  EXPECT_TRUE(has(attribute("axis", 1).text(13, "attribute doc").unknown("in attribute").bytes()));
}

TEST_F(Export, edit_in_a_function_leaves_the_other_function) {
  edit_.rename(model_[model_.functions()[0].body].first, "renamed");
  save_and_reload();
  EXPECT_EQ(model_.functions().size(), 2u);
  EXPECT_EQ(model_.text(model_.functions()[0].overload), "overload");
  EXPECT_TRUE(has("renamed") && has("in f"));
  const size_t graph_at = original_.find("in model");
  EXPECT_NE(bytes_.find(original_.substr(graph_at)), std::string::npos) << "all behind the function keeps its bytes";
}

TEST_F(Export, an_erased_function_is_not_written) {
  const size_t first[] = {0};
  edit_.erase_functions(first);
  save_and_reload();
  ASSERT_EQ(model_.functions().size(), 1u);
  EXPECT_EQ(model_.text(model_.functions()[0].name), "g");
  EXPECT_LT(bytes_.size(), original_.size());
  EXPECT_TRUE(original_.ends_with(bytes_)) << "all behind the function keeps its bytes";
}

TEST_F(Export, changed_attribute) {
  edit_.set_attribute(node_named("holder"), ir::Attribute::of(edit_.intern("axis"), int64_t{77}));
  save_and_reload();
  EXPECT_EQ(model_.find_attribute(model_[node_named("holder")], "axis")->integer(), 77);
  EXPECT_TRUE(has("attribute doc"));
}

TEST_F(Export, renamed_value_keeps_what_describes_it) {
  for (const std::string name : {"X", "B", "Y", "W", "S", "I"}) edit_.rename(value(name), edit_.intern("new_" + name));
  save_and_reload();
  EXPECT_TRUE(has("input doc") && has("info doc") && has("tensor doc") && has("DATA_BATCH"));
  EXPECT_TRUE(model_[value("new_B")].type.valid());
  EXPECT_EQ(value("B"), ir::ValueId{});
  EXPECT_EQ(model_[node_named("inner")].operands[0].value, value("new_X"));
}

TEST_F(Export, swapped_names) {
  edit_.set_type(value("C"), model_.types().unranked_tensor(tensor::DType::int8));
  const ir::ValueId b = value("B"), c = value("C");
  edit_.rename(b, edit_.intern("C"));
  edit_.rename(c, edit_.intern("B"));
  save_and_reload();
  EXPECT_EQ(model_[model_[value("C")].type].dtype, tensor::DType::float32);
  EXPECT_EQ(model_[model_[value("B")].type].dtype, tensor::DType::int8);
  EXPECT_EQ(model_.text(model_[model_[node_named("add")].results[0]].name), "C");
}

TEST_F(Export, retyped_values_keep_their_other_fields) {
  const ir::TypeId type =
      model_.types().tensor(tensor::DType::int8, {model_.dims().symbol(edit_.intern("N")), ir::kUnknownDim});
  for (const std::string name : {"X", "B", "Y"}) edit_.set_type(value(name), type);
  save_and_reload(3);
  for (const std::string name : {"X", "B", "Y"}) EXPECT_EQ(model_[model_[value(name)].type].dtype, tensor::DType::int8);
  EXPECT_EQ(model_.dims().text(model_[model_[value("B")].type].dims[0], model_.symbols()), "N");
  EXPECT_TRUE(has("input doc") && has("info doc"));
}

TEST_F(Export, value_infos_of_erased_values_go) {
  edit_.replace_uses(value("B"), value("X"));
  edit_.erase(node_named("add"));
  save_and_reload(1);
  EXPECT_FALSE(has("info doc"));
}

TEST_F(Export, a_new_value_with_an_old_name_takes_its_description) {
  const ir::ValueId old = value("Y");
  const ir::NodeId last = node_named("last");
  ir::NodeSpec spec;
  spec.op = edit_.intern("Tanh");
  const ir::ValueId operands[] = {value("C")};
  const ir::Symbol results[] = {edit_.intern("Y")};
  spec.operands = operands;
  spec.results = results;
  const ir::NodeId made = edit_.add_node(model_.main_graph(), spec, last);
  edit_.replace_uses(old, model_[made].results[0]);
  edit_.erase(last);
  save_and_reload();
  const ir::Value& output = model_[model_.outputs(model_.main_graph())[0].value];
  EXPECT_EQ(model_.text(model_[output.producer].op), "Tanh");
}

TEST_F(Export, set_tensor_keeps_the_tensors_other_fields) {
  const std::vector<float> values = {5, 6, 7};
  edit_.set_tensor(model_[value("W")].constant, tensor::make_tensor<float>(tensor::DType::float32, {3}, values));
  save_and_reload();
  EXPECT_TRUE(has("tensor doc"));
  EXPECT_EQ(model_[model_[value("W")].constant].tensor.shape(), (tensor::Shape{3}));
  edit_.set_tensor(model_[value("S")].constant, tensor::make_tensor<float>(tensor::DType::float32, {3}, values));
  save_and_reload(1);
  EXPECT_EQ(model_[model_[value("S")].constant].sparse, nullptr);
  EXPECT_EQ(model_[model_[value("S")].constant].tensor.count(), 3u);
}

TEST_F(Export, header) {
  edit_.header().producer_version = "2";
  edit_.header().producer_name.clear();
  edit_.header().metadata.emplace_back("k2", "v2");
  edit_.header().opset_imports.push_back({edit_.intern("e"), 3});
  save_and_reload();
  EXPECT_EQ(model_.header().producer_version, "2");
  EXPECT_EQ(model_.header().producer_name, "");
  EXPECT_EQ(model_.header().opset_imports.size(), 3u);
  EXPECT_EQ(model_.header().metadata.size(), 2u);
  EXPECT_EQ(model_.header().ir_version, 10);
}

TEST_F(Export, added_nodes_and_initializers_in_every_graph) {
  for (const ir::GraphId graph : {model_.main_graph(), model_.functions()[1].body, model_[node_named("inner")].graph}) {
    ir::NodeSpec spec;
    spec.op = edit_.intern("Neg");
    spec.name = edit_.keep("new" + std::to_string(graph.index));
    const ir::ValueId operands[] = {ir::ValueId{}, model_[model_[graph].first].results[0]};
    const ir::Symbol results[] = {edit_.intern("N" + std::to_string(graph.index)), ir::kEmpty};
    const ir::Attribute attributes[] = {
        ir::Attribute::of(edit_.intern("s"), ir::AttributeType::string, edit_.intern("text"))};
    spec.operands = operands;
    spec.results = results;
    spec.attributes = attributes;
    const ir::NodeId made = edit_.add_node(graph, spec);
    edit_.set_type(model_[made].results[0], model_.types().unranked_tensor(tensor::DType::float16));
  }
  save_and_reload();
  EXPECT_EQ(model_[model_[value("N0")].type].dtype, tensor::DType::float16);
  EXPECT_FALSE(model_[node_named("new0")].operands[0].value.valid());
}

TEST_F(Export, a_model_built_in_memory) {
  ir::Model built;
  ir::Edit edit(built);
  edit.header().ir_version = 10;
  edit.header().opset_imports.push_back({ir::kEmpty, 17});
  const ir::GraphId graph = edit.add_graph(edit.intern("g"));
  const ir::ValueId x =
      edit.add_input(graph, edit.intern("X"), built.types().tensor(tensor::DType::float32, {built.dims().constant(2)}));
  edit.set_outputs(graph, {&x, 1});
  ir::Function function;
  function.name = edit.intern("f");
  function.domain = edit.intern("d");
  function.overload = edit.intern("o");
  function.body = edit.add_graph();
  edit.add_function(function);
  model_ = import_bytes(saved(built));
  EXPECT_EQ(model_.text(model_.functions().at(0).overload), "o");
  EXPECT_EQ(model_.text(model_[model_.outputs(model_.main_graph())[0].value].name), "X");
  EXPECT_TRUE(model_[value("X")].type.valid());
}

TEST_F(Export, unknown_dtypes_survive_a_rename_in_typed_data_too) {
  const Wire opaque = Wire().integer(1, 2).integer(2, 77).text(8, "W").integer(5, 1000).integer(5, 2000);
  model_ = import_bytes(model(graph({}).message(5, opaque)).bytes());
  edit_.rename(value("W"), edit_.intern("V"));
  EXPECT_NE(saved(model_).find(Wire().integer(1, 2).integer(2, 77).integer(5, 1000).integer(5, 2000).bytes()),
            std::string::npos);
}

// Work, not time: one edit in a large model writes few new bytes and copies the rest as few pieces.
TEST_F(Export, a_large_model_keeps_the_bytes_of_all_other_nodes) {
  std::vector<Wire> nodes;
  for (int i = 0; i < 20'000; ++i)
    nodes.push_back(node("Relu", {i == 0 ? "X" : "v" + std::to_string(i - 1)}, {"v" + std::to_string(i)}));
  const std::string before = model(graph(nodes)).bytes();
  model_ = import_bytes(before);
  edit_.rename(node_at(model_, 10'000), "renamed");
  const std::string after = saved(model_);
  EXPECT_EQ(after.size(), before.size() + 9);
  EXPECT_NE(after.find(before.substr(before.size() / 2 + 100)), std::string::npos);
}

TEST_F(Export, a_failed_save_leaves_nothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { save(model_, folder.path()); })->code(), ErrorCode::io);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(Export, saves_over_its_own_source) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.put("m.onnx", original_);
  Diagnostics findings;
  ir::Model loaded = import_file(MappedFile::open(path), findings);
  ir::Edit(loaded).header().doc = "edited";
  save(loaded, path);
  EXPECT_NE(folder.get("m.onnx").find("edited"), std::string::npos);
  save(loaded, path);
}

}  // namespace
}  // namespace assay::onnx
