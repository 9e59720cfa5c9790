#pragma once

#include <string>
#include <vector>

namespace assay::debug {

// The end of a command and its output.
struct CommandResult {
  int status = 0;        // exit status, or minus the number of the signal that ended it
  bool is_late = false;  // ended because its time was up
  std::string out;
  std::string err;
  bool is_cut = false;  // true: more was written than is kept
  double seconds = 0;
};

// The file of a program: by its path, or by its name on PATH; `assay` that is not there is this program. Error (usage)
// if there is none.
std::string find_program(const std::string& word);

// Runs a command without a shell and without input, and waits for its end; after `timeout_seconds` it and what it
// started are killed (0: never). May be called from several threads.
CommandResult run_command(const std::vector<std::string>& words, double timeout_seconds);

}  // namespace assay::debug
