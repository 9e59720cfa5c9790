#include "surgery/prune.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "onnx/text.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"
#include "surgery/sparsity/zero_smallest.h"
#include "tensor/elements.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::parsed;
using testing_support::value_named;

// The weight `w` after pruning.
std::vector<double> pruned_weight(std::string_view graph) {
  ir::Model model = parsed(std::string(graph));
  std::vector<results::SkippedWeight> skipped;
  prune(model, skipped);
  return tensor::load_elements<double>(model[model[value_named(model, "w")].constant].tensor);
}

TEST(Prune, zeroes_the_two_smallest_of_four) {
  EXPECT_EQ(pruned_weight("g (float[1,4] x) => (float[1,1] y) <float[4,1] w = {3, -1, 2, -4}> { y = MatMul(x, w) }"),
            (std::vector<double>{3, 0, 0, -4}));
  EXPECT_EQ(pruned_weight("g (float[1,4] x) => (float[1,1] y) <float[4,1] w = {5, 5, 5, 5}> { y = MatMul(x, w) }"),
            (std::vector<double>{0, 0, 5, 5}));
  EXPECT_EQ(pruned_weight("g (float[1,4] x) => (float[1,2] y) <float[4,2] w = {1,8, 2,7, 3,6, 4,5}> "
                          "{ y = MatMul(x, w) }"),
            (std::vector<double>{0, 8, 0, 7, 3, 0, 4, 0}));
}

TEST(Prune, other_forms_and_axes) {
  EXPECT_EQ(pruned_weight("g (float16[1,4] x) => (float16[1,1] y) <float16[1,4] w = {3.0, 1.0, 2.0, 4.0}> "
                          "{ y = Gemm<transB = 1>(x, w) }"),
            (std::vector<double>{3, 0, 0, 4}));
  EXPECT_EQ(pruned_weight("g (bfloat16[1,4] x) => (bfloat16[1,1] y) <bfloat16[4,1] w = {3.0, 1.0, 2.0, 4.0}> "
                          "{ y = MatMul(x, w) }"),
            (std::vector<double>{3, 0, 0, 4}));
  EXPECT_EQ(pruned_weight("g (float[1,4] x) => (float[2,1,1] y) <float[2,4,1] w = {1,2,3,4, 8,7,6,5}> "
                          "{ y = MatMul(x, w) }"),
            (std::vector<double>{0, 0, 3, 4, 8, 7, 0, 0}));
  EXPECT_EQ(pruned_weight("g (float[1,4,1,1] x) => (float[1,1,1,1] y) <float[4,1,1,1] w = {4,3,2,1}> "
                          "{ y = ConvTranspose(x, w) }"),
            (std::vector<double>{4, 3, 0, 0}));
}

TEST(Prune, a_second_time_changes_nothing) {
  ir::Model model = parsed("g (float[1,4] x) => (float[1,1] y) <float[4,1] w = {0, 1, 2, 0}> { y = MatMul(x, w) }");
  std::vector<results::SkippedWeight> skipped;
  const std::vector<PrunedWeight> weights = prune(model, skipped);
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_TRUE(weights[0].was_sparse);
  EXPECT_FALSE(model[model[value_named(model, "w")].constant].dirty);
}

// The definition, for one group.
template <typename T>
std::array<T, 4> by_definition(std::array<T, 4> items) {
  std::array<size_t, 4> order = {0, 1, 2, 3};
  const T mask = static_cast<T>(~T{0}) >> 1;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return items[i] & mask; });
  items[order[0]] = items[order[1]] = 0;
  return items;
}

template <typename T>
void compare_random(uint32_t seed) {
  std::mt19937 random(seed);
  const ops::AxisView view = {random() % 3 + 1, 4 * (random() % 30 + 1), random() % 2 == 0 ? 1 : random() % 150 + 1};
  std::vector<T> items(view.outer * view.length * view.inner);
  for (T& item : items) item = static_cast<T>(random() % 5 == 0 ? random() % 4 : random());
  std::vector<T> found(items.size());
  zero_smallest(std::as_bytes(std::span(items)), view, sizeof(T), std::as_writable_bytes(std::span(found)));
  for (uint64_t o = 0; o < view.outer; ++o) {
    for (uint64_t k = 0; k < view.length; k += 4) {
      for (uint64_t i = 0; i < view.inner; ++i) {
        std::array<T, 4> group, result;
        for (uint64_t j = 0; j < 4; ++j) group[j] = items[view.place(o, k + j, i)];
        for (uint64_t j = 0; j < 4; ++j) result[j] = found[view.place(o, k + j, i)];
        ASSERT_EQ(result, by_definition(group)) << "seed " << seed;
      }
    }
  }
}

TEST(Prune, agrees_with_the_definition) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    compare_random<uint32_t>(seed);
    compare_random<uint16_t>(seed);
  }
}

TEST(RemoveNodes, consumers_read_the_first_input) {
  ir::Model model = parsed(
      "<ir_version: 10, opset_import: [\"\" : 21, \"my\" : 1]> g (float[4] x) => (float[4] y, float[4] u) "
      "<float[4] a, float[1] w = {1}> "
      "{ a = my.Custom(x, w)\n b = Neg(a)\n y = my.Custom(b)\n u = my.Custom(x) }");
  Diagnostics findings;
  EXPECT_EQ(remove_nodes(model, {.op_types = {"Custom"}, .names = {}}, findings), 3u);
  ir::check_structure(model);
  const std::string text = onnx::to_text(model);
  EXPECT_NE(text.find("y = Neg (x)"), std::string::npos) << text;
  EXPECT_NE(text.find("u = Identity (x)"), std::string::npos) << text;
  EXPECT_EQ(text.find(" w "), std::string::npos) << text;
}

TEST(RemoveNodes, refuses_where_types_differ) {
  ir::Model model = parsed("g (float[4] x) => (float16[4] y) { y = Cast<to = 10>(x) }");
  Diagnostics findings;
  const auto remove = [&](const NodeChoice& choice) {
    return error_of([&] { remove_nodes(model, choice, findings); });
  };
  const std::optional<Error> error = remove({.op_types = {"Cast"}, .names = {}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line(),
            "the Cast node of `y` cannot be removed: its input `x` is float32[4], its result `y` float16[4]");
  const std::optional<Error> unknown = remove({.op_types = {"Cost"}, .names = {}});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->line(), "the model has no node of the type `Cost`; did you mean `Cast`?");
  const std::optional<Error> name = remove({.op_types = {}, .names = {"z"}});
  ASSERT_TRUE(name);
  EXPECT_EQ(name->line(), "there is no node `z`: did you mean `y`?");
}

TEST(RemoveNodes, by_name) {
  ir::Model model = parsed("g (float[4] x) => (float[4] y) { [one] a = Relu(x)  [two] b = Relu(a)  y = Relu(b) }");
  Diagnostics findings;
  EXPECT_EQ(remove_nodes(model, {.op_types = {}, .names = {"tw*", "a", "none*"}}, findings), 2u);
  EXPECT_EQ(findings.all().size(), 1u);
  const std::string text = onnx::to_text(model);
  EXPECT_NE(text.find("y = Relu (x)"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::surgery
