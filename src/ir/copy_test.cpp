#include <optional>

#include <gtest/gtest.h>

#include "ir/edit.h"
#include "ir/verify.h"
#include "support/model_checks.h"
#include "support/pass_checks.h"

namespace assay::ir {
namespace {

using testing_support::nodes_text;
using testing_support::parsed;
using testing_support::saved;
using testing_support::value_named;

constexpr std::string_view kCopied =
    "g (bool c, float[N] x) => (y) <float[2] w = {1, 2}> {o = Add(x, w) y = If(c) <"
    "then_branch = t () => (float[N] u) {a = Add(o, w) u = LeakyRelu <alpha = 0.5> (a)}, "
    "else_branch = e () => (v) {v = Constant <value_floats = [3.0, 4.0]> ()}> z = Neg(y)}";

TEST(ModelCopy, IsTheSameModelWithTheSameIds) {
  const Model model = parsed(std::string(kCopied));
  const Model copy = model.copy();
  check_structure(copy);
  EXPECT_EQ(nodes_text(copy), nodes_text(model));
  EXPECT_EQ(saved(copy), saved(model));
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const Value& value = model[ValueId{i}];
    const Value& twin = copy[ValueId{i}];
    EXPECT_EQ(copy.text(twin.name), model.text(value.name));
    EXPECT_EQ(twin.type, value.type);
    std::vector<NodeId> users, twin_users;
    for (const Use& use : uses(model, ValueId{i})) users.push_back(use.user);
    for (const Use& use : uses(copy, ValueId{i})) twin_users.push_back(use.user);
    EXPECT_EQ(twin_users, users);
  }
}

TEST(ModelCopy, SharesWeights) {
  const Model model = parsed(std::string(kCopied));
  const Model copy = model.copy();
  const TensorId weight = model[value_named(model, "w")].constant;
  EXPECT_EQ(copy[weight].tensor.bytes().data(), model[weight].tensor.bytes().data());
}

TEST(ModelCopy, EitherMayBeEdited) {
  Model model = parsed(std::string(kCopied));
  const std::string before = saved(model);
  Model copy = model.copy();
  Edit edit(copy);
  const ValueId o = value_named(copy, "o");
  edit.replace_uses(o, value_named(copy, "x"));
  edit.set_attribute(copy[value_named(copy, "y")].producer, Attribute::of(edit.intern("new_name"), int64_t{3}));
  edit.set_type(o, copy.types().tensor(tensor::DType::int8, {copy.dims().symbol(edit.intern("M"))}));
  check_structure(copy);
  check_structure(model);
  EXPECT_EQ(saved(model), before);
  const std::string of_copy = saved(copy);
  EXPECT_NE(of_copy, before);
  Edit(model).erase(model[value_named(model, "z")].producer);
  check_structure(copy);
  EXPECT_EQ(saved(copy), of_copy);
}

TEST(ModelCopy, OutlivesTheOriginal) {
  std::optional<Model> model = parsed(std::string(kCopied));
  Edit edit(*model);
  edit.rename(value_named(*model, "o"), edit.intern("a name that was made after the model was read"));
  const std::string text = nodes_text(*model);
  const Model copy = model->copy();
  const Model second = copy.copy();
  model.reset();
  EXPECT_EQ(nodes_text(copy), text);
  EXPECT_EQ(nodes_text(second), text);
  check_structure(second);
}

}  // namespace
}  // namespace assay::ir
