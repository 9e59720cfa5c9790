#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/ir_version.h"
#include "onnx/document.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/older_versions.h"
#include "onnx/text.h"

namespace assay::onnx {
namespace {

constexpr std::string_view kText = R"(<ir_version: 9, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[4] v = {1, 2, 3, 4}> {
  a = Add(x, w)
  b = ReduceSum(v)
  y = Mul(a, b)
})";

ir::Model model_from(std::string_view text) {
  Diagnostics findings;
  return parse_text(text, findings);
}

ir::Model import_bytes(const std::vector<std::byte>& bytes, bool ignore_external_data = false) {
  Diagnostics findings;
  ImportOptions options;
  options.ignore_external_data = ignore_external_data;
  return import_document(Document(MappedFile::from_bytes(bytes, "encoded")), options, findings);
}

ir::ValueId find_value(const ir::Model& model, std::string_view name) {
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    if (model.text(model[ir::ValueId{i}].name) == name) return ir::ValueId{i};
  }
  return {};
}

std::vector<std::string> output_names(const ir::Model& model) {
  std::vector<std::string> names;
  for (const ir::Use& use : model.outputs(model.main_graph())) names.emplace_back(model.text(model[use.value].name));
  return names;
}

// OpenVINO does not know a file as a model in which two imports stand before the graph.
TEST(Encode, FieldsStandInTheOrderOfTheirNumbers) {
  const EncodedModel encoded =
      encode(model_from("<ir_version: 10, opset_import: [\"\" : 21, \"d\" : 1], producer_name: \"p\">"
                        "g (float[2] x) => (float[2] y) { y = Relu(x) }"));
  FieldReader reader({encoded.bytes, encoded.bytes.data()});
  std::vector<uint32_t> numbers;
  for (Field field; reader.next(field);) numbers.push_back(field.number);
  EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 2, 7, 8, 8}));
}

TEST(Encode, AnUneditedModelKeepsItsBytes) {
  const std::vector<std::byte> once = encode(model_from(kText)).bytes;
  EXPECT_EQ(encode(import_bytes(once)).bytes, once);
}

TEST(Encode, ValuesBecomeOutputsBehindTheOthers) {
  const ir::Model built = model_from(kText);
  const ir::Model imported = import_bytes(encode(built).bytes);
  for (const ir::Model* model : {&built, &imported}) {
    EncodeOptions options;
    options.additions.outputs = {find_value(*model, "b"), find_value(*model, "a")};
    EXPECT_EQ(output_names(import_bytes(encode(*model, options).bytes)), (std::vector<std::string>{"y", "b", "a"}));
  }
}

TEST(Encode, VersionsAreReplacedAndTheRestStays) {
  const ir::Model imported = import_bytes(encode(model_from(kText)).bytes);
  EncodeOptions options;
  options.additions.versions = {.ir = 8, .opset = 15};
  const ir::Model older = import_bytes(encode(imported, options).bytes);
  EXPECT_EQ(older.header().ir_version, 8);
  EXPECT_EQ(older.header().opset_imports.at(0).version, 15);
  EXPECT_EQ(output_names(older), output_names(imported));
}

TEST(Encode, LargeInitializersAreDetached) {
  const ir::Model built = model_from(kText);
  const ir::Model imported = import_bytes(encode(built).bytes);
  for (const ir::Model* model : {&built, &imported}) {
    EncodeOptions options;
    options.detach_above_bytes = 8;
    const EncodedModel encoded = encode(*model, options);
    ASSERT_EQ(encoded.detached.size(), 1u);
    EXPECT_EQ(encoded.detached[0].name, "v");
    EXPECT_EQ(encoded.detached[0].value.tensor().count(), 4u);
    const ir::Model read = import_bytes(encoded.bytes, true);
    EXPECT_EQ(read[read[find_value(read, "v")].constant].external_location, "detached");
    EXPECT_TRUE(read[read[find_value(read, "w")].constant].external_location.empty());
  }
}

TEST(OlderVersions, IrVersionsFollowTheElementTypes) {
  EXPECT_EQ(ir::needed_ir_version(model_from(kText)), 1);
  EXPECT_EQ(ir::needed_ir_version(model_from("<ir_version: 12, opset_import: [\"\" : 23]> g (int4[2] x) => (int4[2] y) "
                                             "{ y = Identity(x) }")),
            10);
}

TEST(OlderVersions, OperatorSetsMustNotChangeAnOperator) {
  const ir::Model model = model_from(
      "<ir_version: 9, opset_import: [\"\" : 18]> g (float[2] x) => (float[2] y) "
      "{ a = ReduceMax(x) y = Tanh(a) }");
  EXPECT_TRUE(is_same_in_opset(model, 18));
  EXPECT_FALSE(is_same_in_opset(model, 17));
  const ir::Model tanh = model_from(
      "<ir_version: 9, opset_import: [\"\" : 18]> g (float[2] x) => (float[2] y) "
      "{ y = Tanh(x) }");
  EXPECT_TRUE(is_same_in_opset(tanh, 13));
  EXPECT_FALSE(is_same_in_opset(tanh, 12));
}

}  // namespace
}  // namespace assay::onnx
