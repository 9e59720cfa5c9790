#include "cli/data_commands.h"

namespace assay::cli {

Command command_data_merge() {
  return {.path = "data merge",
          .summary = "merge the arrays of several files into the inputs of one run",
          .description =
              "Reads inputs and outputs in any form and writes one file of inputs for --load-inputs: iteration by "
              "iteration, the arrays of all files. Of outputs, those of every runner are used. If a name occurs in "
              "several files, the last one is used, with a warning.",
          .positionals = {data_files_positional()},
          .groups = {logging_group(), data_output_group(), data_change_group(), data_limits_group()},
          .run = run_data_merge,
          .examples = {"assay data merge ids.npy mask.npy -o inputs.npz"}};
}

}  // namespace assay::cli
