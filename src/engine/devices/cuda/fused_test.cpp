// Products of few rows with the normalisation before them and the gate behind them, on a card whose kernels the host
// runs.
#include <gtest/gtest.h>

#include "simt/replayed_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::difference;
using testing_support::numbers;
using testing_support::OnCard;

struct Fused {
  const char* type = "float16";
  int rows = 1, depth = 72, columns = 24;
  std::string norm = "n = LayerNormalization(x, f, h)";
  bool is_gated = false;
  double tolerance = 1e-2;

  std::string text() const {
    const std::string gates = "a = MatMul(n, w) b = MatMul(n, v) s = Sigmoid(a) t = Mul(a, s) z = Mul(t, b) }";
    const auto weights = [&](const char* name) {
      return numbers(fmt::format("{}[{},{}] {}", type, depth, columns, name), depth * columns);
    };
    return fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 23]> g ({0}[{1},{2}] x, {0}[{1},{3}] r) => ({0}[{1},{3}] z, "
        "{0}[{1},{3}] q) "
        "<{4}, {5}, {6}, {7}, int64[1] last = {{-1}}, {0} few = {{1e-3}}> {{ {8} q = Neg(r) {9}",
        type, rows, depth, columns, weights("w"), weights("v"), numbers(fmt::format("{}[{}] f", type, depth), depth),
        numbers(fmt::format("{}[{}] h", type, depth), depth), norm,
        is_gated ? gates : "a = MatMul(n, w) z = Add(a, r) }");
  }
};

void check(const Fused& fused, const std::string& variant) {
  testing_support::check_replayed(fused.text(), "product.fused:" + variant, fused.tolerance);
}

TEST(CardFused, NormsOfEachKind) {
  check({}, "rows");
  check({.rows = 3, .depth = 40, .columns = 9, .norm = "n = RMSNormalization(x, f)"}, "rows");
  check({.type = "bfloat16",
         .rows = 2,
         .depth = 2056,
         .columns = 17,
         .norm = "n = LayerNormalization(x, f)",
         .tolerance = 0.3},
        "rows");
  check({.rows = 8,
         .depth = 136,
         .columns = 70,
         .norm = "u = Mul(x, x) m = ReduceMean<keepdims = 1>(u, last) e = Add(m, few) d = Sqrt(e) g = Div(x, d) n = "
                 "Mul(g, f)"},
        "rows");
}

TEST(CardFused, Gates) {
  check({.is_gated = true}, "rows");
  check({.rows = 3, .depth = 264, .columns = 37, .norm = "n = RMSNormalization(x, f)", .is_gated = true}, "rows");
  check({.depth = 24, .columns = 5000, .norm = "n = LayerNormalization(x, f, h)", .is_gated = true}, "rows");
}

// The codes of both halves, and a bias, which keeps them apart.
TEST(CardFused, GatesOfCodes) {
  using testing_support::codes;
  for (const bool has_bias : {false, true}) {
    const std::string product =
        fmt::format("com.microsoft.MatMulNBits<K = 256, N = 24, bits = 4, block_size = 32>(n, w{{0}}, s{{0}}{})",
                    has_bias ? ", , , b" : "");
    const auto of_half = [&](int half) {
      return codes(fmt::format("uint8[24,8,16] w{}", half), 24 * 8 * 16, half) + ", " +
             numbers(fmt::format("float16[192] s{}", half), 192);
    };
    const std::string text = fmt::format(
        "<ir_version: 10, opset_import: [\"\" : 23, \"com.microsoft\" : 1]> g (float16[2,256] x) => (float16[2,24] z) "
        "<{}, {}, {}, {}> {{ n = RMSNormalization(x, f) p = {} q = {} e = Sigmoid(p) t = Mul(p, e) z = Mul(t, q) }}",
        of_half(0), of_half(1), numbers("float16[256] f", 256), numbers("float16[24] b", 24),
        fmt::format(fmt::runtime(product), 0), fmt::format(fmt::runtime(product), 1));
    const OnCard model(text);
    EXPECT_EQ(model.tactics().size(), has_bias ? 3U : 1U);
    engine::Context context(model.program(), {}, false);
    EXPECT_EQ(difference(model.run(context), model.expected(), 2), "");
  }
}

// Lowering makes no layers for kernels that may not be used.
TEST(CardFused, LeftOut) {
  const testing_support::HostCard card;
  LoweringRules rules = card.device().rules();
  const int64_t depthwise = rules.most_depthwise;
  card.device().leave_out("product.fused:rows", rules);
  EXPECT_EQ(rules.most_fused_rows, rules.few_rows);
  card.device().leave_out("product.fused", rules);
  EXPECT_EQ(rules.most_fused_rows, 0);
  EXPECT_EQ(rules.most_depthwise, depthwise);
  card.device().leave_out("conv.separable", rules);
  EXPECT_EQ(rules.most_depthwise, 0);
  EXPECT_TRUE(rules.multiplies_float8);
  card.device().leave_out("product.codes", rules);
  EXPECT_FALSE(rules.multiplies_float8);
}

TEST(CardFused, NoOtherVariant) {
  ProgramOptions options;
  options.tactics.replayed = {{"z", "product.fused:columns"}};
  EXPECT_THROW(OnCard(Fused().text(), options), Error);
}

TEST(CardFused, PartByPart) {
  check({}, "apart");
  check({.rows = 4, .columns = 30, .norm = "n = RMSNormalization(x, f)", .is_gated = true}, "apart");
}

}  // namespace
}  // namespace assay::engine::cuda
