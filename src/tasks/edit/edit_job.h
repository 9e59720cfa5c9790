#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/stopwatch.h"
#include "tasks/edit.h"

namespace assay::tasks {

// Runs every task that changes a model: loads it and shows it to the observer; after the change, saves it and shows it
// again.
class EditJob {
 public:
  // `name` as in reports: `surgeon extract`.
  EditJob(std::string_view name, const EditRequest& request, Observer& observer);

  // A model that is wrong as a graph has findings.
  ir::Model& load();
  LoadedModel& loaded() { return *loaded_; }
  ir::Model& model() { return loaded_->model; }
  Diagnostics& findings() { return loaded_->findings; }
  Observer& observer() { return observer_; }
  const std::string& output() const { return request_.output; }

  // For the report.
  void changed(std::string_view action, std::string name, std::string detail);
  void skipped(std::string_view action, std::string name, std::string detail);

  // Saves the model where the request says so, and ends the job.
  EditOutcome save();
  // Saves several models, which `make` derives from the model one by one: all files or none, each with its weights next
  // to it.
  EditOutcome save_each(std::span<const std::string> paths, FunctionRef<void(size_t index)> make);
  // Keeps several models in the outcome, as save_each does with files.
  EditOutcome keep_each(size_t count, FunctionRef<void(size_t index)> make);

 private:
  EditOutcome finish(double save_seconds);
  void show(ModelStage stage);

  const EditRequest& request_;
  Observer& observer_;
  Stopwatch total_;
  size_t told_findings_ = 0;
  std::optional<LoadedModel> loaded_;
  results::EditReport report_;
};

}  // namespace assay::tasks
