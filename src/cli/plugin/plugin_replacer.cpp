#include "cli/plugin/plugin_replacer.h"

#include <algorithm>

#include "base/error.h"
#include "base/paths.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "cli/options/groups/backends.h"
#include "cli/plugin/plugin_folder.h"
#include "onnx/export.h"
#include "onnx/load.h"
#include "report/json_plugins.h"

namespace assay::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFunction = "replace_with_plugin";

remote::PythonOptions python_options(const Arguments& arguments, Log& log) {
  return {.search = library_search(arguments), .show = [&log](std::string_view text) { log.keep_details(text); }};
}

surgery::Replacement replacement_of(const results::PluginMatches& plugin, const std::vector<std::string>& reasons) {
  surgery::Replacement done;
  for (size_t i = 0; i < plugin.instances.size(); ++i) {
    const std::string reason = i < reasons.size() ? printable(reasons[i]) : "the script did not see it";
    if (reason.empty()) {
      ++done.replaced;
    } else {
      done.skipped.push_back(surgery::skipped_line(plugin, i, reason));
    }
  }
  return done;
}

}  // namespace

PluginReplacer::PluginReplacer(const Arguments& arguments, EditJob& job)
    : arguments_(arguments), job_(job), host_(python_options(arguments, job.log())) {}

surgery::Replacement PluginReplacer::replace(const results::PluginMatches& plugin) {
  const std::string script = script_of(plugin);
  std::optional<surgery::Replacement> done;
  if (!script.empty()) done = replace_by(script, plugin);
  return done ? std::move(*done) : surgery::replace_instances(job_.model(), plugin);
}

std::string PluginReplacer::script_of(const results::PluginMatches& plugin) const {
  const bool is_folder_name = fs::path(plugin.name).filename() == plugin.name && plugin.name != "..";
  if (!arguments_.has("--plugin-dir") || !is_folder_name) return "";
  const fs::path folder = fs::path(arguments_.value("--plugin-dir")) / plugin.name;
  const std::string script = (folder / kScriptName).string();
  const bool is_used = is_file(script) && !is_there(folder / kPatternName);
  return is_used && read_text(script).find(kFunction) != std::string::npos ? script : "";
}

std::optional<surgery::Replacement> PluginReplacer::replace_by(const std::string& script,
                                                               const results::PluginMatches& plugin) {
  const TemporaryFolder folder;
  const fs::path before = folder.path() / "model.onnx";
  const fs::path after = folder.path() / "replaced.onnx";
  onnx::save(job_.model(), before, {.external_name = "model.data"});
  const remote::ScriptReplacements done = host_.replace_subgraphs(script, report::plugin_json(plugin), before, after);
  if (!done.has_function) return std::nullopt;
  take_over(script, after);
  return replacement_of(plugin, done.reasons);
}

void PluginReplacer::take_over(const std::string& script, const fs::path& path) {
  Diagnostics findings;
  job_.model() = with_frame([&] { return fmt::format("what `{}` made of the model", printable(script)); },
                            [&] { return onnx::load(path, {}, findings); });
  for (const Diagnostic& finding : findings.all()) {
    const bool is_known = std::ranges::any_of(
        job_.findings().all(), [&](const Diagnostic& known) { return known.message == finding.message; });
    if (finding.severity != Severity::error || is_known) continue;
    job_.findings().error(finding.code, finding.node, finding.message);
  }
}

}  // namespace assay::cli
