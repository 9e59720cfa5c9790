#include "engine/tactics.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/packed_weights.h"

namespace assay::engine {
namespace {

constexpr std::string_view kMachine = "a machine";

TEST(TimingCache, TextComesBack) {
  TimingCache cache;
  cache.add(kMachine, "Conv(i0,i1)", "conv.a", 1e-3);
  cache.add(kMachine, "Conv(i0,i1)", "conv.b:rows", 2e-6);
  cache.add("another", "Add(i0,i1)", "add", 5e-9);
  const TimingCache read = TimingCache::parse(cache.text());
  EXPECT_EQ(read.text(), cache.text());
  EXPECT_DOUBLE_EQ(read.find(kMachine, "Conv(i0,i1)", "conv.b:rows").value(), 2e-6);
  EXPECT_EQ(read.find(kMachine, "Conv(i0,i1)", "conv.c"), std::nullopt);
  EXPECT_EQ(read.find("another", "Conv(i0,i1)", "conv.a"), std::nullopt);
}

TEST(TimingCache, MergeKeepsWhatIsThere) {
  TimingCache cache;
  cache.add(kMachine, "x", "a", 1);
  TimingCache other;
  other.add(kMachine, "x", "a", 2);
  other.add(kMachine, "x", "b", 3);
  cache.merge(other);
  EXPECT_EQ(cache.find(kMachine, "x", "a"), 1);
  EXPECT_EQ(cache.find(kMachine, "x", "b"), 3);
}

TEST(TimingCache, DamagedTextIsRefused) {
  for (const char* const text :
       {"{}", "assay timing cache 2\n", "assay timing cache 1\nlayer x\n",
        "assay timing cache 1\nmachine m\n12 tactic\n", "assay timing cache 1\nmachine m\nlayer x\nfast tactic\n",
        "assay timing cache 1\nmachine m\nlayer x\n12\n",
        "assay timing cache 1\nmachine m\nlayer x\n99999999999999999999 t\n"}) {
    EXPECT_THROW(TimingCache::parse(text), Error) << text;
  }
  EXPECT_EQ(TimingCache::parse("").size(), 0);
}

TEST(PackedWeights, EachFormIsMadeOnceAndDropped) {
  const tensor::Tensor weights =
      tensor::Tensor(tensor::DType::float32, {2}, tensor::make_owned(std::vector<std::byte>(8)));
  PackedWeights packed;
  int made = 0;
  const auto fill = [&](std::byte*) { ++made; };
  {
    const PackedWeights::Bytes first = packed.get(weights, "a", 8, fill);
    EXPECT_EQ(packed.get(weights, "a", 8, fill), first);
    EXPECT_NE(packed.get(weights, "b", 8, fill), first);
    EXPECT_EQ(made, 2);
  }
  packed.get(weights, "a", 8, fill);
  EXPECT_EQ(made, 3);
}

}  // namespace
}  // namespace assay::engine
