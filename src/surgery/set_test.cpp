#include "surgery/set.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "onnx/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::surgery {
namespace {

using tensor::DType;
using testing_support::error_of;
using testing_support::parsed;
using testing_support::value_named;

GivenValue word(std::string text) { return {.words = {std::move(text)}}; }
GivenValue list(std::vector<std::string> words) { return {.words = std::move(words), .is_list = true}; }

constexpr const char* kModel = R"(<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
g (float[2, 4] x, bool c) => (float[2, 4] y) <float eps = {0.05}, int64[2] shape = {2, 4}> {
  [mul] a = Mul(x, eps)
  [act] b = LeakyRelu<alpha: float = 0.1>(a)
  [soft] d = Softmax(b)
  [choice] e = If(c) <then_branch = t () => (p) { [in_then] p = Selu(d) },
                      else_branch = e () => (q) { [in_else] q = Elu<alpha: float = 2.0>(d) }>
  [call] h = f.lean(e)
  y = Reshape(h, shape)
}
<domain: "f", opset_import: ["" : 17]>
lean (u) => (w) { [in_f] w = LeakyRelu<alpha: float = 0.3>(u) })";

std::string after(const Settings& settings) {
  ir::Model model = parsed(kModel);
  set(model, settings);
  return onnx::to_text(model);
}

std::string refusal(const Settings& settings) {
  ir::Model model = parsed(kModel);
  const std::optional<Error> error = error_of([&] { set(model, settings); });
  return error ? error->line() : "no error";
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Set, AttributesInTheTypeOfTheOperator) {
  const std::string text = after({.attributes = {{"act", "alpha", word("1")}, {"d", "axis", word("0")}}});
  EXPECT_TRUE(holds(text, "LeakyRelu <alpha: float = 1> (a)")) << text;
  EXPECT_TRUE(holds(text, "Softmax <axis: int = 0> (b)")) << text;
}

TEST(Set, AttributesInBodiesAndFunctions) {
  const std::string text =
      after({.attributes = {{"in_else", "alpha", word("0.5")}, {"in_f", "alpha", word("0.25")}}, .removed = {}});
  EXPECT_TRUE(holds(text, "Elu <alpha: float = 0.5> (d)")) << text;
  EXPECT_TRUE(holds(text, "LeakyRelu <alpha: float = 0.25> (u)")) << text;
}

TEST(Set, RemovedAttributesHaveTheirDefault) {
  EXPECT_TRUE(holds(after({.removed = {{"act", "alpha"}}}), "b = LeakyRelu (a)"));
}

TEST(Set, ConstantsKeepTheirTypeAndShapesFollow) {
  ir::Model model = parsed(kModel);
  set(model, {.constants = {{"eps", word("1e-05")}, {"shape", list({"4", "-1"})}}});
  EXPECT_EQ(tensor::load_elements<double>(model[model[value_named(model, "eps")].constant].tensor)[0], 1e-5F);
  EXPECT_TRUE(holds(onnx::to_text(model), "(float[4,2] y)")) << onnx::to_text(model);
}

TEST(Set, RefusesWhatTheOperatorDoesNotTake) {
  EXPECT_TRUE(holds(refusal({.attributes = {{"soft", "axs", word("1")}}}), "did you mean `axis`?"));
  EXPECT_TRUE(holds(refusal({.attributes = {{"call", "alpha", word("1")}}}), "has no attribute `alpha`; it has none"));
  EXPECT_TRUE(holds(refusal({.attributes = {{"soft", "axis", word("0.5")}}}), "is no number of the type integer"));
  EXPECT_TRUE(holds(refusal({.attributes = {{"soft", "axis", list({"1"})}}}), "is no list"));
  EXPECT_TRUE(holds(refusal({.attributes = {{"soft", "axis", word("7")}}}), "axis 7 is out of range"));
  EXPECT_TRUE(holds(refusal({.attributes = {{"sof", "axis", word("1")}}}), "did you mean `soft`?"));
  EXPECT_TRUE(holds(refusal({.removed = {{"soft", "axis"}}}), "has no attribute `axis`"));
  EXPECT_TRUE(holds(refusal({.constants = {{"eps", list({"1", "2"})}}}), "2 number(s) for a constant float32[]"));
  EXPECT_TRUE(holds(refusal({.constants = {{"shape", list({"3", "3"})}}}), "would be wrong"));
  EXPECT_TRUE(holds(refusal({.constants = {{"a", word("1")}}}), "it is a result of"));
  EXPECT_TRUE(holds(refusal({.constants = {{"esp", word("1")}}}), "did you mean `eps`?"));
}

TEST(GivenValue, NumbersAreReadInTheirOwnType) {
  const auto number = [](const char* text, DType dtype) {
    return tensor::load_elements<double>(tensor_of(word(text), dtype, {}))[0];
  };
  EXPECT_EQ(number("0.1", DType::float64), 0.1);
  EXPECT_EQ(number("0.1", DType::float32), static_cast<double>(0.1F));
  EXPECT_EQ(number("0.1", DType::float16), 0.0999755859375);
  EXPECT_EQ(number("-inf", DType::float32), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("true", DType::boolean), 1);
  EXPECT_EQ(tensor::load_elements<uint64_t>(tensor_of(word("18446744073709551615"), DType::uint64, {}))[0],
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(tensor::load_elements<int64_t>(tensor_of(word("-9223372036854775808"), DType::int64, {}))[0],
            std::numeric_limits<int64_t>::min());
  for (const auto& [text, dtype] : {std::pair{"128", DType::int8},
                                    {"-1", DType::uint8},
                                    {"8", DType::int4},
                                    {"1.5", DType::int64},
                                    {"2", DType::boolean},
                                    {"x", DType::float32},
                                    {"1", DType::complex64}}) {
    EXPECT_TRUE(error_of([&, t = text, d = dtype] { tensor_of(word(t), d, {}); })) << text;
  }
}

}  // namespace
}  // namespace assay::surgery
