// What every backend owes the interfaces of exec.
#include <algorithm>
#include <array>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "exec/backend.h"
#include "remote/isolated_backend.h"
#include "support/parsed_model.h"
#include "support/sanitized.h"
#include "tensor/elements.h"

namespace assay::exec {
namespace {

constexpr const char* kModel =
    "g (float[2,3] x) => (float[2,3] y, float[2,2] z) { h = Relu(x) y = Add(h, x) t = Transpose<perm = [1, 0]>(x) z = "
    "MatMul(h, t) }";
const std::vector<std::string> kValues = {"y", "z", "h"};

class Collector final : public TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override { values.emplace(name, value); }
  std::vector<double> elements(const std::string& name) const {
    return tensor::load_elements<double>(values.at(name).tensor());
  }
  std::map<std::string, tensor::Datum> values;
};

std::vector<Feed> feeds(float scale) {
  std::array<float, 6> elements{1, -2, 3, -4, 5, -6};
  for (float& element : elements) element *= scale;
  return {{"x", tensor::make_tensor<float>(tensor::DType::float32, {2, 3}, std::span<const float>(elements))}};
}

class EveryBackend : public testing::TestWithParam<std::string> {
 protected:
  EveryBackend() : model_(testing_support::parsed(kModel)) {
    const bool is_isolated = GetParam().starts_with("isolated ");
    const std::string name = is_isolated ? GetParam().substr(9) : GetParam();
    backend_ = is_isolated ? remote::isolated_backend({.backend = name}) : find_backend(name);
    SessionOptions options;
    options.values = {"h"};
    session_ = backend_->prepare(model_, options, findings_);
  }

  Collector run(Execution& execution, float scale) const {
    Collector collector;
    execution.run(feeds(scale), kValues, collector);
    return collector;
  }

  ir::Model model_;
  Diagnostics findings_;
  BackendPtr backend_;
  std::unique_ptr<Session> session_;
};

TEST_P(EveryBackend, TellsItsSignature) {
  const Signature& signature = session_->signature();
  ASSERT_EQ(signature.inputs.size(), 1U);
  EXPECT_EQ(signature.inputs[0].name, "x");
  EXPECT_EQ(signature.inputs[0].type->dims.at(1).size, 3);
  ASSERT_EQ(signature.outputs.size(), 2U);
  EXPECT_EQ(signature.outputs[1].name, "z");
  EXPECT_EQ(session_->answer("h").kind, TapAnswer::Kind::given);
}

TEST_P(EveryBackend, RunsSeveralExecutionsAtOnce) {
  const Collector alone = run(*session_->make_execution({}), 1);
  EXPECT_EQ(alone.elements("y"), (std::vector<double>{2, -2, 6, -4, 10, -6}));
  EXPECT_EQ(alone.elements("h"), (std::vector<double>{1, 0, 3, 0, 5, 0}));
  std::array<bool, 4> are_right{};
  std::vector<std::thread> threads;
  for (size_t n = 0; n < are_right.size(); ++n) {
    threads.emplace_back([&, n] {
      const auto scale = static_cast<float>(1U << n);
      const std::unique_ptr<Execution> execution = session_->make_execution({.threads = n % 2 == 0 ? 0U : 2U});
      bool is_right = true;
      for (int runs = 0; runs < 20; ++runs) {
        const Collector seen = run(*execution, scale);
        std::vector<double> expected = alone.elements("z");
        for (double& element : expected) element *= scale * scale;
        is_right = is_right && seen.elements("z") == expected && execution->seconds() > 0;
      }
      are_right[n] = is_right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(are_right, (std::array<bool, 4>{true, true, true, true}));
}

TEST_P(EveryBackend, WritesIntoMemoryOfTheCaller) {
  const std::unique_ptr<Execution> execution = session_->make_execution({});
  const tensor::Tensor expected = run(*execution, 2).values.at("z").tensor();
  std::vector<std::byte> memory(expected.bytes().size());
  execution->bind({{"z", expected.dtype(), {2, 2}, memory}});
  const Collector seen = run(*execution, 2);
  EXPECT_EQ(seen.values.at("z").tensor().bytes().data(), memory.data());
  EXPECT_TRUE(std::ranges::equal(memory, expected.bytes()));
  EXPECT_EQ(seen.elements("y"), (std::vector<double>{4, -4, 12, -8, 20, -12}));
  execution->bind({});
  const std::vector<std::byte> zeros(memory.size());
  memory = zeros;
  EXPECT_TRUE(std::ranges::equal(run(*execution, 2).values.at("z").tensor().bytes(), expected.bytes()));
  EXPECT_EQ(memory, zeros);
}

TEST_P(EveryBackend, RefusesMemoryThatDoesNotFit) {
  const std::unique_ptr<Execution> execution = session_->make_execution({});
  std::array<float, 4> memory{};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(memory));
  EXPECT_THROW(execution->bind({{"h", tensor::DType::float32, {2, 2}, bytes}}), Error);
  EXPECT_THROW(execution->bind({{"z", tensor::DType::float32, {2, 3}, bytes}}), Error);
  const auto run_bound = [&] {
    execution->bind({{"z", tensor::DType::float32, {4}, bytes}});
    run(*execution, 1);
  };
  EXPECT_THROW(run_bound(), Error);
}

std::vector<std::string> backends_to_test() {
  std::vector<std::string> names = {"ref", "ref-fp64", "engine", "onnxrt", "isolated ref", "isolated onnxrt"};
  // OpenVINO binds the names of its libraries to themselves (RTLD_DEEPBIND), which the sanitizer does not bear.
  if (!kIsSanitized) names.emplace_back("openvino");
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EveryBackend, testing::ValuesIn(backends_to_test()), [](const auto& chosen) {
  std::string name = chosen.param;
  std::erase_if(name, [](char c) { return c == '-' || c == ' '; });
  return name;
});

TEST(Reference, ProfilesItsNodes) {
  const ir::Model model = testing_support::parsed(kModel);
  Diagnostics findings;
  const std::unique_ptr<Session> session = make_backend("ref")->prepare(model, {}, findings);
  const std::unique_ptr<Execution> execution = session->make_execution({.profiles = true});
  Collector collector;
  execution->run(feeds(1), std::vector<std::string>{"y", "z"}, collector);
  std::vector<std::string> ops;
  double sum = 0;
  for (const LayerSeconds& layer : execution->profile()) {
    ops.push_back(layer.op);
    sum += layer.seconds;
  }
  EXPECT_EQ(ops, (std::vector<std::string>{"Relu", "Add", "Transpose", "MatMul"}));
  EXPECT_LE(sum, execution->seconds());
}

}  // namespace
}  // namespace assay::exec
