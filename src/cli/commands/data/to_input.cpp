#include "cli/data_commands.h"

namespace assay::cli {

Command command_data_to_input() {
  return {.path = "data to-input",
          .summary = "turn files of inputs or outputs into one file of inputs",
          .description = "The same as `data merge`, by its older name.",
          .positionals = {data_files_positional()},
          .groups = {logging_group(), data_output_group(), data_change_group(), data_limits_group()},
          .run = run_data_merge,
          .examples = {"assay data to-input stage1_outputs.json -o stage2_inputs.json"}};
}

}  // namespace assay::cli
