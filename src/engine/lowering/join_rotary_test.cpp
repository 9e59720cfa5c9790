#include "engine/lowering/join_rotary.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::sine;

constexpr const char* kHeads = "{0}h = Reshape({0}, {0}_dims) {0}x = Transpose<perm = [0,2,1,3]>({0}h) ";
constexpr const char* kTurned =
    "{0}l, {0}r = Split<axis = -1>({0}x) {0}o = Neg({0}r) {0}t = Concat<axis = -1>({0}o, {0}l) {0}a = Mul({0}x, {1}) "
    "{0}b = Mul({0}t, {2}) {0}m = Add({0}a, {0}b) ";
constexpr const char* kSliced =
    "{0}l = Slice({0}x, zero, half, last) {0}r = Slice({0}x, half, end, last) {0}o = Neg({0}r) "
    "{0}t = Concat<axis = -1>({0}o, {0}l) {0}a = Mul({0}x, {1}) {0}b = Mul({0}t, {2}) {0}m = Add({0}a, {0}b) ";
constexpr const char* kOwnConstants =
    "{0}z = Constant<value_ints = [0]>() {0}l = Slice({0}x, {0}z, half, last) {0}r = Slice({0}x, half, end, last) "
    "{0}o = Neg({0}r) {0}t = Concat<axis = -1>({0}o, {0}l) {0}a = Mul({0}x, {1}) {0}b = Mul({0}t, {2}) "
    "{0}m = Add({0}a, {0}b) ";
constexpr const char* kInPart =
    "{0}i, {0}j = Split<axis = -1>({0}x) {0}l, {0}r = Split<axis = -1>({0}i) {0}o = Neg({0}r) "
    "{0}t = Concat<axis = -1>({0}o, {0}l) {0}a = Mul({0}i, {1}) {0}b = Mul({0}t, {2}) {0}n = Add({0}a, {0}b) "
    "{0}m = Concat<axis = -1>({0}n, {0}j) ";

std::string nodes_of(const char* name, const std::string& nodes, const char* cosines = "c", const char* sines = "s") {
  return fmt::format(fmt::runtime(nodes), name, cosines, sines);
}

// Queries of four heads, keys of two and values of one side by side in `x`; `y` and `z` are of the first two.
std::string rotary_model(const std::string& nodes, const std::string& angles = "float[3,4]",
                         const std::string& outputs = "float[2,4,3,4] y, float[2,2,3,4] z, float[2,3,4] w") {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3,28] x, {0} c, {0} s) => ({1}) <int64[3] sizes = "
      "{{16,8,4}}, int64[4] q_dims = {{2,3,4,4}}, int64[4] k_dims = {{2,3,2,4}}, int64[1] zero = {{0}}, int64[1] half "
      "= "
      "{{2}}, int64[1] end = {{1000}}, int64[1] last = {{-1}}, float n = {{0.5}}> {{ q, k, v = Split<axis = -1>(x, "
      "sizes) {2} w = Exp(v) }}",
      angles, outputs, nodes);
}
constexpr const char* kEnds = " y = Exp(qm) z = Exp(km) ";

// The rotary positions that lowering leaves.
int64_t rotations(const std::string& text) {
  const ir::Model model = testing_support::parsed(text);
  ir::Model joined = model.copy();
  ir::Rewriter rewriter(joined);
  join_rotary(joined, rewriter);
  const auto exact = testing_support::run_on_reference(model, sine);
  EXPECT_EQ(difference(testing_support::run_on_reference(joined, sine), exact, 0), "") << text;
  const testing_support::EngineRun run = testing_support::run_on_engine(model, sine);
  EXPECT_EQ(difference(run.outputs, exact, 1e-6), "") << text;
  return std::ranges::count(run.tactics, "rotary.rows");
}

TEST(JoinRotary, OfPartsSideBySide) {
  for (const std::string turned : {kTurned, kSliced, kOwnConstants}) {
    for (const char* const angles : {"float[3,4]", "float[2,1,3,4]", "float[4]"}) {
      const std::string nodes = kHeads + turned;
      EXPECT_EQ(rotations(rotary_model(nodes_of("q", nodes) + nodes_of("k", nodes) + kEnds, angles)), 1) << angles;
      EXPECT_EQ(rotations(rotary_model(nodes_of("k", nodes) + nodes_of("q", nodes) + kEnds, angles)), 1) << angles;
    }
  }
  // what scales queries behind them is part of an attention, perhaps
  const std::string nodes = std::string(kHeads) + kTurned;
  EXPECT_EQ(rotations(rotary_model(nodes_of("q", nodes) + nodes_of("k", nodes) + " y = Mul(qm, n) z = Exp(km) ")), 1);
  const std::string in_part = std::string(kHeads) + kInPart;
  EXPECT_EQ(rotations(rotary_model(nodes_of("q", in_part) + nodes_of("k", in_part) + kEnds, "float[3,2]")), 1);
}

TEST(JoinRotary, OfOneRowWhoseHeadsAreRows) {
  const std::string nodes = std::string("{0}x = Reshape({0}, {0}_dims) ") + kTurned;
  EXPECT_EQ(rotations("<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,1,24] x, float[4] c, float[4] s) => "
                      "(float[2,4,1,4] y, float[2,2,1,4] z) <int64[2] sizes = {16,8}, int64[4] q_dims = {2,4,1,4}, "
                      "int64[4] k_dims = {2,2,1,4}> { q, k = Split<axis = -1>(x, sizes) " +
                      nodes_of("q", nodes) + nodes_of("k", nodes) + kEnds + "}"),
            1);
}

TEST(JoinRotary, OnlyWhereBothAreTurnedAlike) {
  const std::string nodes = std::string(kHeads) + kTurned;
  const std::string q = nodes_of("q", nodes), k = nodes_of("k", nodes);
  for (const std::string& others : {
           q + nodes_of("k", nodes, "s", "c") + kEnds,                           // other angles
           q + nodes_of("k", std::string(kHeads) + kSliced) + kEnds,             // other nodes
           q + nodes_of("k", nodes) + " y = Exp(qm) i = Exp(kx) z = Add(i, km)"  // heads that are read as they were
       }) {
    EXPECT_EQ(rotations(rotary_model(others)), 2) << others;
  }
  const std::string given = "float[2,4,3,4] y, float[2,2,3,4] km, float[2,3,4] w";
  EXPECT_EQ(rotations(rotary_model(q + k + " y = Exp(qm) ", "float[3,4]", given)), 2);
}

TEST(JoinRotary, OnlyByAnglesOfAllHeads) {
  const std::string nodes = std::string(kHeads) + kTurned;
  for (const auto& [angles, count] : {std::pair("float[1,3,4]", 1), std::pair("float[2,3,4]", 2)}) {
    EXPECT_EQ(rotations(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g (float[1,3,16] x, {0} c, {0} s) => "
                                    "(float[1,2,3,4] y, float[1,2,3,4] z) <int64[4] q_dims = {{1,3,2,4}}, int64[4] "
                                    "k_dims = {{1,3,2,4}}> {{ q, k = Split<axis = -1>(x) {1} }}",
                                    angles, nodes_of("q", nodes) + nodes_of("k", nodes) + kEnds)),
              count)
        << angles;
  }
}

}  // namespace
}  // namespace assay::engine
