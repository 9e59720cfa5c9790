#include "base/error.h"
#include "cli/data_commands.h"
#include "cli/log_observer.h"

namespace assay::cli {
namespace {

int run_data_convert(const Arguments& arguments, Environment& environment) {
  LogObserver observer(arguments, environment);
  tasks::convert_data(data_request(arguments), observer);
  return kExitEqual;
}

}  // namespace

Command command_data_convert() {
  return {.path = "data convert",
          .summary = "convert files of inputs or outputs to another format",
          .description =
              "Reads JSON, .npz, .npy, .safetensors, a folder with one JSON file per iteration, or a .raw folder, and "
              "writes the format that the name of the output implies. .npz, .npy and .safetensors hold one iteration; "
              "they and .raw know no runners, so for outputs of several runners one must be selected.",
          .positionals = {{.names = {"paths"}, .help = "file or folder of inputs or outputs", .is_file = true}},
          .groups = {logging_group(), data_output_group(), data_change_group(), data_limits_group()},
          .run = run_data_convert,
          .examples = {"assay data convert outputs.json -o outputs.npz"}};
}

}  // namespace assay::cli
