// The device over a driver that is told to fail, its queues, and the cache of compiled kernels.
#include <fstream>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "simt/on_card.h"

namespace assay::engine::cuda {
namespace {

namespace host_driver = testing_support::host_driver;
using testing_support::difference;
using testing_support::OnCard;

constexpr const char* kChains =
    "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4,8] x, float[8,4] y) => (float[4,4] z) { a = Exp(x) "
    "b = MatMul(a, y) z = Softmax(b) }";

std::string numbers(int count) {
  std::string text = "0.5";
  for (int i = 1; i < count; ++i) text += fmt::format(",{}", i % 7 - 3);
  return text;
}

std::string one_sequence() {
  return "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4,8] x) => (float[4,4] z) <float[8,4] y = {" +
         numbers(32) + "}> { a = Exp(x) b = MatMul(a, y) z = Softmax(b) }";
}

TEST(CardDevice, ASequenceThatComesAgainIsAGraph) {
  const OnCard model(one_sequence());
  engine::Context context(model.program(), {}, false);
  const auto expected = model.expected();
  EXPECT_EQ(difference(model.run(context), expected, 1e-5), "");
  const int launches = host_driver::launches, replays = host_driver::replays;
  for (int run = 0; run < 3; ++run) EXPECT_EQ(difference(model.run(context), expected, 1e-5), "");
  EXPECT_EQ(host_driver::replays - replays, 3);
  EXPECT_EQ(host_driver::launches, launches);
}

// Its time has nothing in it of what the processor takes to add it.
TEST(CardDevice, AGraphThatIsTimedBeginsOnceItWasAdded) {
  const OnCard model(one_sequence());
  engine::Context context(model.program(), {}, false);
  const auto expected = model.run(context);
  context.time_device(true);
  const int held_back = host_driver::held_back;
  for (int run = 1; run <= 3; ++run) {
    EXPECT_EQ(difference(model.run(context), expected, 0), "");
    EXPECT_TRUE(context.device_seconds());
    EXPECT_EQ(host_driver::held_back - held_back, run);
  }
}

TEST(CardDevice, ContextsAndProgramsLeaveNothingBehind) {
  {
    const OnCard model(kChains);
    engine::Context first(model.program(), {}, false), second(model.program(), {}, false);
    for (int run = 0; run < 2; ++run) EXPECT_EQ(difference(model.run(first), model.run(second), 0), "");
    EXPECT_GT(host_driver::held_bytes, 0);
    EXPECT_EQ(host_driver::graphs, 2);
  }
  EXPECT_EQ(host_driver::held_bytes, 0);
  EXPECT_EQ(host_driver::graphs, 0);
}

// Runs the model with the call of this number failing; empty: no call failed.
std::string error_of(int fails_at, Result with) {
  host_driver::calls = 0;
  host_driver::fails_with = with;
  host_driver::fails_at = fails_at;
  std::string line;
  try {
    const OnCard model(kChains);
    engine::Context context(model.program(), {}, false);
    for (int run = 0; run < 3; ++run) model.run(context);
  } catch (const Error& error) {
    line = error.line();
  }
  const bool has_failed = host_driver::calls > fails_at;
  host_driver::fails_at = -1;
  return has_failed && line.empty() ? "silent" : line;
}

TEST(CardDevice, EveryCallOfTheDriverMayFail) {
  constexpr Result kIllegalAddress = 700;
  int failed = 0;
  for (int call = 0;; ++call) {
    const std::string line = error_of(call, call % 5 == 4 ? kOutOfMemory : kIllegalAddress);
    if (line.empty()) break;
    EXPECT_NE(line, "silent") << call;
    EXPECT_TRUE(line.find("told to fail") != std::string::npos || line.find("bytes left") != std::string::npos)
        << call << ": " << line;
    ++failed;
  }
  EXPECT_GT(failed, 40);
  EXPECT_EQ(host_driver::held_bytes, 0);
  EXPECT_EQ(host_driver::graphs, 0);
}

TEST(CardDevice, AnIndexOutOfRangeEndsTheRun) {
  const OnCard model(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4,8] x, int64[3] i) => (float[3,8] z) { z = Gather(x, i) }");
  EXPECT_EQ(model.tactics(), std::vector<std::string>{"movement.gather"});
  engine::Context context(model.program(), {}, false);
  const auto with_last = [](double last) {
    return [last](size_t i) { return i < 32 ? std::sin(i) : i == 34 ? last : 1.0; };
  };
  EXPECT_EQ(difference(model.run(context, with_last(-4)), model.expected(with_last(-4)), 0), "");
  EXPECT_THROW(model.run(context, with_last(4)), Error);
  EXPECT_EQ(difference(model.run(context, with_last(3)), model.expected(with_last(3)), 0), "");
}

TEST(CardDevice, MemoryOfTheCallerIsKnownByItsAddress) {
  const OnCard model(kChains);
  const Device& card = model.card().device();
  const Buffer memory = card.allocate(64);
  ASSERT_TRUE(card.lent(memory.first.value + 16, 48));
  EXPECT_EQ(card.lent(memory.first.value + 16, 48)->first.value, memory.first.value + 16);
  int of_host = 0;
  EXPECT_FALSE(card.lent(host_address(&of_host).value, sizeof of_host));
  host_driver::card_of_all = 1;
  EXPECT_THROW(static_cast<void>(card.lent(memory.first.value, 64)), Error);
  host_driver::card_of_all = 0;
}

// A stream that its owner captures is given launches, and no graph.
TEST(CardDevice, FollowsAStreamOfTheCaller) {
  const OnCard model(kChains);
  engine::Context context(model.program(), {}, false);
  const auto expected = model.expected();
  for (int run = 0; run < 2; ++run) model.run(context);
  host_driver::HostStream stream;
  context.follow(reinterpret_cast<uint64_t>(&stream));
  int replays = host_driver::replays;
  EXPECT_EQ(difference(model.run(context), expected, 1e-5), "");
  EXPECT_GT(host_driver::replays, replays);
  stream.is_capturing = true;
  replays = host_driver::replays;
  model.run(context);
  EXPECT_EQ(host_driver::replays, replays);
  EXPECT_GE(stream.captured.size(), 2U);
}

TEST(CubinCache, KeepsKernelsByTheirWholeTextAndIgnoresDamage) {
  const TemporaryFolder folder;
  const CubinCache cache(folder.path() / "cubins");
  const std::vector<std::byte> code(1000, std::byte{7});
  EXPECT_FALSE(cache.find("text"));
  cache.add("text", code);
  EXPECT_EQ(cache.find("text"), code);
  EXPECT_FALSE(cache.find("texts"));
  const std::filesystem::path file = std::filesystem::directory_iterator(folder.path() / "cubins")->path();
  for (const std::streamoff at : {std::streamoff{0}, std::streamoff{33}, std::streamoff{500}}) {
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(at).put('x');
    EXPECT_FALSE(cache.find("text")) << at;
    cache.add("text", code);
    EXPECT_EQ(cache.find("text"), code);
  }
  std::filesystem::resize_file(file, 500);
  EXPECT_FALSE(cache.find("text"));
  const CubinCache nowhere("/proc/no/such/folder");
  nowhere.add("text", code);
  EXPECT_FALSE(nowhere.find("text"));
}

TEST(Card, IsRefusedWhereThereIsNone) {
  const Driver driver(host_driver::make_api());
  EXPECT_THROW(std::make_shared<const Card>(driver, 7), Error);
  EXPECT_EQ(std::make_shared<const Card>(driver, 0)->capability(), 90);
}

}  // namespace
}  // namespace assay::engine::cuda
