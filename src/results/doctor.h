#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// The health of a backend on this machine.
struct BackendHealth {
  std::string backend;
  bool usable = false;
  std::string version;  // or why it cannot be used
  std::string path;     // of the library behind it; empty: built in, or not found
  std::vector<std::string> providers;
  std::vector<std::string> tried;  // places that were looked at, with what was there
};

// A device besides the processor, or what is missing for one.
struct DeviceHealth {
  std::string name;  // empty: there is none
  std::string kind;  // `cuda:0`
  uint64_t memory_bytes = 0;
  std::string capability;
  std::string driver;
  std::string compiler;  // of kernels
  std::string problem;   // empty: it can be used
};

struct DoctorReport {
  std::string python;  // the interpreter whose packages are looked at; empty: none found
  std::vector<BackendHealth> backends;
  std::vector<DeviceHealth> devices;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
