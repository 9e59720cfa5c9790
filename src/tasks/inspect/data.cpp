#include "base/stopwatch.h"
#include "formats/accuracy_results.h"
#include "tasks/check.h"
#include "tasks/inspect.h"

namespace assay::tasks {

std::variant<results::DataListing, results::AccuracyResults> inspect_data(const InspectDataRequest& request) {
  inspect::DataOptions options = request.options;
  for (inspect::TensorSlice& slice : options.slices) slice.slice = inspect::parse_slice(slice.text);
  const Stopwatch loading;
  if (formats::is_accuracy_results(request.path)) return load_accuracy(request.path);
  const formats::SavedData data = formats::load_data(request.path);
  const double load_seconds = loading.seconds();
  const Stopwatch listing;
  results::DataListing found = inspect::list_data(data, options);
  found.path = request.path;
  found.timings = {{"load_seconds", load_seconds}, {"list_seconds", listing.seconds()}};
  return found;
}

}  // namespace assay::tasks
