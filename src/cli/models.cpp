#include "cli/models.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <new>

#include "base/error.h"
#include "base/paths.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/options/groups/model_output.h"
#include "cli/options/groups/ranks.h"
#include "cli/options/remedies.h"
#include "cli/output_files.h"
#include "cli/program.h"
#include "cli/reports.h"
#include "onnx/text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

// Reports that hold all models.
constexpr std::array<std::string_view, 3> kOfAllModels = {"--json", "--junit", "--log-file"};

// Folders, and files whose name comes from elsewhere, in which models would overwrite each other.
constexpr std::array<std::string_view, 4> kFolders = {"--save-heatmaps", "--save-error-metrics-plot",
                                                      "--save-input-blob", "--save-external-data"};

bool is_model_file(const fs::path& path) {
  return is_file(path) && (to_lower(path.extension().string()) == ".onnx" || onnx::is_text_file(path.string()));
}

// A folder of TensorFlow, with a SavedModel or a checkpoint, is one model.
bool is_folder_of_models(const std::string& path) {
  const auto has = [&](std::string_view name) { return is_there(fs::path(path) / name); };
  return is_folder(path) && !has("saved_model.pb") && !has("saved_model.pbtxt") && !has("checkpoint");
}

std::vector<std::string> models_in(const std::string& folder) {
  std::vector<std::string> models;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (is_model_file(entry.path())) models.push_back((fs::path(folder) / entry.path().filename()).string());
  }
  if (error) fail(ErrorCode::io, "the folder `{}` cannot be read: {}", printable(folder), error.message());
  if (models.empty()) fail(ErrorCode::io, "the folder `{}` has no models (.onnx, .onnxtxt)", printable(folder));
  std::ranges::sort(models);
  return models;
}

std::vector<std::string> models_of(const std::vector<std::string>& named) {
  std::vector<std::string> models;
  for (const std::string& path : named) {
    if (!is_folder_of_models(path)) {
      models.push_back(path);
      continue;
    }
    for (std::string& model : models_in(path)) models.push_back(std::move(model));
  }
  return models;
}

// Files that the next model would overwrite.
void refuse_single_files(const Arguments& arguments) {
  for (const OptionRow* row : arguments.rows()) {
    const std::string_view name = canonical_name(*row);
    const auto is_among = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
    const bool is_single = (row->is_output && !row->is_per_model && !is_among(kOfAllModels)) || is_among(kFolders);
    if (!is_single || !arguments.has(name)) continue;
    fail(ErrorCode::usage, "{} is about one model, and several are given", name);
  }
}

// An option that names the output of one model names a folder for several, in which no two have one name.
void check_folders(const Arguments& arguments, const std::vector<std::string>& models) {
  for (const OptionRow* row : arguments.rows()) {
    const std::string_view name = canonical_name(*row);
    if (!row->is_per_model || !arguments.has(name)) continue;
    const std::string folder = arguments.value(name);
    if (!is_output_folder(folder)) {
      fail(ErrorCode::usage, "{}: several models are given: expected a folder, as `{}/`", name, printable(folder));
    }
    std::map<fs::path, std::string> names;
    for (const std::string& model : models) {
      const auto [first, is_new] = names.emplace(fs::path(model).stem(), model);
      if (!is_new) {
        fail(ErrorCode::usage, "`{}` and `{}` would have one name in `{}`", printable(first->second), printable(model),
             printable(folder));
      }
    }
  }
}

// The command, and its reports if it fails.
int run_reported(const Command& command, const Arguments& arguments, Environment& environment) {
  environment.reports.made.clear();
  try {
    return command.run(arguments, environment);
  } catch (const Error& error) {
    const std::string line = arguments.as_typed(line_of(error, arguments));
    if (error.remedy() != kAnotherFile) write_failure(command, arguments, environment, line, exit_status(error.code()));
    throw Error(error.code(), line);
  } catch (const std::bad_alloc&) {
    write_failure(command, arguments, environment, "out of memory", kExitUndecided);
    throw;
  } catch (const std::exception& error) {
    write_failure(command, arguments, environment, printable(error.what()), kExitOurBug);
    throw;
  }
}

int badness(int status) {
  constexpr std::array kBetterFirst = {kExitEqual, kExitUndecided, kExitUsage, kExitDifferent, kExitOurBug};
  return static_cast<int>(std::ranges::find(kBetterFirst, status) - kBetterFirst.begin());
}

std::string_view word_of(int status) {
  if (status == kExitEqual) return "PASSED";
  if (status == kExitDifferent) return "FAILED";
  return status == kExitUndecided ? "UNDECIDED" : "ERROR";
}

}  // namespace

int run_on_models(const Command& command, const Arguments& given, Environment& environment) {
  const Arguments arguments = with_models_of_ranks(given);
  const std::vector<std::string> named =
      command.takes_models ? arguments.values("model_file") : std::vector<std::string>();
  const bool has_several = named.size() > 1 || (named.size() == 1 && is_folder_of_models(named[0]));
  if (!has_several) return run_reported(command, arguments, environment);
  const Stopwatch total;
  refuse_single_files(arguments);
  const std::vector<std::string> models = models_of(named);
  check_folders(arguments, models);
  environment.reports.are_kept = true;
  std::vector<int> statuses;
  for (const std::string& model : models) {
    const Arguments one = arguments.with("model_file", {model});
    const auto run = [&] {
      check_output_files(one);
      return run_reported(command, one, environment);
    };
    statuses.push_back(run_guarded(run, environment.log));
  }
  for (size_t i = 0; i < models.size(); ++i) {
    environment.log.verdict(statuses[i] == kExitEqual,
                            fmt::format("{} | {}", word_of(statuses[i]), printable(models[i])));
  }
  const int worst = *std::ranges::max_element(statuses, {}, badness);
  write_kept(command, arguments, environment, worst, total.seconds());
  return worst;
}

}  // namespace assay::cli
