#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <poll.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "exec/library_search.h"
#include "remote/channel.h"
#include "remote/host_source.h"
#include "remote/isolated_backend.h"
#include "remote/process.h"
#include "tasks/sweep/lines.h"
#include "tasks/sweep/workers.h"

namespace assay::tasks {
namespace {

bool uses_cards(const SweepRequest& request) {
  const auto names_card = [](const std::string& side) { return side.find("cuda") != std::string::npos; };
  return std::ranges::any_of(request.sides, names_card) || names_card(request.session.settings.text("device"));
}

std::vector<std::string> arguments_of(const SweepRequest& request) {
  const size_t colon = request.engine.find(':');
  std::vector<std::string> arguments = {"-c",
                                        std::string(remote::host_ray_source()),
                                        colon == std::string::npos ? "" : request.engine.substr(colon + 1),
                                        std::to_string(request.session.threads),
                                        uses_cards(request) ? "1" : "0",
                                        std::to_string(request.session.max_memory_bytes),
                                        std::to_string(request.jobs),
                                        absolute_path(".").string(),
                                        remote::worker_program().string()};
  arguments.insert(arguments.end(), request.worker_words.begin(), request.worker_words.end());
  return arguments;
}

// Actors behind one process of Python.
class RayWorkers final : public Workers {
 public:
  explicit RayWorkers(const SweepRequest& request) {
    const std::string& python = request.session.search.python;
    const std::filesystem::path program = exec::find_interpreter(python.empty() ? "python3" : python);
    if (program.empty()) fail(ErrorCode::unsupported, "there is no Python, which Ray needs");
    auto [own, other] = remote::Channel::make_sockets();
    const int number = other.number();
    const remote::Launch launch = {.program = program, .arguments = arguments_of(request)};
    process_ = std::make_unique<remote::Process>(launch, std::span(&number, 1));
    channel_ = std::make_unique<LineChannel>(std::move(own), remote::Descriptor());
    other.reset();
    await_ready();
  }

  ~RayWorkers() override {
    constexpr double kGraceSeconds = 15;  // in which Ray ends what it has started
    channel_.reset();
    process_->end(kGraceSeconds);
  }
  RayWorkers(const RayWorkers&) = delete;
  RayWorkers& operator=(const RayWorkers&) = delete;

  size_t count() const override { return count_; }
  void send(size_t worker, std::string_view line) override { tell(fmt::format("send {} {}", worker, line)); }
  void end(size_t worker) override { tell(fmt::format("end {}", worker)); }

  std::vector<WorkerEvent> wait(double seconds) override {
    std::vector<WorkerEvent> events;
    pollfd socket = {channel_->number(), POLLIN, 0};
    if (poll(&socket, 1, static_cast<int>(std::ceil(seconds * 1000))) <= 0) return events;
    for (const std::string& line : next_lines()) events.push_back(event_of(line));
    return events;
  }

 private:
  void tell(const std::string& line) {
    if (!channel_->send(line)) fail_lost();
  }

  [[noreturn]] void fail_lost() {
    constexpr double kGraceSeconds = 5;
    fail(ErrorCode::backend, "the process of Ray {}: what is recorded stays, and the same command goes on from there",
         process_->end(kGraceSeconds));
  }

  std::vector<std::string> next_lines() {
    std::vector<std::string> lines;
    if (!channel_->receive(lines)) fail_lost();
    return lines;
  }

  void await_ready() {
    constexpr std::string_view kReady = "ready ";
    constexpr std::string_view kFailed = "failed ";
    std::vector<std::string> lines;
    while (lines.empty()) lines = next_lines();
    const std::string_view line = lines.front();
    if (line.starts_with(kFailed)) fail(ErrorCode::unsupported, "{}", line.substr(kFailed.size()));
    std::from_chars(line.data() + kReady.size(), line.data() + line.size(), count_);
  }

  // `line 3 at 0`, `ended 3 was killed by signal 9`
  static WorkerEvent event_of(const std::string& line) {
    const size_t first = line.find(' ');
    const size_t second = line.find(' ', first + 1);
    if (second == std::string::npos) fail(ErrorCode::backend, "Ray's process said `{}`", printable(line));
    WorkerEvent event;
    std::from_chars(line.data() + first + 1, line.data() + second, event.worker);
    event.has_ended = line.starts_with("ended");
    event.text = line.substr(second + 1);
    return event;
  }

  std::unique_ptr<remote::Process> process_;
  std::unique_ptr<LineChannel> channel_;
  size_t count_ = 1;
};

}  // namespace

std::unique_ptr<Workers> ray_workers(const SweepRequest& request) { return std::make_unique<RayWorkers>(request); }

}  // namespace assay::tasks
