#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::tasks {

// Counters of the processor for this thread and those that it starts from now on.
class ProcessorCounters {
 public:
  ProcessorCounters();
  ~ProcessorCounters();
  ProcessorCounters(const ProcessorCounters&) = delete;
  ProcessorCounters& operator=(const ProcessorCounters&) = delete;

  // The reason for having no counters; empty: there are some.
  const std::string& absence() const { return absence_; }
  // Since they were made.
  std::vector<std::pair<std::string, uint64_t>> read() const;

 private:
  std::vector<std::pair<std::string_view, int>> files_;
  std::string absence_;
};

}  // namespace assay::tasks
