#include "cli/options/groups/json.h"

namespace assay::cli {

OptionGroup json_group() {
  return {
      .title = "Report",
      .description = "The result for other programs",
      .rows = {{.names = {"--json"},
                .metavar = "FILE",
                .help = "write the result as one JSON object to FILE; `-` is standard output",
                .details = "With `-` all text goes to standard error. Numbers that JSON cannot hold are the strings "
                           "\"nan\", \"inf\" and \"-inf\".",
                .is_file = true,
                .is_output = true}},
  };
}

bool wants_json(const Arguments& arguments) { return arguments.knows("--json") && arguments.has("--json"); }

bool json_on_stdout(const Arguments& arguments) { return wants_json(arguments) && arguments.value("--json") == "-"; }

}  // namespace assay::cli
