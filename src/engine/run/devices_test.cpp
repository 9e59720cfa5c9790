#include <array>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "engine/device/device.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::FarDevice;

// A model on the far device and the host, planned once.
class OnFar {
 public:
  explicit OnFar(const char* text, testing_support::far::Refuses refuses = testing_support::far::Refuses::nothing)
      : model_(testing_support::parsed(text)),
        host_(cpu::make_device({})),
        far_(*host_, refuses),
        program_(model_, Devices({&far_, host_.get()}), {}) {}

  FarDevice& far() { return far_; }
  const Program& program() const { return program_; }
  std::vector<std::string> tactics() const {
    std::vector<std::string> tactics;
    for (const Step& step : program_.steps()) tactics.push_back(step.tactic);
    return tactics;
  }
  std::vector<std::vector<double>> run(Context& context, const std::function<double(size_t)>& number) const {
    std::map<ir::ValueId, std::vector<double>> found;
    const std::vector<ir::ValueId> wanted = testing_support::outputs_of(model_);
    context.run(testing_support::drawn_inputs(model_, number), wanted,
                [&](ir::ValueId value, const tensor::Datum& datum) {
                  found[value] = tensor::load_elements<double>(datum.tensor());
                });
    std::vector<std::vector<double>> outputs;
    for (const ir::ValueId value : wanted) outputs.push_back(found.at(value));
    return outputs;
  }
  std::string error_of(Context& context, const std::function<double(size_t)>& number) const {
    try {
      run(context, number);
    } catch (const Error& error) {
      return error.line();
    }
    return "";
  }

 private:
  ir::Model model_;
  std::unique_ptr<Device> host_;
  FarDevice far_;
  Program program_;
};

TEST(Devices, ValuesAreTransferredOnceEachWay) {
  const OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3] x) => (float[2,3] y) { a = Neg(x) b = Exp(x) y = "
      "Add(a, b) }");
  const std::vector<std::string> tactics = on_far.tactics();
  EXPECT_EQ(std::ranges::count(tactics, "transfer"), 2);
  EXPECT_EQ(tactics.front(), "transfer");
  EXPECT_EQ(tactics.back(), "transfer");
}

// Constants that kernels read are uploaded before the first run.
TEST(Devices, ConstantsAreNoTransfers) {
  const OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}> "
      "{ y = Mul(x, w) }");
  EXPECT_EQ(std::ranges::count(on_far.tactics(), "transfer"), 2);
  Context context(on_far.program(), {}, false);
  EXPECT_EQ(on_far.run(context, [](size_t) { return 2; })[0], (std::vector<double>{2, 4, 6, 8}));
}

// Hardmax runs on the reference, and its result is uploaded; memory of the host that later steps could take has to stay
// until that is done.
TEST(Devices, UploadsReadMemoryThatStays) {
  const OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,4] x) => (float[1,4] y) { a = Hardmax(x) b = Neg(x) "
      "c = Hardmax(b) d = Add(a, c) e = Hardmax(d) y = Add(e, a) }");
  Context context(on_far.program(), {}, false);
  const std::vector<double> first = on_far.run(context, testing_support::sine)[0];
  EXPECT_EQ(on_far.run(context, testing_support::sine)[0], first);
  EXPECT_EQ(std::accumulate(first.begin(), first.end(), 0.0), 2);
}

TEST(Devices, ErrorsOfAsynchronousWorkNameTheirLayerFromTheSecondRunOn) {
  const OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[3] x, int64[1] i) => (float[1] y) { [taken] t = Gather(x, "
      "i) "
      "y = Neg(t) }");
  const auto number = [](size_t i) { return i < 3 ? 1.0 : 7.0; };
  Context context(on_far.program(), {}, false);
  EXPECT_NE(on_far.error_of(context, number).find("index 7 is out of range"), std::string::npos);
  EXPECT_NE(on_far.error_of(context, number).find("`taken`"), std::string::npos);
  EXPECT_EQ(on_far.run(context, [](size_t i) { return i < 3 ? 5.0 : 1.0; })[0], std::vector<double>{-5});
  Context profiled(on_far.program(), {}, true);
  EXPECT_NE(on_far.error_of(profiled, number).find("`taken`"), std::string::npos);
}

TEST(Devices, MemoryThatIsNotThereIsSaid) {
  OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[64] x) => (float[64] y) { a = Exp(x) y = Softmax(a) }");
  on_far.far().set_free_bytes(16);
  try {
    const Context context(on_far.program(), {}, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.line().find("of memory for values on far, 16 B are available"), std::string::npos) << error.line();
  }
}

TEST(Devices, TwoContextsRunAtATime) {
  const OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[32,32] x) => (float[32,32] y) { a = MatMul(x, x) b = "
      "Softmax(a) "
      "y = MatMul(b, x) }",
      testing_support::far::Refuses::some);
  std::array<std::vector<double>, 2> results;
  {
    std::vector<std::jthread> threads;
    for (std::vector<double>& result : results) {
      threads.emplace_back([&] {
        Context context(on_far.program(), {}, false);
        for (int round = 0; round < 20; ++round) result = on_far.run(context, testing_support::sine)[0];
      });
    }
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace assay::engine
