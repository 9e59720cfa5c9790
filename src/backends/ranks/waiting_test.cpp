// Ranks on cards of their own, whose kernels wait for each other: what they give from run to run, and how runs end in
// which a rank goes astray. The host runs the cards.
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/stop.h"
#include "exec/set_backend.h"
#include "simt/host_card.h"
#include "support/parsed_model.h"
#include "tensor/elements.h"

namespace assay::backends {
namespace {

namespace host_driver = testing_support::host_driver;
using Elements = std::vector<float>;

class GivenElements final : public exec::TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum& value) override {
    const std::vector<double> given = tensor::load_elements<double>(value.tensor());
    elements.assign(given.begin(), given.end());
  }
  Elements elements;
};

// What ranks do beside their work.
struct Behaviour {
  std::atomic<bool> stalls = false;  // the last one, until it is told to stop
  std::atomic<bool> fails = false;
};

// A backend whose sessions behave as they are told: that of the last rank.
class Misbehaving final : public exec::Backend {
 public:
  Misbehaving(int ranks, std::shared_ptr<Behaviour> behaviour)
      : ranks_(ranks), base_(testing_support::host_cards_backend(ranks)), behaviour_(std::move(behaviour)) {}
  std::string_view name() const override { return base_->name(); }
  exec::Probe probe(const exec::LibrarySearch& search) const override { return base_->probe(search); }
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    return base_->refusals(model, search);
  }
  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    auto made = base_->prepare(model, options, findings);
    if (++prepared_ % ranks_ != 0) return made;
    return std::make_unique<LastRank>(std::move(made), behaviour_);
  }

 private:
  class LastExecution final : public exec::Execution {
   public:
    LastExecution(std::unique_ptr<exec::Execution> base, std::shared_ptr<Behaviour> behaviour)
        : base_(std::move(base)), behaviour_(std::move(behaviour)) {}
    void run(std::span<const exec::Feed> feeds, std::span<const std::string> values, exec::TensorSink& sink) override {
      constexpr int kLongest = 20000;  // milliseconds
      for (int i = 0; behaviour_->stalls && i < kLongest; ++i) {
        check_stopped();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (behaviour_->fails) assay::fail(ErrorCode::backend, "it was told to fail");
      base_->run(feeds, values, sink);
    }
    double seconds() const override { return base_->seconds(); }
    void bind(std::vector<exec::OutputBuffer>) override {}

   private:
    std::unique_ptr<exec::Execution> base_;
    std::shared_ptr<Behaviour> behaviour_;
  };
  class LastRank final : public exec::Session {
   public:
    LastRank(std::unique_ptr<exec::Session> base, std::shared_ptr<Behaviour> behaviour)
        : base_(std::move(base)), behaviour_(std::move(behaviour)) {}
    const exec::Signature& signature() const override { return base_->signature(); }
    std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
      return std::make_unique<LastExecution>(base_->make_execution(options), behaviour_);
    }

   private:
    std::unique_ptr<exec::Session> base_;
    std::shared_ptr<Behaviour> behaviour_;
  };

  int ranks_;
  exec::BackendPtr base_;
  std::shared_ptr<Behaviour> behaviour_;
  mutable int prepared_ = 0;
};

// A model that ranks run, each on a card.
class OnCards {
 public:
  OnCards(int ranks, const std::string& graph, const std::string& deadline = "60")
      : model_(testing_support::parsed("<ir_version: 11, opset_import: [\"\" : 23]> " + graph)),
        backend_(exec::make_ranked_backend(fmt::format("ranks:{}", ranks),
                                           std::make_unique<Misbehaving>(ranks, behaviour))) {
    exec::SessionOptions options;
    options.settings.set("rank-timeout", {deadline});
    Diagnostics findings;
    session_ = backend_->prepare(model_, options, findings);
    execution_ = session_->make_execution({});
  }

  Elements run(const Elements& x, const tensor::Shape& shape) const { return run(*execution_, x, shape); }
  Elements run(exec::Execution& execution, const Elements& x, const tensor::Shape& shape) const {
    const exec::Feed feed{"x",
                          tensor::Datum(tensor::make_tensor(tensor::DType::float32, shape, std::span<const float>(x)))};
    const std::string name = session_->signature().outputs[0].name;
    GivenElements given;
    execution.run({&feed, 1}, {&name, 1}, given);
    return given.elements;
  }
  std::string error(const Elements& x, const tensor::Shape& shape) const {
    const auto done = attempt([&] { return run(x, shape); });
    return std::holds_alternative<Error>(done) ? std::get<Error>(done).line() : "no error";
  }
  std::unique_ptr<exec::Execution> make_execution() const { return session_->make_execution({}); }

  std::shared_ptr<Behaviour> behaviour = std::make_shared<Behaviour>();

 private:
  ir::Model model_;
  exec::BackendPtr backend_;
  std::unique_ptr<exec::Session> session_;
  std::unique_ptr<exec::Execution> execution_;
};

std::string reducing(std::string_view how, int ranks, std::string_view operand, std::string_view more = "") {
  return fmt::format("DistCollective <collective_operation = \"all_reduce\", reduce_op = \"{}\", nb_rank = {}{}> ({}) ",
                     how, ranks, more, operand);
}
std::string moving(std::string_view operation, int ranks, std::string_view operand) {
  return fmt::format("DistCollective <collective_operation = \"{}\", reduce_op = \"{}\", nb_rank = {}> ({}) ",
                     operation, operation == "reduce_scatter" ? "max" : "none", ranks, operand);
}

// Each rank takes its rows of x, in a type; what all of them make of these is put together.
std::string each_rank(int ranks, size_t rows, int type, const std::string& collective) {
  return fmt::format(
      "g (float[{},1] x) => (float y) {{ p = {} q = Cast <to = {}> (p) m = {} f = Cast <to = 1> (m) y = {} }}", rows,
      moving("reduce_scatter", ranks, "x"), type, collective, moving("all_gather", ranks, "f"));
}

Elements ones(float number) { return Elements(16, number); }

constexpr int kFloat32 = 1, kFloat16 = 10, kBfloat16 = 16;

// A number as the type holds it.
float rounded(float x, int type) {
  if (type == kFloat32) return x;
  if (type == kFloat16) return static_cast<float>(static_cast<_Float16>(x));
  int exponent = 0;
  constexpr float kUnits = 256;  // eight bits
  const float part = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(part * kUnits) / kUnits, exponent);
}

// Sums that differ from order to order, of many sizes and types, on two, four and eight cards: the same on all ranks
// and in all runs, the first of which meet on the host.
TEST(WaitingRanks, SumsAreInTheOrderOfRanks) {
  constexpr int kRuns = 5;
  for (const int ranks : {2, 4, 8}) {
    for (const int type : {kFloat32, kFloat16, kBfloat16}) {
      for (const size_t size : {size_t{1}, size_t{9}, size_t{5003}}) {
        const size_t rows = size * static_cast<size_t>(ranks);
        Elements x(rows), wanted;
        for (size_t i = 0; i < rows; ++i) x[i] = rounded(std::sin(static_cast<float>(i * i + 1)) * 100, type);
        for (size_t i = 0; i < rows; ++i) {
          float sum = x[i % size];
          for (size_t rank = 1; rank < static_cast<size_t>(ranks); ++rank) sum += x[rank * size + i % size];
          wanted.push_back(rounded(sum, type));
        }
        const OnCards model(ranks, each_rank(ranks, rows, type, reducing("sum", ranks, "q")));
        const int before = host_driver::waiting;
        for (int run = 0; run < kRuns; ++run) {
          EXPECT_EQ(model.run(x, {static_cast<int64_t>(rows), 1}), wanted) << ranks << " " << type << " " << size;
        }
        EXPECT_EQ(host_driver::waiting - before, kRuns * ranks);  // the first one is for trial
      }
    }
  }
}

// A part that begins between the packs of a card.
TEST(WaitingRanks, PartsThatLieUnevenly) {
  constexpr size_t kSize = 701;  // of a part, and one before it
  for (const int type : {kFloat32, kFloat16}) {
    const OnCards model(
        2, fmt::format(
               "g (float[{},1] x) => (float y) <int64[1] b = {{1}}, int64[1] e = {{10000}}, int64[1] d = {{0}}> {{ "
               "p = {} q = Cast <to = {}> (p) n = Neg(q) s = Slice(n, b, e, d) m = {} y = Cast <to = 1> (m) }}",
               2 * kSize, moving("reduce_scatter", 2, "x"), type, reducing("sum", 2, "s")));
    Elements x, wanted;
    for (size_t i = 0; i < 2 * kSize; ++i) x.push_back(static_cast<float>(i % 97));
    for (size_t i = 1; i < kSize; ++i) wanted.push_back(-x[i] - x[i + kSize]);
    for (int run = 0; run < 4; ++run) EXPECT_EQ(model.run(x, {2 * kSize, 1}), wanted) << type;
  }
}

// Memory for small parts is there already when a large one comes.
TEST(WaitingRanks, PartsOfManySizes) {
  const OnCards model(2,
                      fmt::format("g (float[2,8] x) => (float[1,8] y) <int64[2] often = {{2500, 1}}, int64[1] first = "
                                  "{{0}}> {{ a = {} t = Tile(a, often) c = {} m = ReduceMax(c, first) y = {} }}",
                                  reducing("sum", 2, "x"), reducing("sum", 2, "t"), reducing("sum", 2, "m")));
  const int before = host_driver::waiting;
  for (int run = 1; run < 6; ++run) {
    const auto number = static_cast<float>(run);
    EXPECT_EQ(model.run(ones(number), {2, 8}), Elements(8, 8 * number));
  }
  EXPECT_EQ(host_driver::waiting - before, 5 * 2 * 3);
}

TEST(WaitingRanks, OtherReductions) {
  const Elements x = {3, -2, 5, 7};
  const std::pair<const char*, Elements> rows[] = {
      {"prod", {15, -14}}, {"min", {3, -2}}, {"max", {5, 7}}, {"avg", {4, 2.5F}}};
  for (const auto& [how, once] : rows) {
    const OnCards model(2, each_rank(2, 4, kFloat32, reducing(how, 2, "q")));
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(model.run(x, {4, 1}), (Elements{once[0], once[1], once[0], once[1]})) << how;
    }
  }
}

TEST(WaitingRanks, GroupsWaitForThemselves) {
  const OnCards model(4, each_rank(4, 8, kFloat32, reducing("sum", 2, "q", ", groups = [3, 0, 1, 2], group_size = 2")));
  const int before = host_driver::waiting;
  for (int run = 0; run < 4; ++run) {
    EXPECT_EQ(model.run({1, 2, 3, 4, 5, 6, 7, 8}, {8, 1}), (Elements{8, 10, 8, 10, 8, 10, 8, 10}));
  }
  EXPECT_EQ(host_driver::waiting - before, 4 * 4);
}

// A chain of layers and sums: from the fourth run on, each rank launches one graph and nothing else.
constexpr const char* kChain =
    "g (float[2,8] x) => (float[2,8] y) {{ a = Neg(x) [n] b = {} c = Abs(b) [o] d = {} e = Neg(d) [p] y = {} }}";
std::string chain() {
  return fmt::format(fmt::runtime(kChain), reducing("sum", 2, "a"), reducing("max", 2, "c"), reducing("sum", 2, "e"));
}
TEST(WaitingRanks, ARunIsOneGraphOfEach) {
  const OnCards model(2, chain());
  for (int run = 0; run < 3; ++run) EXPECT_EQ(model.run(ones(3), {2, 8}), ones(-12));
  const int replays = host_driver::replays, launches = host_driver::launches, waiting = host_driver::waiting;
  const int allocations = host_driver::allocations;
  for (int run = 0; run < 30; ++run) {
    const auto number = static_cast<float>(run + 1);
    EXPECT_EQ(model.run(ones(number), {2, 8}), ones(-4 * number));
  }
  EXPECT_EQ(host_driver::replays - replays, 30 * 2);
  EXPECT_EQ(host_driver::launches - launches, 0);
  EXPECT_EQ(host_driver::allocations - allocations, 0);  // which could wait for all cards
  EXPECT_EQ(host_driver::waiting - waiting, 30 * 2 * 3);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(WaitingRanks, ARankThatDoesNotComeIsNamed) {
  const OnCards model(2, chain(), "0.3");
  for (int run = 0; run < 4; ++run) EXPECT_EQ(model.run(ones(3), {2, 8}), ones(-12));
  model.behaviour->stalls = true;
  EXPECT_EQ(model.error(ones(3), {2, 8}), "rank 1 did not come to `n` (all_reduce) within 0.3 s");
  model.behaviour->stalls = false;
  const int before = host_driver::waiting;
  for (int run = 0; run < 5; ++run) EXPECT_EQ(model.run(ones(2), {2, 8}), ones(-8));
  EXPECT_EQ(host_driver::waiting - before, 5 * 2 * 3);  // they have agreed anew
}

TEST(WaitingRanks, ARankThatFailsReleasesTheOthers) {
  const OnCards model(2, chain());
  for (int run = 0; run < 4; ++run) EXPECT_EQ(model.run(ones(3), {2, 8}), ones(-12));
  const auto begin = std::chrono::steady_clock::now();
  model.behaviour->fails = true;
  EXPECT_EQ(model.error(ones(3), {2, 8}), "rank 1: it was told to fail");
  model.behaviour->fails = false;
  EXPECT_LT(seconds_since(begin), 30);
  for (int run = 0; run < 4; ++run) EXPECT_EQ(model.run(ones(2), {2, 8}), ones(-8));
}

TEST(WaitingRanks, ACallerWhoStopsReleasesAll) {
  const OnCards model(2, chain());
  for (int run = 0; run < 4; ++run) EXPECT_EQ(model.run(ones(3), {2, 8}), ones(-12));
  const auto begin = std::chrono::steady_clock::now();
  const int before = host_driver::waiting;
  model.behaviour->stalls = true;
  std::stop_source stop;
  std::thread stopper([&] {
    while (host_driver::waiting == before && seconds_since(begin) < 30) std::this_thread::yield();
    stop.request_stop();
  });
  {
    const StopScope scope(stop.get_token());
    EXPECT_EQ(model.error(ones(3), {2, 8}), "the run was stopped");
  }
  stopper.join();
  model.behaviour->stalls = false;
  EXPECT_LT(seconds_since(begin), 30);
  for (int run = 0; run < 4; ++run) EXPECT_EQ(model.run(ones(2), {2, 8}), ones(-8));
}

// Whichever call of the driver is refused: the run ends with a line, nobody waits for long, and later runs are right.
TEST(WaitingRanks, RefusedCallsOfTheDriverEndTheRun) {
  const OnCards model(2, chain());
  EXPECT_EQ(model.run(ones(3), {2, 8}), ones(-12));
  int faults = 0;
  for (int call = 0; call < 150; ++call) {
    host_driver::fails_at = host_driver::calls + call;
    const auto begin = std::chrono::steady_clock::now();
    const auto done = attempt([&] { return model.run(ones(3), {2, 8}); });
    host_driver::fails_at = -1;
    EXPECT_LT(seconds_since(begin), 30) << call;
    if (std::holds_alternative<Error>(done)) {
      const std::string line = std::get<Error>(done).line();
      EXPECT_TRUE(line.starts_with("rank ") && line.find("CUDA_ERROR_ON_PURPOSE") != std::string::npos) << line;
      ++faults;
    } else {
      EXPECT_EQ(std::get<Elements>(done), ones(-12)) << call;
    }
    for (int run = call % 4; run < 4; ++run) EXPECT_EQ(model.run(ones(2), {2, 8}), ones(-8)) << call;
  }
  EXPECT_GT(faults, 20);
}

// The body of a loop, with a queue of its own, which each rank runs as often as its row says.
TEST(WaitingRanks, ALoopOfAnotherLengthIsNamed) {
  constexpr int kSize = 64;  // of a product that is worth a card's time
  std::string unit;
  for (int i = 0; i < kSize * kSize; ++i) unit += i == 0 ? "1" : i % (kSize + 1) == 0 ? ",1" : ",0";
  const OnCards model(
      2, fmt::format("g (float[2,1] x) => (float y) <int64[0] scalar = {{}}, int64[2] s = {{{0}, {0}}}, float[{0},{0}] "
                     "u = {{{1}}}> {{ p = {2} [first] f = {3} c = Cast <to = 7> (p) t = Reshape(c, scalar) g = Neg(f) "
                     "v = Expand(g, s) a = Loop (t, , v) <body = b (int64 i, bool k, float[{0},{0}] w) => (bool o, "
                     "float[{0},{0}] z) {{ o = Identity(k) m = MatMul(w, u) [n] z = {4} }}> y = ReduceMax(a) }}",
                     kSize, unit, moving("reduce_scatter", 2, "x"), reducing("max", 2, "p"), reducing("sum", 2, "m")));
  const int before = host_driver::waiting;
  for (int run = 0; run < 3; ++run) EXPECT_EQ(model.run({3, 3}, {2, 1}), Elements{-24});
  EXPECT_EQ(host_driver::waiting - before, 2 * (2 + 2 * (1 + 3)));
  const int allocations = host_driver::allocations, frees = host_driver::frees;
  EXPECT_EQ(model.run({3, 3}, {2, 1}), Elements{-24});
  EXPECT_EQ(host_driver::allocations - allocations, 0);  // which could wait for all cards
  EXPECT_EQ(host_driver::frees - frees, 0);
  const auto begin = std::chrono::steady_clock::now();
  const std::string ended = "rank 0 has come to its end without `n` (all_reduce): its model is another";
  EXPECT_EQ(model.error({2, 3}, {2, 1}), ended);
  EXPECT_LT(seconds_since(begin), 30);
  for (int run = 0; run < 3; ++run) EXPECT_EQ(model.run({2, 2}, {2, 1}), Elements{-8});
}

// Kernels of one run at a time wait; others meet on the host meanwhile.
TEST(WaitingRanks, RunsAtOnceDoNotKeepEachOtherFromCards) {
  const OnCards model(2, chain());
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::unique_ptr<exec::Execution> execution = model.make_execution();
      for (int run = 0; run < 10; ++run) {
        const auto number = static_cast<float>(i * 10 + run);
        const auto done = attempt([&] { return model.run(*execution, ones(number), {2, 8}); });
        if (std::holds_alternative<Elements>(done) && std::get<Elements>(done) == ones(-4 * number)) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4 * 10);
}

// Two ranks on one card share its time: none waits for the other there.
TEST(WaitingRanks, RanksOnOneCardMeetOnTheHost) {
  const exec::BackendPtr backend = exec::make_ranked_backend("ranks:2", testing_support::host_card_backend());
  const ir::Model model = testing_support::parsed("<ir_version: 11, opset_import: [\"\" : 23]> " + chain());
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = backend->prepare(model, {}, findings);
  const std::unique_ptr<exec::Execution> execution = session->make_execution({});
  const Elements x = ones(3);
  const exec::Feed feed{"x",
                        tensor::Datum(tensor::make_tensor(tensor::DType::float32, {2, 8}, std::span<const float>(x)))};
  const std::string name = "y";
  const int before = host_driver::waiting;
  for (int run = 0; run < 3; ++run) {
    GivenElements given;
    execution->run({&feed, 1}, {&name, 1}, given);
    EXPECT_EQ(given.elements, ones(-12));
  }
  EXPECT_EQ(host_driver::waiting, before);
}

}  // namespace
}  // namespace assay::backends
