#include "cli/options/groups/config_script.h"

#include "base/error.h"
#include "cli/options/groups/backends.h"
#include "tasks/network_script.h"

namespace assay::cli {

OptionGroup config_script_group() {
  return {.title = "Engine Configuration",
          .description = "Settings of the engine that a Python script makes; it needs the package assay",
          .rows = {{.names = {"--trt-config-script"},
                    .metavar = "FILE[:FUNCTION]",
                    .help = "a script whose function takes a builder and a network and gives a builder's configuration",
                    .details = "Profiles and flags of the configuration become settings of the engine, unless options "
                               "say otherwise. Default function: load_config.",
                    .is_file = true},
                   {.names = {"--trt-config-func-name"}, .metavar = "NAME", .help = "the function of that script"}}};
}

void read_config_script(const Arguments& arguments, const std::string& model, exec::SessionOptions& session) {
  if (!arguments.has("--trt-config-script")) {
    if (!arguments.has("--trt-config-func-name")) return;
    fail(ErrorCode::usage, "--trt-config-func-name needs --trt-config-script");
  }
  const std::string name = arguments.value("--trt-config-func-name");
  const remote::ScriptFunction script =
      remote::parse_script_function(arguments.value("--trt-config-script"), name.empty() ? "load_config" : name);
  exec::Settings made;
  tasks::read_config_script(script, library_search(arguments).python, model, made);
  for (const auto& [setting, values] : made.all()) {
    if (!session.settings.has(setting)) session.settings.set(setting, values);
  }
}

}  // namespace assay::cli
