#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/data_source.h"
#include "remote/remote_process.h"
#include "remote/script_function.h"

namespace assay::remote {

// The argument of a user's function for postprocessing or comparing: a dict with the attributes `runner_name` and
// `runtime`.
struct IterationResult {
  std::string runner;
  std::optional<double> runtime_seconds;
  tensor::NamedData outputs;
};

struct PythonOptions {
  exec::LibrarySearch search;  // finds its interpreter, or the first python3 on PATH
  double timeout_seconds = 0;  // for each answer; 0: none
  // Gets the tracebacks of scripts that failed, many lines each.
  std::function<void(std::string_view traceback)> show;
};

// The process of the host, which runs scripts and answers as a worker for the user's own TensorRT. Error (usage): there
// is no such Python.
std::unique_ptr<RemoteProcess> start_python_host(const PythonOptions& options);

// The outcome of a script that replaces subgraphs.
struct ScriptReplacements {
  bool has_function = false;         // false: the script did nothing
  std::vector<std::string> reasons;  // for each subgraph why it was not replaced; empty: it was
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
  // Iterations of a loader one after the other, and nothing after the last; none is kept.
  std::function<std::optional<tensor::NamedData>()> data_stream(const ScriptFunction& function);
  tensor::NamedData postprocess(const ScriptFunction& function, const IterationResult& result);
  // Names, and whether they passed.
  std::vector<std::pair<std::string, bool>> compare(const ScriptFunction& function, const IterationResult& a,
                                                    const IterationResult& b);
  // A metric's numbers for one sample: hits and trials; a number alone is that and 1.
  std::vector<double> score(const ScriptFunction& function, const tensor::NamedData& outputs,
                            const tensor::NamedData& labels);
  // Answers of a script `pattern.py` about its plugin and the model of a file, as JSON: the plugin's name, the type of
  // its node and the subgraphs that it can stand for. Error (unsupported): Python lacks a package.
  std::string match_subgraphs(const std::string& script, const std::string& model);
  // Has the function of a script `pattern.py` replace the subgraphs of `plugin`, which is JSON, in the model of a file,
  // and saves what it makes of it as another. Error (unsupported): Python lacks a package.
  ScriptReplacements replace_subgraphs(const std::string& script, const std::string& plugin,
                                       const std::filesystem::path& model, const std::filesystem::path& target);

 private:
  class Child;
  // The number of a loader that the script made.
  uint64_t start_loader(const ScriptFunction& function);
  std::unique_ptr<Child> child_;
};

}  // namespace assay::remote
