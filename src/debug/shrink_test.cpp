#include "debug/shrink.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "debug/cut_block.h"
#include "ir/walk.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::debug {
namespace {

tensor::Tensor counted(tensor::Shape shape) {
  std::vector<float> numbers(tensor::element_count(shape).value());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  return tensor::make_tensor(tensor::DType::float32, std::move(shape), std::span<const float>(numbers));
}

// numpy: arange(24).reshape(2, 3, 4)[:2, :2, :3].ravel()
TEST(CutBlock, TakesTheBeginningOfEachAxis) {
  const tensor::Tensor block = cut_block(counted({2, 3, 4}), {2, 2, 3});
  EXPECT_EQ(tensor::load_elements<double>(block), (std::vector<double>{0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18}));
  EXPECT_THROW(cut_block(counted({2, 3}), {2, 4}), Error);
}

const char* const kModel =
    "g (float[8,6] x) => (float[8,4] y, float[8,4] z) <float[6,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,"
    "19,20,21,22,23,24}, float[4] c = {1,2,3,4}> {y = Gemm<alpha = 2.0>(x, w, c) z = Neg(y)}";

Shrunk shrunk_while(std::function<bool(const ir::Model&)> fails) {
  const ir::Model model = testing_support::parsed(kModel);
  const tensor::NamedData inputs = {{"x", tensor::Datum(counted({8, 6}))}};
  return shrink(model, inputs,
                [&](const ir::Model& changed, const tensor::NamedData&, const std::string&) { return fails(changed); });
}

bool has(const Shrunk& shrunk, std::string_view change) {
  return std::ranges::find(shrunk.changes, change) != shrunk.changes.end();
}

TEST(Shrink, TakesAllThatIsNotNeeded) {
  const Shrunk all = shrunk_while([](const ir::Model&) { return true; });
  for (const std::string_view change : {"size 8 to 1", "size 6 to 1", "size 4 to 1"}) {
    EXPECT_TRUE(has(all, change)) << change;
  }
  EXPECT_EQ(all.model.outputs(all.model.main_graph()).size(), 1U);
  EXPECT_EQ(all.inputs[0].value.tensor().shape(), (tensor::Shape{1, 1}));
}

TEST(Shrink, LeavesWhatTheFailureNeeds) {
  const Shrunk scaled = shrunk_while([](const ir::Model& model) {
    bool has_alpha = false;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph()))
      has_alpha = has_alpha || model.find_attribute(model[node], "alpha") != nullptr;
    return has_alpha && model.outputs(model.main_graph()).size() == 2;
  });
  EXPECT_TRUE(has(scaled, "without the operand C of `y`"));
  EXPECT_FALSE(has(scaled, "without the attribute alpha of `y`"));
  EXPECT_FALSE(has(scaled, "without the output `z`"));
  const Shrunk none = shrunk_while([](const ir::Model&) { return false; });
  EXPECT_TRUE(none.changes.empty());
  EXPECT_EQ(none.inputs[0].value.tensor().shape(), (tensor::Shape{8, 6}));
}

TEST(Shrink, AsksOnlyAboutModelsThatRun) {
  shrunk_while([](const ir::Model& model) {
    EXPECT_GT(model.outputs(model.main_graph()).size(), 0U);
    for (const ir::Use& use : model.outputs(model.main_graph())) EXPECT_TRUE(model[use.value].type);
    return false;
  });
}

}  // namespace
}  // namespace assay::debug
