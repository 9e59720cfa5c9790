#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "cli/stopwatch.h"
#include "onnx/export.h"
#include "results/edit_report.h"

namespace assay::cli {

// The course of every command that changes a model: checks where it goes before anything is read, loads it and shows
// it, and, when the command has changed it, saves it and shows what it is now.
class EditJob {
 public:
  // `command` as typed; `suffix` names the default output, `<model>.<suffix>.onnx`.
  EditJob(std::string_view command, std::string_view suffix, const Arguments& arguments, Environment& environment);

  // Loads the model and prints its summary. A model that is wrong as a graph has warnings.
  ir::Model& load();
  LoadedModel& loaded() { return *loaded_; }
  ir::Model& model() { return loaded_->model; }
  Diagnostics& findings() { return loaded_->findings; }
  Environment& environment() { return environment_; }
  Log& log() { return environment_.log; }

  // For the report.
  void changed(std::string_view action, std::string name, std::string detail);
  void skipped(std::string_view action, std::string name, std::string detail);

  // Saves the model, prints its new summary and writes the report that `--json` asks for. Gives the exit status.
  int save();
  // The same for several models, which `make` makes of the model one after the other: all files or none, each with its
  // weights beside it.
  int save_each(std::span<const std::string> paths, FunctionRef<void(size_t index)> make);
  const std::string& output() const { return output_; }

 private:
  int finish(double save_seconds);
  void print_summary(std::string_view title);

  const Arguments& arguments_;
  Environment& environment_;
  std::string output_;
  onnx::SaveOptions save_options_;
  Stopwatch total_;
  size_t shown_findings_ = 0;
  std::optional<LoadedModel> loaded_;
  results::EditReport report_;
};

// The groups that every such command has: logging, model, loading, output, saving, json.
std::vector<OptionGroup> edit_groups(std::vector<OptionGroup> own);

}  // namespace assay::cli
