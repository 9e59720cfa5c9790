#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// A release of a runtime, by its environment, that was tried.
struct TriedRuntime {
  std::string environment;
  bool is_good = false;
  std::string reason = {};  // for being bad: `it differs`, or why it failed
};

// The report of `debug bisect` among releases of a runtime.
struct RuntimeReport {
  std::string model;
  std::string backend;
  std::vector<TriedRuntime> tried;  // in the order in which they were
  bool fails_before = false;        // with the first
  bool is_reproduced = false;       // with the last
  std::string first_bad;            // empty: none was found
  std::string last_good;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
