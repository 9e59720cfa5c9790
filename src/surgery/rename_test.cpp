#include "surgery/rename.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "onnx/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::parsed;
using testing_support::value_named;

// A body that reads values from around it, and a function with names of its own.
constexpr const char* kNested = R"(<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
  [scale] a = Mul(x, w)
  [choice] b = If(c) <then_branch = t () => (p) { [inner] p = Add(a, w) },
                      else_branch = e () => (p) { [inner] p = Sub(a, w) }>
  [call] y = f.twice(b)
}
<domain: "f", opset_import: ["" : 17]>
twice (x) => (s) { [scale_in_f] s = Add(x, x) })";

std::string refusal(const Renamings& renamings) {
  ir::Model model = parsed(kNested);
  const std::optional<Error> error = error_of([&] { rename(model, renamings); });
  return error ? error->line() : "no error";
}

TEST(Rename, ValuesThatBodiesReadKeepTheirReaders) {
  ir::Model model = parsed(kNested);
  rename(model, {.inputs = {{"x", "image"}}, .outputs = {{"y", "scores"}}, .values = {{"a", "scaled"}, {"w", "k"}}});
  const std::string text = onnx::to_text(model);
  EXPECT_NE(text.find("scaled = Mul (image, k)"), std::string::npos) << text;
  EXPECT_NE(text.find("p = Add (scaled, k)"), std::string::npos) << text;
  EXPECT_NE(text.find("scores = f.twice (b)"), std::string::npos) << text;
  EXPECT_NE(text.find("twice (x) => (s)"), std::string::npos) << text;  // names of a function are its own
}

TEST(Rename, NamesInBodiesAndFunctionsAreFoundWhereTheMainGraphHasNone) {
  ir::Model model = parsed(kNested);
  const std::vector<Renamed> done =
      rename(model, {.values = {{"p", "q"}, {"s", "sum"}}, .nodes = {{"scale_in_f", "doubled"}}});
  EXPECT_EQ(done.size(), 4u);  // both branches have a `p`
  const std::string text = onnx::to_text(model);
  EXPECT_NE(text.find("else_branch: graph = e () => (q)"), std::string::npos) << text;
  EXPECT_NE(text.find("twice (x) => (sum)"), std::string::npos) << text;
}

TEST(Rename, TwoNamesAreExchanged) {
  ir::Model model = parsed(kNested);
  rename(model, {.values = {{"a", "b"}, {"b", "a"}}, .nodes = {{"scale", "choice"}, {"choice", "scale"}}});
  EXPECT_EQ(model.text(model[model[value_named(model, "b")].producer].op), "Mul");
  EXPECT_EQ(model[model[value_named(model, "b")].producer].name, "choice");
}

TEST(Rename, PatternsCarryWhatTheirStarStandsFor) {
  ir::Model model = parsed(R"(g (float[2] x) => (float[2] y) { [m_one] m_a = Relu(x)  [m_two] y = Exp(m_a) })");
  rename(model, {.values = {{"m_*", "*"}}, .nodes = {{"m_*", "net/*"}}});
  EXPECT_EQ(model[model[value_named(model, "a")].producer].name, "net/one");
}

TEST(Rename, RefusesWhatWouldClash) {
  EXPECT_NE(refusal({.values = {{"a", "w"}}}).find("another value has that name"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"p", "a"}}}).find("another value has that name"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"a", "p"}}}).find("another value has that name"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"a", "z"}, {"b", "z"}}}).find("too, from now on"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"a", "u"}, {"a", "v"}}}).find("is given two names"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"a", ""}}}).find("is empty"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"a", "*"}}}).find("expected one `*`"), std::string::npos);
  EXPECT_NE(refusal({.nodes = {{"scale", "choice"}}}).find("another node has that name"), std::string::npos);
  EXPECT_EQ(refusal({.values = {{"a", "s"}}}), "no error");  // a name of a function
}

TEST(Rename, RefusesUnknownNames) {
  EXPECT_NE(refusal({.inputs = {{"y", "z"}}}).find("no input `y`"), std::string::npos);
  EXPECT_NE(refusal({.nodes = {{"scal", "z"}}}).find("did you mean `scale`?"), std::string::npos);
  EXPECT_NE(refusal({.nodes = {{"inner", "z"}}}).find("2 nodes are called `inner`"), std::string::npos);
  EXPECT_NE(refusal({.values = {{"q*", "z*"}}}).find("no value `q*`"), std::string::npos);
}

}  // namespace
}  // namespace assay::surgery
