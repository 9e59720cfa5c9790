// Parts and bodies on a device: what stays there.
#include <array>
#include <thread>

#include <gtest/gtest.h>

#include "support/on_far.h"

namespace assay::engine {
namespace {

using testing_support::FarDevice;
using testing_support::OnFar;
using testing_support::square_weights;

constexpr int kSide = 32;
constexpr size_t kBytes = size_t{kSide} * kSide * sizeof(float);

std::string opset() { return "<ir_version: 8, opset_import: [\"\" : 17]> "; }

// Transfers of one run.
struct Transfers {
  int uploads = 0;
  int downloads = 0;
  uint64_t downloaded_bytes = 0;
  bool operator==(const Transfers&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Transfers& seen) {
  return out << seen.uploads << " up, " << seen.downloads << " down, " << seen.downloaded_bytes << " bytes";
}

// A model that runs again and again, compared with the reference each time.
class Counted : public OnFar {
 public:
  explicit Counted(const std::string& text) : OnFar(text), context_(program(), {}, false) {}
  Context& context() { return context_; }
  // Inputs are numbers of their own, and behind them `last`.
  Transfers run_with(double last) {
    const auto number = [last](size_t i) { return i < kSide * kSide ? testing_support::sine(i) : last; };
    testing_support::far::State& state = far().state();
    state.uploads = 0;
    state.downloads = 0;
    state.downloaded_bytes = 0;
    const auto seen = run(context_, number);
    const Transfers counted{state.uploads, state.downloads, state.downloaded_bytes};
    EXPECT_EQ(testing_support::difference(seen, expected(number), 1e-4), "") << last;
    return counted;
  }

 private:
  Context context_;
};

// The model's input goes up and its output comes down.
constexpr Transfers kInAndOut{1, 1, kBytes};

TEST(FarParts, BranchesLeaveWhatGoesInAndComesOutOnTheDevice) {
  Counted branches(opset() + "g (float[32,32] x, bool c) => (float[32,32] y) <" + square_weights(kSide) +
                   ", int64[1] flat = {1024}, int64[2] square = {32, 32}> { k = MatMul(x, w) b = If(c) <then_branch = "
                   "t () => (float[32,32] p) { m = MatMul(k, w) p = "
                   "Tanh(m) }, else_branch = e () => (float[32,32] q) { n = MatMul(k, w) o = Reshape(n, "
                   "flat) l = Softmax(o) q = Reshape(l, square) }> y = Softmax(b) }");
  branches.run_with(1);
  branches.run_with(0);
  EXPECT_EQ(branches.run_with(1), kInAndOut);
  EXPECT_EQ(branches.run_with(0), kInAndOut);
}

std::string loop(const std::string& body) {
  return opset() + "g (float[32,32] x, int64 n) => (float[32,32] y) <" + square_weights(kSide) +
         ", bool on = {1}, float limit = {40}, int64[1] flat = {1024}, int64[2] square = {32, 32}> { h = Abs(x) z = "
         "Loop(n, on, x) <body = again (int64 i, bool go, float[32,32] s) => (bool goes, float[32,32] r) { " +
         body + " }> y = Neg(z) }";
}

TEST(FarParts, TurnsOfALoopTransferNothing) {
  for (const char* const body :
       {"goes = Identity(go) t = MatMul(s, w) u = Tanh(t) r = Add(u, h)",
        "goes = Identity(go) t = Reshape(s, flat) a = Exp(t) b = Reshape(h, flat) u = Sub(a, b) v = Tanh(u) c = "
        "Reshape(v, square) r = MatMul(c, w)",
        "goes = Identity(go) r = If(go) <then_branch = a () => (float[32,32] p) { m = MatMul(s, w) d = Add(m, h) p = "
        "Tanh(d) }, else_branch = b () => (float[32,32] q) { l = MatMul(h, w) q = Softmax(l) }>",
        "goes = Identity(go) t = MatMul(s, w) u = Transpose(t) v = Softmax(u) e = MatMul(v, w) r = Mul(e, h)"}) {
    Counted turns(loop(body));
    turns.run_with(2);
    EXPECT_EQ(turns.run_with(3), kInAndOut) << body;
    EXPECT_EQ(turns.run_with(9), kInAndOut) << body;
  }
}

TEST(FarParts, ALoopDownloadsWhatItsConditionNeeds) {
  Counted turns(
      loop("t = MatMul(s, w) u = Tanh(t) r = Add(u, h) a = Abs(r) e = ReduceSum<keepdims = 0>(a) goes = Less(e, "
           "limit)"));
  turns.run_with(9);
  const Transfers seen = turns.run_with(9);
  EXPECT_EQ(seen.uploads, 1);
  EXPECT_EQ(seen.downloaded_bytes, kBytes + static_cast<uint64_t>(seen.downloads - 1) * sizeof(bool));
}

TEST(FarParts, PartsBehindSizesThatDataDecidesLeaveValuesThere) {
  Counted parts(opset() + "g (float[32,32] x, bool[32] c) => (float[n,32] y) <" + square_weights(kSide) +
                "> { h = Exp(x) p = Compress<axis = 0>(x, c) a = MatMul(p, w) k = ReduceMean<axes = [0]>(h) b = Mul(a, "
                "k) y = Relu(b) }");
  parts.run_with(1);
  // x as it is and what Compress leaves of it; k is computed there.
  EXPECT_EQ(parts.run_with(1), (Transfers{2, 1, kBytes}));
}

// The memory of what a body gives out is used again, unless somebody holds it.
TEST(FarParts, MemoryIsFreedWithItsLastHolder) {
  std::shared_ptr<testing_support::far::State> state;
  {
    Counted turns(loop("goes = Identity(go) t = MatMul(s, w) r = Tanh(t)"));
    state = turns.far().shared_state();
    turns.run_with(2);
    const int64_t held = state->held_bytes;
    turns.run_with(20);
    EXPECT_EQ(state->held_bytes, held);
    turns.context().rest();
    EXPECT_LT(state->held_bytes, held);
    EXPECT_EQ(turns.run_with(3), kInAndOut);
  }
  EXPECT_EQ(state->held_bytes, 0);
}

// An output that a body only hands on is given to the caller in memory of the host.
TEST(FarParts, OutputsAreTheHosts) {
  Counted turns(opset() + "g (float[32,32] x, int64 n) => (float[32,32] y, float[32,32] k) <" + square_weights(kSide) +
                ", bool on = {1}> { k = Exp(x) y = Loop(n, on, k) <body = again (int64 i, bool go, float[32,32] s) => "
                "(bool goes, float[32,32] r) { goes = Identity(go) t = MatMul(s, w) r = Tanh(t) }> }");
  turns.run_with(3);
  for (const int trips : {0, 3}) EXPECT_EQ(turns.run_with(trips), (Transfers{1, 2, 2 * kBytes})) << trips;
}

// `j` is the host's and lies where the caller wants it, and is another one in each run.
TEST(FarParts, MemoryOfTheCallerIsUploadedAnew) {
  const OnFar turns(opset() + "g (float[32,32] x) => (float[32,32] j, float[32,32] y) <" + square_weights(kSide) +
                        ", bool on = {1}, int64 n = {2}> { j = Exp(x) y = Loop(n, on, j) <body = again (int64 i, bool "
                        "go, float[32,32] s) => (bool goes, float[32,32] q) { goes = Identity(go) k = MatMul(s, w) q = "
                        "Softmax(k) }> }",
                    testing_support::far::Refuses::some);
  const ir::ValueId output = testing_support::outputs_of(turns.model())[0];
  ASSERT_EQ(turns.program().slots()[*turns.program().slot_of(output)].place, Slot::Place::output);
  std::vector<float> memory(kSide * kSide);
  Context context(turns.program(), {}, false);
  for (const double scale : {1.0, -2.0}) {
    const auto number = [&](size_t i) { return scale * testing_support::sine(i); };
    const OutputPlace place{tensor::DType::float32, {kSide, kSide}, std::as_writable_bytes(std::span(memory))};
    EXPECT_EQ(testing_support::difference(turns.run(context, number, {{output, place}}), turns.expected(number), 1e-4),
              "")
        << scale;
  }
}

TEST(FarParts, ArePlannedWhereTheirWorkIsWorthItToTheDevice) {
  const PartShapes shapes = {
      {tensor::DType::int64, {}}, {tensor::DType::boolean, {}}, {tensor::DType::float32, {kSide, kSide}}};
  for (const double least_work : {1e4, 1e6}) {
    const OnFar turns(loop("goes = Identity(go) t = MatMul(s, w) r = Tanh(t)"), testing_support::far::Refuses::nothing,
                      [&](FarDevice& far) { far.own_rules().least_work = least_work; });
    const Part& part = turns.program().bodies().begin()->second->part;
    EXPECT_EQ(part.plan(shapes) != nullptr, least_work < kSide * kSide * kSide) << least_work;
  }
}

TEST(FarParts, RunOnTwoDevicesAtOnce) {
  const std::string text = loop("goes = Identity(go) t = MatMul(s, w) u = Tanh(t) r = Add(u, h)");
  const ir::Model model = testing_support::parsed(text);
  const std::unique_ptr<Device> host = cpu::make_device({});
  const FarDevice first(*host, testing_support::far::Refuses::some, "first");
  const FarDevice second(*host, testing_support::far::Refuses::others, "second");
  const Program there(model, Devices({&first, host.get()}), {});
  const Program both(model, Devices({&second, &first, host.get()}), {});
  const auto number = [](size_t i) { return i < kSide * kSide ? testing_support::sine(i) : 5; };
  const auto expected = testing_support::run_on_reference(model, number);
  std::array<std::string, 4> found;
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] {
        Context context(i % 2 == 0 ? there : both, {}, false);
        for (int round = 0; round < 10; ++round) {
          std::vector<std::vector<double>> outputs;
          context.run(testing_support::drawn_inputs(model, number), testing_support::outputs_of(model),
                      [&](ir::ValueId, const tensor::Datum& datum) {
                        outputs.push_back(tensor::load_elements<double>(datum.tensor()));
                      });
          found[i] += testing_support::difference(outputs, expected, 1e-4);
        }
      });
    }
  }
  EXPECT_EQ(found, (std::array<std::string, 4>{}));
  EXPECT_GT(first.state().uploads, 0);
  EXPECT_GT(second.state().uploads, 0);
}

}  // namespace
}  // namespace assay::engine
