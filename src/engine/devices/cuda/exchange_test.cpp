// Memory through which kernels of two cards reduce parts; the host runs both.
#include "engine/devices/cuda/exchange.h"

#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/devices/cuda/launched_call.h"
#include "engine/devices/cuda/programs.h"
#include "engine/devices/cuda/queue.h"
#include "simt/host_compiler.h"
#include "simt/host_driver.h"

namespace assay::engine::cuda {
namespace {

namespace host_driver = testing_support::host_driver;

class OneOfTwo final : public ops::Ranks {
 public:
  explicit OneOfTwo(int64_t rank) : rank_(rank) {}
  int64_t rank() const override { return rank_; }
  int64_t count() const override { return 2; }
  std::optional<uint64_t> era() const override { return 0; }
  bool may_wait() const override { return true; }
  double deadline_seconds() const override { return 0.5; }
  void tell(std::weak_ptr<ops::WaitingKernels>) override {}
  [[noreturn]] void end(Error error) override { throw error; }
  std::shared_ptr<void>& shared(const std::vector<int64_t>&) override { return shared_; }
  void meet(const ops::Collective&, const tensor::Tensor&,
            FunctionRef<void(std::span<const tensor::Tensor> parts)>) override {}

 private:
  int64_t rank_;
  std::shared_ptr<void> shared_;
};

// A card with its kernels and a part of some elements.
struct Side {
  Side(const Driver& driver, const Compiler& compiler, int number, int64_t elements_of_part)
      : card(std::make_shared<const Card>(driver, number)),
        programs(card, compiler, CubinCache("")),
        queue(make_queue(card)),
        count(elements_of_part),
        part(card->allocate(bytes())),
        sum(card->allocate(bytes())) {
    for (int64_t i = 0; i < count; ++i) elements(part)[i] = static_cast<float>((number + 1) * (i % 1000 + 1));
  }
  uint64_t bytes() const { return static_cast<uint64_t>(count) * sizeof(float); }
  static float* elements(const Buffer& buffer) { return reinterpret_cast<float*>(buffer.first.value); }

  // Adds a kernel of the last collective of the exchange.
  void add(const std::shared_ptr<Exchange>& exchange, size_t place) {
    const auto launches = std::make_shared<Launches>();
    ElementSite site({.statements = "    const float made = plain;\n", .type = tensor::DType::float32}, {},
                     {output_pointer(0), make_desc(tensor::DType::float32, {count})});
    ASSERT_TRUE(site.find_walk(4));
    for (const Launch& made : make_exchange_launches(programs, {tensor::DType::float32, count, 2, 0, site})) {
      launches->all.push_back(exchange->launch(made, place, 0.5));
    }
    calls.push_back(
        std::make_unique<LaunchedCall>(launches, Arguments{.inputs = {part.first}, .outputs = {sum.first}}));
  }
  // What the kernel of that number meets.
  std::string run(size_t call, size_t place) {
    OneOfTwo ranks(static_cast<int64_t>(place));
    const ops::RanksScope scope(ranks);
    const auto done = attempt([&] {
      calls[call]->run(*queue);
      queue->wait();
      return true;
    });
    return std::holds_alternative<Error>(done) ? std::get<Error>(done).line() : "";
  }

  std::shared_ptr<const Card> card;
  Programs programs;
  std::unique_ptr<LaunchQueue> queue;
  int64_t count;
  Buffer part;
  Buffer sum;
  std::vector<std::unique_ptr<LaunchedCall>> calls;
};

class TwoCards {
 public:
  explicit TwoCards(int64_t count = 4)
      : driver_(testing_support::host_driver::make_api()),
        first(driver_, compiler_, 0, count),
        second(driver_, compiler_, 1, count) {
    exchange = std::make_shared<Exchange>(cards(), std::vector<int64_t>{0, 1}, 2 * first.bytes(), 0);
    first.queue->exchanges().push_back({exchange, 0});
    second.queue->exchanges().push_back({exchange, 1});
    for (const char* const name : {"n", "o"}) {
      exchange->add({name, "float32[4]", "all_reduce", "sum", {0, 1}});
      first.add(exchange, 0);
      second.add(exchange, 1);
    }
  }
  std::vector<const Card*> cards() const { return {first.card.get(), second.card.get()}; }
  // Both at once: what each kernel meets.
  std::pair<std::string, std::string> run(size_t of_first, size_t of_second) {
    std::string line;
    std::thread other([&] { line = second.run(of_second, 1); });
    const std::string own = first.run(of_first, 0);
    other.join();
    return {own, line};
  }

 private:
  Driver driver_;
  testing_support::HostCompiler compiler_;

 public:
  Side first;
  Side second;
  std::shared_ptr<Exchange> exchange;
};

class CardExchange : public ::testing::Test {
 protected:
  CardExchange() { ::setenv("ASSAY_HOST_CARDS", "2", 1); }
  ~CardExchange() override { ::unsetenv("ASSAY_HOST_CARDS"); }
};

TEST_F(CardExchange, KernelsReduceParts) {
  const int64_t before = host_driver::held_bytes;
  {
    TwoCards cards;
    for (int run = 0; run < 5; ++run) {
      EXPECT_EQ(cards.run(run % 2, run % 2), (std::pair<std::string, std::string>()));
      for (const Side* const side : {&cards.first, &cards.second}) {
        for (int i = 0; i < 4; ++i) EXPECT_EQ(Side::elements(side->sum)[i], 3 * (i + 1));
        std::fill_n(Side::elements(side->sum), 4, 0.F);
      }
    }
  }
  EXPECT_EQ(host_driver::held_bytes, before);
}

TEST_F(CardExchange, LargePartsAreRead) {
  constexpr int64_t kCount = 200003;  // the last pack is not whole
  TwoCards cards(kCount);
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(cards.run(run % 2, run % 2), (std::pair<std::string, std::string>()));
    for (const Side* const side : {&cards.first, &cards.second}) {
      float* const sums = Side::elements(side->sum);
      int64_t wrong = 0;
      for (int64_t i = 0; i < kCount; ++i) wrong += sums[i] == static_cast<float>(3 * (i % 1000 + 1)) ? 0 : 1;
      EXPECT_EQ(wrong, 0);
      std::fill_n(sums, kCount, 0.F);
    }
  }
  EXPECT_EQ(cards.first.run(0, 0), "rank 1 did not come to `n` (all_reduce) within 0.5 s");
}

TEST_F(CardExchange, AnotherCollectiveIsNamed) {
  TwoCards cards;
  const std::string line =
      "rank 1 has come to `o` (all_reduce, sum) with float32[4], rank 0 to `n` (all_reduce, sum) with float32[4]";
  const auto [own, other] = cards.run(0, 1);
  EXPECT_EQ(own, line);
  EXPECT_EQ(other, line);
}

TEST_F(CardExchange, WhoDoesNotComeIsNamed) {
  {
    TwoCards cards;
    EXPECT_EQ(cards.first.run(0, 0), "rank 1 did not come to `n` (all_reduce) within 0.5 s");
    EXPECT_EQ(cards.first.run(0, 0), "");  // it waits no more
  }
  {
    TwoCards cards;
    cards.exchange->leave(1);
    EXPECT_EQ(cards.first.run(1, 0), "rank 1 has come to its end without `o` (all_reduce): its model is another");
  }
  {
    TwoCards cards;
    cards.exchange->fail();
    EXPECT_EQ(cards.second.run(1, 1), "the run was stopped");
  }
}

TEST_F(CardExchange, ServesCardsThatReachEachOther) {
  const TwoCards cards;
  EXPECT_TRUE(Exchange::can_serve(cards.cards()));
  const std::vector<const Card*> same = {cards.first.card.get(), cards.first.card.get()};
  EXPECT_FALSE(Exchange::can_serve(same));
  ::setenv("ASSAY_HOST_NO_PEERS", "1", 1);
  EXPECT_FALSE(Exchange::can_serve(cards.cards()));
  ::unsetenv("ASSAY_HOST_NO_PEERS");
}

}  // namespace
}  // namespace assay::engine::cuda
