#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/data_source.h"
#include "remote/script_function.h"

namespace assay::remote {

// What a postprocessing or comparing function of a user gets: a dict with the attributes `runner_name` and `runtime`.
struct IterationResult {
  std::string runner;
  std::optional<double> runtime_seconds;
  tensor::NamedData outputs;
};

struct PythonOptions {
  exec::LibrarySearch search;  // its interpreter, or the first python3 on PATH
  double timeout_seconds = 0;  // for each answer; 0: none
  // Gets the tracebacks of scripts that failed, many lines each.
  std::function<void(std::string_view traceback)> show;
};

// What a script says of a plugin: its name, the type of its node and the subgraphs that it can stand for, as JSON.
struct ScriptMatches {
  bool has_own_replacement = false;  // the script has a function that does the replacing
  std::string json;
};

// Runs functions of the user's scripts in one Python process, which is started on first use. What scripts print goes to
// standard error. Error (usage): the script is at fault, or there is no Python or numpy; Error (backend): the process
// died; Error (limit): it gave no answer in time.
class PythonHost {
 public:
  explicit PythonHost(PythonOptions options);
  ~PythonHost();

  // Iterations are asked for when they are needed, and kept. The host must outlive the source.
  exec::DataSourcePtr data_loader(const ScriptFunction& function);
  tensor::NamedData postprocess(const ScriptFunction& function, const IterationResult& result);
  // Names, and whether they passed.
  std::vector<std::pair<std::string, bool>> compare(const ScriptFunction& function, const IterationResult& a,
                                                    const IterationResult& b);
  // Runs the functions of a script `pattern.py` on the model of a file. Error (unsupported): Python lacks a package.
  ScriptMatches match_subgraphs(const std::string& script, const std::string& model);

 private:
  class Interpreter;
  std::unique_ptr<Interpreter> interpreter_;
};

}  // namespace assay::remote
