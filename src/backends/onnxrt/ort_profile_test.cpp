#include "backends/onnxrt/ort_profile.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace assay::backends::ort {
namespace {

std::string node(const std::string& name, int microseconds) {
  return R"({"cat":"Node","name":")" + name + R"(_kernel_time","dur":)" + std::to_string(microseconds) +
         R"(,"args":{"op_name":"Op"}},)";
}

constexpr const char* kRun = R"({"cat":"Session","name":"model_run","dur":1,"args":{}},)";

// The first run warms up; one of the others met a busy machine. A layer of a loop counts once for each run.
TEST(OrtProfile, LayersHaveTheirMedianWithoutTheFirstRun) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "profile.json";
  std::ofstream(path) << "["
                      << R"({"cat":"Session","name":"model_loading_uri","dur":9,"args":{}},)" << node("conv", 9000)
                      << node("body", 5) << node("body", 5) << kRun                       //
                      << node("conv", 20) << node("body", 1) << node("body", 2) << kRun   //
                      << node("conv", 700) << node("body", 2) << node("body", 2) << kRun  //
                      << node("conv", 30) << node("body", 4) << node("body", 4) << kRun
                      << R"({"cat":"Session","name":"end","dur":1,"args":{}}])";
  const std::vector<exec::LayerSeconds> layers = read_profile(path);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].layer, "conv");
  EXPECT_NEAR(layers[0].seconds, 30e-6, 1e-12);
  EXPECT_NEAR(layers[1].seconds, 4e-6, 1e-12);
}

}  // namespace
}  // namespace assay::backends::ort
