#pragma once

#include <memory>
#include <string>

#include "remote/python_host.h"
#include "results/plugin_matches.h"
#include "surgery/plugin/replace.h"
#include "tasks/edit/edit_job.h"
#include "tasks/plugin.h"

namespace assay::tasks {

// Replaces subgraphs by plugins: with the plugin's script if it has a function for this, otherwise by one node for each
// subgraph.
class PluginReplacer {
 public:
  PluginReplacer(const ReplacePluginsRequest& request, EditJob& job);

  surgery::Replacement replace(const results::PluginMatches& plugin);

 private:
  // The script that may have the function; empty: none.
  std::string script_of(const results::PluginMatches& plugin) const;
  // nullopt: the script has no such function.
  std::optional<surgery::Replacement> replace_by(const std::string& script, const results::PluginMatches& plugin);
  void take_over(const std::string& script, const std::filesystem::path& path);

  const ReplacePluginsRequest& request_;
  EditJob& job_;
  std::shared_ptr<remote::PythonHost> host_;
};

}  // namespace assay::tasks
