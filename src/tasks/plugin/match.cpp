#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/stopwatch.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "formats/plugin_config.h"
#include "match/find.h"
#include "remote/python_host.h"
#include "surgery/plugin/pattern_file.h"
#include "tasks/plugin.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

// Folders that hold a pattern, in the order of their names.
std::vector<std::string> list_plugins(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path path = at->path();
    if (is_file(path / kPatternName) || is_file(path / kScriptName)) {
      names.push_back(path.filename().string());
    }
  }
  if (error) {
    throw Error(ErrorCode::io, fmt::format("`{}` cannot be listed: {}", printable(folder), errno_text(error.value())))
        .about("plugin_dir");
  }
  std::ranges::sort(names);
  if (names.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("no folder in `{}` holds {} or {}", printable(folder), kPatternName, kScriptName))
        .about("plugin_dir");
  }
  return names;
}

void check_known(std::string_view setting, const std::vector<std::string>& wanted,
                 const std::vector<std::string>& known) {
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::optional<std::string> near = did_you_mean(name, known);
    throw Error(ErrorCode::usage, fmt::format("there is no plugin `{}`{}", printable(name),
                                              near ? fmt::format("; did you mean `{}`?", printable(*near)) : ""))
        .about(std::string(setting));
  }
}

class PluginMatcher {
 public:
  PluginMatcher(const MatchPluginsRequest& request, const LoadedModel& loaded, Observer& observer)
      : request_(request), loaded_(loaded), observer_(observer) {}

  results::PluginMatches match(const std::string& name) {
    const fs::path folder = fs::path(request_.plugins.folder) / name;
    const fs::path pattern = folder / kPatternName;
    const bool is_declared = is_file(pattern);
    const std::string path = (is_declared ? pattern : folder / kScriptName).string();
    return with_frame([&] { return fmt::format("`{}`", printable(path)); },
                      [&] { return is_declared ? match_pattern(path, name) : match_script(path); });
  }

 private:
  results::PluginMatches match_pattern(const std::string& path, const std::string& name) const {
    const surgery::PluginPattern plugin = surgery::parse_pattern_file(read_text(path), name);
    results::PluginMatches matches{.name = plugin.name, .op = plugin.op, .domain = plugin.domain, .instances = {}};
    for (const match::Match& match : match::find(loaded_.model, plugin.pattern)) {
      matches.instances.push_back(surgery::instance_of(loaded_.model, plugin, match));
    }
    return matches;
  }

  results::PluginMatches match_script(const std::string& path) {
    if (!host_) host_ = make_python_host(request_.plugins.search, 0, observer_);
    std::vector<results::PluginMatches> plugins =
        formats::parse_plugin_config(host_->match_subgraphs(path, model_file()));
    if (plugins.size() != 1) fail(ErrorCode::usage, "the script gave no plugin");
    return std::move(plugins[0]);
  }

  // The file that scripts read: a copy where the model is none.
  std::string model_file() {
    if (request_.model.model == nullptr && request_.model.path != "-") return request_.model.path;
    const bool is_new = !copy_;
    if (is_new) copy_.emplace();
    const fs::path path = copy_->path() / "model.onnx";
    if (is_new) onnx::save(loaded_.model, path, {.external_name = "model.data"});
    return path.string();
  }

  const MatchPluginsRequest& request_;
  const LoadedModel& loaded_;
  Observer& observer_;
  std::shared_ptr<remote::PythonHost> host_;
  std::optional<TemporaryFolder> copy_;
};

// `{'toyPlugin': 1}`
std::string count_text(const std::vector<results::PluginMatches>& plugins) {
  std::vector<std::string> counts;
  for (const results::PluginMatches& plugin : plugins) {
    counts.push_back(fmt::format("{}: {}", python_string(plugin.name), plugin.instances.size()));
  }
  return "{" + join(counts, ", ") + "}";
}

// Plugins that match nowhere have no document.
void write_config(const std::string& path, std::vector<results::PluginMatches> plugins, Observer& observer) {
  std::erase_if(plugins, [](const results::PluginMatches& plugin) { return plugin.instances.empty(); });
  observer.info("Writing the matches to: " + printable(path));
  OutputFile file(path);
  file.write(formats::plugin_config_text(plugins));
  file.commit();
}

}  // namespace

std::vector<std::string> plugin_names(const PluginSearch& search) {
  std::vector<std::string> names = list_plugins(search.folder);
  check_known("include", search.included, names);
  check_known("exclude", search.excluded, names);
  std::erase_if(names, [&](const std::string& name) {
    const bool is_left_out =
        !search.included.empty() && std::ranges::find(search.included, name) == search.included.end();
    return is_left_out || std::ranges::find(search.excluded, name) != search.excluded.end();
  });
  return names;
}

results::PluginReport match_plugins(const MatchPluginsRequest& request, Observer& observer) {
  const std::vector<std::string> names = plugin_names(request.plugins);
  LoadedModel loaded = load_model(request.model, observer);
  if (request.infers) infer_shapes(loaded);
  tell_findings(loaded.findings, observer);
  const Stopwatch matching;
  results::PluginReport report{.command = {}, .model = request.model.path, .output = request.config};
  PluginMatcher matcher(request, loaded, observer);
  for (const std::string& name : names) {
    check_cancelled(observer);
    observer.info(fmt::format("checking {} in model", printable(name)));
    report.plugins.push_back(matcher.match(name));
  }
  observer.info("the following plugins matched:");
  observer.info(count_text(report.plugins));
  report.findings = loaded.findings.all();
  report.timings = {{"load_seconds", loaded.load_seconds}, {"match_seconds", matching.seconds()}};
  if (!request.config.empty()) write_config(request.config, report.plugins, observer);
  return report;
}

}  // namespace assay::tasks
