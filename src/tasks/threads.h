#pragma once

#include <cstdint>
#include <optional>

#include "base/parallel.h"

namespace assay::tasks {

// The most threads that a user may ask for.
unsigned most_threads();
// Error (usage) for more.
void check_threads(uint64_t count);

// The threads of a task while it runs.
class TaskThreads {
 public:
  explicit TaskThreads(unsigned count) {  // 0: those of the caller
    if (count == 0) return;
    pool_.emplace(count);
    scope_.emplace(*pool_);
  }

 private:
  std::optional<ThreadPool> pool_;
  std::optional<PoolScope> scope_;
};

}  // namespace assay::tasks
