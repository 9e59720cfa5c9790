#include "cli/plugin/plugin_folder.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "formats/plugin_config.h"
#include "remote/python_host.h"
#include "surgery/pattern/match.h"
#include "surgery/pattern/pattern_file.h"

namespace assay::cli {
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
  if (error)
    fail(ErrorCode::io, "--plugin-dir: `{}` cannot be listed: {}", printable(folder), errno_text(error.value()));
  std::ranges::sort(names);
  if (names.empty()) {
    fail(ErrorCode::usage, "--plugin-dir: no folder in `{}` holds {} or {}", printable(folder), kPatternName,
         kScriptName);
  }
  return names;
}

void check_known(std::string_view option, const std::vector<std::string>& wanted,
                 const std::vector<std::string>& known) {
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::optional<std::string> near = did_you_mean(name, known);
    fail(ErrorCode::usage, "{}: there is no plugin `{}`{}", option, printable(name),
         near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
  }
}

class PluginMatcher {
 public:
  PluginMatcher(const Arguments& arguments, const LoadedModel& loaded, Environment& environment)
      : arguments_(arguments), loaded_(loaded), environment_(environment) {}

  results::PluginMatches match(const std::string& name) {
    const fs::path folder = fs::path(arguments_.value("--plugin-dir")) / name;
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
    for (const surgery::Match& match : surgery::find_matches(loaded_.model, plugin.pattern)) {
      matches.instances.push_back(surgery::instance_of(loaded_.model, plugin.pattern, match));
    }
    return matches;
  }

  results::PluginMatches match_script(const std::string& path) {
    const std::string model = arguments_.value("model_file");
    if (model == "-") fail(ErrorCode::usage, "a script needs the model as a file, not from standard input");
    if (!host_) {
      Log& log = environment_.log;
      host_ = std::make_unique<remote::PythonHost>(remote::PythonOptions{
          .search = library_search(arguments_), .show = [&log](std::string_view text) { log.keep_details(text); }});
    }
    std::vector<results::PluginMatches> plugins = formats::parse_plugin_config(host_->match_subgraphs(path, model));
    if (plugins.size() != 1) fail(ErrorCode::usage, "the script gave no plugin");
    return std::move(plugins[0]);
  }

  const Arguments& arguments_;
  const LoadedModel& loaded_;
  Environment& environment_;
  std::unique_ptr<remote::PythonHost> host_;
};

}  // namespace

OptionGroup plugin_group() {
  return {.title = "Plugins",
          .description = "Which subgraphs are looked for",
          .rows = {{.names = {"--plugin-dir"},
                    .metavar = "FOLDER",
                    .help = "a folder with one folder for each plugin, which holds pattern.yaml or pattern.py",
                    .is_file = true,
                    .required = true},
                   {.names = {"--include"},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME",
                    .help = "only the plugins of these folders"},
                   {.names = {"--exclude"},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME",
                    .help = "all plugins but those of these folders"},
                   python_row()}};
}

OptionRow python_row() {
  return {.names = {"--python"},
          .metavar = "PROGRAM",
          .help = "the Python that runs pattern.py; it needs onnx and onnx-graphsurgeon"};
}

std::vector<std::string> chosen_plugins(const Arguments& arguments) {
  if (arguments.has("--include") && arguments.has("--exclude")) {
    fail(ErrorCode::usage, "--include and --exclude exclude each other");
  }
  std::vector<std::string> names = list_plugins(arguments.value("--plugin-dir"));
  const std::vector<std::string> included = arguments.values("--include");
  const std::vector<std::string> excluded = arguments.values("--exclude");
  check_known("--include", included, names);
  check_known("--exclude", excluded, names);
  std::erase_if(names, [&](const std::string& name) {
    const bool is_left_out = !included.empty() && std::ranges::find(included, name) == included.end();
    return is_left_out || std::ranges::find(excluded, name) != excluded.end();
  });
  return names;
}

std::vector<results::PluginMatches> match_plugins(const std::vector<std::string>& names, const Arguments& arguments,
                                                  const LoadedModel& loaded, Environment& environment) {
  PluginMatcher matcher(arguments, loaded, environment);
  std::vector<results::PluginMatches> plugins;
  for (const std::string& name : names) {
    environment.log.info(fmt::format("checking {} in model", printable(name)));
    plugins.push_back(matcher.match(name));
  }
  environment.log.info("the following plugins matched:");
  environment.log.info(count_text(plugins));
  return plugins;
}

std::string count_text(const std::vector<results::PluginMatches>& plugins) {
  std::vector<std::string> counts;
  for (const results::PluginMatches& plugin : plugins) {
    counts.push_back(fmt::format("{}: {}", python_string(plugin.name), plugin.instances.size()));
  }
  return "{" + join(counts, ", ") + "}";
}

std::string read_text(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace assay::cli
