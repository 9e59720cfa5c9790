#include "base/paths.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "tasks/inspect.h"
#include "tensorflow/read.h"

namespace assay::tasks {

results::TensorFlowListing inspect_tensorflow(const std::string& path, Observer& observer) {
  observer.info("Loading model: " + printable(absolute_path(path).lexically_normal().string()));
  const Stopwatch loading;
  results::TensorFlowListing listing = tensorflow::read_model(path);
  for (const Diagnostic& finding : listing.findings) observer.on_finding(finding);
  listing.timings = {{"load_seconds", loading.seconds()}};
  return listing;
}

}  // namespace assay::tasks
