#include "engine/program/views.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;

double number(size_t index) { return static_cast<double>(index); }

// Rows with a known index are shown where they lie, in the middle of a model and of its inputs.
TEST(Views, a_row_with_a_known_index_is_a_view) {
  constexpr const char* kModels[] = {
      "(float[3,2,4] x) => (float[3,4] y) <int64 i = {-1}> { a = Neg(x) r = Gather<axis = 1>(a, i) y = Abs(r) }",
      "(float[3,2,4] x) => (float[3,2] y) <int64 i = {2}> { r = Gather<axis = -1>(x, i) y = Neg(r) }",
      "(float[3,2,4] x) => (float[1,1,2,4] y) <int32[1,1] i = {1}> { r = Gather(x, i) y = Neg(r) }",
      "(float[3,2,4] x) => (float[2] y) <int64 i = {1}> { r = Gather(x, i) s = Gather<axis = 1>(r, i) y = Neg(s) }",
  };
  for (const std::string text : kModels) {
    const ir::Model model = parsed(("<ir_version: 8, opset_import: [\"\" : 17]> g " + text).c_str());
    const testing_support::EngineRun run = run_on_engine(model, number);
    EXPECT_EQ(difference(run.outputs, run_on_reference(model, number), 0), "") << text;
    for (const std::string& tactic : run.tactics) EXPECT_EQ(tactic, "elementwise.tape") << text;
  }
}

TEST(Views, an_index_outside_is_an_error) {
  const ir::Model model = parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[3,2] x) => (float[2] y) <int64 i = {3}> { y = Gather(x, i) "
      "}");
  EXPECT_THROW(run_on_engine(model, number), Error);
}

// Whatever the model declares for it.
TEST(Views, a_shape_that_data_decides_is_not_planned) {
  constexpr const char* kModels[] = {
      "(int64[3] s, float[1,3,1] x) => (float[1,3,3] y) { y = Expand(x, s) }",
      "(int64[2] s, float[5,2] x) => (float[4,2] y, float[1,2] z) { y, z = Split(x, s) }",
  };
  const auto from_two = [](size_t index) { return static_cast<double>(index + 2); };
  for (const std::string text : kModels) {
    const ir::Model model = parsed(("<ir_version: 8, opset_import: [\"\" : 17]> g " + text).c_str());
    EXPECT_EQ(difference(run_on_engine(model, from_two).outputs, run_on_reference(model, from_two), 0), "") << text;
  }
}

TEST(Views, a_resize_to_the_same_size_is_one) {
  constexpr const char* kNodes[] = {
      "<float[4] s = {1, 1, 1, 1}> { a = Neg(x) r = Resize<mode = \"linear\">(a, , s) y = Abs(r) }",
      "<int64[4] s = {1, 2, 3, 5}> { a = Neg(x) r = Resize<mode = \"nearest\">(a, , , s) y = Abs(r) }",
      "<int64[4] s = {1, 2, 3, 5}> { a = Neg(x) r = Resize<mode = \"linear\">(a, , , s) y = Abs(r) }",
  };
  for (const std::string nodes : kNodes) {
    const std::string text =
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,2,3,5] x) => (float[1,2,3,5] y) " + nodes;
    const ir::Model model = parsed(text.c_str());
    const testing_support::EngineRun run = run_on_engine(model, number);
    EXPECT_EQ(difference(run.outputs, run_on_reference(model, number), 0), "") << text;
    for (const std::string& tactic : run.tactics) EXPECT_EQ(tactic, "elementwise.tape") << text;
  }
  // 1.1 of 5 rows are 5, too, but others.
  const ir::Model model = parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,2,3,5] x) => (float[1,2,3,5] y) <float[4] s = {1, 1, 1, "
      "1.1}> { y = Resize<mode = \"linear\">(x, , s) }");
  EXPECT_EQ(difference(run_on_engine(model, number).outputs, run_on_reference(model, number), 1e-6), "");
}

// Groups of a picture's channels that take turns: one copy, and pictures stay as convolutions want them.
TEST(Views, channels_are_shuffled_pixel_by_pixel) {
  const tensor::Shape dims = {1, 29, 2, 7, 5};  // of which a picture of 58 channels is made
  const TensorDesc shuffled{tensor::DType::float32, dims, {2030, 1, 29, 5 * 58, 58}};
  EXPECT_FALSE(find_reshaped(shuffled, {1, 58, 7, 5}));
  const std::optional<TensorDesc> picture = find_reshaped(make_reshapable(shuffled, {1, 58, 7, 5}), {1, 58, 7, 5});
  ASSERT_TRUE(picture);
  EXPECT_TRUE(has_layout(*picture, Layout::channels_last));
}

// Of drawn shapes in any order of dims.
TEST(Views, what_is_made_to_be_reshaped_can_be) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    tensor::Shape factors(1 + random() % 6);
    for (int64_t& factor : factors) factor = static_cast<int64_t>(1 + random() % 4);
    const auto joined = [&] {
      tensor::Shape dims = {1};
      for (const int64_t factor : factors) {
        if (random() % 2 == 0) dims.push_back(1);
        dims.back() *= factor;
      }
      return dims;
    };
    const tensor::Shape from = joined(), to = joined();
    std::vector<size_t> order(from.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    TensorDesc desc{tensor::DType::float32, from, from};
    int64_t stride = 1;
    for (const size_t dim : order) desc.strides[dim] = std::exchange(stride, stride * from[dim]);
    const TensorDesc made = make_reshapable(desc, to);
    EXPECT_EQ(made.dims, from);
    EXPECT_TRUE(is_dense(made));
    EXPECT_TRUE(find_reshaped(made, to)) << round;
  }
}

}  // namespace
}  // namespace assay::engine
