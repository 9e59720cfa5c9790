#include "cli/options/groups/plugins.h"

#include "base/error.h"
#include "cli/options/groups/backends.h"

namespace assay::cli {

OptionGroup plugin_group() {
  return {.title = "Plugins",
          .description = "Which subgraphs are searched for",
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

tasks::PluginSearch plugin_search(const Arguments& arguments) {
  if (arguments.has("--include") && arguments.has("--exclude")) {
    fail(ErrorCode::usage, "--include and --exclude exclude each other");
  }
  return {.folder = arguments.value("--plugin-dir"),
          .included = arguments.values("--include"),
          .excluded = arguments.values("--exclude"),
          .search = library_search(arguments)};
}

}  // namespace assay::cli
