#pragma once

#include <map>
#include <optional>

#include "remote/python_host.h"
#include "results/comparison.h"

namespace assay::tasks {

// Compares with the user's function instead of ours: it sees whole iterations of neighbouring runs.
class ScriptComparer {
 public:
  ScriptComparer(remote::PythonHost& host, remote::ScriptFunction function, size_t runners, bool fail_fast);

  void accept(size_t runner, uint64_t iteration, const remote::IterationResult& result);
  bool wants_stop() const { return wants_stop_; }
  std::vector<results::PairComparison> take() { return std::move(pairs_); }

 private:
  remote::PythonHost& host_;
  remote::ScriptFunction function_;
  bool fail_fast_;
  bool wants_stop_ = false;
  std::vector<results::PairComparison> pairs_;
  std::map<std::pair<size_t, uint64_t>, remote::IterationResult> held_;  // of runs not compared with the next one yet
};

}  // namespace assay::tasks
