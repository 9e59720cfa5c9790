// Layers on a card whose kernels the host runs: which kernels compute them, and what they give.
#include <gtest/gtest.h>

#include "simt/layer_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::difference;
using testing_support::OnCard;

using testing_support::codes;
using testing_support::numbers;

void check(const std::string& text, const std::vector<std::string>& tactics, double tolerance = 1e-5) {
  EXPECT_EQ(testing_support::layers_fault(text, tactics, tolerance), "");
}

TEST(CardLayers, ChainsWithBroadcastOperands) {
  check("g (float[2,3,8] x, float[3,1] y) => (float[2,3,8] z) { a = Mul(x, y) b = Sigmoid(a) z = Add(b, x) }",
        {"elementwise.chain"});
  check("g (float16[5,7] x, bool[7] c, float16[5,1] y) => (float16[5,7] z) { z = Where(c, x, y) }",
        {"elementwise.chain"}, 1e-3);
}

TEST(CardLayers, Float8IsAStepOfAChain) {
  for (const int type : {17, 19}) {
    check(fmt::format("g (float16[300] x) => (float16[300] z) <float16 s = {{0.013}}, float16 t = {{0.02}}> {{ "
                      "q = QuantizeLinear<output_dtype = {}>(x, s) z = DequantizeLinear(q, t) }}",
                      type),
          {"elementwise.chain"}, 0);
    check(fmt::format("g (float[300] x) => (float[300] z) {{ q = Cast<to = {}>(x) z = Cast<to = 1>(q) }}", type),
          {"elementwise.chain"}, 0);
  }
}

// Codes of float8 stay codes between products, whose sums are scaled by column.
TEST(CardLayers, ProductsOfFloat8) {
  const auto weights = [](const char* name, int depth, int columns) {
    return numbers(fmt::format("float8e4m3fn[{},{}] {}", depth, columns, name), depth * columns);
  };
  for (const auto& [rows, depth, columns] :
       {std::tuple(40, 160, 96), std::tuple(130, 272, 72), std::tuple(17, 36, 20)}) {
    check(fmt::format(
              "g (float16[{0},{1}] x) => (float16[{0},{1}] z) <float16 s = {{0.01}}, float16 t = {{0.02}}, "
              "float16[{2}] u = {{{3}}}, {4}, {5}, {6}> {{ xq = QuantizeLinear<output_dtype = 17>(x, s) "
              "xd = DequantizeLinear(xq, s) vd = DequantizeLinear<axis = 1>(v, u) m = MatMul(xd, vd) a = Add(m, b) "
              "g = Gelu(a) gq = QuantizeLinear<output_dtype = 17>(g, t) gd = DequantizeLinear(gq, t) "
              "wd = DequantizeLinear(w, s) z = MatMul(gd, wd) }}",
              rows, depth, columns, fmt::join(std::vector<double>(static_cast<size_t>(columns), 0.1), ","),
              weights("v", depth, columns), weights("w", columns, depth),
              numbers(fmt::format("float16[{}] b", columns), columns)),
          {"elementwise.chain", "product.codes", "product.codes"}, 4e-3);
  }
}

// In blocks that take tiles in turns, which finish two results of the same thread at once.
TEST(CardLayers, TilesOfFloat8InTurns) {
  for (const char* const tile : {"turns:128x128/1", "turns:128x64/1"}) {
    ProgramOptions options;
    options.tactics.replayed = {{"gq", std::string("product.codes:") + tile},
                                {"z", std::string("product.codes:") + tile}};
    const OnCard model(
        "<ir_version: 11, opset_import: [\"\" : 24]> g (float16[150,160] x, float16[150,160] r) => "
        "(float16[150,160] z) <float16 s = {0.01}, float16 t = {0.02}, " +
            numbers("float8e4m3fn[160,96] v", 160 * 96) + ", " + numbers("float8e4m3fn[96,160] w", 96 * 160) + ", " +
            numbers("float16[96] b", 96) +
            "> { xq = QuantizeLinear<output_dtype = 17>(x, s) xd = DequantizeLinear(xq, s) vd = "
            "DequantizeLinear(v, t) m = MatMul(xd, vd) a = Add(m, b) g = Gelu(a) gq = "
            "QuantizeLinear<output_dtype = 17>(g, t) gd = DequantizeLinear(gq, t) wd = DequantizeLinear(w, s) "
            "p = MatMul(gd, wd) z = Add(p, r) }",
        options);
    engine::Context context(model.program(), {}, false);
    EXPECT_EQ(difference(model.run(context), model.expected(), 4e-3), "") << tile;
  }
}

// Results of float32 are those of products of what float8 stands for.
TEST(CardLayers, ResultsOfFloat32AreOfExactSums) {
  check("g (float[40,64] x) => (float[40,24] z) <float s = {0.01}, " + numbers("float8e4m3fn[64,24] w", 64 * 24) +
            "> { q = QuantizeLinear<output_dtype = 17>(x, s) d = DequantizeLinear(q, s) v = DequantizeLinear(w, s) "
            "z = MatMul(d, v) }",
        {"elementwise.chain", "product.tiles"}, 1e-5);
}

TEST(CardLayers, IntegersAreExact) {
  check("g (int64[4,6] x, int64[6] y) => (int64[4,6] z) { a = Add(x, y) b = Mul(a, a) z = Sub(b, y) }",
        {"elementwise.chain", "elementwise.chain", "elementwise.chain"}, 0);
  check("g (float[40] x) => (int32[40] z) { z = Cast<to = 6>(x) }", {"elementwise.chain"}, 0);
}

TEST(CardLayers, Products) {
  check("g (float[33,20] x, float[20,17] y) => (float[33,17] z) { a = MatMul(x, y) z = Relu(a) }", {"product.tiles"});
  check("g (float16[2,40,64] x, float16[2,64,24] y) => (float16[2,40,24] z) { z = MatMul(x, y) }", {"product.tiles"},
        2e-3);
  check(
      "g (bfloat16[40,64] x, bfloat16[24,64] y, bfloat16[24] b) => (bfloat16[40,24] z) { "
      "z = Gemm<transB = 1>(x, y, b) }",
      {"product.tiles"}, 2e-2);
}

// Few rows by constant columns, of which more than registers hold, and fewer; and the weights of one pixel.
TEST(CardLayers, ProductsOfFewRows) {
  for (const auto& [rows, depth, columns] :
       {std::tuple(1, 72, 5), std::tuple(3, 4104, 37), std::tuple(8, 520, 130), std::tuple(2, 40, 40000)}) {
    check(fmt::format(
              "g (bfloat16[{0},{1}] x, bfloat16[{0},{2}] r) => (bfloat16[{0},{2}] z) <{3}, {4}> {{ y = MatMul(x, w) "
              "s = Add(y, b) t = Add(s, r) z = Relu(t) }}",
              rows, depth, columns, numbers(fmt::format("bfloat16[{},{}] w", depth, columns), depth * columns),
              numbers(fmt::format("bfloat16[{}] b", columns), columns)),
          {"product.rows"}, 0.5);
  }
  check("g (float16[1,1,40] x) => (float16[1,24] z) <int64[2] row = {1,40}, " + numbers("float16[40,24] w", 24 * 40) +
            ", " + numbers("float16[24] b", 24) + "> { r = Reshape(x, row) z = Gemm(r, w, b) }",
        {"product.rows"}, 5e-3);
  check("g (float16[2,40,1,1] x) => (float16[2,24,1,1] z) <" + numbers("float16[24,40,1,1] w", 24 * 40) +
            "> { y = Conv(x, w) z = Sigmoid(y) }",
        {"product.rows"}, 5e-3);
}

// Float32 on tensor cores: rounded to eleven bits where that is permitted, or three products that are nearly exact.
TEST(CardLayers, ProductsOfFloatsOnTensorCores) {
  const std::string text =
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[33,70] x, float[70,17] y) => (float[33,17] z) { z = "
      "MatMul(x, y) }";
  const auto greatest_error = [&](const std::string& tactic, bool permits_tf32) {
    ProgramOptions options{.permits_tf32 = permits_tf32};
    options.tactics.replayed = {{"z", "product.tiles:" + tactic}};
    const OnCard model(text, options);
    EXPECT_EQ(model.tactics(), std::vector<std::string>{"product.tiles:" + tactic});
    engine::Context context(model.program(), {}, false);
    const auto seen = model.run(context), expected = model.expected();
    double greatest = 0;
    for (size_t i = 0; i < seen[0].size(); ++i) greatest = std::max(greatest, std::abs(seen[0][i] - expected[0][i]));
    return greatest;
  };
  EXPECT_LT(greatest_error("32x32/2", false), 3e-6);
  EXPECT_LT(greatest_error("tf32x3:32x32/1", false), 6e-6);
  const double rounded = greatest_error("tf32:32x32/1", true);
  EXPECT_LT(rounded, 6e-3);
  EXPECT_GT(rounded, 1e-5);
}

TEST(CardLayers, InfinityStaysOnTensorCores) {
  ProgramOptions options;
  options.tactics.replayed = {{"z", "product.tiles:tf32x3:32x32/1"}};
  const OnCard model(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[33,70] x, float[70,17] y) => (float[33,17] z) { z = "
      "MatMul(x, "
      "y) }",
      options);
  engine::Context context(model.program(), {}, false);
  const auto number = [](size_t i) {
    return i == 5 ? std::numeric_limits<double>::infinity() : 0.25 + static_cast<double>(i % 3);
  };
  EXPECT_EQ(difference(model.run(context, number), model.expected(number), 1e-5), "");
}

TEST(CardLayers, ProductsInPartsOfTheDepth) {
  check("g (float[4,512] x) => (float[4,16] z) <" + numbers("float[512,16] w", 512 * 16) + ", " +
            numbers("float[16] b", 16) + "> { a = MatMul(x, w) z = Add(a, b) }",
        {"product.tiles"}, 1e-4);
  check("g (float16[9,1024] x) => (float16[9,16] z) <" + numbers("float16[1024,16] w", 1024 * 16) +
            "> { a = MatMul(x, w) z = Neg(a) }",
        {"product.tiles"}, 2e-2);
  check("g (uint8[3,2048] x, uint8 zero) => (int32[3,16] z) <" + codes("int8[2048,16] w", 2048 * 16) +
            "> { z = MatMulInteger(x, w, zero) }",
        {"product.codes"}, 0);
}

TEST(CardLayers, Windows) {
  check("g (float[1,3,9,11] x) => (float[1,5,5,6] z) <" + numbers("float[5,3,3,3] w", 135) + ", " +
            numbers("float[5] b", 5) + "> { a = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w, b) z = Relu(a) }",
        {"conv.tiles"});
  check("g (float16[2,16,6,6] x) => (float16[2,24,6,6] z) <" + numbers("float16[24,8,3,3] w", 24 * 8 * 9) +
            "> { z = Conv<pads = [1,1,1,1], group = 2>(x, w) }",
        {"conv.tiles"}, 5e-3);
  check("g (float[1,8,7,7] x, float[1,8,7,7] y) => (float[1,8,7,7] z) <" + numbers("float[8,1,3,3] w", 72) +
            "> { a = Conv<pads = [2,2,2,2], dilations = [2,2], group = 8>(x, w) z = Add(a, y) }",
        {"conv.depthwise"});
}

// A first convolution has its picture in planes, one behind it with channels last; neither is copied.
TEST(CardLayers, PicturesOfFewChannelsAreReadAsTheyLie) {
  for (const auto& [type, tolerance] : {std::pair("float", 1e-5), std::pair("float16", 2e-2)}) {
    const OnCard model(fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]> g ({0}[2,3,17,22] x) => ({0}[2,5,5,6] z) "
        "<{1}, {2}> {{ y = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w) "
        "c = Conv<pads = [1,1,1,1], strides = [2,2]>(y, v) z = Relu(c) }}",
        type, numbers(fmt::format("{}[3,3,3,3] w", type), 81), numbers(fmt::format("{}[5,3,3,3] v", type), 135)));
    EXPECT_EQ(model.tactics(), (std::vector<std::string>{"conv.tiles", "conv.tiles"}));
    const auto is_copy = [](const Step& step) { return !step.node.valid() && !step.is_transfer; };
    EXPECT_EQ(std::ranges::count_if(model.program().steps(), is_copy), 1);  // of the result
    engine::Context context(model.program(), {}, false);
    EXPECT_EQ(difference(model.run(context), model.expected(), tolerance), "");
  }
}

// Whole packs on both sides, and no step of the depth that looks through two places of a window.
TEST(CardLayers, StepsThatLieStraight) {
  check("g (float16[1,128,6,5] x) => (float16[1,40,3,3] z) <" + numbers("float16[40,128,3,3] w", 40 * 128 * 9) +
            "> { z = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w) }",
        {"conv.tiles"}, 5e-2);
  check("g (float[2,16,6,7] x) => (float[2,24,4,3] z) <" + numbers("float[24,16,2,3] w", 24 * 16 * 6) +
            "> { z = Conv<pads = [0,1,0,0], dilations = [2,2]>(x, w) }",
        {"conv.tiles"});
  check(
      "g (float16[70,96] x) => (float16[70,40] z) <" + numbers("float16[96,40] w", 96 * 40) + "> { z = MatMul(x, w) }",
      {"product.tiles"}, 5e-3);
  check("g (float16[37,640] x) => (float16[37,32] z) <" + numbers("float16[640,32] w", 640 * 32) +
            "> { z = MatMul(x, w) }",
        {"product.tiles"}, 2e-2);
}

// Operands that stream through shared memory, by a block for each tile, by clusters that share the depth, and by blocks
// that take tiles in turns.
class Streams : public testing::TestWithParam<const char*> {
 protected:
  // Checks a model of one layer that makes z.
  static void check(const std::string& text, std::string_view family, double tolerance) {
    ProgramOptions options{.permits_tf32 = true};
    options.tactics.replayed = {{"z", fmt::format("{}:{}", family, GetParam())}};
    const OnCard model("<ir_version: 10, opset_import: [\"\" : 21]> " + text, options);
    ASSERT_EQ(model.tactics().back(), options.tactics.replayed.at("z")) << text;
    engine::Context context(model.program(), {}, false);
    const auto first = model.run(context);
    EXPECT_EQ(difference(first, model.expected(), tolerance), "") << text.substr(0, 200);
    for (int run = 0; run < 2; ++run) EXPECT_EQ(difference(model.run(context), first, 0), "");
  }
};

TEST_P(Streams, Products) {
  for (const auto& [type, tolerance] :
       {std::pair("float16", 0.1), std::pair("bfloat16", 0.5), std::pair("float", 0.1)}) {
    const auto matrix = [&](int a, int b) { return fmt::format("{}[{},{}]", type, a, b); };
    for (const auto& [rows, columns, depth] :
         {std::tuple(130, 100, 520), std::tuple(730, 136, 200), std::tuple(530, 264, 768)}) {
      check(fmt::format(
                "g ({} x, {} r) => ({} z) <{}, {}> {{ y = MatMul(x, w) s = Add(y, b) t = Add(s, r) z = Relu(t) }}",
                matrix(rows, depth), matrix(rows, columns), matrix(rows, columns),
                numbers(matrix(depth, columns) + " w", depth * columns),
                numbers(fmt::format("{}[{}] b", type, columns), columns)),
            "product.tiles", tolerance);
    }
  }
  check("g (float16[150,256] x) => (float16[150,264] z) <" + numbers("float16[256,264] w", 256 * 264) + ", " +
            numbers("float16[264] b", 264) + "> { y = MatMul(x, w) s = Add(y, b) z = Relu(s) }",
        "product.tiles", 0.05);
  check("g (float16[2,150,256] x) => (float16[2,150,136] z) <" + numbers("float16[256,136] w", 256 * 136) + ", " +
            numbers("float16[150,136] b", 150 * 136) + "> { y = MatMul(x, w) z = Add(y, b) }",
        "product.tiles", 0.05);
  check(
      "g (float16[3,70,512] x, float16[3,72,512] y) => (float16[3,70,72] z) { t = Transpose<perm = [0,2,1]>(y) "
      "z = MatMul(x, t) }",
      "product.tiles", 0.1);
}

TEST_P(Streams, Windows) {
  const std::string filters = numbers("float16[72,128,3,3] w", 72 * 128 * 9);
  check("g (float16[3,128,17,11] x) => (float16[3,72,9,6] z) <" + filters +
            "> { z = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w) }",
        "conv.tiles", 0.2);
  check("g (float[2,64,9,7] x) => (float[2,40,9,7] z) <" + numbers("float[40,64,3,3] w", 40 * 64 * 9) +
            "> { z = Conv<pads = [1,1,1,1]>(x, w) }",
        "conv.tiles", 0.1);
  check("g (float16[1,256,8,9] x) => (float16[1,72,8,9] z) <" + filters +
            "> { z = Conv<pads = [2,2,2,2], dilations = [2,2], group = 2>(x, w) }",
        "conv.tiles", 0.2);
  check("g (float16[2,3,33,37] x) => (float16[2,40,17,19] z) <" + numbers("float16[40,3,7,7] w", 40 * 147) +
            "> { y = Conv<pads = [3,3,3,3], strides = [2,2]>(x, w) z = Relu(y) }",
        "conv.tiles", 0.1);
  check("g (float16[2,4,21,14] x) => (float16[2,24,10,7] z) <" + numbers("float16[24,4,7,7] w", 24 * 196) +
            "> { z = Conv<pads = [2,2,3,3], strides = [2,2]>(x, w) }",
        "conv.tiles", 0.1);
}

INSTANTIATE_TEST_SUITE_P(CardLayers, Streams,
                         testing::Values("streams:64x32/1", "streams:64x64/4", "streams:128x64/2", "turns:128x64/1",
                                         "turns:128x256/1", "turns:128x192/1", "apart:128x128/1", "apart:64x256/1",
                                         "pairs:128x256/1", "pairs-apart:128x128/1"));

// An operand whose address maps refuse is copied first.
TEST(CardLayers, StreamsOfWhatLiesUnevenly) {
  const OnCard model(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float16[4488] x) => (float16[70,48] z, float16[4488] q) "
      "<int64[1] b = "
      "{3}, int64[1] e = {4483}, int64[2] rows = {70, 64}, " +
      numbers("float16[64,48] w", 64 * 48) +
      "> { y = Neg(x) s = Slice(y, b, e) r = Reshape(s, rows) z = MatMul(r, w) q = Neg(y) }");
  engine::Context context(model.program(), {}, false);
  const int before = testing_support::host_driver::copies;
  EXPECT_EQ(difference(model.run(context), model.expected(), 5e-3), "");
  EXPECT_GT(testing_support::host_driver::copies, before);
}

// Rows that do not follow each other.
TEST(CardLayers, NothingStreamsBackwards) {
  for (const char* const rows : {"r = Expand(x, dims)", "r = Slice(y, b, e, axes, steps)"}) {
    check(fmt::format(
              "g (float16[1,64] x, float16[70,64] y) => (float16[70,48] z) <int64[2] dims = {{70, 64}}, int64[1] b "
              "= {{-1}}, int64[1] e = {{-100}}, int64[1] axes = {{0}}, int64[1] steps = {{-1}}, {}> {{ {} "
              "z = MatMul(r, w) }}",
              numbers("float16[64,48] w", 64 * 48), rows),
          {"product.tiles"}, 5e-3);
  }
}

TEST(CardLayers, ProductsOfIntegers) {
  check("g (uint8[5,40] x, uint8 zero) => (int32[5,24] z) <" + codes("int8[40,24] w", 960) +
            "> { z = MatMulInteger(x, w, zero) }",
        {"product.codes"}, 0);
  check("g (float[9,32] x) => (float[9,16] z) <float s = {0.01}, uint8 o = {120}, float t = {0.02}, int8 n = {0}, " +
            codes("int8[32,16] w", 512) +
            "> { q = QuantizeLinear(x, s, o) a = DequantizeLinear(q, s, o) b = DequantizeLinear(w, t, n) "
            "z = MatMul(a, b) }",
        {"elementwise.chain", "product.codes"}, 1e-5);
}

TEST(CardLayers, WindowsOfIntegersSeeTheZeroPointBesideThePicture) {
  const auto window = [](int channels) {
    return fmt::format(
        "g (float[1,{0},6,6] x) => (float[1,8,6,6] z) <float s = {{0.01}}, uint8 o = {{120}}, "
        "float t = {{0.02}}, int8 n = {{0}}, {1}, {2}> {{ q = QuantizeLinear(x, s, o) "
        "a = DequantizeLinear(q, s, o) c = DequantizeLinear(w, t, n) "
        "y = Conv<pads = [1,1,1,1]>(a, c, b) z = Relu(y) }}",
        channels, codes(fmt::format("int8[8,{},3,3] w", channels), 72 * channels), numbers("float[8] b", 8));
  };
  for (const int channels : {16, 3}) check(window(channels), {"elementwise.chain", "conv.codes"}, 1e-4);
}

TEST(CardLayers, WindowsOfIntegersWhoseWeightsHaveZeroPoints) {
  for (const int groups : {1, 2}) {
    check(
        fmt::format("g (float[2,{0},7,6] x) => (float[2,8,4,6] z) <float s = {{0.01}}, uint8 o = {{120}}, float[8] t = "
                    "{{0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08}}, uint8[8] n = {{90,0,255,128,3,77,14,200}}, {1}> {{ "
                    "q = QuantizeLinear(x, s, o) a = DequantizeLinear(q, s, o) c = DequantizeLinear<axis = 0>(w, t, n) "
                    "z = Conv<pads = [1,2,1,2], strides = [2,1], dilations = [1,2], group = {2}>(a, c) }}",
                    16 * groups, codes("uint8[8,16,3,3] w", 1152, 0), groups),
        {"elementwise.chain", "conv.codes"}, 1e-3);
  }
}

TEST(CardLayers, PoolsAndResampling) {
  check(
      "g (float[1,4,9,9] x) => (float[1,4,5,5] z) { z = MaxPool<kernel_shape = [3,3], strides = [2,2], "
      "pads = [1,1,1,1]>(x) }",
      {"pool.windows"}, 0);
  check("g (float[1,4,6,6] x) => (float[1,4,3,3] z) { z = AveragePool<kernel_shape = [2,2], strides = [2,2]>(x) }",
        {"pool.windows"});
  check(
      "g (float[1,2,4,5] x) => (float[1,2,8,10] z) <float[4] s = {1,1,2,2}> { "
      "z = Resize<mode = \"linear\">(x, , s) }",
      {"resize.terms"});
}

TEST(CardLayers, Rows) {
  check("g (float[3,70] x) => (float[3,70] z) { z = Softmax(x) }", {"softmax.rows"});
  check("g (float[2,5,6] x) => (float[2,5,6] z) { z = LogSoftmax<axis = 1>(x) }", {"softmax.rows"});
  check("g (float[6,80] x) => (float[6,80] z) <" + numbers("float[80] s", 80) + ", " + numbers("float[80] b", 80) +
            "> { z = LayerNormalization(x, s, b) }",
        {"normalization.rows"});
  for (const int length : {8, 200, 1024, 1032, 83}) {  // the first three in registers
    for (const char* const type : {"float", "float16"}) {
      check(fmt::format("g ({0}[6,{1}] x, {0}[{1}] s, {0}[{1}] b) => ({0}[6,{1}] y, {0}[6,{1}] z) {{ "
                        "y = LayerNormalization(x, s, b) z = RMSNormalization(x, s) }}",
                        type, length),
            {"normalization.rows", "normalization.rows"}, std::string_view(type) == "float" ? 1e-5 : 2e-2);
    }
  }
  check(
      "g (float[2,4,5,5] x) => (float[2,4,5,5] z) <float[4] s = {1,2,3,4}, float[4] b = {0,1,0,1}> { "
      "z = InstanceNormalization(x, s, b) }",
      {"normalization.rows"}, 1e-4);
}

// Nothing is left of such a row, however near its factor is.
TEST(CardLayers, RowsOfOneNumber) {
  for (const int length : {56, 1032}) {
    const std::string text = fmt::format(
        "g (float16[6,{0}] x) => (float16[6,{0}] z) <{1}, {2}> {{ z = LayerNormalization<epsilon = 1e-12>(x, s, b) }}",
        length, numbers(fmt::format("float16[{}] s", length), length),
        numbers(fmt::format("float16[{}] b", length), length));
    const auto number = [](size_t) { return 1000.0; };
    EXPECT_EQ(testing_support::layers_fault(text, {"normalization.rows"}, 0, number), "");
  }
}

TEST(CardLayers, Reductions) {
  check("g (float[7,33] x) => (float[7] z) <int64[1] a = {1}> { z = ReduceMean<keepdims = 0>(x, a) }",
        {"reduction.rows"});
  check("g (float[7,3,5] x) => (float[7,5] z) <int64[1] a = {1}> { y = Exp(x) z = ReduceSum<keepdims = 0>(y, a) }",
        {"reduction.rows"});
  for (const char* const op : {"ReduceMean", "ReduceMax", "ReduceL2"}) {
    check(fmt::format("g (float[3,70,45] x) => (float[3,1,45] z) <int64[1] a = {{1}}> {{ z = {}(x, a) }}", op),
          {"reduction.rows"}, 1e-5);
  }
  check("g (float[7,33] x) => (int64[7,1] z) { z = ArgMax<axis = 1>(x) }", {"reduction.places"}, 0);
  for (const int last : {0, 1}) {
    check(
        fmt::format("g (float[3,900] x) => (int64[3,1] z) {{ y = Floor(x) z = ArgMin<axis = 1, select_last_index = {}>"
                    "(y) }}",
                    last),
        {"elementwise.chain", "reduction.places"}, 0);
  }
}

TEST(CardLayers, Attention) {
  check(
      "g (float[1,2,5,8] q, float[1,2,8,6] k, float[1,2,6,4] v, float[1,1,5,6] m) => (float[1,2,5,4] z) "
      "<float s = {0.35}> { a = MatMul(q, k) b = Mul(a, s) c = Add(b, m) d = Softmax(c) z = MatMul(d, v) }",
      {"attention.rows"});
  check(
      "g (float16[1,2,5,8] q, float16[1,2,8,6] k, float16[1,2,6,4] v) => (float16[1,2,5,4] z) "
      "<float16 s = {0.35}> { a = MatMul(q, k) b = Mul(a, s) d = Softmax(b) z = MatMul(d, v) }",
      {"attention.rows"}, 5e-3);
}

// In tiles of queries and of keys that neither fills, by warps that share keys and by warps with queries of their own.
TEST(CardLayers, AttentionOnTensorCores) {
  const auto spelled = [](const char* type, int items, int rows) {
    return fmt::format(
        "g ({0}[{1},{2},32] q, {0}[{1},70,32] k, {0}[{1},70,48] v, {0}[1,{2},70] m) => ({0}[{1},{2},48] z) "
        "<{0} s = {{0.35}}> {{ t = Transpose<perm = [0,2,1]>(k) a = MatMul(q, t) b = Mul(a, s) c = Add(b, m) d = "
        "Softmax(c) z = MatMul(d, v) }}",
        type, items, rows);
  };
  check(spelled("float16", 1, 40), {"attention.tiles"}, 5e-3);
  check(spelled("float16", 4, 70), {"attention.tiles"}, 5e-3);
  check(spelled("bfloat16", 2, 17), {"attention.tiles"}, 4e-2);
  check(spelled("float", 1, 40), {"attention.rows"});
  for (const auto& [items, rows] : {std::pair(1, 40), std::pair(4, 70)}) {
    const OnCard model("<ir_version: 10, opset_import: [\"\" : 24]> " + spelled("float", items, rows),
                       {.permits_tf32 = true});
    EXPECT_EQ(model.tactics(), std::vector<std::string>{"attention.tiles"});
    engine::Context context(model.program(), {}, false);
    EXPECT_EQ(difference(model.run(context), model.expected(), 5e-3), "");
    EXPECT_NE(difference(model.run(context), model.expected(), 1e-6), "");
  }
}

TEST(CardLayers, AttentionOnTensorCoresHidesKeys) {
  const auto run = [](const std::string& text, const std::function<double(size_t)>& number) {
    const OnCard model("<ir_version: 10, opset_import: [\"\" : 24]> " + text);
    EXPECT_EQ(model.tactics(), std::vector<std::string>{"attention.tiles"});
    engine::Context context(model.program(), {}, false);
    EXPECT_EQ(difference(model.run(context, number), model.expected(number), 5e-3), "") << text;
  };
  run("g (float16[1,2,80,16] q, float16[1,2,80,16] k, float16[1,2,80,16] v) => (float16[1,2,80,16] z) { z = "
      "Attention<is_causal = 1>(q, k, v) }",
      testing_support::sine);
  run("g (float16[1,1,16,16] q, float16[1,1,16,16] k, float16[1,1,16,16] v, bool[16,16] m) => (float16[1,1,16,16] z) { "
      "z = "
      "Attention(q, k, v, m) }",
      [](size_t i) { return i < 3 * 256 ? testing_support::sine(i) : (i / 16 % 16 == 3 || i % 3 == 0 ? 0.0 : 1.0); });
}

TEST(CardLayers, Movement) {
  check("g (float[2,3] x, float[2,4] y) => (float[2,7] z) { z = Concat<axis = 1>(x, y) }", {"movement.concat"}, 0);
  check("g (float[4,6] x) => (float[6,4] z) { a = Transpose<perm = [1,0]>(x) z = Relu(a) }", {"elementwise.chain"}, 0);
}

TEST(CardLayers, OperandsMayBeginInTheMiddleOfValues) {
  check(
      "g (float[4,33] x) => (float[4,32] z) <int64[1] b = {1}, int64[1] e = {33}, int64[1] a = {1}> { "
      "y = Slice(x, b, e, a) z = Neg(y) }",
      {"elementwise.chain"}, 0);
}

TEST(CardLayers, ReductionsOfHalvesAreJoinedWithChains) {
  check("g (float16[7,33] x) => (float16[7] z) <int64[1] a = {1}> { y = Exp(x) z = ReduceMean<keepdims = 0>(y, a) }",
        {"reduction.rows"}, 2e-3);
}

TEST(CardLayers, ALayerWithoutAKernelRunsOnTheProcessor) {
  check(
      "g (float[2,3,40] x) => (float[2,3,40] z) <int64 a = {2}> { y = Relu(x) d = Cast<to = 11>(y) c = Exp(d) "
      "z = Cast<to = 1>(c) }",
      {"elementwise.chain", "elementwise.chain", "cpu: reference", "elementwise.chain"});
}

}  // namespace
}  // namespace assay::engine::cuda
