#include "tasks/threads.h"

#include <algorithm>
#include <thread>

#include "base/error.h"

namespace assay::tasks {

unsigned most_threads() { return std::max(64U, 4 * std::thread::hardware_concurrency()); }

void check_threads(uint64_t count) {
  if (count <= most_threads()) return;
  throw Error(ErrorCode::usage, fmt::format("at most {} threads work on this machine, seen {}", most_threads(), count))
      .about("threads");
}

}  // namespace assay::tasks
