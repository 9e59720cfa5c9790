#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "remote/descriptor.h"

namespace assay::remote {

// A program to start.
struct Launch {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // after its name
  // Limit of its writable private memory (RLIMIT_DATA, which leaves out address space that libraries only reserve);
  // 0: none.
  uint64_t max_data_bytes = 0;
};

// A child process. It writes to our standard error only, and ends with the thread that started it.
class Process {
 public:
  // `descriptors` become 3, 4, … of the child, which gets no others. Error (backend) if the program cannot be started.
  Process(const Launch& launch, std::span<const int> descriptors);
  ~Process() { end(0); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // A pidfd; closed if the system has none.
  Descriptor descriptor() const;
  // Waits for its end, and kills it after that time. How it ended: `was killed by signal 6 (aborted)`.
  const std::string& end(double grace_seconds);

 private:
  bool reap(int flags);

  pid_t id_ = -1;
  bool is_running_ = true;
  std::string ending_;
};

}  // namespace assay::remote
