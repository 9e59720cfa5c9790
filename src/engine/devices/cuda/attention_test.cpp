// Attention of few queries on a card whose kernels the host runs, which has four processors.
#include <gtest/gtest.h>

#include "engine/devices/cuda/attention/step_shape.h"
#include "simt/layer_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::sine;

// Heads of queries and of keys, rows of queries, keys of the past and new ones, sizes of keys and of values; of a
// batch.
struct Sizes {
  int heads = 1, groups = 1, rows = 1, past = 0, fresh = 1, depth = 64, width = 64, batch = 2;
};

// An Attention that keeps its caches, with a mask of this type; empty: without one.
std::string cached(const std::string& type, const Sizes& s, const std::string& mask = "",
                   const std::string& attributes = "") {
  const auto declared = [&](int heads, int rows, int size) {
    return fmt::format("{}[{},{},{},{}]", type, s.batch, heads, rows, size);
  };
  const int keys = s.past + s.fresh;
  return fmt::format(
      "g ({} q, {} k, {} v{}, {} pk, {} pv) => ({} y, {} nk, {} nv) {{ y, nk, nv = Attention{}(q, k, v, {}, pk, pv) }}",
      declared(s.heads, s.rows, s.depth), declared(s.groups, s.fresh, s.depth), declared(s.groups, s.fresh, s.width),
      mask.empty() ? "" : fmt::format(", {}[{},{}] m", mask, s.rows, keys), declared(s.groups, s.past, s.depth),
      declared(s.groups, s.past, s.width), declared(s.heads, s.rows, s.width), declared(s.groups, keys, s.depth),
      declared(s.groups, keys, s.width), attributes, mask.empty() ? "" : "m");
}

void check(const std::string& text, double tolerance, const std::function<double(size_t)>& number = sine) {
  EXPECT_EQ(testing_support::layers_fault(text, {"attention.step"}, tolerance, number), "");
}

TEST(CardAttentionSteps, HeadsShareKeys) {
  check(cached("float16", {.heads = 16, .groups = 2, .past = 127}), 2e-3);
  check(cached("bfloat16", {.heads = 16, .groups = 2, .past = 30}), 2e-2);
  check(cached("float", {.heads = 4, .groups = 4, .past = 127}), 1e-5);
}

// Blocks divide the keys; the last part is shorter than the others.
TEST(CardAttentionSteps, BlocksDivideKeys) {
  check(cached("float16", {.heads = 2, .past = 1000, .batch = 1}), 2e-3);
  check(cached("float16", {.heads = 8, .past = 5000, .batch = 1}), 2e-3);
  check(cached("float", {.past = 700, .depth = 24, .width = 40, .batch = 1}), 1e-5);
}

TEST(CardAttentionSteps, RowsSeeWhatIsBeforeThem) {
  constexpr const char* kCausal = "<is_causal = 1>";
  check(cached("float16", {.heads = 2, .groups = 1, .rows = 4, .past = 13, .fresh = 4, .depth = 16, .width = 8}, "",
               kCausal),
        2e-3);
  // Nine queries share keys, eight of them a block.
  check(cached("float16", {.heads = 3, .groups = 1, .rows = 3, .past = 301, .fresh = 3}, "float16", kCausal), 2e-3);
  check(cached("float", {.heads = 2, .groups = 2, .rows = 2, .past = 601, .fresh = 7, .depth = 8, .width = 16}, "float",
               "<is_causal = 1, scale = 0.7>"),
        1e-5);
}

TEST(CardAttentionSteps, SizesThatLanesDoNotShareEvenly) {
  check(cached("float16", {.heads = 2, .groups = 1, .past = 37, .depth = 80, .width = 24}), 2e-3);
  check(cached("float16", {.heads = 2, .groups = 1, .past = 300, .depth = 8, .width = 256}), 2e-3);
  check(cached("float", {.heads = 1, .groups = 1, .past = 90, .depth = 256, .width = 72}), 1e-5);
}

// The second row sees nothing: it is zeros.
TEST(CardAttentionSteps, ConditionsHideKeys) {
  const Sizes sizes = {.heads = 4, .groups = 2, .rows = 2, .past = 40, .fresh = 2, .depth = 16, .width = 16};
  const size_t before = 2 * (4 * 2 + 2 * 2 + 2 * 2) * 16, keys = 42;
  const auto number = [=](size_t i) {
    if (i < before || i >= before + 2 * keys) return sine(i);
    return i - before < keys && i % 3 != 0 ? 1.0 : 0.0;
  };
  check(cached("float16", sizes, "bool"), 2e-3, number);
  check(cached("float", sizes, "bool"), 1e-5, number);
}

// Of the room of a cache, keys behind the last one are not seen, and lie in parts that blocks find empty.
TEST(CardAttentionSteps, CachesHaveRoom) {
  const auto text = [](const std::string& type, int total) {
    return fmt::format(
        "g (int32[1] n, {0}[1,1,128] q, {0}[1,1,32] k, {0}[1,1,32] v, {0}[1,1,900,32] pk, {0}[1,1,900,32] pv) => "
        "({0}[1,1,128] y, {0}[1,1,900,32] nk, {0}[1,1,900,32] nv) <int32 all = {{{1}}}> {{ y, nk, nv = "
        "com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 1>(q, k, v, pk, pv, n, all) }}",
        type, total);
  };
  for (const int total : {5, 330}) {
    const auto number = [=](size_t i) { return i == 0 ? total - 1.0 : sine(i); };
    check(text("float16", total), 2e-3, number);
    check(text("float", total), 1e-5, number);
  }
}

// The keys' memory begins at the third of its elements, which no 16 bytes do.
TEST(CardAttentionSteps, KeysBeginUnevenly) {
  const std::string text =
      "g (float16[1,2,1,16] q, float16[2883] x, float16[1,2,90,16] v) => (float16[1,2,1,16] z) <int64[1] b = {3}, "
      "int64[1] e = {2883}, int64[4] n = {1,2,90,16}, float16 s = {0.35}> { r = Neg(x) f = Slice(r, b, e) "
      "k = Reshape(f, n) t = Transpose<perm = [0,1,3,2]>(k) a = MatMul(q, t) c = Mul(a, s) w = Softmax(c) "
      "z = MatMul(w, v) }";
  EXPECT_EQ(testing_support::layers_fault(text, {"elementwise.chain", "attention.step"}, 2e-3), "");
}

// Values of keys that a row does not see are not looked at: by blocks of one query, and by blocks of several.
TEST(CardAttentionSteps, HiddenKeysCountNothing) {
  for (const size_t heads : {1, 8}) {
    const testing_support::OnCard model(
        fmt::format("<ir_version: 11, opset_import: [\"\" : 24]> g (float16[1,{0},2,8] q, float16[1,1,2,8] k, "
                    "float16[1,1,2,8] v) => (float16[1,{0},2,8] y) {{ y = Attention<is_causal = 1>(q, k, v) }}",
                    heads));
    EXPECT_EQ(model.tactics(), std::vector<std::string>{"attention.step"});
    engine::Context context(model.program(), {}, false);
    // The second key and its value are no numbers.
    const size_t keys = heads * 16, values = keys + 16;
    const auto number = [=](size_t i) {
      return (i >= keys + 8 && i < values) || i >= values + 8 ? std::nan("") : sine(i);
    };
    const std::vector<double> seen = model.run(context, number).at(0);
    for (size_t i = 0; i < heads * 16; ++i) {
      const bool sees_one = i % 16 < 8;
      EXPECT_TRUE(sees_one ? std::fabs(seen[i] - sine(values + i % 8)) < 2e-3 : std::isnan(seen[i])) << i;
    }
  }
}

// They are kept, however.
TEST(CardAttentionSteps, HiddenKeysAreKept) {
  const testing_support::OnCard model(
      "<ir_version: 11, opset_import: [\"\" : 24]> " +
      cached("float16", {.past = 3, .fresh = 2, .depth = 8, .width = 8}, "", "<is_causal = 1>"));
  engine::Context context(model.program(), {}, false);
  const auto with = [](double hidden) {  // the second of the new keys, and its value
    return [=](size_t i) { return i >= 16 && i < 80 && i / 8 % 2 == 1 ? hidden : sine(i); };
  };
  const auto seen = model.run(context, with(std::nan(""))), expected = model.expected(with(0));
  EXPECT_EQ(testing_support::difference({seen[0]}, {expected[0]}, 2e-3), "");
  for (const size_t cache : {1, 2}) {
    for (size_t i = 0; i < 80; ++i) EXPECT_EQ(std::isnan(seen[cache][i]), i % 40 >= 32) << i;
  }
}

// The last block to end is known in every run: another input gives another result.
TEST(CardAttentionSteps, BlocksCountAnewInEachRun) {
  const testing_support::OnCard model("<ir_version: 11, opset_import: [\"\" : 24]> " +
                                      cached("float16", {.heads = 2, .past = 300}));
  engine::Context context(model.program(), {}, false);
  for (const double factor : {1.0, 0.5, -1.0}) {
    const auto number = [=](size_t i) { return factor * sine(i); };
    EXPECT_EQ(testing_support::difference(model.run(context, number), model.expected(number), 2e-3), "");
  }
}

// Every division that is measured gives the same.
TEST(CardAttentionSteps, Divisions) {
  const auto check_named = [](const std::string& name, const Sizes& sizes) {
    ProgramOptions options;
    options.tactics.replayed = {{"y", "attention.step:" + name}};
    const testing_support::OnCard model("<ir_version: 11, opset_import: [\"\" : 24]> " + cached("float16", sizes),
                                        options);
    ASSERT_EQ(model.tactics(), std::vector<std::string>{options.tactics.replayed.at("y")});
    engine::Context context(model.program(), {}, false);
    EXPECT_EQ(testing_support::difference(model.run(context), model.expected(), 2e-3), "") << name;
  };
  for (const char* const name : {"1/4", "1/2", "2/4", "2/2"}) check_named(name, {.heads = 2, .past = 340, .batch = 1});
  for (const char* const name : {"1/1", "4/1", "8/1"}) check_named(name, {.heads = 6, .rows = 2, .past = 340});
}

// Steps of Llama, with heads that share keys, and of GPT-2, on 132 processors.
TEST(CardAttentionSteps, ShapesFillTheCard) {
  const auto usual = [](const StepWork& work) { return step_shapes(work, 132).front().name(); };
  const auto llama = [&](int64_t keys) { return usual({.sets = 4, .queries = 8, .keys = keys, .size = 64}); };
  EXPECT_EQ(llama(128), "1/1");
  EXPECT_EQ(llama(1000), "4/16");
  EXPECT_EQ(llama(8000), "8/32");
  const auto gpt2 = [&](int64_t keys) { return usual({.sets = 12, .queries = 1, .keys = keys, .size = 64}); };
  EXPECT_EQ(gpt2(128), "1/1");
  EXPECT_EQ(gpt2(1000), "1/16");
  EXPECT_EQ(gpt2(8000), "1/22");
  EXPECT_EQ(usual({.sets = 256, .queries = 8, .keys = 128, .size = 64}), "8/1");
}

// What the kernel does not take, and many queries of so few keys that warps would have none.
TEST(CardAttentionSteps, OthersStayWithRows) {
  const auto computes = [](const std::string& text) {
    return testing_support::layers_fault(text, {"attention.rows"}, 2e-3);
  };
  EXPECT_EQ(computes(cached("float16", {.past = 3, .depth = 12, .width = 8})), "");
  EXPECT_EQ(computes(cached("float16", {.past = 3, .depth = 8, .width = 264})), "");
  EXPECT_EQ(computes(cached("float16", {.rows = 17, .past = 3, .depth = 8, .width = 8})), "");
  EXPECT_EQ(computes(cached("float16", {.heads = 40, .groups = 40, .past = 3, .depth = 8, .width = 8})), "");
}

}  // namespace
}  // namespace assay::engine::cuda
