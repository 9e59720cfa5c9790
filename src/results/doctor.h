#pragma once

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

struct DoctorReport {
  std::string python;  // the interpreter whose packages are looked at; empty: none found
  std::vector<BackendHealth> backends;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
