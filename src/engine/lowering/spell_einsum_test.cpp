#include "engine/lowering/spell_einsum.h"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/walk.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::parsed;

bool has_einsum(const ir::Model& model) {
  for (const ir::NodeId node : ir::live_nodes(model)) {
    if (model.text(model[node].op) == "Einsum") return true;
  }
  return false;
}

void expect_spelled(const std::string& text, bool is_spelled = true) {
  const ir::Model model = parsed(text);
  ir::Model spelled = model.copy();
  ir::Rewriter rewriter(spelled);
  spell_einsum(spelled, rewriter);
  EXPECT_EQ(has_einsum(spelled), !is_spelled) << text;
  const auto number = [](size_t i) { return static_cast<double>(i * 7 % 11) - 5; };
  EXPECT_EQ(difference(testing_support::run_on_reference(spelled, number),
                       testing_support::run_on_reference(model, number), 0),
            "")
      << text << " is " << rewriter.steps().size();
  EXPECT_EQ(difference(testing_support::run_on_engine(model, number).outputs,
                       testing_support::run_on_reference(model, number), 1e-6),
            "")
      << text;
}

std::string model_of(const std::string& type, const std::vector<std::string>& terms, const std::string& equation,
                     const std::map<char, int>& sizes, int version) {
  std::string inputs;
  std::string operands;
  for (size_t i = 0; i < terms.size(); ++i) {
    std::string dims;
    for (const char label : terms[i]) dims += fmt::format("{}{}", dims.empty() ? "" : ",", sizes.at(label));
    const std::string shape = terms[i].empty() ? "" : fmt::format("[{}]", dims);
    inputs += fmt::format("{}{}{} x{}", i == 0 ? "" : ", ", type, shape, i);
    operands += fmt::format("{}x{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : {}]> g ({}) => ({} y) {{ y = Einsum<equation = \"{}\">({}) }}", version,
      inputs, type, equation, operands);
}

TEST(SpellEinsum, DrawnEquations) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    std::map<char, int> sizes;
    for (const char label : std::string("abcdef")) sizes[label] = static_cast<int>(1 + random() % 4);
    std::vector<std::string> terms(1 + random() % 3);
    std::string all;
    for (std::string& term : terms) {
      std::string labels = "abcdef";
      std::ranges::shuffle(labels, random);
      term = labels.substr(0, random() % 5);
      all += term;
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    std::ranges::shuffle(all, random);
    const std::string output = all.substr(0, random() % (all.size() + 1));
    const std::string equation = fmt::format("{}->{}", fmt::join(terms, ","), output);
    const char* const types[] = {"float", "int32", "double"};
    expect_spelled(model_of(types[random() % 3], terms, equation, sizes, round % 2 == 0 ? 12 : 17));
  }
}

TEST(SpellEinsum, DimsThatAreRepeatedAndEllipses) {
  const std::string head = "<ir_version: 8, opset_import: [\"\" : 17]> g ";
  expect_spelled(head +
                 "(float[2,1,3] a, float[2,4,3] b) => (float y) { y = Einsum<equation = \"bij,bij->bi\">(a, b) }");
  expect_spelled(head +
                 "(float[1,5,3] a, float[2,3,4] b) => (float y) { y = Einsum<equation = \"...ij,...jk\">(a, b) }");
  expect_spelled(head + "(float[2,5,3] a, float[3] b) => (float y) { y = Einsum<equation = \"...j,j->...\">(a, b) }");
}

TEST(SpellEinsum, WhatIsLeftAlone) {
  const std::string head = "<ir_version: 8, opset_import: [\"\" : 17]> g ";
  expect_spelled(head + "(float[3,3] a) => (float y) { y = Einsum<equation = \"ii->i\">(a) }", false);
  expect_spelled(head + "(float[0,3] a, float[3,2] b) => (float y) { y = Einsum<equation = \"ij,jk\">(a, b) }", false);
  expect_spelled(head + "(float16[2,3] a, float16[3,2] b) => (float16 y) { y = Einsum<equation = \"ij,jk\">(a, b) }",
                 false);
}

}  // namespace
}  // namespace assay::engine
