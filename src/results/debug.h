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
  std::string subject;  // the judged thing, if it differs from round to round: `12 nodes`
  bool passed = false;
  bool is_replayed = false;       // the verdict comes from a debug replay
  bool is_flaky = false;          // repeated checks did not agree; it counts as failed
  bool is_late = false;           // the check was ended because its time was up
  std::string fault;              // reason why there was nothing to check
  bool is_unresolved = false;     // a fault that is not a failure: there is no verdict
  std::optional<int64_t> status;  // of the command
  double seconds = 0;
};

// The output of a check.
struct CheckOutput {
  std::string out;
  std::string err;
  bool is_cut = false;
};

struct DebugLoop {
  std::vector<DebugIteration> iterations;
  uint64_t passed_count = 0;
  uint64_t unresolved_count = 0;  // neither passed nor failed
};

// The report of `debug build` and `debug repeat`.
struct DebugReport {
  std::string command;  // `debug build`
  std::string model;
  DebugLoop loop;
  std::vector<std::pair<std::string, double>> timings;
};

// A node of a reduced model.
struct ReducedNode {
  std::string name;
  std::string op;
};

// The report of `debug reduce`.
struct ReduceReport {
  std::string model;
  std::string output;
  bool is_reproduced = false;  // the whole model fails; otherwise nothing else is said
  bool is_confirmed = false;   // the result failed again when it was judged once more
  std::string symptom;         // the failure, if it is compared here
  uint64_t node_count = 0;     // of the whole model; Constant nodes are not counted
  std::vector<ReducedNode> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> opened;          // bodies and functions whose nodes took their place
  bool differs_in_values = false;           // the whole model: outputs are not equal, and the backend does not fail
  std::optional<uint64_t> good_node_count;  // of the model next to it that passes
  std::vector<std::string> shrunk;          // parts that were made plainer, in words
  std::vector<std::string> anonymized;
  std::string reproducer;
  DebugLoop loop;
  std::vector<std::pair<std::string, double>> timings;
};

}  // namespace assay::results
