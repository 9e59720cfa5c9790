#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "debug/check_rules.h"
#include "results/debug.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// How each round of a debugging loop is judged, and what is kept of it.
struct CheckRequest {
  std::vector<std::string> command;                     // none: `ask` decides
  std::function<bool(const std::string& subject)> ask;  // whether it passed
  debug::CheckRules rules{{}, {}, {}};
  double timeout_seconds = 0;          // 0: none
  uint64_t repeats = 1;                // of each check; it fails if any does
  uint64_t jobs = 1;                   // checks at a time
  std::vector<std::string> artifacts;  // files and folders that are sorted by verdict
  std::string artifacts_folder;
  std::string iteration_info;  // a file that is there during a check
  std::string load_replay;
  std::string save_replay;
};

enum class UntilKind : uint8_t { good, bad, count };
struct Until {
  UntilKind kind = UntilKind::count;
  uint64_t count = 1;
};

// Judges the same again and again.
struct RepeatRequest {
  CheckRequest check;
  Until until;
};
results::DebugReport debug_repeat(const RepeatRequest& request, Observer& observer);

// Builds plans of the engine, each time anew, and judges them.
struct BuildRequest {
  ModelSource model;
  exec::SessionOptions session;
  bool infers = false;
  CheckRequest check;
  Until until;
  std::string artifact;  // where each plan is
  bool keeps_artifact = false;
};
results::DebugReport debug_build(const BuildRequest& request, Observer& observer);

}  // namespace assay::tasks
