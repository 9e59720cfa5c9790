#include <array>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "support/on_far.h"

namespace assay::engine {
namespace {

using testing_support::OnFar;

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
  OnFar on_far(
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
  on_far.far().state().downloads_left = 0;
  EXPECT_EQ(on_far.error_of(context, [](size_t) { return 1.0; }), "device far: a download failed on purpose");
}

// Neither of that of the steps before nor of the wait for them.
TEST(Devices, TimesOfStepsAreThoseOfTheirOwnWork) {
  OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4] x) => (float[4] y) { a = Exp(x) b = Hardmax(a) y = "
      "Softmax(b) }");
  Context profiled(on_far.program(), {}, true);
  on_far.far().state().delay = std::chrono::milliseconds(30);
  on_far.run(profiled, testing_support::sine);
  ASSERT_EQ(profiled.step_seconds().size(), on_far.program().steps().size());
  for (const double seconds : profiled.step_seconds()) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 0.02);
  }
  EXPECT_GT(profiled.seconds(), 0.1);
}

TEST(Devices, ErrorsLeaveNoMarksForTheNextRun) {
  OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4] x) => (float[4] y) { a = Exp(x) y = Softmax(a) }");
  Context profiled(on_far.program(), {}, true);
  on_far.far().state().kernels_left = 1;
  EXPECT_NE(on_far.error_of(profiled, testing_support::sine)
                .find("the Softmax node of `y`: device far: a kernel failed on purpose"),
            std::string::npos);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  on_far.run(profiled, testing_support::sine);
  for (const double seconds : profiled.step_seconds()) EXPECT_LT(seconds, 0.02);
}

// A way in which the far device fails, by its number of steps until then.
using Failure = std::atomic<int> testing_support::far::State::*;

std::string turns_model() {
  return "<ir_version: 8, opset_import: [\"\" : 17]> g (float[32,32] x, int64 n) => (float[32,32] y) <" +
         testing_support::square_weights(32) +
         ", bool on = {1}> { a = MatMul(x, w) b = Exp(a) c = Softmax(b) d = Hardmax(c) z = Loop(n, on, d) <body = "
         "again "
         "(int64 i, bool go, float[32,32] s) => (bool goes, float[32,32] r) { goes = Identity(go) t = MatMul(s, w) u = "
         "Add(t, c) r = Softmax(u) }> y = Neg(z) }";
}

double three_turns(size_t i) { return i < 1024 ? testing_support::sine(i) : 3; }

// The error of making and running the model on a device that fails after so many steps; empty: it has not failed. The
// device works from then on, and nothing of it is held at the end.
std::string error_after(Failure failure, int steps, ErrorCode expected) {
  std::shared_ptr<testing_support::far::State> state;
  std::string line;
  try {
    OnFar on_far(turns_model(), testing_support::far::Refuses::nothing, [&](testing_support::FarDevice& far) {
      state = far.shared_state();
      (*state).*failure = steps;
    });
    Context context(on_far.program(), {}, false);
    line = on_far.error_of(context, three_turns, expected);
    (*state).*failure = -1;
    const auto seen = on_far.run(context, three_turns);
    EXPECT_EQ(testing_support::difference(seen, on_far.expected(three_turns), 1e-4), "") << steps;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
    line = error.line();
  }
  EXPECT_EQ(state->held_bytes, 0) << steps;
  return line;
}

// The lines of all failures that there are, one step later each.
std::vector<std::string> errors_of(Failure failure, ErrorCode expected) {
  std::vector<std::string> lines;
  for (;;) {
    const std::string line = error_after(failure, static_cast<int>(lines.size()), expected);
    if (line.empty()) return lines;
    lines.push_back(line);
  }
}

TEST(Devices, AllocationsMayFailAnywhere) {
  const std::vector<std::string> lines = errors_of(&testing_support::far::State::allocations_left, ErrorCode::limit);
  EXPECT_EQ(exit_status(ErrorCode::limit), kExitUndecided);
  EXPECT_GT(lines.size(), 5U);
  for (const std::string& line : lines) EXPECT_TRUE(line.ends_with("far has no memory left on purpose")) << line;
  EXPECT_GT(std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("the "); }), 2);
}

TEST(Devices, KernelsMayFailAnywhere) {
  const std::vector<std::string> lines = errors_of(&testing_support::far::State::kernels_left, ErrorCode::backend);
  EXPECT_GT(lines.size(), 8U);
  for (const std::string& line : lines) EXPECT_TRUE(line.ends_with("device far: a kernel failed on purpose")) << line;
}

TEST(Devices, DownloadsMayFailAnywhere) {
  const std::vector<std::string> lines = errors_of(&testing_support::far::State::downloads_left, ErrorCode::backend);
  EXPECT_EQ(lines.size(), 2U);  // for Hardmax, and y
  for (const std::string& line : lines) EXPECT_EQ(line, "device far: a download failed on purpose");
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
