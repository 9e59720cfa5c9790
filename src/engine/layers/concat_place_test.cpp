#include "engine/layers/concat_place.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::parsed;
using testing_support::sine;

// The tactics of a model whose outputs are those of the reference.
std::vector<std::string> tactics_of(const std::string& text) {
  const ir::Model model = parsed("<ir_version: 10, opset_import: [\"\" : 22]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, sine), 1e-6), "") << text;
  return run.tactics;
}

using Tactics = std::vector<std::string>;

TEST(ConcatPlace, PartsAreWrittenInPlace) {
  EXPECT_EQ(tactics_of("(float[3,5] x, float[2,5] z) => (float[5,5] y) "
                       "{ a = Neg(x)  b = Abs(z)  y = Concat<axis = 0>(a, b) }"),
            (Tactics{"elementwise.tape", "elementwise.tape"}));
  // In another shape, and with a reader behind it.
  EXPECT_EQ(tactics_of("(float[1,3,5] x, float[1,2,5] z) => (float[1,25] y) <int64[2] s = {1,15}, int64[2] t = {1,10}> "
                       "{ a = Neg(x)  b = Reshape(a, s)  c = Abs(z)  d = Reshape(c, t)  e = Concat<axis = -1>(b, d)  "
                       "y = Softmax(e) }"),
            (Tactics{"elementwise.tape", "elementwise.tape", "softmax.rows"}));
}

// What is computed elsewhere is copied beside the others, an operand that comes twice as well.
TEST(ConcatPlace, OtherPartsAreCopied) {
  EXPECT_EQ(tactics_of("(float[3,5] x, float[2,5] z) => (float[8,5] y) <float[1,5] w = {1,2,3,4,5}> "
                       "{ a = Neg(x)  y = Concat<axis = 0>(z, a, w, z) }"),
            (Tactics{"elementwise.tape", "copy", "copy", "copy"}));
  EXPECT_EQ(tactics_of("(float[3,5] x) => (float[6,5] y) { a = Neg(x)  y = Concat<axis = 0>(a, a) }"),
            (Tactics{"elementwise.tape", "copy"}));
}

// Outputs, and parts that are no piece of the result, have memory of their own.
TEST(ConcatPlace, NotEverythingHasAPlace) {
  EXPECT_EQ(tactics_of("(float[3,5] x) => (float[6,5] y, float[3,5] a) { a = Neg(x)  y = Concat<axis = 0>(x, a) }"),
            (Tactics{"elementwise.tape", "movement.concat"}));
  EXPECT_EQ(tactics_of("(float[3,5] x) => (float[3,10] y) { a = Neg(x)  y = Concat<axis = 1>(x, a) }"),
            (Tactics{"elementwise.tape", "movement.concat"}));
}

// Others read a part, and a Concat is part of another one.
TEST(ConcatPlace, ReadersOfParts) {
  tactics_of(
      "(float[3,5] x) => (float[9,5] y, float[3,5] z) { a = Neg(x)  b = Exp(x)  c = Concat<axis = 0>(a, b)  "
      "d = Abs(c)  e = Relu(a)  z = Mul(e, b)  t = Tanh(z)  y = Concat<axis = 0>(d, t) }");
  tactics_of(
      "(float[1,8,6,6] x) => (float[2,8,3,3] y, float[1,8,3,3] z) { a = MaxPool<kernel_shape = [2,2], "
      "strides = [2,2]>(x)  b = AveragePool<kernel_shape = [2,2], strides = [2,2]>(x)  "
      "y = Concat<axis = 0>(a, b)  z = Add(a, b) }");
}

// As heads of detectors write them: results turned, and joined by rows.
TEST(ConcatPlace, HeadsOfDetectors) {
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    const ThreadPool pool(threads);
    const PoolScope scope(pool);
    EXPECT_EQ(
        tactics_of("(float[1,51,33,40] x, float[1,51,7,5] z) => (float[1,4065,17] y) "
                   "<int64[5] s = {1,3,17,33,40}, int64[5] t = {1,3,17,7,5}, int64[3] r = {1,-1,17}> "
                   "{ a = MaxPool<kernel_shape = [1,1]>(x)  b = Reshape(a, s)  c = Transpose<perm = "
                   "[0,1,3,4,2]>(b)  d = Sigmoid(c)  e = Reshape(d, r)  "
                   "f = MaxPool<kernel_shape = [1,1]>(z)  g = Reshape(f, t)  h = Transpose<perm = "
                   "[0,1,3,4,2]>(g)  i = Sigmoid(h)  j = Reshape(i, r)  y = Concat<axis = 1>(e, j) }"),
        (Tactics{"copy", "pool.channels_last", "elementwise.tape", "copy", "pool.channels_last", "elementwise.tape"}));
  }
}

// A Cast behind the Concat is computed with its parts.
TEST(ConcatPlace, CastsMoveToTheParts) {
  EXPECT_EQ(
      tactics_of("(bfloat16[1,4,6] x, bfloat16[1,3,4] z) => (float[1,9,4] y) <int64[3] s = {1,6,4}> "
                 "{ a = Neg(x)  b = Reshape(a, s)  c = Abs(z)  d = Concat<axis = 1>(b, c)  y = Cast<to = 1>(d) }"),
      (Tactics{"elementwise.tape", "elementwise.tape"}));
  // One of them is not computed element by element.
  EXPECT_EQ(tactics_of("(bfloat16[4,6] x) => (float[8,6] y) "
                       "{ a = Neg(x)  d = Concat<axis = 0>(a, x)  y = Cast<to = 1>(d) }"),
            (Tactics{"elementwise.tape", "copy", "elementwise.tape"}));
}

}  // namespace
}  // namespace assay::engine
