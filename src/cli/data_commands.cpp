#include "cli/data_commands.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace assay::cli {
namespace {

using formats::SavedInputs;
using formats::SavedRuns;

size_t iteration_count(const SavedRuns& runs) {
  size_t count = 0;
  for (const formats::SavedRun& run : runs) count = std::max(count, run.iterations.size());
  return count;
}

}  // namespace

OptionRow data_files_positional() {
  return {.names = {"paths"},
          .arity = Arity::one_or_more,
          .help = "files or folders of inputs or outputs",
          .is_file = true};
}

OptionGroup data_output_group() {
  return {.title = "Output",
          .description = "Where to",
          .rows = {{.names = {"-o", "--output"},
                    .metavar = "FILE",
                    .help = "the file to write; its extension says the form",
                    .details = ".npz, .npy, .safetensors; .raw: a folder of raw arrays; a name that ends in `/`, or a "
                               "folder: one JSON file an iteration; anything else: JSON.",
                    .is_file = true,
                    .is_output = true,
                    .required = true}}};
}

std::vector<formats::DataPart> load_parts(const Arguments& arguments) {
  std::vector<formats::DataPart> parts;
  for (const std::string& path : arguments.values("paths")) parts.push_back({path, formats::load_data(path)});
  return parts;
}

void save_data(const formats::SavedData& data, const Arguments& arguments, Environment& environment) {
  const std::string path = arguments.value("--output");
  if (const SavedInputs* const inputs = std::get_if<SavedInputs>(&data)) {
    environment.log.info(
        fmt::format("Saving input file containing {} iteration(s) to {}", inputs->size(), printable(path)));
    formats::save_inputs(path, *inputs);
    return;
  }
  const SavedRuns& runs = std::get<SavedRuns>(data);
  environment.log.info(fmt::format("Saving output file containing {} runner(s) and {} iteration(s) to {}", runs.size(),
                                   iteration_count(runs), printable(path)));
  formats::save_results(path, runs);
}

int run_data_merge(const Arguments& arguments, Environment& environment) {
  formats::MergedData merged = formats::merge_data(load_parts(arguments));
  for (const std::string& warning : merged.warnings) environment.log.warning(warning);
  save_data(std::move(merged.inputs), arguments, environment);
  return kExitEqual;
}

}  // namespace assay::cli
