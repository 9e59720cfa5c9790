#include "tasks/plugin/replacer.h"

#include <algorithm>

#include "base/error.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "formats/plugin_json.h"
#include "onnx/export.h"
#include "onnx/load.h"

namespace assay::tasks {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFunction = "replace_with_plugin";

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

PluginReplacer::PluginReplacer(const ReplacePluginsRequest& request, EditJob& job)
    : request_(request), job_(job), host_(make_python_host(request.search, 0, job.observer())) {}

surgery::Replacement PluginReplacer::replace(const results::PluginMatches& plugin) {
  const std::string script = script_of(plugin);
  std::optional<surgery::Replacement> done;
  if (!script.empty()) done = replace_by(script, plugin);
  return done ? std::move(*done) : surgery::replace_instances(job_.model(), plugin);
}

std::string PluginReplacer::script_of(const results::PluginMatches& plugin) const {
  const bool is_folder_name = fs::path(plugin.name).filename() == plugin.name && plugin.name != "..";
  if (request_.folder.empty() || !is_folder_name) return "";
  const fs::path folder = fs::path(request_.folder) / plugin.name;
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
  const remote::ScriptReplacements done = host_->replace_subgraphs(script, formats::plugin_json(plugin), before, after);
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

}  // namespace assay::tasks
