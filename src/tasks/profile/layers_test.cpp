#include "tasks/profile/layers.h"

#include <cmath>

#include <gtest/gtest.h>

#include "onnx/text.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kText = R"(<ir_version: 8, opset_import: ["" : 17]>
net (float[n,4] x) => (float[n,3] y) <float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}> {
  [product] m = MatMul(x, w)
  y = Relu(m)
})";

WorkOfNodes work() {
  Diagnostics findings;
  const exec::Feed feed = {
      "x", tensor::Tensor(tensor::DType::float32, {5, 4}, tensor::make_fill(std::vector<std::byte>(4), 20))};
  return work_of_nodes(onnx::parse_text(kText, findings), {&feed, 1});
}

TEST(ProfiledLayers, WorkIsCountedForTheShapesOfTheFeeds) {
  const WorkOfNodes found = work();
  EXPECT_EQ(found.at("product").flops, 2 * 5 * 4 * 3);
  EXPECT_EQ(found.at("product").bytes, 4 * (5 * 4 + 4 * 3 + 5 * 3));
  EXPECT_EQ(found.at("m").node, "product");  // by its result
  EXPECT_EQ(found.at("y").node, "y");
}

TEST(ProfiledLayers, MediansAndBounds) {
  const results::MachineRoof roof{.threads = 1, .flops_per_second = 1000, .bytes_per_second = 1e9};
  std::vector<std::vector<exec::LayerSeconds>> runs;
  for (const double seconds : {0.2, 9.0, 0.1}) {
    runs.push_back({{"a", "MatMul", seconds, {"m_nchwc", "elsewhere"}}, {"b", "copy", 0.6}});
  }
  const std::vector<results::ProfiledLayer> layers = merge_runs(runs, work(), roof);
  ASSERT_EQ(layers.size(), 2);
  EXPECT_EQ(layers[0].seconds, 0.2);
  EXPECT_EQ(layers[0].share, 0.25);
  EXPECT_EQ(layers[0].origins, std::vector<std::string>{"product"});
  EXPECT_EQ(layers[0].bound, "arithmetic");  // 120 operations in 0.2 s, of 200 that the machine could do
  EXPECT_EQ(layers[1].bound, "");
}

TEST(ProfiledLayers, GroupsOfSeveralBackends) {
  const auto layer = [](std::vector<std::string> origins, double seconds) {
    results::ProfiledLayer made{.layer = "l", .op = "o", .origins = std::move(origins), .bound = {}};
    made.seconds = seconds;
    return made;
  };
  std::vector<results::ProfiledBackend> backends(2);
  backends[0].layers = {layer({"a", "b"}, 1), layer({}, 5), layer({"c"}, 2)};
  backends[1].layers = {layer({"a"}, 3), layer({"b"}, 4)};
  const std::vector<results::LayerGroup> groups = group_layers(backends);
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0].origins, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(groups[0].seconds, (std::vector<double>{1, 7}));
  EXPECT_EQ(groups[1].seconds[0], 2);
  EXPECT_TRUE(std::isnan(groups[1].seconds[1]));
}

}  // namespace
}  // namespace assay::tasks
