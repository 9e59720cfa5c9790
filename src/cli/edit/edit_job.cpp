#include "cli/edit/edit_job.h"

#include <filesystem>
#include <utility>

#include "base/text.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model_output.h"
#include "cli/options/groups/onnx_save.h"
#include "inspect/model_listing.h"
#include "inspect/model_overview.h"
#include "report/json_edit.h"
#include "report/text_model.h"
#include "surgery/boundary_types.h"

namespace assay::cli {
namespace {

results::ModelSize size_of(const ir::Model& model) {
  results::ModelSize size;
  for (uint32_t i = 0; i < model.graph_slots(); ++i) {
    const ir::Graph& graph = model[ir::GraphId{i}];
    size.nodes += graph.node_count;
    size.initializers += graph.initializers.size();
    for (const ir::ValueId id : graph.initializers) {
      const ir::TensorEntry& entry = model[model[id].constant];
      if (!entry.stripped) size.initializer_bytes += entry.tensor.size_bytes();
    }
  }
  return size;
}

}  // namespace

EditJob::EditJob(std::string_view command, std::string_view suffix, const Arguments& arguments,
                 Environment& environment)
    : arguments_(arguments), environment_(environment) {
  report_.command = command;
  report_.model = arguments.value("model_file");
  output_ = model_output_path(arguments, report_.model, suffix);
  report_.output = output_;
  save_options_ = save_options(arguments, output_);
}

ir::Model& EditJob::load() {
  log().start(fmt::format("RUNNING | Command: {}", printable(environment_.command_line)));
  loaded_ = load_model(report_.model, arguments_, environment_);
  print_summary("Original Model:");
  report_.before = size_of(loaded_->model);
  return loaded_->model;
}

void EditJob::changed(std::string_view action, std::string name, std::string detail) {
  report_.changes.push_back({std::string(action), std::move(name), std::move(detail)});
}

void EditJob::skipped(std::string_view action, std::string name, std::string detail) {
  report_.skipped.push_back({std::string(action), std::move(name), std::move(detail)});
}

int EditJob::save() {
  const Stopwatch saving;
  save_model(model(), output_, save_options_, log());
  const double save_seconds = saving.seconds();
  print_summary("New Model:");
  return finish(save_seconds);
}

int EditJob::save_each(std::span<const std::string> paths, FunctionRef<void(size_t index)> make) {
  const Stopwatch saving;
  std::vector<onnx::PendingSave> pending;
  if (!save_options_.external_name.value_or("").empty()) {
    log().warning("--save-external-data: the name is not used, as each model has a file of its own: NAME.onnx.data");
  }
  for (size_t i = 0; i < paths.size(); ++i) {
    make(i);
    surgery::complete_outputs(model());
    log().info("Saving ONNX model to: " + printable(paths[i]));
    save_options_.external_name = std::filesystem::path(paths[i]).filename().string() + ".data";
    pending.emplace_back(model(), paths[i], save_options_);
  }
  for (onnx::PendingSave& file : pending) file.commit();
  const double save_seconds = saving.seconds();
  report_.output = paths.front();
  report_.outputs.assign(paths.begin(), paths.end());
  print_summary("New Model (each of them):");
  return finish(save_seconds);
}

int EditJob::finish(double save_seconds) {
  report_.after = size_of(model());
  report_.findings = findings().all();
  report_.timings = {
      {"load_seconds", loaded_->load_seconds}, {"save_seconds", save_seconds}, {"total_seconds", total_.seconds()}};
  if (wants_json(arguments_)) write_json(arguments_, environment_, report::edit_json(report_));
  log().finish(
      fmt::format("PASSED | Runtime: {:.3f}s | Command: {}", total_.seconds(), printable(environment_.command_line)));
  return kExitEqual;
}

// Findings are printed once, with the summary that follows them.
void EditJob::print_summary(std::string_view title) {
  const std::vector<Diagnostic>& all = findings().all();
  for (; shown_findings_ < all.size(); ++shown_findings_) log().warning(all[shown_findings_].message);
  if (!log().enabled(LogLevel::info)) return;
  report::TextModelListing listing({.is_brief = true});
  inspect::list_model(model(), {}, inspect::model_overview(model()), listing);
  log().info(fmt::format("{}\n{}", title, listing.take_text()));
}

std::vector<OptionGroup> edit_groups(std::vector<OptionGroup> own) {
  std::vector<OptionGroup> groups = {logging_group(), model_group(), onnx_load_group()};
  for (OptionGroup& group : own) groups.push_back(std::move(group));
  groups.push_back(model_output_group());
  groups.push_back(onnx_save_group());
  groups.push_back(json_group());
  return groups;
}

}  // namespace assay::cli
