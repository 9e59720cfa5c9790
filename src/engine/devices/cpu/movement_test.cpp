#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

// Indices stand before the data: numbers from -3 to 2, of the first `count`.
std::function<double(size_t)> indices_first(size_t count) {
  return [count](size_t i) { return i < count ? static_cast<double>(i * 5 % 6) - 3 : static_cast<double>(i % 100); };
}

TEST(GatherElements, AxesAndTypes) {
  for (const int axis : {0, 1, 2, -1}) {
    for (const char* const type : {"float", "int8", "float16", "int64"}) {
      for (const char* const index : {"int32", "int64"}) {
        for (const char* const dims : {"3,4,5", "2,3,1", "4,3,3"}) {
          const std::string data = axis == 0 ? "3,4,5" : axis == 1 ? "4,3,5" : "4,4,3";
          const bool fits = axis == 1 ? dims[2] == '3' : axis != 0 ? dims[4] != '5' : true;
          if (!fits) continue;
          const ir::Model model =
              parsed(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g ({}[{}] i, {}[{}] x) => ({} y) "
                                 "{{ y = GatherElements<axis = {}>(x, i) }}",
                                 index, dims, type, data, type, axis));
          const auto number = indices_first(static_cast<size_t>((dims[0] - '0') * (dims[2] - '0') * (dims[4] - '0')));
          const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
          EXPECT_EQ(run.tactics, std::vector<std::string>{"movement.gather_elements"});
          EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << dims << axis;
        }
      }
    }
  }
}

TEST(GatherElements, IndexOutOfRange) {
  const ir::Model model = parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (int64[2] i, float[3] x) => (float y) "
      "{ y = GatherElements(x, i) }");
  for (const double index : {-4.0, 3.0}) {
    try {
      testing_support::run_on_engine(model, [&](size_t i) { return i == 1 ? index : 0; });
      ADD_FAILURE() << "no error for index " << index;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("index {} is out of range, it must be from -3 to 2", static_cast<int>(index)));
    }
  }
}

// The operands stand behind the indices, which are from -3 to 2.
void expect_places(const std::string& tactic, size_t indices, const std::string& inputs, const std::string& outputs,
                   const std::string& body) {
  const ir::Model model =
      parsed(fmt::format("<ir_version: 10, opset_import: [\"\" : 18]> g ({}) => ({}) {{ {} }}", inputs, outputs, body));
  const auto number = indices_first(indices);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics.back(), tactic) << inputs << body;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << inputs << body;
}

TEST(GatherPlaces, TuplesAndBatches) {
  for (const char* const type : {"float", "int8", "float16", "int64", "double"}) {
    const auto expect = [&](size_t count, const std::string& indices, const std::string& data, int batch_dims) {
      expect_places("movement.gather_places", count, fmt::format("int64[{}] i, {}[{}] x", indices, type, data),
                    fmt::format("{} y", type), fmt::format("y = GatherND<batch_dims = {}>(x, i)", batch_dims));
    };
    expect(5, "5,1", "3,40", 0);
    expect(12, "2,3,2", "3,4,5", 0);
    expect(12, "2,3,2", "3,4", 0);
    expect(4, "2,2,1", "2,3,7", 1);
    expect(3, "3", "4,3,5,2", 0);
  }
}

TEST(ScatterPlaces, TuplesAndReductions) {
  for (const char* const type : {"float", "int32", "int64"}) {
    for (const char* const reduction : {"none", "add", "mul", "max", "min"}) {
      const auto expect = [&](size_t count, const std::string& indices, const std::string& data,
                              const std::string& updates) {
        expect_places("movement.scatter_places", count,
                      fmt::format("int64[{}] i, {}[{}] x, {}[{}] u", indices, type, data, type, updates),
                      fmt::format("{} y", type), fmt::format("y = ScatterND<reduction = \"{}\">(x, i, u)", reduction));
      };
      expect(5, "5,1", "3,40", "5,40");
      expect(12, "2,3,2", "3,4,5", "2,3,5");
      expect(12, "6,2", "3,4", "6");
      expect(3, "3", "4,3,5,2", "2");
    }
  }
}

TEST(ScatterElements, AxesAndReductions) {
  for (const char* const type : {"float", "int32", "int64"}) {
    for (const char* const reduction : {"none", "add", "mul", "max", "min"}) {
      for (const int axis : {0, 1, -1}) {
        for (const char* const dims : {"3,4,5", "2,3,1", "3,1,3"}) {
          const std::string data = axis == 0 ? "3,4,5" : axis == 1 ? "3,3,5" : "3,4,3";
          if (axis == -1 && dims[4] == '5') continue;
          if (axis == 1 && dims[2] == '4') continue;
          const auto size = [&](size_t at) { return static_cast<size_t>(dims[at] - '0'); };
          const size_t count = size(0) * size(2) * size(4);
          expect_places("movement.scatter_elements", count,
                        fmt::format("int64[{}] i, {}[{}] x, {}[{}] u", dims, type, data, type, dims),
                        fmt::format("{} y", type),
                        fmt::format("y = ScatterElements<axis = {}, reduction = \"{}\">(x, i, u)", axis, reduction));
        }
      }
    }
  }
}

// As exporters write a sum of rows: one index for all elements of each.
TEST(ScatterElements, IndicesThatAreExpanded) {
  expect_places("movement.scatter_elements", 9, "int64[9,1] i, float[3,50] x, float[9,50] u", "float y",
                "d = Shape(u) e = Expand(i, d) y = ScatterElements<axis = 0, reduction = \"add\">(x, e, u)");
}

// A Cast before a pool writes what that reads: pixel by pixel. Where something else reads it too, it stays as it is.
TEST(Cast, MovesPictures) {
  const auto tactics = [](const std::string& outputs, const std::string& body) {
    const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 22]> g (float[2,3,9,7] x) => (" + outputs +
                                   ") { c = Cast<to = 16>(x)  " + body + " }");
    const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, testing_support::sine), 0), "") << body;
    return run.tactics;
  };
  EXPECT_EQ(tactics("bfloat16 y", "y = MaxPool<kernel_shape = [3,3]>(c)"),
            (std::vector<std::string>{"elementwise.cast", "pool.channels_last", "copy"}));
  EXPECT_EQ(
      tactics("bfloat16 y, bfloat16 z", "y = MaxPool<kernel_shape = [3,3]>(c)  z = Transpose<perm = [0,1,3,2]>(c)")
          .front(),
      "elementwise.tape");
}

// So does a QuantizeLinear.
TEST(Cast, MovesPicturesOfCodes) {
  for (const char* const type : {"uint8", "int8"}) {
    for (const char* const dims : {"3,9,7", "4,9,7", "5,9,7", "35,9,7", "3,41,37"}) {
      const ir::Model model = parsed(fmt::format(
          "<ir_version: 10, opset_import: [\"\" : 22]> g (float[2,{1}] x) => ({0} y) <float s = "
          "{{0.0061}}, {0} z = {{23}}> {{ c = QuantizeLinear(x, s, z)  y = MaxPool<kernel_shape = [3,3]>(c) }}",
          type, dims));
      const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
      EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, testing_support::sine), 0), "")
          << type << " " << dims;
      EXPECT_EQ(run.tactics, (std::vector<std::string>{"elementwise.cast", "pool.channels_last", "copy"}));
    }
  }
}

// Channels side by side, whole pieces, and operands of which some are empty or turned.
TEST(Concat, RowsAndPieces) {
  constexpr const char* kModels[] = {
      "(float[2,3,5,7] x, float[2,1,5,7] z) => (float y) { p = MaxPool<kernel_shape = [1,1]>(x)  "
      "q = MaxPool<kernel_shape = [1,1]>(z)  y = Concat<axis = 1>(p, q, p) }",
      "(float[2,3,1,1] x, float[2,130,1,1] z) => (float y) { p = MaxPool<kernel_shape = [1,1]>(x)  "
      "q = MaxPool<kernel_shape = [1,1]>(z)  y = Concat<axis = 1>(q, p) }",
      "(bfloat16[1000,33] x, bfloat16[1000,0] e, bfloat16[1000,90] z) => (bfloat16 y) { y = Concat<axis = 1>(x, e, z) "
      "}",
      "(int8[4,6] x, int8[6,4] z) => (int8 y) { t = Transpose(z)  y = Concat<axis = -1>(t, x, t) }",
      "(float[3,4,5] x, float[3,2,5] z) => (float y) { y = Concat<axis = 1>(x, z, x) }",
  };
  for (const std::string text : kModels) {
    const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 22]> g " + text);
    const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
    EXPECT_NE(std::ranges::find(run.tactics, "movement.concat"), run.tactics.end()) << text;
    EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, testing_support::sine), 0), "") << text;
  }
}

}  // namespace
}  // namespace assay::engine::cpu
