#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "engine/devices/cpu/rotary/rotary_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::EngineRun;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;
using testing_support::sine;

// Heads that are turned, as exporters write it: what makes `y` of `x`, whose heads have 2 * `half` elements, with
// cosines `c` and sines `s`. `t` is a value inside.
std::string text_of(const std::string& inputs, const std::string& made, const std::string& nodes, int64_t half,
                    const std::string& more = "") {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g ({}) => ({}{}) <int64[1] zero = {{0}}, int64[1] half = {{{}}}, "
      "int64[1] all = {{{}}}, int64[1] end = {{1000}}, int64[1] last = {{-1}}, {} n = {{0.3}}> {{ {} }}",
      inputs, made, more, half, 2 * half, made.substr(0, made.find('[')), nodes);
}

constexpr const char* kSliced =
    "l = Slice(x, zero, half, last) r = Slice(x, half, end, last) o = Neg(r) t = Concat<axis = -1>(o, l) "
    "a = Mul(x, c) b = Mul(t, s) y = Add(a, b)";
constexpr const char* kSplit =
    "l, r = Split<axis = -1>(x) o = Neg(r) t = Concat<axis = 3>(o, l) a = Mul(s, t) b = Mul(c, x) y = Add(a, b)";
constexpr const char* kHalves =
    "l, r = Split<axis = -1>(x) p = Mul(l, c) q = Mul(r, s) t = Sub(p, q) u = Mul(r, c) v = Mul(s, l) w = Add(v, u) "
    "y = Concat<axis = -1>(t, w)";
constexpr const char* kPartial =
    "x = Slice(g, zero, all, last) k = Slice(g, all, end, last) l, r = Split<axis = -1>(x) o = Neg(r) "
    "t = Concat<axis = -1>(o, l) a = Mul(x, c) b = Mul(t, s) m = Add(a, b) y = Concat<axis = -1>(m, k)";
constexpr const char* kScaled =
    "l, r = Split<axis = -1>(x) o = Neg(r) t = Concat<axis = -1>(o, l) a = Mul(x, c) "
    "b = Mul(t, s) m = Add(a, b) y = Mul(n, m)";
constexpr const char* kPartialScaled =
    "x = Slice(g, zero, all, last) k = Slice(g, all, end, last) l, r = Split<axis = -1>(x) o = Neg(r) "
    "t = Concat<axis = -1>(o, l) a = Mul(x, c) b = Mul(t, s) m = Add(a, b) p = Concat<axis = -1>(m, k) y = Mul(p, n)";
constexpr const char* kAfterOthers =
    "k = Slice(g, zero, half, last) x = Slice(g, half, end, last) l, r = Split<axis = -1>(x) o = Neg(r) "
    "t = Concat<axis = -1>(o, l) a = Mul(x, c) b = Mul(t, s) m = Add(a, b) y = Concat<axis = -1>(k, m)";

constexpr const char* kNeighbours =
    "e = Slice(x, zero, end, last, two) d = Slice(x, one, end, last, two) n = Neg(d) o = Unsqueeze(n, last) "
    "l = Unsqueeze(e, last) p = Concat<axis = -1>(o, l) t = Reshape(p, dims) a = Mul(x, c) b = Mul(t, s) y = Add(a, b)";
constexpr const char* kGathered =
    "r = Reshape(x, pairs) e = Gather<axis = -1>(r, first) d = Gather<axis = 4>(r, second) n = Neg(d) "
    "o = Unsqueeze(n, last) l = Unsqueeze(e, last) p = Concat<axis = -1>(o, l) t = Reshape(p, dims) a = Mul(c, x) "
    "b = Mul(s, t) m = Add(b, a) y = Mul(m, n3)";
constexpr const char* kUnbound =
    "g1, k = Split<axis = -1>(g, sizes) x = Identity(g1) r = Reshape(x, pairs) f, h = Split<axis = -1>(r) "
    "e = Squeeze(f, last) d = Squeeze(h, last) n = Neg(d) o = Unsqueeze(n, last) l = Unsqueeze(e, last) "
    "p = Concat<axis = -1>(o, l) t = Reshape(p, dims) a = Mul(x, c) b = Mul(t, s) m = Add(a, b) "
    "y = Concat<axis = -1>(m, k)";

std::string neighbours_text(const std::string& inputs, const std::string& made, const char* nodes, int64_t width,
                            const std::string& more = "") {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g ({}) => ({}{}) <int64[1] zero = {{0}}, int64[1] one = {{1}}, "
      "int64[1] two = {{2}}, int64[1] end = {{1000}}, int64[1] last = {{-1}}, int64 first = {{0}}, int64 second = "
      "{{1}}, "
      "int64[4] dims = {{2,3,5,{}}}, int64[5] pairs = {{2,3,5,{},2}}, int64[2] sizes = {{{},6}}, {} n3 = {{0.3}}> {{ "
      "{} }}",
      inputs, made, more, width, width / 2, width, made.substr(0, made.find('[')), nodes);
}

double special(size_t i) {
  if (i % 97 == 5) return std::numeric_limits<double>::infinity();
  if (i % 89 == 7) return std::numeric_limits<double>::quiet_NaN();
  return i % 53 == 9 ? -0.0 : sine(i);
}

// One layer, with the bits of the operators one by one: those are kept apart where `t` is an output.
void expect_one_layer(const std::string& inputs, const std::string& y, const std::string& nodes, int64_t half,
                      const std::string& t, const std::vector<std::string>& copies = {}) {
  std::vector<std::string> tactics = {"rotary.rows"};
  tactics.insert(tactics.end(), copies.begin(), copies.end());
  const ir::Model model = parsed(text_of(inputs, y, nodes, half));
  const ir::Model apart = parsed(text_of(inputs, y, nodes, half, ", " + t + " t"));
  for (const bool is_strict : {false, true}) {
    for (double (*number)(size_t) : {&sine, &special}) {
      const EngineRun run = run_on_engine(model, number, is_strict);
      EXPECT_EQ(run.tactics, tactics) << nodes;
      const EngineRun parts = run_on_engine(apart, number, is_strict);
      EXPECT_EQ(std::ranges::count(parts.tactics, "rotary.rows"), 0) << nodes;
      EXPECT_EQ(difference(run.outputs, {parts.outputs[0]}, 0), "") << inputs << nodes;
    }
    const double bound = y.starts_with("bfloat16") ? 1e-2 : 1e-6;
    EXPECT_EQ(difference(run_on_engine(model, sine, is_strict).outputs, run_on_reference(model, sine), bound), "");
  }
}

std::string inputs_of(const std::string& heads, const std::string& angles) {
  return fmt::format("{0}, {1} c, {1} s", heads, angles);
}

TEST(Rotary, written_out_it_is_one_layer_with_the_bits_of_its_operators) {
  for (const char* const type : {"float", "bfloat16"}) {
    for (const int64_t half : {1, 3, 8, 16, 20, 32, 37}) {
      const auto shaped = [&](const char* format, int64_t width) {
        return type + fmt::format(fmt::runtime(format), width);
      };
      const std::string x = shaped("[2,3,5,{}]", 2 * half);
      for (const char* const angles : {"[5,{}]", "[2,1,5,{}]", "[1,1,1,{}]"}) {
        const std::string c = shaped(angles, 2 * half);
        const std::string inputs = inputs_of(x + " x", c);
        expect_one_layer(inputs, x + " y", kSliced, half, x);
        expect_one_layer(inputs, x + " y", kSplit, half, x);
        expect_one_layer(inputs, x + " y", kScaled, half, x);
        const std::string short_c = shaped(angles, half);
        const std::string h = shaped("[2,3,5,{}]", half);
        expect_one_layer(inputs_of(x + " x", short_c), x + " y", kHalves, half, h);
        for (const auto& [nodes, passed] :
             {std::pair(kPartial, int64_t{9}), std::pair(kPartialScaled, int64_t{9}), std::pair(kAfterOthers, half)}) {
          if (nodes == kPartialScaled && type[0] == 'b') continue;  // the Concat rounds what is scaled
          const std::string g = shaped("[2,3,5,{}]", 2 * half + passed);
          expect_one_layer(inputs_of(g + " g", c), g + " y", nodes, half, x);
        }
      }
    }
  }
}

// On the processor, whose rules let layers have neighbours.
EngineRun run_by_its_rules(const ir::Model& given, double (*number)(size_t)) {
  const std::unique_ptr<Device> host = make_device({});
  ir::Model model = given.copy();
  ir::Rewriter rewriter(model);
  lower(model, rewriter, {.rules = host->rules()});
  const Program program(model, Devices(*host), {});
  EngineRun run;
  for (const Step& step : program.steps()) run.tactics.push_back(step.tactic);
  const std::vector<ir::ValueId> wanted = testing_support::outputs_of(model);
  run.outputs.resize(wanted.size());
  Context(program, {}, false)
      .run(testing_support::drawn_inputs(model, number), wanted, [&](ir::ValueId value, const tensor::Datum& datum) {
        const auto place = std::ranges::find(wanted, value) - wanted.begin();
        run.outputs[static_cast<size_t>(place)] = tensor::load_elements<double>(datum.tensor());
      });
  return run;
}

TEST(Rotary, neighbours_that_are_written_out_are_one_layer_with_the_bits_of_its_operators) {
  const bool computes_bfloat16 = make_device({})->rules().has(tensor::DType::bfloat16);
  for (const char* const type : {"float", "bfloat16"}) {
    if (type[0] == 'b' && !computes_bfloat16) continue;  // such values are float32 in between
    for (const int64_t width : {2, 6, 14, 16, 32, 40, 74}) {
      const std::string x = fmt::format("{}[2,3,5,{}]", type, width);
      for (const char* const angles : {"[5,{}]", "[2,1,5,{}]", "[1,1,1,{}]"}) {
        const std::string c = type + fmt::format(fmt::runtime(angles), width);
        for (const char* const nodes : {kNeighbours, kGathered, kUnbound}) {
          const bool is_part = nodes == kUnbound;
          const std::string y = is_part ? fmt::format("{}[2,3,5,{}]", type, width + 6) : x;
          const std::string inputs = inputs_of(y + (is_part ? " g" : " x"), c);
          const ir::Model model = parsed(neighbours_text(inputs, y + " y", nodes, width));
          const ir::Model apart = parsed(neighbours_text(inputs, y + " y", nodes, width, ", " + x + " t"));
          for (double (*number)(size_t) : {&sine, &special}) {
            const EngineRun run = run_by_its_rules(model, number);
            EXPECT_EQ(run.tactics, std::vector<std::string>{"rotary.rows"}) << nodes;
            const EngineRun parts = run_by_its_rules(apart, number);
            EXPECT_EQ(std::ranges::count(parts.tactics, "rotary.rows"), 0) << nodes;
            EXPECT_EQ(difference(run.outputs, {parts.outputs[0]}, 0), "") << inputs << nodes;
          }
          const double bound = type[0] == 'b' ? 1e-2 : 1e-6;
          EXPECT_EQ(difference(run_by_its_rules(model, sine).outputs, run_on_reference(model, sine), bound), "")
              << nodes;
        }
      }
    }
  }
}

TEST(Rotary, heads_are_read_where_they_lie) {
  for (const int64_t half : {3, 16}) {
    const std::string y = fmt::format("float[2,3,5,{}]", 2 * half);
    const std::string packed = fmt::format("float[2,5,3,{}]", 2 * half);
    const std::string c = fmt::format("float[1,1,5,{}]", 2 * half);
    const std::string turned = std::string("x = Transpose<perm = [0,2,1,3]>(g) ") + kSliced;
    expect_one_layer(inputs_of(packed + " g", c), y + " y", turned, half, y);
    const std::string d = fmt::format("float[1,5,1,{}]", 2 * half);
    const std::string back = std::string(kSplit) + " z = Transpose<perm = [0,2,1,3]>(y)";
    expect_one_layer(inputs_of(packed + " x", d), y + " z", back, half, packed, {"copy"});
  }
}

TEST(Rotary, what_others_read_is_no_part_of_it) {
  const std::string nodes = std::string(kSliced) + " z = Neg(a)";
  const ir::Model model = parsed(
      text_of("float[1,2,3,8] x, float[3,8] c, float[3,8] s", "float[1,2,3,8] y", nodes, 4, ", float[1,2,3,8] z"));
  const EngineRun run = run_on_engine(model, sine);
  EXPECT_EQ(std::ranges::count(run.tactics, "rotary.rows"), 0);
  EXPECT_EQ(std::ranges::count(run.tactics, "reference"), 0);  // nor is there a layer that no kernel computes
  EXPECT_EQ(difference(run.outputs, run_on_reference(model, sine), 1e-6), "");
}

TEST(Rotary, attention_after_it_is_one_layer_still) {
  const ir::Model model = parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,5,3,8] q, float[2,5,3,8] k, float[2,3,5,8] v, float[5,8] "
      "c, float[5,8] s) => (float[2,3,5,8] y) { "
      "x = Transpose<perm = [0,2,1,3]>(q) l, r = Split<axis = -1>(x) o = Neg(r) t = Concat<axis = -1>(o, l) "
      "a = Mul(x, c) b = Mul(t, s) qt = Add(a, b) "
      "kx = Transpose<perm = [0,2,1,3]>(k) kl, kr = Split<axis = -1>(kx) kn = Neg(kr) kt = Concat<axis = -1>(kn, kl) "
      "ka = Mul(kx, c) kb = Mul(kt, s) km = Add(ka, kb) kd = Transpose<perm = [0,1,3,2]>(km) "
      "d = MatMul(qt, kd) p = Softmax(d) y = MatMul(p, v) }");
  const EngineRun run = run_on_engine(model, sine);
  EXPECT_EQ(run.tactics, (std::vector<std::string>{"rotary.rows", "rotary.rows", "attention.blocks"}));
  EXPECT_EQ(difference(run.outputs, run_on_reference(model, sine), 1e-5), "");
}

// Positions count down, so that rows of angles do not lie as those of heads do.
void expect_operator(const std::string& inputs, const std::string& node, double bound) {
  const ir::Model model = parsed("<ir_version: 11, opset_import: [\"\" : 24, \"com.microsoft\" : 1]> g (" + inputs +
                                 " y) { y = " + node + " }");
  const size_t positions = inputs.starts_with("int64[1]") ? 1 : inputs.starts_with("int64[2,5]") ? 10 : 0;
  const auto number = [&](size_t i) { return i < positions ? static_cast<double>(17 - i - (i < 5 ? 0 : 1)) : sine(i); };
  const EngineRun run = run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"rotary.rows"}) << inputs << node;
  EXPECT_EQ(difference(run.outputs, run_on_reference(model, number), bound), "") << inputs << node;
}

TEST(Rotary, operators) {
  for (const char* const type : {"float", "bfloat16"}) {
    const double bound = std::string(type) == "float" ? 1e-6 : 2e-2;
    for (const int64_t half : {1, 6, 16, 35}) {
      for (const int64_t passed : {0, 7}) {
        for (const int interleaved : {0, 1}) {
          const int64_t size = 2 * half + passed;
          const std::string heads = fmt::format("{}[2,3,5,{}]", type, size);
          const std::string packed = fmt::format("{}[2,5,{}]", type, 3 * size);
          const std::string rows = fmt::format(", {0}[24,{1}] c, {0}[24,{1}] s", type, half);
          const std::string own = fmt::format(", {0}[2,5,{1}] c, {0}[2,5,{1}] s", type, half);
          const std::string how = fmt::format("interleaved = {}{}", interleaved,
                                              passed > 0 ? fmt::format(", rotary_embedding_dim = {}", 2 * half) : "");
          for (const std::string& x : {heads, packed}) {
            const std::string out = ") => (" + x;
            const std::string attributes = "<" + how + ", num_heads = 3>";
            expect_operator(fmt::format("int64[2,5] p, {} x{}{}", x, rows, out),
                            "RotaryEmbedding" + attributes + "(x, c, s, p)", bound);
            expect_operator(fmt::format("{} x{}{}", x, own, out), "RotaryEmbedding" + attributes + "(x, c, s)", bound);
            for (const char* const positions : {"int64[2,5] p, ", "int64[1] p, "}) {
              expect_operator(fmt::format("{}{} x{}{}", positions, x, rows, out),
                              "com.microsoft.RotaryEmbedding" + attributes + "(x, p, c, s)", bound);
            }
          }
        }
      }
    }
  }
}

TEST(Rotary, positions_have_angles) {
  const ir::Model model = parsed(
      "<ir_version: 11, opset_import: [\"\" : 23]> g (int64[1,2] p, float[1,3,2,4] x, float[9,2] c, float[9,2] s) => "
      "(float[1,3,2,4] y) { y = RotaryEmbedding(x, c, s, p) }");
  for (const double second : {9.0, -1.0}) {
    EXPECT_THROW(run_on_engine(model, [&](size_t i) { return i == 1 ? second : i == 0 ? 8 : sine(i); }), Error);
  }
  EXPECT_NO_THROW(run_on_engine(model, [&](size_t i) { return i < 2 ? 8 : sine(i); }));
}

TEST(RotaryKernels, all_round_each_product) {
  constexpr size_t kRows = 3, kRow = 80;
  std::array<std::vector<float>, 4> operands;
  for (size_t k = 0; k < operands.size(); ++k) {
    for (size_t i = 0; i < kRows * kRow; ++i) operands[k].push_back(static_cast<float>(sine(i * 5 + k)));
  }
  std::array<TapeView, 4> views;
  for (size_t k = 0; k < operands.size(); ++k) views[k] = {operands[k].data(), kRow};
  const auto at = [&](size_t k, size_t i) { return operands[k][i]; };
  for (const RotaryKernels* const kernels : all_rotary_kernels()) {
    for (size_t columns = 1; columns <= 40; ++columns) {
      std::vector<float> sums(kRows * kRow), differences(kRows * kRow), pairs(kRows * kRow);
      kernels->sum(views, 0.3F, {sums.data(), kRow, kRows, columns});
      kernels->difference(views, 0.3F, {differences.data(), kRow, kRows, columns});
      kernels->pairs(views, {pairs.data(), kRow, kRows, 2 * columns});
      std::vector<float> neighbours(kRows * kRow);
      kernels->neighbours(views, 0.3F, {neighbours.data(), kRow, kRows, 2 * columns});
      for (size_t i = 0; i < kRows * kRow; ++i) {
        const float left = at(0, i) * at(1, i), right = at(2, i) * at(3, i);
        const bool is_made = i % kRow < columns;
        ASSERT_EQ(sums[i], is_made ? (left + right) * 0.3F : 0) << kernels->name << ' ' << columns << ' ' << i;
        ASSERT_EQ(differences[i], is_made ? (left - right) * 0.3F : 0) << kernels->name << ' ' << columns << ' ' << i;
        if (i % kRow >= columns) continue;
        const size_t first = i / kRow * kRow + i % kRow * 2;
        const float x = at(0, first), y = at(0, first + 1), c = at(1, i), s = at(2, i);
        const float xc = x * c, ys = y * s, yc = y * c, xs = x * s;
        ASSERT_EQ(pairs[first], xc - ys) << kernels->name << ' ' << columns;
        ASSERT_EQ(pairs[first + 1], yc + xs) << kernels->name << ' ' << columns;
        const float cosine = at(1, first + 1), sine = at(2, first + 1);
        const float xc1 = x * at(1, first), ys1 = y * at(2, first), yc1 = y * cosine, xs1 = x * sine;
        ASSERT_EQ(neighbours[first], (xc1 - ys1) * 0.3F) << kernels->name << ' ' << columns;
        ASSERT_EQ(neighbours[first + 1], (yc1 + xs1) * 0.3F) << kernels->name << ' ' << columns;
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine::cpu
