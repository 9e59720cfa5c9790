#include "schema/schema.h"

#include <algorithm>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

namespace assay::schema {
namespace {

using tensor::DType;

TEST(Schema, the_version_that_holds_is_found) {
  ASSERT_NE(find_schema("", "Softmax", 12), nullptr);
  EXPECT_EQ(find_schema("", "Softmax", 12)->since, 11);
  EXPECT_EQ(find_schema("", "Softmax", 1)->since, 1);
  EXPECT_EQ(find_schema("", "Softmax", 1000)->since, 13);
  EXPECT_EQ(find_schema("", "Softmax", 13), find_schema("ai.onnx", "Softmax", 17));
  EXPECT_EQ(find_schema("", "Softmax", 0), nullptr);
  EXPECT_EQ(find_schema("", "BlackmanWindow", 16), nullptr);
}

TEST(Schema, unknown_names) {
  for (const std::string_view name : {"", "softmax", "Softma", "Softmaxx", "Softmax 13", "@ir", "#"}) {
    EXPECT_EQ(find_schema("", name, 17), nullptr) << name;
    EXPECT_TRUE(schema_versions("", name).empty()) << name;
    EXPECT_FALSE(is_known_operator("", name)) << name;
  }
  EXPECT_EQ(find_schema("mine", "Softmax", 17), nullptr);
  EXPECT_EQ(find_schema("ai.onnx.ml", "Softmax", 17), nullptr);
  EXPECT_EQ(newest_version("mine"), std::nullopt);
}

TEST(Schema, deprecation_holds_for_its_version_only) {
  EXPECT_TRUE(find_schema("", "GroupNormalization", 18)->deprecated);
  EXPECT_TRUE(find_schema("", "GroupNormalization", 20)->deprecated);
  EXPECT_FALSE(find_schema("", "GroupNormalization", 21)->deprecated);
  EXPECT_FALSE(find_schema("", "Upsample", 9)->deprecated);
  EXPECT_TRUE(find_schema("", "Upsample", 13)->deprecated);
}

TEST(Schema, flags) {
  EXPECT_TRUE(find_schema("", "Softmax", 13)->has_body);
  EXPECT_FALSE(find_schema("", "Softmax", 12)->has_body);
  EXPECT_FALSE(find_schema("", "RandomNormal", 22)->deterministic);
  EXPECT_TRUE(find_schema("", "Conv", 22)->deterministic);
}

TEST(Schema, arguments_and_their_types) {
  const Schema& conv = *find_schema("", "Conv", 11);
  ASSERT_EQ(conv.inputs.size(), 3u);
  EXPECT_EQ(conv.inputs[2].name, "B");
  EXPECT_EQ(conv.inputs[2].variable, "T");
  EXPECT_EQ(conv.inputs[2].option, ArgumentOption::optional);
  EXPECT_EQ(conv.inputs[2].types.tensors, set_of(DType::float16) | set_of(DType::float32) | set_of(DType::float64));
  EXPECT_EQ(std::tuple(conv.min_inputs, conv.max_inputs), std::tuple(2u, 3u));
  EXPECT_EQ(std::tuple(conv.min_outputs, conv.max_outputs), std::tuple(1u, 1u));
  EXPECT_EQ(conv.input(2), &conv.inputs[2]);
  EXPECT_EQ(conv.input(3), nullptr);
  const ArgumentSchema& shape = find_schema("", "Reshape", 14)->inputs[1];
  EXPECT_TRUE(shape.variable.empty());
  EXPECT_EQ(shape.types.tensors, set_of(DType::int64));
}

TEST(Schema, variadic_arguments_go_on) {
  const Schema& concat = *find_schema("", "Concat", 13);
  EXPECT_EQ(concat.input(7), &concat.inputs[0]);
  EXPECT_TRUE(concat.inputs[0].homogeneous);
  EXPECT_EQ(std::tuple(concat.min_inputs, concat.max_inputs), std::tuple(1u, Schema::kUnlimited));
  const Schema& loop = *find_schema("", "Loop", 21);
  EXPECT_EQ(loop.input(9), &loop.inputs[2]);
  EXPECT_FALSE(loop.inputs[2].homogeneous);
  EXPECT_EQ(loop.inputs[2].min_arity, 0u);
  EXPECT_EQ(std::tuple(loop.min_inputs, loop.min_outputs), std::tuple(2u, 1u));
  EXPECT_NE(loop.inputs[2].types.optional_sequences & set_of(DType::bfloat16), 0u);
}

TEST(Schema, types_that_are_not_of_tensors) {
  const TypeSet& sequence = find_schema("", "ConcatFromSequence", 11)->inputs[0].types;
  EXPECT_EQ(sequence.tensors, 0u);
  EXPECT_NE(sequence.sequences & set_of(DType::string), 0u);
  const TypeSet& optional = find_schema("", "OptionalGetElement", 15)->inputs[0].types;
  EXPECT_EQ(optional.tensors | optional.sequences, 0u);
  EXPECT_EQ(optional.optional_tensors, optional.optional_sequences);
  EXPECT_NE(optional.optional_tensors, 0u);
  const std::vector<std::string_view>& maps = find_schema("ai.onnx.ml", "ZipMap", 5)->outputs[0].types.other;
  EXPECT_EQ(maps, (std::vector<std::string_view>{"seq(map(int64, float))", "seq(map(string, float))"}));
}

TEST(Schema, attributes_and_their_defaults) {
  const Schema& conv = *find_schema("", "Conv", 11);
  EXPECT_EQ(std::get<std::string_view>(conv.find_attribute("auto_pad")->value), "NOTSET");
  EXPECT_EQ(std::get<int64_t>(conv.find_attribute("group")->value), 1);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(conv.find_attribute("strides")->value));
  EXPECT_EQ(conv.find_attribute("strides")->type, ir::AttributeType::integers);
  EXPECT_EQ(conv.find_attribute("stride"), nullptr);
  EXPECT_TRUE(find_schema("", "Cast", 13)->find_attribute("to")->required);
  EXPECT_EQ(std::get<float>(find_schema("", "LayerNormalization", 17)->find_attribute("epsilon")->value), 1e-5f);
  EXPECT_EQ(std::get<std::vector<int64_t>>(find_schema("", "MeanVarianceNormalization", 13)->attributes[0].value),
            (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(std::get<std::vector<std::string_view>>(find_schema("", "RNN", 14)->find_attribute("activations")->value),
            (std::vector<std::string_view>{"Tanh", "Tanh"}));
}

TEST(Schema, all_versions_ascend) {
  const std::vector<const Schema*> versions = schema_versions("", "Softmax");
  ASSERT_EQ(versions.size(), 3u);
  EXPECT_EQ(versions[1], find_schema("", "Softmax", 12));
  EXPECT_EQ(versions[2]->since, 13);
}

TEST(Schema, operators_of_onnx_runtime) {
  EXPECT_EQ(find_schema("", "Gelu", 19), nullptr);
  EXPECT_EQ(find_schema("com.microsoft", "Gelu", 1)->inputs.size(), 1u);
  EXPECT_EQ(find_schema("", "SimplifiedLayerNormalization", 17)->since, 1);
  EXPECT_EQ(find_schema("", "LayerNormalization", 16)->since, 1);
  EXPECT_EQ(find_schema("", "LayerNormalization", 17)->since, 17);
  EXPECT_EQ(newest_version("com.microsoft"), 1);
}

TEST(Schema, operator_names_are_sorted) {
  const std::span<const OperatorName> names = operator_names();
  EXPECT_GE(names.size(), 227u + 70u);
  const auto order = [](const OperatorName& name) { return std::tuple(name.domain, name.name); };
  EXPECT_EQ(std::ranges::adjacent_find(names, std::ranges::greater_equal(), order), names.end());
}

TEST(Schema, every_line_can_be_parsed) {
  for (const OperatorName& op : operator_names()) {
    for (const Schema* schema : schema_versions(op.domain, op.name)) {
      EXPECT_EQ(std::tuple(schema->domain, schema->name), std::tuple(op.domain, op.name));
    }
  }
}

TEST(Schema, releases) {
  ASSERT_GT(releases().size(), 30u);
  const auto found = std::ranges::find(releases(), "1.13.1", &Release::name);
  ASSERT_NE(found, releases().end());
  EXPECT_EQ(std::tuple(found->ir, found->opset, found->ml, found->training), std::tuple(8, 18, 3, 1));
  EXPECT_EQ(std::tuple(releases()[0].ir, releases()[0].training), std::tuple(3, 0));
  EXPECT_EQ(releases().back().opset, newest_version(""));
  EXPECT_EQ(releases().back().ir, newest_ir_version());
}

TEST(Schema, threads_get_the_same_object) {
  std::vector<const Schema*> seen(4);
  std::vector<std::jthread> threads;
  threads.reserve(seen.size());
  for (const Schema*& slot : seen) threads.emplace_back([&slot] { slot = find_schema("", "Attention", 24); });
  threads.clear();
  EXPECT_NE(seen[0], nullptr);
  EXPECT_EQ(std::ranges::count(seen, seen[0]), 4);
}

}  // namespace
}  // namespace assay::schema
