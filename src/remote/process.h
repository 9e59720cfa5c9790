#pragma once

#include <array>
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
  // Descriptors that become its standard input, output and errors; -1: our input, and our standard error for both
  // others.
  std::array<int, 3> streams = {-1, -1, -1};
  bool has_group = false;  // started processes are killed with it, also when a signal ends us
};

// A child process. It ends with the thread that started it.
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
  // After end(): its exit status, or minus the number of the signal that killed it.
  int status() const { return status_; }

 private:
  bool reap(int flags);
  void kill_all() const;

  pid_t id_ = -1;
  bool has_group_ = false;
  int group_slot_ = -1;  // among what a signal ends
  bool is_running_ = true;
  int status_ = 0;
  std::string ending_;
};

}  // namespace assay::remote
