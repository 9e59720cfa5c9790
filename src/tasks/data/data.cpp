#include "tasks/data.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::tasks {
namespace {

using formats::SavedData;
using formats::SavedInputs;
using formats::SavedRuns;

size_t iteration_count(const SavedRuns& runs) {
  size_t count = 0;
  for (const formats::SavedRun& run : runs) count = std::max(count, run.iterations.size());
  return count;
}

std::vector<formats::DataPart> load_parts(const DataRequest& request) {
  std::vector<formats::DataPart> parts;
  for (const std::string& path : request.paths) parts.push_back({path, formats::load_data(path)});
  formats::change_data(parts, request.changes);
  return parts;
}

SavedData finish(SavedData data, const std::vector<std::string>& warnings, const DataRequest& request,
                 Observer& observer) {
  for (const std::string& warning : warnings) observer.warning(warning);
  if (!request.output.empty()) save_data(data, request.output, observer);
  return data;
}

}  // namespace

SavedData convert_data(const DataRequest& request, Observer& observer) {
  if (request.paths.size() != 1) fail(ErrorCode::usage, "expected one file, got {}", request.paths.size());
  return finish(std::move(load_parts(request)[0].data), {}, request, observer);
}

SavedData merge_data(const DataRequest& request, Observer& observer) {
  formats::MergedData merged = formats::merge_data(load_parts(request));
  return finish(std::move(merged.inputs), merged.warnings, request, observer);
}

SavedData concat_data(const DataRequest& request, Observer& observer) {
  formats::JoinedData joined = formats::concat_data(load_parts(request));
  return finish(std::move(joined.data), joined.warnings, request, observer);
}

void save_data(const SavedData& data, const std::string& path, Observer& observer) {
  if (const SavedInputs* const inputs = std::get_if<SavedInputs>(&data)) {
    observer.info(fmt::format("Saving input file containing {} iteration(s) to {}", inputs->size(), printable(path)));
    return formats::save_inputs(path, *inputs);
  }
  const SavedRuns& runs = std::get<SavedRuns>(data);
  observer.info(fmt::format("Saving output file containing {} runner(s) and {} iteration(s) to {}", runs.size(),
                            iteration_count(runs), printable(path)));
  formats::save_results(path, runs);
}

bool is_data(const std::string& path) { return formats::is_data(path); }

tensor::Tensor load_tensor(const std::string& path) {
  const SavedInputs sets = formats::load_inputs(path);
  const bool is_one = sets.size() == 1 && sets[0].size() == 1 && sets[0][0].value.is_tensor();
  if (!is_one) fail(ErrorCode::usage, "`{}` holds more or less than one tensor", printable(path));
  return sets[0][0].value.tensor();
}

}  // namespace assay::tasks
