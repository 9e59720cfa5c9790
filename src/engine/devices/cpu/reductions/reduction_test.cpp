#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::EngineRun;
using testing_support::parsed;
using testing_support::run_on_engine;
using testing_support::run_on_reference;
using testing_support::sine;
using Names = std::vector<std::string>;

double special(size_t i) {
  if (i % 1031 == 5) return std::numeric_limits<double>::infinity();
  if (i % 1499 == 7) return std::numeric_limits<double>::quiet_NaN();
  return i % 53 == 9 ? -0.0 : sine(i);
}

// What is reduced along which dims to what.
struct Form {
  const char* x;
  const char* axes;
  const char* y;
};
constexpr Form kForms[] = {
    {"[3,5,7]", "2", "[3,5]"},      {"[3,5,7]", "1", "[3,7]"},         {"[3,5,7]", "0", "[5,7]"},
    {"[3,5,7]", "1,2", "[3]"},      {"[3,5,7]", "0,1,2", "[]"},        {"[11,768]", "-1", "[11]"},
    {"[2,3,2100]", "2", "[2,3]"},   {"[1,30000]", "1", "[1]"},         {"[9,1025]", "1", "[9]"},
    {"[300,9]", "0", "[9]"},        {"[2,130,1040]", "1", "[2,1040]"}, {"[40,1300]", "0", "[1300]"},
    {"[12,70,20]", "1", "[12,20]"}, {"[64,600]", "0", "[600]"},
};
constexpr const char* kChains[] = {"t = Mul(x, x)", "e = Sigmoid(x) t = Mul(e, x)", "d = Sub(x, b) t = Mul(d, b)"};
constexpr const char* kOperators[] = {"ReduceSum", "ReduceMean", "ReduceSumSquare", "ReduceL2", "ReduceMax"};

std::string text_of(const Form& form, const std::string& type, const std::string& chain, const char* op,
                    bool is_apart) {
  return "<ir_version: 10, opset_import: [\"\" : 18]> g (" + type + form.x + " x, " + type + "[1] b) => (" + type +
         form.y + " y" + (is_apart ? ", " + type + form.x + " t" : "") + ") <int64[" +
         std::to_string(1 + std::ranges::count(std::string_view(form.axes), ',')) + "] axes = {" + form.axes + "}> { " +
         chain + " y = " + op + "<keepdims = 0>(t, axes) }";
}

TEST(Reductions, of_chains_have_the_bits_of_both_apart) {
  for (const Form& form : kForms) {
    for (const char* const chain : kChains) {
      for (const char* const op : kOperators) {
        for (const std::string type : {"float", "bfloat16"}) {
          if (type == "bfloat16" && chain != kChains[1]) continue;
          const ir::Model model = parsed(text_of(form, type, chain, op, false));
          const ir::Model apart = parsed(text_of(form, type, chain, op, true));
          for (double (*number)(size_t) : {&sine, &special}) {
            const bool is_strict = number == &special;
            const EngineRun run = run_on_engine(model, number, is_strict);
            ASSERT_EQ(run.tactics, Names{"reduction.rows"}) << form.x << form.axes << chain << op;
            const EngineRun parts = run_on_engine(apart, number, is_strict);
            ASSERT_EQ(parts.tactics, (Names{"elementwise.tape", "reduction.rows"}));
            ASSERT_EQ(difference(run.outputs, {parts.outputs[0]}, 0), "") << type << form.x << form.axes << chain << op;
          }
          if (type == "float") {
            EXPECT_EQ(difference(run_on_engine(model, sine).outputs, run_on_reference(model, sine), 2e-6), "")
                << form.x << form.axes << chain << op;
          }
        }
      }
    }
  }
}

// Pictures whose channels are innermost, reduced over their pixels, and over their channels.
TEST(Reductions, of_pictures) {
  const std::vector<std::string> kEnds = {"y = GlobalAveragePool(t)", "y = ReduceMax(t, pixels)",
                                          "y = ReduceMean(t, pixels)", "y = ReduceL2(t, channels)"};
  for (const char* const dims : {"2,5,9,11", "1,70,8,8", "1,1100,3,4"}) {
    const std::string x = fmt::format("float[{}]", dims);
    for (const std::string& end : kEnds) {
      const bool keeps_pixels = end.find("channels") != std::string::npos;
      const std::string sizes = dims;
      const size_t first = sizes.find(','), second = sizes.find(',', first + 1);
      const std::string y =
          keeps_pixels ? sizes.substr(0, first) + ",1" + sizes.substr(second) : sizes.substr(0, second) + ",1,1";
      const auto text = [&](bool is_apart) {
        return fmt::format(
            "<ir_version: 10, opset_import: [\"\" : 18]> g ({0} x) => (float[{1}] y{2}) <int64[2] pixels = {{2,3}}, "
            "int64[1] channels = {{1}}> {{ p = MaxPool<kernel_shape = [1,1]>(x) e = Sigmoid(p) t = Mul(p, e) {3} }}",
            x, y, is_apart ? ", " + x + " t" : "", end);
      };
      const ir::Model model = parsed(text(false));
      const EngineRun run = run_on_engine(model, special);
      EXPECT_EQ(std::ranges::count(run.tactics, "elementwise.tape"), 0) << end;
      EXPECT_EQ(std::ranges::count(run.tactics, "reduction.rows"), 1) << end;
      const EngineRun parts = run_on_engine(parsed(text(true)), special);
      EXPECT_EQ(std::ranges::count(parts.tactics, "elementwise.tape"), 1) << end;
      EXPECT_EQ(difference(run.outputs, {parts.outputs[0]}, 0), "") << dims << end;
      EXPECT_EQ(difference(run_on_engine(model, sine).outputs, run_on_reference(model, sine), 2e-6), "") << dims << end;
    }
  }
}

TEST(Reductions, of_operands_that_lie_elsewhere) {
  for (const char* const made : {"x = Transpose<perm = [2,0,1]>(g)", "x = Slice(g, first, end, last, step)"}) {
    const bool is_turned = std::string(made).find("Transpose") != std::string::npos;
    for (const int axis : {0, 1, 2}) {
      const std::string dims[3] = {"6", "7", "90"};
      std::string y;
      for (int i = 0; i < 3; ++i) y += (i > 0 ? "," : "") + (i == axis ? "1" : dims[i]);
      const ir::Model model =
          parsed(fmt::format("<ir_version: 10, opset_import: [\"\" : 18]> g (float[{}] g, float[7,1] b) => (float[{}] "
                             "y) <int64[1] first = "
                             "{{1}}, int64[1] end = {{181}}, int64[1] last = {{2}}, int64[1] step = {{2}}, int64[1] "
                             "axes = {{{}}}> {{ {} t "
                             "= Mul(x, b) y = ReduceSum(t, axes) }}",
                             is_turned ? "7,90,6" : "6,7,200", y, axis, made));
      const EngineRun run = run_on_engine(model, sine);
      EXPECT_EQ(std::ranges::count(run.tactics, "elementwise.tape"), 0) << made << axis;
      EXPECT_EQ(std::ranges::count(run.tactics, "reduction.rows"), 1) << made << axis;
      EXPECT_EQ(difference(run.outputs, run_on_reference(model, sine), 2e-6), "") << made << axis;
    }
  }
}

Names tactics_of(const std::string& outputs, const std::string& nodes) {
  return run_on_engine(parsed("<ir_version: 10, opset_import: [\"\" : 18]> g (float[4,5,6] x) => (" + outputs +
                              ") <int64[1] axes = {2}, int64[2] apart = {0,2}> { " + nodes + " }"),
                       sine)
      .tactics;
}

TEST(Reductions, what_others_read_or_no_kernel_reduces_stays_apart) {
  EXPECT_EQ(tactics_of("float[4,5,1] y, float[4,5,6] z", "t = Abs(x) y = ReduceSum(t, axes) z = Sub(t, y)"),
            (Names{"elementwise.tape", "reduction.rows", "elementwise.tape"}));
  EXPECT_EQ(tactics_of("float[1,5,1] y", "t = Abs(x) y = ReduceL2(t, apart)"),
            (Names{"elementwise.tape", "reference"}));
  EXPECT_EQ(tactics_of("float[4,5,1] y", "t = Abs(x) y = ReduceProd(t, axes)"),
            (Names{"elementwise.tape", "reference"}));
}

// Few different numbers, so that many are equal.
double often_equal(size_t i) {
  if (i % 97 == 5) return std::numeric_limits<double>::quiet_NaN();
  return std::floor(3 * sine(i));
}
double rarely_nan(size_t i) { return i == 40 || i == 300 ? std::numeric_limits<double>::quiet_NaN() : sine(i); }

TEST(Reductions, places_of_the_greatest_and_least_elements) {
  for (const char* const dims : {"3,5,7", "2,130,300", "1,21,9", "4,1,3", "2,3,65", "2,64,1"}) {
    for (const int axis : {0, 1, 2}) {
      for (const char* const op : {"ArgMax", "ArgMin"}) {
        for (const bool takes_last : {false, true}) {
          const ir::Model model =
              parsed(fmt::format("<ir_version: 10, opset_import: [\"\" : 13]> g (float[{}] x) => (int64 y) {{ y = "
                                 "{}<axis = {}, keepdims = "
                                 "{}, select_last_index = {}>(x) }}",
                                 dims, op, axis, axis % 2, takes_last ? 1 : 0));
          for (double (*number)(size_t) : {&sine, &often_equal, &rarely_nan}) {
            const EngineRun run = run_on_engine(model, number);
            EXPECT_EQ(run.tactics, Names{"reduction.places"});
            ASSERT_EQ(difference(run.outputs, run_on_reference(model, number), 0), "") << dims << op << axis;
          }
        }
      }
    }
  }
}

// Channels that are innermost are compared where they lie.
TEST(Reductions, places_in_pictures) {
  const ir::Model model = parsed(
      "<ir_version: 10, opset_import: [\"\" : 13]> g (float[2,21,9,11] x) => (int64[2,9,11] y) { p = "
      "MaxPool<kernel_shape = [1,1]>(x) y = ArgMax<axis = 1, keepdims = 0>(p) }");
  const EngineRun run = run_on_engine(model, often_equal);
  EXPECT_EQ(run.tactics, (Names{"copy", "pool.channels_last", "reduction.places"}));
  EXPECT_EQ(difference(run.outputs, run_on_reference(model, often_equal), 0), "");
}

TEST(Reductions, threads_change_no_bit) {
  for (const Form& form :
       {Form{"[2,50000]", "1", "[2]"}, Form{"[5000,40]", "0", "[40]"}, Form{"[60,1400]", "0", "[1400]"}}) {
    const ir::Model model = parsed(text_of(form, "float", kChains[1], "ReduceSum", false));
    std::vector<EngineRun> runs;
    for (const unsigned threads : {1U, 3U}) {
      ThreadPool pool(threads);
      const PoolScope scope(pool);
      runs.push_back(run_on_engine(model, sine));
    }
    EXPECT_EQ(difference(runs[0].outputs, runs[1].outputs, 0), "") << form.x;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
