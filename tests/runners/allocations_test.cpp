// What a run of planned layers takes from the allocator: nothing, once the first has been.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace {

std::atomic<bool>& is_counting() {
  static std::atomic<bool> counting = false;
  return counting;
}

std::atomic<size_t>& allocations() {
  static std::atomic<size_t> count = 0;
  return count;
}

}  // namespace

// The sanitizers, which builds with Clang may have, bring an allocator of their own.
#if defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The program's own, which the libraries call too. Memory is freed by that of the system.
extern "C" {

void* __libc_malloc(size_t bytes) noexcept;                      // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(size_t alignment, size_t bytes) noexcept;  // NOLINT(bugprone-reserved-identifier)

void* malloc(size_t bytes) noexcept {
  if (is_counting()) ++allocations();
  return __libc_malloc(bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  if (is_counting()) ++allocations();
  return __libc_memalign(alignment, bytes);
}
}

#endif

namespace assay::engine {
namespace {

std::string numbers(size_t count) {
  std::mt19937 random(1);
  std::string text = "0.25";
  for (size_t i = 1; i < count; ++i) text += fmt::format(",{}", (static_cast<int>(random() % 41) - 20) / 256.0);
  return text;
}

// Winograd's, one of windows, one of single pixels, a depthwise one, reductions, a product, rotary positions, and steps
// of the tape.
ir::Model drawn_network() {
  return testing_support::parsed(fmt::format(
      R"(<ir_version: 10, opset_import: ["" : 22]> g (float[1,32,40,40] x) => (float[1,16] y) <
        float[32,32,3,3] w = {{{0}}}, float[48,32,1,1] p = {{{1}}}, float[48,1,3,3] d = {{{2}}},
        float[16,48,5,5] k = {{{3}}}, float[16,16] m = {{{4}}}, float[16] b = {{{5}}},
        int64[1] last = {{-1}}> {{
      s = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w)
      r = Relu(s)
      q = Conv<kernel_shape = [1, 1]>(r, p)
      g = Sigmoid(q)
      t = Mul(q, g)
      e = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = 48>(t, d)
      f = Conv<kernel_shape = [5, 5], strides = [2, 2]>(e, k)
      h = GlobalAveragePool(f)
      l = Flatten(h)
      n = MatMul(l, m)
      v = Add(n, b)
      i, j = Split<axis = 1, num_outputs = 2>(v)
      o = Neg(j)
      c = Concat<axis = 1>(o, i)
      a = Mul(v, b)
      z = Mul(c, b)
      u = Add(a, z)
      aa = Abs(u)
      ab = ReduceMean(aa, last)
      y = Sub(u, ab)
    }})",
      numbers(32 * 32 * 9), numbers(48 * 32), numbers(48 * 9), numbers(16 * 48 * 25), numbers(256), numbers(16)));
}

TEST(Allocations, RunsIntoTheCallersMemoryTakeNone) {
  is_counting() = true;
  const size_t before = allocations();
  const auto owned = std::make_unique<std::vector<int>>(1000);
  is_counting() = false;
  if (allocations() == before) GTEST_SKIP() << "the allocator is not counted here";

  ir::Model model = drawn_network();
  ir::Rewriter rewriter(model);
  engine::lower(model, rewriter);
  const std::unique_ptr<Device> device = cpu::make_device({});
  const Program program(model, Devices(*device), {});
  for (const Step& step : program.steps()) EXPECT_NE(step.kernel, nullptr) << step.tactic;
  const auto count_of = [&](const char* tactic) { return std::ranges::count(program.steps(), tactic, &Step::tactic); };
  EXPECT_EQ(count_of("rotary.rows"), 1);
  EXPECT_EQ(count_of("reduction.rows"), 2);
  const std::vector<ops::InputDatum> inputs = testing_support::drawn_inputs(model, testing_support::sine);
  const std::vector<ir::ValueId> wanted = testing_support::outputs_of(model);
  std::vector<float> result(16);
  const std::map<ir::ValueId, OutputPlace> places = {
      {wanted.at(0), {tensor::DType::float32, {1, 16}, std::as_writable_bytes(std::span(result))}}};
  for (const bool profiles : {false, true}) {
    Context context(program, {}, profiles);
    size_t given = 0;
    for (int run = 0; run < 3; ++run) {
      is_counting() = run > 0;
      const size_t count = allocations();
      context.run(
          inputs, wanted, [&](ir::ValueId, const tensor::Datum&) { ++given; }, places);
      is_counting() = false;
      EXPECT_EQ(allocations(), count) << run;
    }
    EXPECT_EQ(given, 3);
    EXPECT_NE(result.at(3), 0);
  }
}

}  // namespace
}  // namespace assay::engine
