#include "engine/tactics/tactics.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/devices/cpu/device.h"
#include "engine/weights/packed_weights.h"
#include "support/parsed_model.h"

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

TEST(KeptWeights, EachFormIsMadeOnceAndDropped) {
  const tensor::Tensor weights =
      tensor::Tensor(tensor::DType::float32, {2}, tensor::make_owned(std::vector<std::byte>(8)));
  KeptWeights packed;
  int made = 0;
  const auto fill = [&](std::byte*) { ++made; };
  {
    const Buffer first = packed.get(weights, "a", 8, fill);
    EXPECT_EQ(packed.get(weights, "a", 8, fill).owner, first.owner);
    EXPECT_NE(packed.get(weights, "b", 8, fill).owner, first.owner);
    EXPECT_EQ(made, 2);
  }
  packed.get(weights, "a", 8, fill);
  EXPECT_EQ(made, 3);
}

tensor::Tensor two_numbers() { return {tensor::DType::float32, {2}, tensor::make_owned(std::vector<std::byte>(8))}; }

// Kernels get addresses without memory: the bytes are gone to where they belong.
TEST(KeptWeights, WhatIsMovedOutTakesNoMemory) {
  std::vector<std::string> moved;
  const auto begin = [&](const tensor::Tensor& weights) { moved.push_back(fmt::format("{}:", weights.size_bytes())); };
  const auto add = [&](const void*, const std::string& form, std::span<const std::byte> bytes) {
    moved.push_back(form + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  };
  KeptWeights packed;
  packed.settle();
  packed.move_out({begin, add, [&] { moved.emplace_back("."); }});
  const tensor::Tensor weights = two_numbers();
  const auto get = [&](const std::string& form, char content, uint64_t size) {
    const auto fill = [&](std::byte* to) { std::fill_n(to, size, static_cast<std::byte>(content)); };
    return packed.get(weights, form, size, fill);
  };
  const Buffer first = get("a", 'x', 3);
  const Buffer second = get("b", 'y', 2);
  EXPECT_EQ(get("a", 'z', 3).owner, first.owner);
  EXPECT_NE(first.owner, second.owner);
  EXPECT_TRUE(packed.has(weights, "a"));
  packed.settle();
  get("c", 'z', 1);
  EXPECT_EQ(moved, (std::vector<std::string>{"8:", "axxx", "8:", "byy", ".", "8:", "cz"}));
}

TEST(KeptWeights, FormsAreListedAsTheyWereMade) {
  KeptWeights packed;
  std::vector<Buffer> held;
  std::vector<tensor::Tensor> weights;
  for (const char* const form : {"d", "b", "c", "a"}) {
    weights.push_back(two_numbers());
    held.push_back(packed.get(weights.back(), form, 1, [](std::byte* to) { *to = {}; }));
  }
  held[1] = {};
  std::string forms;
  for (const KeptWeights::Kept& form : packed.kept()) forms += form.form;
  EXPECT_EQ(forms, "dca");
}

TEST(TrialWeights, KernelsTakeTurnsInTheSameMemory) {
  const tensor::Tensor weights = two_numbers();
  const auto never = [](std::byte*) { FAIL(); };
  const std::unique_ptr<Device> device = cpu::make_device({});
  TrialWeights trial(*device);
  const Buffer first = trial.get(weights, "a", 80, never);
  const Buffer second = trial.get(weights, "b", 8, never);
  EXPECT_NE(first.owner, second.owner);
  EXPECT_EQ(trial.get(weights, "a", 80, never).owner, first.owner);
  trial.fill();
  float number = 0;
  std::memcpy(&number, host_bytes(first.first) + 76, sizeof number);
  EXPECT_NEAR(number, 0.25F, 0.01F);
  trial.begin_next();
  EXPECT_EQ(trial.get(weights, "c", 64, never).owner, first.owner);
  EXPECT_NE(trial.get(weights, "d", 64, never).owner, second.owner) << "it is too small";
}

TEST(NotedWeights, KnowWhatWasAskedFor) {
  const tensor::Tensor weights = two_numbers();
  const tensor::Tensor other = two_numbers();
  KeptWeights packed;
  NotedWeights noted(packed);
  noted.get(weights, "a", 8, [](std::byte*) {});
  EXPECT_TRUE(noted.holds(weights));
  EXPECT_FALSE(noted.holds(other));
}

// It is never run.
class StillKernel final : public Kernel {
 public:
  std::unique_ptr<Call> bind(const Arguments&) const override { return nullptr; }
};

class CountedTactic final : public Implementation {
 public:
  CountedTactic(std::string_view name, bool computes) : name_(name), computes_(computes) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Kernel> make(const Layer&, std::string_view) const override {
    ++made;
    return computes_ ? std::make_unique<StillKernel>() : nullptr;
  }
  mutable int made = 0;

 private:
  std::string_view name_;
  bool computes_;
};

// It does not measure.
class StillDevice final : public Device {
 public:
  explicit StillDevice(std::vector<const Implementation*> all) : all_(std::move(all)) {}
  std::string_view name() const override { return "still"; }
  LayoutRule layout_rule(const Layer&) const override { return LayoutRule::plain; }
  std::span<const Implementation* const> implementations() const override { return all_; }
  const LoweringRules& rules() const override { return rules_; }
  std::unique_ptr<Kernel> make_copy(const TensorDesc&, const TensorDesc&) const override { return nullptr; }
  bool is_host() const override { return true; }
  Buffer allocate(uint64_t) const override { return {}; }
  std::optional<Buffer> lent(uint64_t, uint64_t) const override { return {}; }
  void fill_sample(const Buffer&, tensor::DType) const override {}
  uint64_t alignment() const override { return 1; }
  uint64_t free_bytes() const override { return 0; }
  std::unique_ptr<Queue> make_queue() const override { return nullptr; }
  double measure(Call&, double, std::span<const Extent>) const override {
    ADD_FAILURE();
    return 1;
  }
  uint64_t cache_bytes() const override { return 0; }
  Fingerprint fingerprint() const override { return {.device = "still", .parts = {{"model", "a"}}, .threads = 1}; }

 private:
  LoweringRules rules_;
  std::vector<const Implementation*> all_;
};

// Whether a tactic is exact enough may depend on weights: equal layers have one time, and not always one answer.
TEST(TacticSelector, OfWhatTheCacheKnowsOnlyTheFastestIsMade) {
  const ir::Model model = testing_support::parsed(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y = Exp(x) }");
  ops::Inference inference(model);
  inference.run();
  Layer layer = find_layer(model, inference, *ir::nodes(model, model.main_graph()).begin()).value();
  KeptWeights packed;
  layer.packed = &packed;
  const CountedTactic slow("slow", true), inexact("inexact", false), fast("fast", true);
  const StillDevice device({&slow, &inexact, &fast});
  TacticOptions options{.measures = true};
  options.cache = std::make_shared<TimingCache>();
  for (const auto& [tactic, seconds] : {std::pair("slow", 3e-3), {"inexact", 1e-3}, {"fast", 2e-3}}) {
    options.cache->add("still: model a, 1 threads", layer_key(layer), tactic, seconds);
  }
  const TacticSelector selector(device, options);
  const TacticSelector::Choice choice = selector.choose(layer);
  EXPECT_NE(choice.kernel, nullptr);
  EXPECT_EQ(choice.tactic, "fast");
  EXPECT_EQ(slow.made, 0);
  EXPECT_EQ(inexact.made, 1);
  EXPECT_EQ(fast.made, 1);
}

}  // namespace
}  // namespace assay::engine
