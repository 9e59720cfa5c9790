#include "ir/selection.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/parsed_model.h"

namespace assay::ir {
namespace {

constexpr const char* kSelected =
    "g (float[1] x) => (float[1] y) { c = Constant <value_float = 1.0> () t = Relu(x) u = Exp(t) y = Add(u, c) }";

std::vector<std::string> selected(const OutputSelection& selection) {
  const Model model = testing_support::parsed(kSelected);
  Diagnostics findings;
  std::vector<std::string> names;
  for (const ValueId value : select_outputs(model, selection, findings))
    names.emplace_back(model.text(model[value].name));
  for (const Diagnostic& finding : findings.all()) names.push_back("! " + finding.message);
  return names;
}

std::string error_of(const OutputSelection& selection) {
  try {
    selected(selection);
    return "";
  } catch (const Error& error) {
    return error.message();
  }
}

using Names = std::vector<std::string>;

TEST(SelectOutputs, of_nothing_said_are_the_models_own) { EXPECT_EQ(selected({}), (Names{"y"})); }

TEST(SelectOutputs, everything_is_all_results_but_constants) {
  EXPECT_EQ(selected({.is_everything = true}), (Names{"t", "u", "y"}));
}

TEST(SelectOutputs, names_wildcards_types_and_exclusions) {
  EXPECT_EQ(selected({.names = {"u", "t", "u"}}), (Names{"u", "t"}));
  EXPECT_EQ(selected({.names = {"[tu]"}}), (Names{"t", "u"}));
  EXPECT_EQ(selected({.op_types = {"relu", "Add"}}), (Names{"t", "y"}));
  EXPECT_EQ(selected({.excluded = {"u"}, .is_everything = true}), (Names{"t", "y"}));
}

TEST(SelectOutputs, debugged_are_beside_the_others) {
  EXPECT_EQ(selected({.debugged = {"u", "y", "x"}}), (Names{"y", "u", "x"}));
  EXPECT_EQ(selected({.names = {"t"}, .excluded = {"u"}, .debugged = {"u"}}), (Names{"t", "u"}));
  EXPECT_EQ(error_of({.debugged = {"tt"}}), "the model has no value `tt`; did you mean `t`?");
}

TEST(SelectOutputs, a_nodes_name_means_its_results) {
  const Model model = testing_support::parsed("g (float[4] x) => (float[2] y, float[2] z) { [cut] y, z = Split(x) }");
  Diagnostics findings;
  EXPECT_EQ(select_outputs(model, {.names = {"cut"}}, findings).size(), 2U);
}

TEST(SelectOutputs, what_fits_nothing) {
  EXPECT_EQ(error_of({.names = {"tt"}}), "the model has no value `tt`; did you mean `t`?");
  EXPECT_EQ(error_of({.op_types = {"Ad"}}), "the model has no node of the type `Ad`; did you mean `Add`?");
  EXPECT_EQ(error_of({.excluded = {"*"}}), "no output is left to be computed");
  EXPECT_EQ(selected({.names = {"y", "q*"}}), (Names{"y", "! no value of the model matches `q*`"}));
}

}  // namespace
}  // namespace assay::ir
