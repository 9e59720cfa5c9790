#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/data_source.h"
#include "ops/interpreter.h"
#include "remote/python_host.h"
#include "tasks/observer.h"

namespace assay::tasks {

// The source of a model's inputs: files, memory, a user's script; otherwise they are generated.
struct InputRequest {
  std::vector<std::string> files;
  std::vector<tensor::NamedData> data;           // in memory, one set per iteration
  std::optional<remote::ScriptFunction> script;  // a data loader
  exec::GenerateOptions generated;
  uint64_t iterations = 1;     // of generated inputs
  bool casts = false;          // to the types that the model declares
  bool fits = false;           // names, types and shapes, as fitted_source() does
  exec::LibrarySearch search;  // for the Python that runs the script
  double timeout_seconds = 0;  // for each answer of it; 0: none
  bool is_generated() const { return files.empty() && data.empty() && !script; }
};

// The inputs, and an object that must live as long as they are read.
struct InputData {
  std::shared_ptr<remote::PythonHost> host;
  exec::DataSourcePtr source;
};

// `host` is shared with other scripts; without it the inputs' script gets its own.
InputData make_inputs(const ir::Model& model, const InputRequest& request, Observer& observer, Diagnostics& findings,
                      std::shared_ptr<remote::PythonHost> host = nullptr);
// For a task that runs no model: a warning for each file or script of inputs. Error (io) for one that cannot be read.
void tell_unused_inputs(const InputRequest& request, Observer& observer);
// A host that reports tracebacks to the observer.
std::shared_ptr<remote::PythonHost> make_python_host(const exec::LibrarySearch& search, double timeout_seconds,
                                                     Observer& observer);
// The first iteration as the model's inputs. Error (usage) if there is none.
std::vector<ops::InputDatum> first_inputs(const ir::Model& model, const InputData& data, Diagnostics& findings);

}  // namespace assay::tasks
