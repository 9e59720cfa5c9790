#include "engine/devices/cuda/queue.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "engine/devices/cuda/driver/gate.h"
#include "engine/devices/cuda/driver/staging.h"
#include "engine/devices/cuda/exchange.h"

namespace assay::engine::cuda {
namespace {

constexpr size_t kMostGraphs = 8;
constexpr size_t kLeastLaunches = 2;  // of a graph

// A sequence of launches: its calls by number, and once it has come again, its graph.
class Sequence {
 public:
  Sequence(std::shared_ptr<const Card> card, std::vector<uint64_t> numbers)
      : card_(std::move(card)), numbers_(std::move(numbers)) {}
  ~Sequence() {
    if (graph_ != nullptr) card_->api().graph_exec_destroy(graph_);
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  const std::vector<uint64_t>& numbers() const { return numbers_; }
  GraphExec graph() const { return graph_; }
  // Keeps what the stream captured.
  void set(Graph captured) {
    const Result result = card_->api().graph_instantiate(&graph_, captured, 0);
    card_->api().graph_destroy(captured);
    card_->driver().check(result, "a graph");
  }
  // Kernels of a graph may not be unloaded before it.
  std::vector<std::shared_ptr<const Launches>> launches;
  std::vector<Buffer> copied;  // by its copies

 private:
  std::shared_ptr<const Card> card_;
  std::vector<uint64_t> numbers_;
  GraphExec graph_ = nullptr;
};

class CardQueue final : public LaunchQueue {
 public:
  explicit CardQueue(std::shared_ptr<const Card> card) : card_(std::move(card)), staging_(card_), gate_(card_) {
    card_->enter();
    check(api().stream_create(&stream_, kNonBlockingStream), "a stream");
    target_ = stream_;
  }
  ~CardQueue() override {
    api().context_set(card_->context());
    sequences_.clear();
    for (const Event event : marks_) api().event_destroy(event);
    for (const Event event : free_) api().event_destroy(event);
    api().stream_destroy(stream_);
  }
  CardQueue(const CardQueue&) = delete;
  CardQueue& operator=(const CardQueue&) = delete;

  void add(const LaunchedCall& call) override { pending_.push_back(&call); }
  std::vector<ExchangePlace>& exchanges() override { return exchanges_; }

  const Card& card() const override { return *card_; }
  void record(Event event) override {
    flush();
    check(api().event_record(event, target_), "an event");
  }
  void wait_for(Event event) override {
    flush();
    check(api().stream_wait_event(target_, event, 0), "the wait for another card");
  }
  void add(const Launch& given, const std::vector<std::byte>& parameters) override {
    flush();
    launch(given, parameters, target_);
  }
  Stream stream() override {
    flush();
    return target_;
  }
  void copy_from_any(Address from, Address to, uint64_t bytes) override {
    if (bytes == 0) return;
    flush();
    check(api().copy_any(to.value, from.value, bytes, target_), "a copy from another card");
  }

  void upload(std::span<const std::byte> from, Address to) override {
    if (from.empty()) return;
    flush();
    std::byte* const staged = stage(from.data(), from.size());
    if (staged != nullptr) std::memcpy(staged, from.data(), from.size());
    check(api().upload(to.value, staged != nullptr ? staged : from.data(), from.size(), target_), "an upload");
  }
  void download(Address from, std::span<std::byte> to) override {
    if (to.empty()) return;
    flush();
    std::byte* const staged = stage(to.data(), to.size());
    check(api().download(staged != nullptr ? staged : to.data(), from.value, to.size(), target_), "a download");
    if (staged != nullptr) downloads_.push_back({staged, to});
  }
  void copy(Address from, Address to, uint64_t bytes) override {
    if (bytes == 0) return;
    flush();
    check(api().copy(to.value, from.value, bytes, target_), "a copy");
  }
  void follow(std::optional<uint64_t> stream) override {
    flush();
    target_ = stream ? reinterpret_cast<Stream>(*stream) : stream_;
  }
  void submit() override { flush(); }
  void wait() override {
    const std::vector<Download> downloads = std::exchange(downloads_, {});
    flush();
    check(api().stream_wait(target_), "the wait for its work");
    staging_.release();
    for (const Download& download : downloads) std::memcpy(download.to.data(), download.staged, download.to.size());
    const bool is_out_of_range = card_->take_fault();  // also of what kernels did that waited in vain
    for (const auto& [exchange, place] : exchanges_) exchange->check(place, ops::current_ranks());
    if (is_out_of_range) fail(ErrorCode::shape, "an index is out of range");
  }
  void mark() override {
    flush();
    Event event = nullptr;
    if (free_.empty()) {
      check(api().event_create(&event, 0), "an event");
    } else {
      event = free_.back();
      free_.pop_back();
    }
    marks_.push_back(event);
    has_late_mark_ = true;
  }
  std::vector<double> seconds() override {
    std::vector<double> between;
    for (size_t i = 1; i < marks_.size(); ++i) {
      float milliseconds = 0;
      check(api().event_milliseconds(&milliseconds, marks_[i - 1], marks_[i]), "the time between events");
      between.push_back(static_cast<double>(milliseconds) / 1e3);
    }
    free_.insert(free_.end(), marks_.begin(), marks_.end());
    marks_.clear();
    return between;
  }

 private:
  // Bytes that are in their place once they are copied there.
  struct Download {
    const std::byte* staged;
    std::span<std::byte> to;
  };

  const Api& api() const { return card_->api(); }
  void check(Result result, std::string_view what) const { card_->driver().check(result, what); }

  // Null: what a caller captures is done again after the staged bytes are gone.
  std::byte* stage(const void* place, size_t bytes) {
    return is_captured_by_caller() ? nullptr : staging_.take(place, bytes);
  }

  void flush() {
    card_->enter();
    if (pending_.empty()) {
      record_mark();
      return;
    }
    const std::vector<const LaunchedCall*> calls = std::exchange(pending_, {});
    size_t launches = 0;
    for (const LaunchedCall* const call : calls) launches += call->launches()->all.size();
    if (launches < kLeastLaunches || is_captured_by_caller()) return launch_now(calls);
    Sequence* const known = find(calls);
    if (known == nullptr) return launch_now(calls);
    if (known->graph() == nullptr) capture(*known, calls);
    const std::optional<Gate::Closed> closed = record_mark(true);
    check(api().graph_launch(known->graph(), target_), "a graph");
  }

  // The driver may wait for other work when it launches a kernel for the first time.
  void launch_now(const std::vector<const LaunchedCall*>& calls) {
    const uint64_t number = calls.front()->number();
    const bool is_known = has_late_mark_ && calls.size() == 1 && std::exchange(timed_alone_, number) == number;
    const std::optional<Gate::Closed> closed = record_mark(is_known);
    launch_all(calls, target_);
  }

  // Records the last mark, which waits for what comes behind it. `holds`: work that is added while the gate lives
  // begins together.
  std::optional<Gate::Closed> record_mark(bool holds = false) {
    std::optional<Gate::Closed> closed;
    if (!std::exchange(has_late_mark_, false)) return closed;
    if (holds) closed.emplace(gate_, target_);
    check(api().event_record(marks_.back(), target_), "an event");
    return closed;
  }

  bool is_captured_by_caller() const {
    if (target_ == stream_) return false;
    int captures = 0;
    check(api().stream_captures(target_, &captures), "the state of a stream");
    return captures != 0;
  }

  // The sequence of these calls; null: it is new, and remembered now.
  Sequence* find(const std::vector<const LaunchedCall*>& calls) {
    std::vector<uint64_t> numbers;
    for (const LaunchedCall* const call : calls) numbers.push_back(call->number());
    const auto known = std::ranges::find_if(sequences_, [&](const Sequence& s) { return s.numbers() == numbers; });
    if (known != sequences_.end()) {
      sequences_.splice(sequences_.begin(), sequences_, known);
      return &sequences_.front();
    }
    sequences_.emplace_front(card_, std::move(numbers));
    if (sequences_.size() > kMostGraphs) {
      check(api().stream_wait(target_), "the wait for its work");  // that graph may still run
      sequences_.pop_back();
    }
    return nullptr;
  }

  void capture(Sequence& sequence, const std::vector<const LaunchedCall*>& calls) {
    check(api().capture_begin(stream_, kThreadLocalCapture), "to capture a graph");
    Graph captured = nullptr;
    try {
      launch_all(calls, stream_);
    } catch (const Error&) {
      api().capture_end(stream_, &captured);
      if (captured != nullptr) api().graph_destroy(captured);
      throw;
    }
    check(api().capture_end(stream_, &captured), "to capture a graph");
    sequence.set(captured);
    for (const LaunchedCall* const call : calls) {
      sequence.launches.push_back(call->launches());
      for (const LaunchedCall::Copy& copy : call->copies()) sequence.copied.push_back(copy.to);
    }
  }

  void launch_all(const std::vector<const LaunchedCall*>& calls, Stream stream) const {
    for (const LaunchedCall* const call : calls) {
      for (const LaunchedCall::Copy& copy : call->copies()) {
        check(api().copy(copy.to.first.value, copy.from, copy.to.bytes, stream), "a copy");
      }
      const std::vector<Launch>& launches = call->launches()->all;
      for (size_t i = 0; i < launches.size(); ++i) launch(launches[i], call->parameters(i), stream);
    }
  }

  void launch(const Launch& launch, const std::vector<std::byte>& parameters, Stream stream) const {
    if (launch.foreign) {
      std::vector<uint64_t> addresses(launch.pointers.size());
      std::memcpy(addresses.data(), parameters.data(), addresses.size() * sizeof(uint64_t));
      return launch.foreign->add(stream, addresses);
    }
    LaunchAttribute begins_early{.id = kProgrammaticSerialization, .value = {.number = 1}};
    constexpr int kProgrammatic = 90;
    const bool is_early = launch.begins_early && card_->capability() >= kProgrammatic;
    const LaunchConfig config{.grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                              .block = {launch.threads, 1, 1},
                              .shared_bytes = launch.shared_bytes,
                              .stream = stream,
                              .attributes = is_early ? &begins_early : nullptr,
                              .attribute_count = is_early ? 1U : 0U};
    void* given[] = {const_cast<std::byte*>(parameters.data())};
    const Result result = api().launch(&config, launch.program->function(), given, nullptr);
    if (result == kSuccess) return;
    check(result, fmt::format("a kernel of {} x {} x {} blocks of {} threads with {} bytes", launch.grid[0],
                              launch.grid[1], launch.grid[2], launch.threads, launch.shared_bytes));
  }

  std::shared_ptr<const Card> card_;
  Staging staging_;
  Gate gate_;
  std::vector<Download> downloads_;
  Stream stream_ = nullptr;
  Stream target_ = nullptr;  // that does the work
  std::vector<const LaunchedCall*> pending_;
  std::list<Sequence> sequences_;  // used last first
  std::vector<ExchangePlace> exchanges_;
  std::vector<Event> marks_;
  bool has_late_mark_ = false;
  uint64_t timed_alone_ = 0;  // the call that was measured last without others
  std::vector<Event> free_;
};

}  // namespace

std::unique_ptr<LaunchQueue> make_queue(std::shared_ptr<const Card> card) {
  return std::make_unique<CardQueue>(std::move(card));
}

}  // namespace assay::engine::cuda
