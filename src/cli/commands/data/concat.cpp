#include "base/error.h"
#include "cli/data_commands.h"

namespace assay::cli {
namespace {

int run(const Arguments& arguments, Environment& environment) {
  const formats::JoinedData joined = formats::concat_data(load_parts(arguments));
  for (const std::string& warning : joined.warnings) environment.log.warning(warning);
  save_data(joined.data, arguments, environment);
  return kExitEqual;
}

}  // namespace

Command command_data_concat() {
  return {.path = "data concat",
          .summary = "put the iterations of several files in a row",
          .description =
              "Reads files that hold all inputs or all outputs and writes one with the iterations of the "
              "first, then those of the second, and so on. Outputs are joined by the runner's name.",
          .positionals = {data_files_positional()},
          .groups = {logging_group(), data_output_group(), data_change_group(), data_limits_group()},
          .run = run,
          .examples = {"assay data concat a.json b.json -o all.json"}};
}

}  // namespace assay::cli
