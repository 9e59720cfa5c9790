#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::parsed;

// Places stand before the numbers.
void expect_alike(const ir::Model& model, const std::function<double(size_t)>& number, const std::string& what) {
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  ASSERT_EQ(run.tactics, std::vector<std::string>{"pool.unpool"}) << what;
  EXPECT_EQ(testing_support::difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << what;
}

constexpr size_t kPlaces = 2 * 3 * 4 * 5;  // of planes of 8 x 10 elements
constexpr size_t kPlane = 8 * 10;

ir::Model unpool(const std::string& size) {
  return parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (int64[2,3,4,5] i, float[2,3,4,5] x) => (float y) "
      "{}{{ y = MaxUnpool<kernel_shape = [2,2], strides = [2,2]>(x, i{}) }}",
      size.empty() ? "" : fmt::format("<int64[4] size = {{2,3,{}}}> ", size), size.empty() ? "" : ", size"));
}

TEST(Unpool, PlacesOfTheSamePlane) {
  const auto number = [](size_t i) {
    const size_t plane = i / 20, within = i * 37 % kPlane;
    return i < kPlaces ? static_cast<double>(plane * kPlane + within) : static_cast<double>(i);
  };
  const ThreadPool pool(3);
  const PoolScope scope(pool);
  for (const char* const size : {"", "8,10", "9,13", "8,11"}) expect_alike(unpool(size), number, size);
}

// Several numbers for one place, of which the last one stays, and places in other planes.
TEST(Unpool, PlacesAnywhere) {
  const auto number = [](size_t i) {
    return i < kPlaces ? static_cast<double>(i * 53 % 90 * 5) : static_cast<double>(i);
  };
  const ThreadPool pool(3);
  const PoolScope scope(pool);
  for (const char* const size : {"", "9,13"}) expect_alike(unpool(size), number, size);
}

TEST(Unpool, PlaceOutOfRange) {
  for (const double place : {-1.0, 480.0}) {
    try {
      testing_support::run_on_engine(unpool(""), [&](size_t i) { return i == 7 ? place : 0; });
      ADD_FAILURE() << "no error for place " << place;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("index {} is out of range for 480 elements", static_cast<int>(place)));
    }
  }
}

TEST(Unpool, OneAndThreeDims) {
  const auto number = [](size_t i) { return static_cast<double>(i * 5 % 12); };
  expect_alike(parsed("<ir_version: 8, opset_import: [\"\" : 17]> g (int64[1,2,3] i, float[1,2,3] x) => (float y) "
                      "{ y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i) }"),
               number, "one");
  expect_alike(
      parsed("<ir_version: 8, opset_import: [\"\" : 17]> g (int64[1,2,2,2,2] i, float[1,2,2,2,2] x) => (float y) "
             "{ y = MaxUnpool<kernel_shape = [2,2,2], strides = [2,2,2]>(x, i) }"),
      number, "three");
}

}  // namespace
}  // namespace assay::engine::cpu
