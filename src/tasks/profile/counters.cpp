#include "tasks/profile/counters.h"

#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_text.h"

namespace assay::tasks {
namespace {

struct Event {
  std::string_view name;
  uint64_t config;
};
constexpr std::array kEvents = {
    Event{"cycles", PERF_COUNT_HW_CPU_CYCLES}, Event{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    Event{"cache_references", PERF_COUNT_HW_CACHE_REFERENCES}, Event{"cache_misses", PERF_COUNT_HW_CACHE_MISSES}};

int open_counter(uint64_t config) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = config;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

ProcessorCounters::ProcessorCounters() {
  for (const Event& event : kEvents) {
    const int file = open_counter(event.config);
    if (file >= 0) files_.emplace_back(event.name, file);
  }
  if (files_.empty()) absence_ = fmt::format("the system gives no counters of the processor: {}", errno_text(errno));
}

ProcessorCounters::~ProcessorCounters() {
  for (const auto& [name, file] : files_) close(file);
}

std::vector<std::pair<std::string, uint64_t>> ProcessorCounters::read() const {
  std::vector<std::pair<std::string, uint64_t>> counts;
  for (const auto& [name, file] : files_) {
    uint64_t count = 0;
    if (::read(file, &count, sizeof(count)) == sizeof(count)) counts.emplace_back(name, count);
  }
  return counts;
}

}  // namespace assay::tasks
