#include <cmath>

#include <poll.h>

#include "base/parallel.h"
#include "remote/channel.h"
#include "remote/isolated_backend.h"
#include "remote/process.h"
#include "tasks/sweep/lines.h"
#include "tasks/sweep/workers.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kOwnBytes = uint64_t{1} << 30;  // for what libraries need themselves
constexpr int kSocket = 3;                         // in the worker

class LocalWorkers final : public Workers {
 public:
  explicit LocalWorkers(const SweepRequest& request) : slots_(request.jobs == 0 ? thread_count() : request.jobs) {
    launch_.program = remote::worker_program();
    launch_.arguments = request.worker_words;
    launch_.arguments.push_back(std::to_string(kSocket));
    if (request.session.max_memory_bytes > 0) launch_.max_data_bytes = request.session.max_memory_bytes + kOwnBytes;
  }

  size_t count() const override { return slots_.size(); }

  void send(size_t worker, std::string_view line) override {
    Slot& slot = slots_[worker];
    if (!slot.process) start(slot);
    slot.channel->send(line);  // that it is gone is an event
  }

  std::vector<WorkerEvent> wait(double seconds) override {
    std::vector<pollfd> sockets;
    std::vector<size_t> numbers;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].process) continue;
      sockets.push_back({slots_[i].channel->number(), POLLIN, 0});
      numbers.push_back(i);
    }
    std::vector<WorkerEvent> events;
    if (poll(sockets.data(), sockets.size(), static_cast<int>(std::ceil(seconds * 1000))) <= 0) return events;
    for (size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents != 0) read_events(numbers[i], events);
    }
    return events;
  }

  void end(size_t worker) override {
    slots_[worker].process.reset();
    slots_[worker].channel.reset();
  }

 private:
  struct Slot {
    std::unique_ptr<remote::Process> process;
    std::unique_ptr<LineChannel> channel;
  };

  void start(Slot& slot) {
    auto [own, other] = remote::Channel::make_sockets();
    const int number = other.number();
    slot.process = std::make_unique<remote::Process>(launch_, std::span(&number, 1));
    slot.channel = std::make_unique<LineChannel>(std::move(own), remote::Descriptor());
  }

  void read_events(size_t worker, std::vector<WorkerEvent>& events) {
    constexpr double kGraceSeconds = 5;
    std::vector<std::string> lines;
    const bool is_there = slots_[worker].channel->receive(lines);
    for (std::string& line : lines) events.push_back({worker, false, std::move(line)});
    if (is_there) return;
    events.push_back({worker, true, slots_[worker].process->end(kGraceSeconds)});
    end(worker);
  }

  remote::Launch launch_;
  std::vector<Slot> slots_;
};

}  // namespace

std::unique_ptr<Workers> local_workers(const SweepRequest& request) { return std::make_unique<LocalWorkers>(request); }

}  // namespace assay::tasks
