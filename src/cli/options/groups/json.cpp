#include "cli/options/groups/json.h"

#include "base/files.h"

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

void write_json(const Arguments& arguments, Environment& environment, std::string_view report) {
  if (json_on_stdout(arguments)) {
    std::fwrite(report.data(), 1, report.size(), environment.out);
    return;
  }
  OutputFile file(arguments.value("--json"));
  file.write(report);
  file.commit();
}

}  // namespace assay::cli
