#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// One round of a debugging loop: something was made and judged.
struct DebugIteration {
  uint64_t index = 0;
  std::string subject;  // what was judged, where it differs from round to round: `12 nodes`
  bool passed = false;
  bool is_replayed = false;       // the verdict comes from a debug replay
  bool is_flaky = false;          // repeated checks did not agree; it counts as failed
  bool is_late = false;           // the check was ended because its time was up
  std::string fault;              // why there was nothing to check
  std::optional<int64_t> status;  // of the command
  double seconds = 0;
};

// What a check wrote.
struct CheckOutput {
  std::string out;
  std::string err;
  bool is_cut = false;
};

struct DebugLoop {
  std::vector<DebugIteration> iterations;
  uint64_t passed_count = 0;
};

// Of `debug build` and `debug repeat`.
struct DebugReport {
  std::string command;  // `build`
  std::string model;
  DebugLoop loop;
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
