#include <limits>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

// Indices from -8 to 8 of a depth of 6, so that some are out of range on both sides.
double some_index(size_t i) { return static_cast<double>(i * 7 % 17) - 8; }
double some_fraction(size_t i) {
  if (i % 13 == 4) return std::numeric_limits<double>::quiet_NaN();
  return i % 13 == 5 ? 1e30 : some_index(i) + 0.75;
}

void expect_alike(const std::string& text, const std::function<double(size_t)>& number) {
  const ir::Model model = testing_support::parsed(text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  ASSERT_EQ(run.tactics, std::vector<std::string>{"movement.one_hot"}) << text;
  EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << text;
}

TEST(OneHot, TypesAxesAndVersions) {
  const ThreadPool pool(2);
  const PoolScope scope(pool);
  for (const char* const type : {"float", "int8", "int16", "int64", "bool"}) {
    for (const char* const index : {"int32", "int64", "float"}) {
      for (const int axis : {0, 1, -1}) {
        for (const int version : {9, 11}) {
          const bool is_float = index[0] == 'f';
          expect_alike(
              fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> g ({}[5,7] i) => ({} y) <int64[1] depth = "
                          "{{6}}, {}[2] values = {{0, 1}}> {{ y = OneHot<axis = {}>(i, depth, values) }}",
                          version, index, type, type, axis),
              is_float ? some_fraction : some_index);
        }
      }
    }
  }
}

TEST(OneHot, ManyColumnsAndValuesOfARun) {
  const ThreadPool pool(3);
  const PoolScope scope(pool);
  for (const int axis : {0, 1})
    expect_alike(
        fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g (int64[9001] i, float[2] values) => (float y) "
                    "<int64 depth = {{6}}> {{ y = OneHot<axis = {}>(i, depth, values) }}",
                    axis),
        some_index);
}

}  // namespace
}  // namespace assay::engine::cpu
