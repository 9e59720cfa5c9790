#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/runs/rejudge.h"
#include "results/accuracy_results.h"
#include "results/compatibility.h"
#include "results/doctor.h"
#include "results/lint_report.h"
#include "results/run_report.h"
#include "results/sparsity.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Counts the weights that are 2:4 sparse.
results::SparsityReport inspect_sparsity(const ModelSource& model, Observer& observer);

// Finds everything that is wrong with a model.
struct LintRequest {
  ModelSource model;
  bool is_static = false;  // the model is not run
  InputRequest inputs;     // of the run; if none can be generated, the model is not run, with a warning
  uint64_t max_memory_bytes = 0;
  uint64_t max_steps = 0;  // 0: a default that ends after some minutes
  uint64_t max_work = 0;
  unsigned threads = 0;  // 0: those of the caller
  // A backend that, where it is there, says in its words what is wrong with nodes that fail; empty: none.
  std::string told_by;
  exec::LibrarySearch search;
};
results::LintReport lint(const LintRequest& request, Observer& observer);

// Finds the backends that can run a model, and the nodes that others cannot. Libraries run in separate processes.
struct CompatibilityRequest {
  ModelSource model;
  std::vector<std::string> backends;  // none: all
  exec::LibrarySearch search;
};
results::CompatibilityReport check_compatibility(
    const CompatibilityRequest& request, Observer& observer,
    const std::function<void(const results::BackendCompatibility&)>& on_backend = {});

// The backends of this build.
std::vector<std::string> backend_names();
// The backend that builds plans.
std::string plan_backend();
bool has_plans(const std::string& backend);
// True if the settings about shapes, types and tactics that builders of engines have are meant for this backend.
bool builds_engines(const std::string& backend);
// Settings of a backend (SessionOptions::settings); backends without settings are left out.
struct BackendSettings {
  std::string backend;
  std::string title;
  std::vector<exec::Setting> settings;
};
std::vector<BackendSettings> backend_settings();
// The libraries that backends would open, found by file name; nothing is opened.
struct BackendLibrary {
  std::string backend;
  std::string version;  // empty: not known
  std::string path;
};
std::vector<BackendLibrary> backend_libraries();
// The path of this Python; empty: not found.
std::string find_python(const std::string& name);
// Finds out if these backends can be used, or why not; none named: all.
results::DoctorReport doctor(const std::vector<std::string>& backends, const exec::LibrarySearch& search,
                             const std::function<void(const results::BackendHealth&)>& on_backend = {});
// The Python whose packages are searched; empty: none.
std::string python_in_use(const exec::LibrarySearch& search);

// Results written by save_accuracy_results, with the verdicts under the stored thresholds.
results::AccuracyResults load_accuracy(const std::string& path);
// Judges saved metrics again, under other thresholds.
results::Rejudgement rejudge_accuracy(const std::string& path, const compare::NewThresholds& thresholds,
                                      Observer& observer);

// Compares two files of tensors: their runs in order, iteration by iteration.
struct DataComparison {
  results::RunReport report;
  size_t runs_a = 0;
  size_t runs_b = 0;  // not runs_a: the files differ, whatever the pairs say
};
DataComparison compare_data(const std::string& path_a, const std::string& path_b,
                            const compare::CompareOptions& options);

}  // namespace assay::tasks
