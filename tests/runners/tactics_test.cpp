// Every tactic of convolutions and matrix products against the reference operators, on drawn layers.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/onednn/library.h"
#include "engine/devices/cpu/processor.h"
#include "engine/lowering/lower.h"
#include "engine/run/context.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using testing_support::parsed;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <typename T>
  T one_of(std::initializer_list<T> items) {
    return *(items.begin() + random_() % items.size());
  }
  // `float[2,3] name = {…}`
  std::string constant(const std::string& name, const tensor::Shape& shape) {
    std::string text = fmt::format("float[{}] {} = {{", fmt::join(shape, ","), name);
    const uint64_t count = *tensor::element_count(shape);
    for (uint64_t i = 0; i < count; ++i) text += fmt::format("{}{:.4f}", i == 0 ? "" : ",", number());
    return text + "}";
  }
  std::string codes(const std::string& name, const tensor::Shape& shape, int most = 127) {
    std::string text = fmt::format("int8[{}] {} = {{", fmt::join(shape, ","), name);
    const uint64_t count = *tensor::element_count(shape);
    const auto all = static_cast<unsigned>(2 * most + 1);
    for (uint64_t i = 0; i < count; ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ",", static_cast<int>(random_() % all) - most);
    return text + "}";
  }
  // Scales.
  std::string positive(const std::string& name, const tensor::Shape& shape) {
    std::string text = shape.empty() ? fmt::format("float {} = {{", name)
                                     : fmt::format("float[{}] {} = {{", fmt::join(shape, ","), name);
    const uint64_t count = *tensor::element_count(shape);
    for (uint64_t i = 0; i < count; ++i)
      text += fmt::format("{}{:.5f}", i == 0 ? "" : ",", 0.002 + 0.001 * (number() + 1));
    return text + "}";
  }
  double number() { return static_cast<double>(random_() % 2001) / 1000.0 - 1.0; }

 private:
  std::mt19937 random_;
};

// What follows a product `p` of the shape of `r`, an input.
std::string ending(Draw& draw) {
  return draw.one_of<const char*>({"y = Identity(p)", "y = Relu(p)", "s = Sigmoid(p) y = Mul(p, s)",
                                   "a = Add(p, r) y = Relu(a)", "y = LeakyRelu<alpha = 0.1>(p)", "y = HardSwish(p)",
                                   "c = Clip(p, low, high) y = Add(c, r)", "h = Relu(p) y = Mul(r, h)"});
}

std::string drawn_convolution(unsigned seed) {
  Draw draw(seed);
  const int64_t kernel = draw.one_of<int64_t>({1, 3, 3, 3, 5});
  const int64_t stride = draw.one_of<int64_t>({1, 1, 2});
  const int64_t groups = draw.one_of<int64_t>({1, 1, 1, 2, 16});
  const int64_t channels = draw.one_of<int64_t>({1, 2, 3, 16, 48, 64}) * (groups == 1 ? 1 : groups);
  const int64_t out_channels = draw.one_of<int64_t>({1, 3, 16, 64, 130, 144}) * groups;
  const int64_t height = draw.one_of<int64_t>({5, 8, 13, 30});
  const int64_t width = draw.one_of<int64_t>({6, 9, 17, 33});
  const int64_t pad = draw.one_of<int64_t>({0, 1, kernel / 2});
  const int64_t batch = draw.one_of<int64_t>({1, 1, 2});
  const auto out = [&](int64_t size) { return (size + 2 * pad - kernel) / stride + 1; };
  const std::string result = fmt::format("float[{},{},{},{}]", batch, out_channels, out(height), out(width));
  return fmt::format(
      "g (float[{0},{1},{2},{3}] x, {4} r) => ({4} y) <{5}, {6}, float low = {{-0.5}}, float high = {{2}}> {{ p = "
      "Conv<pads = [{7},{7},{7},{7}], strides = [{8},{8}], group = {9}>(x, w, b) {10} }}",
      batch, channels, height, width, result, draw.constant("w", {out_channels, channels / groups, kernel, kernel}),
      draw.constant("b", {out_channels}), pad, stride, groups, ending(draw));
}

// Over one dim, which has the other beside it or not.
std::string drawn_line(unsigned seed) {
  Draw draw(seed);
  const bool is_transposed = draw.one_of({true, false, false, false});
  const int64_t kernel = draw.one_of<int64_t>({1, 3, 4, 5});
  const int64_t stride = draw.one_of<int64_t>({1, 1, 2});
  const int64_t dilation = draw.one_of<int64_t>({1, 1, 3});
  const int64_t groups = draw.one_of<int64_t>({1, 1, 16});
  const int64_t channels = draw.one_of<int64_t>({1, 3, 16, 48}) * groups;
  const int64_t out_channels = draw.one_of<int64_t>({1, 16, 130, 144}) * groups;
  const int64_t size = draw.one_of<int64_t>({13, 40, 101});
  const int64_t before = draw.one_of<int64_t>({0, 1, 2}), after = draw.one_of<int64_t>({0, 1});
  const int64_t batch = draw.one_of<int64_t>({1, 1, 3});
  const int64_t reach = dilation * (kernel - 1);
  const int64_t out = is_transposed ? (size - 1) * stride + reach + 1 - before - after
                                    : (size + before + after - reach - 1) / stride + 1;
  enum class Form : uint8_t { line, row, column };
  const Form form = draw.one_of({Form::line, Form::row, Form::column});
  // A number of this dim, with that of the other one beside it.
  const auto pair = [&](int64_t number, int64_t other) {
    if (form == Form::line) return fmt::format("{}", number);
    return form == Form::row ? fmt::format("{},{}", other, number) : fmt::format("{},{}", number, other);
  };
  tensor::Shape weights = {out_channels, channels / groups};
  if (is_transposed) weights = {channels, out_channels / groups};
  if (form == Form::row) weights.push_back(1);
  weights.push_back(kernel);
  if (form == Form::column) weights.push_back(1);
  const std::string result = fmt::format("float[{},{},{}]", batch, out_channels, pair(out, 1));
  return fmt::format(
      "g (float[{0},{1},{2}] x, {3} r) => ({3} y) <{4}, {5}, float low = {{-0.5}}, float high = {{2}}> {{ p = "
      "{6}<pads = [{7},{8}], strides = [{9}], dilations = [{10}], group = {11}>(x, w, b) {12} }}",
      batch, channels, pair(size, 1), result, draw.constant("w", weights), draw.constant("b", {out_channels}),
      is_transposed ? "ConvTranspose" : "Conv", pair(before, 0), pair(after, 0), pair(stride, 1), pair(dilation, 1),
      groups, ending(draw));
}

// A convolution of integers between its quantisers, with or without a sum before the last.
std::string drawn_quantized(unsigned seed) {
  Draw draw(seed);
  const int64_t kernel = draw.one_of<int64_t>({1, 3});
  const int64_t groups = draw.one_of<int64_t>({1, 1, 16});
  const int64_t channels = groups == 1 ? draw.one_of<int64_t>({3, 16, 40}) : 16;
  const int64_t out_channels = groups == 1 ? draw.one_of<int64_t>({8, 64, 72}) : 16;
  const int64_t side = draw.one_of<int64_t>({5, 9});
  const std::string codes = draw.one_of<const char*>({"uint8", "int8"});
  const int64_t zero = codes == "uint8" ? draw.one_of<int64_t>({0, 100, 128}) : draw.one_of<int64_t>({0, 0, -7});
  const bool is_by_channel = draw.one_of({true, false});
  const tensor::Shape scales = is_by_channel ? tensor::Shape{out_channels} : tensor::Shape{};
  const std::string rest = draw.one_of<const char*>(
      {"y = QuantizeLinear(p, t, z)", "h = Relu(p) y = QuantizeLinear(h, t, z)",
       "a = QuantizeLinear(p, t, z) b = DequantizeLinear(a, t, z) d = DequantizeLinear(r, s, z) "
       "e = Add(b, d) h = Relu(e) y = QuantizeLinear(h, t, z)",
       "h = Sigmoid(p) m = Mul(p, h) y = QuantizeLinear(m, t, z)"});
  const std::string picture = fmt::format("{0}[2,{1},{2},{2}]", codes, out_channels, side);
  return fmt::format(
      "g ({0}[2,{1},{2},{2}] x, {3} r) => ({3} y) <{4}, {5}, {6}, float s = {{0.03}}, float t = {{0.07}}, {0} z = "
      "{{{7}}}> "
      "{{ f = DequantizeLinear(x, s, z) v = DequantizeLinear<axis = 0>(w, u) p = Conv<pads = [{8},{8},{8},{8}], group "
      "= "
      "{9}>(f, v, c) {10} }}",
      codes, channels, side, picture, draw.codes("w", {out_channels, channels / groups, kernel, kernel}),
      draw.constant("c", {out_channels}), draw.positive("u", scales), zero, kernel / 2, groups, rest);
}

std::string drawn_product(unsigned seed) {
  Draw draw(seed);
  const int64_t rows = draw.one_of<int64_t>({1, 2, 5, 33});
  const int64_t depth = draw.one_of<int64_t>({1, 2, 17, 64, 130});
  const int64_t columns = draw.one_of<int64_t>({1, 3, 64, 129, 256});
  const bool turns = draw.one_of({true, false});
  const bool is_gemm = draw.one_of({true, false});
  const tensor::Shape weights = is_gemm && turns ? tensor::Shape{columns, depth} : tensor::Shape{depth, columns};
  const std::string product = is_gemm ? fmt::format("p = Gemm<transB = {}>(x, w, b)", turns ? 1 : 0)
                                      : std::string("m = MatMul(x, w) p = Add(m, b)");
  return fmt::format(
      "g (float[{0},{1}] x, float[{0},{2}] r) => (float[{0},{2}] y) <{3}, {4}, float low = {{-0.5}}, float high = "
      "{{2}}> "
      "{{ {5} {6} }}",
      rows, depth, columns, draw.constant("w", weights), draw.constant("b", {columns}), product, ending(draw));
}

// Of two inputs; the right one may be turned over, and there may be several of each.
std::string drawn_computed_product(unsigned seed) {
  Draw draw(seed);
  const std::string items = draw.one_of<const char*>({"", "", "2,", "2,3,"});
  const std::string right_items = draw.one_of({true, false}) ? items : std::string();
  const int64_t rows = draw.one_of<int64_t>({1, 2, 9, 60});
  const int64_t depth = draw.one_of<int64_t>({1, 17, 64, 130});
  const int64_t columns = draw.one_of<int64_t>({1, 3, 64, 129, 256, 400});
  const bool turns = draw.one_of({true, false});
  const std::string right = turns ? fmt::format("{},{}", columns, depth) : fmt::format("{},{}", depth, columns);
  const size_t dims = 2 + static_cast<size_t>(std::ranges::count(right_items, ','));
  const char* const order = dims == 2 ? "1, 0" : dims == 3 ? "0, 2, 1" : "0, 1, 3, 2";
  const std::string turned = turns ? fmt::format("t = Transpose<perm = [{}]>(w)", order) : "t = Identity(w)";
  return fmt::format(
      "g (float[{0}{1},{2}] x, float[{3}{4}] w, float[{0}{1},{5}] r) => (float[{0}{1},{5}] y) <float low = {{-0.5}}, "
      "float high = {{2}}> {{ {6} p = MatMul(x, t) {7} }}",
      items, rows, depth, right_items, right, columns, turned, ending(draw));
}

std::vector<ops::InputDatum> drawn_inputs(const ir::Model& model, unsigned seed) {
  Draw draw(seed);
  std::vector<ops::InputDatum> inputs;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const ir::Type& type = model[model[input].type];
    tensor::Shape shape;
    for (const ir::DimId dim : type.dims) shape.push_back(*model.dims().as_constant(dim));
    std::vector<double> numbers(*tensor::element_count(shape));
    const double scale = tensor::is_integer(type.dtype) ? 100 : 1;
    const double shift = type.dtype == tensor::DType::uint8 ? 120 : 0;
    for (double& number : numbers) number = std::round(draw.number() * scale * 1000) / 1000 + shift;
    inputs.push_back({input, ops::make_rounded(type.dtype, shape, numbers)});
  }
  return inputs;
}

template <typename Runner>
std::vector<double> output_of(const ir::Model& model, unsigned seed, Runner&& run) {
  std::vector<double> numbers;
  const std::vector<ops::InputDatum> inputs = drawn_inputs(model, seed);
  const std::vector<ir::ValueId> wanted = {model.outputs(model.main_graph())[0].value};
  run(inputs, wanted,
      [&](ir::ValueId, const tensor::Datum& datum) { numbers = tensor::load_elements<double>(datum.tensor()); });
  return numbers;
}

// The tactics of products and convolutions that were measured.
std::set<std::string> tactics_of(const TimingCache& cache) {
  std::set<std::string> tactics;
  std::istringstream lines(cache.text());
  for (std::string line; std::getline(lines, line);) {
    const std::string tactic = line.substr(line.find(' ') + 1);
    const bool is_product = tactic.starts_with("conv.") || tactic.starts_with("product.");
    if (std::isdigit(static_cast<unsigned char>(line[0])) != 0 && is_product) tactics.insert(tactic);
  }
  return tactics;
}

class Tactics : public testing::Test {
 protected:
  Tactics() : device_(cpu::make_device({cpu::onednn::Library::find({}, reason_)})) {}

  std::vector<double> run(const ir::Model& model, unsigned seed, const TacticOptions& tactics) {
    ProgramOptions options;
    options.tactics = tactics;
    const Program program(model, Devices(*device_), options);
    Context context(program, {}, false);
    return output_of(model, seed, [&](auto&&... arguments) { context.run(arguments...); });
  }

  // How often each implementation was compared.
  void compare(const std::string& text, unsigned seed, std::map<std::string, int>& counts,
               const Precision& precision = {}) {
    ir::Model model = parsed(text);
    ir::Rewriter rewriter(model);
    lower(model, rewriter, precision);
    // Winograd's bound for its results is 1e-5 of their root mean square, and 2^-6 in bfloat16, which has 8 bits; there
    // the reference rounds after every operator.
    const double bound = precision.bfloat16 ? 0.02 : 1.5e-5;
    const std::vector<double> expected =
        output_of(model, seed, [&](auto&&... arguments) { ops::Interpreter(model, {}).run(arguments...); });
    // What follows may make the results smaller than the products whose share Winograd's error is.
    const double most_of_winograd = precision.bfloat16 ? 0x1p-5 * mean_product(text, seed) : 0;
    TacticOptions measured;
    measured.measures = true;
    measured.seconds_per_tactic = 0;
    measured.cache = std::make_shared<TimingCache>();
    expect_close(run(model, seed, measured), expected, {bound, most_of_winograd},
                 "the quickest of " + text.substr(0, 80));
    ir::NodeId layer;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      const std::string_view op = model.text(model[node].op);  // layers are named after what they begin with
      for (const char* const first : {"Conv", "MatMul", "Gemm", "DequantizeLinear"}) {
        if (op.starts_with(first)) layer = node;
      }
    }
    for (const std::string& tactic : tactics_of(*measured.cache)) {
      TacticOptions replay;
      replay.replayed.emplace(layer_name(model, layer), tactic);
      const double most = tactic.starts_with("conv.winograd") ? most_of_winograd : 0;
      expect_close(run(model, seed, replay), expected, {bound, most},
                   fmt::format("{} of {}", tactic, text.substr(0, 80)));
      ++counts[tactic.substr(0, tactic.find('/'))];
    }
  }

  // The root mean square of `p`, in float32.
  static double mean_product(const std::string& text, unsigned seed) {
    std::string product = text;
    product.replace(product.find(" y)"), 3, " p)");
    ir::Model model = parsed(product);
    return mean(output_of(model, seed, [&](auto&&... arguments) { ops::Interpreter(model, {}).run(arguments...); }));
  }
  static double mean(const std::vector<double>& numbers) {
    double squares = 0;
    for (const double number : numbers) squares += number * number;
    return std::sqrt(squares / static_cast<double>(numbers.size()));
  }

  // How far results may be off: by a share of their root mean square, and half as much of themselves; and in all cases.
  struct Bounds {
    double share, least;
  };
  static void expect_close(const std::vector<double>& found, const std::vector<double>& expected, const Bounds& bounds,
                           const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    const double most = 1e-6 + std::max(bounds.share * mean(expected), bounds.least);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (std::abs(found[i] - expected[i]) <= most + bounds.share / 2 * std::abs(expected[i])) continue;
      ADD_FAILURE() << what << ": " << found[i] << " instead of " << expected[i] << " at " << i;
      return;
    }
  }

  std::string reason_;
  std::unique_ptr<Device> device_;
};

TEST_F(Tactics, OfConvolutionsAgreeWithTheReference) {
  ASSERT_EQ(reason_, "");
  std::map<std::string, int> counts;
  for (unsigned seed = 0; seed < 60; ++seed) compare(drawn_convolution(seed), seed, counts);
  for (const char* const name : {"conv.onednn:rows", "conv.onednn:channels", "conv.winograd:lanes",
                                 "conv.winograd:stages", "conv.pointwise", "conv.windows"}) {
    EXPECT_GE(counts[name], 3) << name;
  }
}

TEST_F(Tactics, OfConvolutionsOfLinesAgreeWithTheReference) {
  std::map<std::string, int> counts;
  for (unsigned seed = 0; seed < 80; ++seed) compare(drawn_line(seed), seed, counts);
  for (const char* const name : {"conv.onednn:rows", "conv.onednn:channels", "conv.windows"}) {
    EXPECT_GE(counts[name], 10) << name;
  }
}

// One of oneDNN's implementations, which is left out, is wrong there. Kernels that a convolution at stride 1 would fill
// with many zeros stay transposed, and have one tactic.
TEST_F(Tactics, OfTransposedConvolutionsOfManyChannelsAgreeWithTheReference) {
  Draw draw(1);
  for (const auto& [kernel, side, count] : {std::tuple(4, 12, 3U), std::tuple(3, 11, 0U)}) {
    std::map<std::string, int> counts;
    compare(fmt::format("g (float[1,256,6,6] x) => (float[1,64,{0},{0}] y) <{1}, {2}> {{ y = ConvTranspose<"
                        "strides = [2,2], pads = [1,1,1,1]>(x, w, b) }}",
                        side, draw.constant("w", {256, 64, kernel, kernel}), draw.constant("b", {64})),
            1, counts);
    EXPECT_EQ(counts.size(), count) << kernel;
  }
}

// One row cannot be shared: others than the library come first then, where they compute the layer.
TEST_F(Tactics, OfOneRowLeaveNoThreadIdle) {
  const auto first_choice = [&](int64_t groups) {
    ir::Model model =
        parsed(fmt::format("g (float[1,32,200] x) => (float[1,32,200] y) <{}> {{ y = Conv<pads = [1,1], "
                           "group = {}>(x, w) }}",
                           Draw(0).constant("w", {32, 32 / groups, 3}), groups));
    ir::Rewriter rewriter(model);
    lower(model, rewriter);
    const Program program(model, Devices(*device_), {});
    const auto is_conv = [](const Step& step) { return step.tactic.starts_with("conv."); };
    return std::ranges::find_if(program.steps(), is_conv)->tactic;
  };
  EXPECT_EQ(first_choice(1), thread_count() > 1 ? "conv.windows" : "conv.onednn");
  EXPECT_EQ(first_choice(2), "conv.onednn");
}

TEST_F(Tactics, OfProductsAgreeWithTheReference) {
  std::map<std::string, int> counts;
  for (unsigned seed = 0; seed < 60; ++seed) compare(drawn_product(seed), seed, counts);
  for (const char* const name : {"product.onednn:rows", "product.onednn:columns", "product.tiles"}) {
    EXPECT_GE(counts[name], 3) << name;
  }
}

TEST_F(Tactics, OfProductsOfComputedMatricesAgreeWithTheReference) {
  std::map<std::string, int> counts;
  for (unsigned seed = 0; seed < 120; ++seed) compare(drawn_computed_product(seed), seed, counts);
  for (const char* const name : {"product.onednn:rows", "product.onednn:columns"}) EXPECT_GE(counts[name], 10) << name;
}

// Rounding to codes may fall to the neighbour, and where codes are added, once more.
TEST_F(Tactics, OfIntegersAreWithinOneCode) {
  int sums = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = drawn_quantized(seed);
    ir::Model model = parsed(text);
    ir::Rewriter rewriter(model);
    const std::vector<double> expected =
        output_of(model, seed, [&](auto&&... arguments) { ops::Interpreter(model, {}).run(arguments...); });
    lower(model, rewriter);
    const Program program(model, Devices(*device_), {});
    for (const Step& step : program.steps()) EXPECT_NE(step.tactic, kReferenceTactic) << text.substr(0, 80);
    const std::vector<double> found = run(model, seed, {});
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_LE(std::abs(found[i] - expected[i]), 1) << text.substr(0, 80);
    sums += text.find("Add(") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(sums, 5);
}

// Also those of oneDNN that are measured: none may add up two products in 16 bits, which saturate. Where it has no
// other kernels, it is asked for sums of small weights.
TEST_F(Tactics, OfIntegersThatAreMeasuredAreExact) {
  std::map<std::string, int> counts;
  for (unsigned seed = 0; seed < 24; ++seed) {
    Draw draw(seed);
    const char* const codes = draw.one_of<const char*>({"int8", "uint8", "uint8"});
    const int64_t channels = draw.one_of<int64_t>({8, 15});
    const int64_t groups = draw.one_of<int64_t>({1, channels});
    const int64_t gap = draw.one_of<int64_t>({1, 3});  // dilations that few kernels compute
    const int most = draw.one_of({127, 64});
    compare(fmt::format("g ({0}[1,{1},12,20] x, {0}[1,{1},10,{2}] r) => (float[1,{1},10,{2}] y) <{3}, {4}, "
                        "float s = {{0.01}}> {{ f = DequantizeLinear(x, s) v = DequantizeLinear(w, u) "
                        "e = DequantizeLinear(r, s) p = Conv<group = {5}, dilations = [1,{6}]>(f, v) {7} }}",
                        codes, channels, 20 - 2 * gap, draw.codes("w", {channels, channels / groups, 3, 3}, most),
                        draw.positive("u", {}), groups, gap,
                        draw.one_of<const char*>({"y = Identity(p)", "y = Add(p, e)"})),
            seed, counts);
  }
  EXPECT_TRUE(!cpu::has_avx512_vnni() || counts["conv.onednn:rows"] >= 24);
}

// What is measured reads memory of its own, as the operands of the layer lie.
TEST_F(Tactics, OperandsThatAreReadBackwardsAreMeasured) {
  const std::string text =
      "g (float16[4,9] x) => (float[2,9] y) <int64[1] last = {3}, int64[1] end = {-5}, int64[1] axis = {0}, "
      "int64[1] step = {-2}> { b = Slice(x, last, end, axis, step) y = Cast<to = 1>(b) }";
  std::map<std::string, int> counts;
  compare(text, 0, counts);
}

TEST_F(Tactics, OfBfloat16AgreeWithTheReference) {
  std::map<std::string, int> counts;
  for (unsigned seed = 0; seed < 30; ++seed) {
    compare(drawn_convolution(seed), seed, counts, {.bfloat16 = true});
    compare(drawn_product(seed), seed, counts, {.bfloat16 = true});
  }
  if (!cpu::has_avx512()) return;  // oneDNN has no kernels for it then
  for (const char* const name : {"conv.onednn:rows", "conv.onednn:channels", "product.onednn:rows"}) {
    EXPECT_GE(counts[name], 3) << name;
  }
  EXPECT_EQ(counts["conv.winograd:lanes"] > 0, cpu::has_avx512_bf16());
}

TEST_F(Tactics, StrictLayersAreComputedDirectly) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    ir::Model model = parsed(drawn_convolution(seed));
    ir::Rewriter rewriter(model);
    lower(model, rewriter);
    ProgramOptions options;
    options.is_strict = true;
    options.tactics.measures = true;
    options.tactics.cache = std::make_shared<TimingCache>();
    const Program program(model, Devices(*device_), options);
    for (const Step& step : program.steps()) EXPECT_FALSE(step.tactic.starts_with("conv.winograd"));
    EXPECT_EQ(options.tactics.cache->text().find("winograd"), std::string::npos);
  }
}

TEST_F(Tactics, ATacticThatCannotComputeItsLayerIsRefused) {
  ir::Model model = parsed("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }");
  ir::Rewriter rewriter(model);
  lower(model, rewriter);
  TacticOptions replay;
  replay.replayed.emplace("y", "conv.onednn:rows");
  EXPECT_THROW(run(model, 0, replay), Error);
  replay.replayed["y"] = kReferenceTactic;
  EXPECT_EQ(run(model, 0, replay).size(), 6U);
}

}  // namespace
}  // namespace assay::engine
