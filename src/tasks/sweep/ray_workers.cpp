#include "base/error.h"
#include "tasks/sweep/workers.h"

namespace assay::tasks {

std::unique_ptr<Workers> ray_workers(const SweepRequest&) {
  fail(ErrorCode::unsupported, "sweeps do not run on Ray yet");
}

}  // namespace assay::tasks
