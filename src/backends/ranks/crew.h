#pragma once

#include <functional>
#include <memory>

#include "backends/ranks/meeting.h"

namespace assay::backends {

// A thread for each rank, which waits for work.
class Crew {
 public:
  Crew(int64_t count, double deadline_seconds, bool uses_library);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Lets all ranks do `work` at once, and returns when all are done. Error: the first failure of any, which ends the
  // others, or the caller's own (base/stop.h). A rank that goes on in spite of that is left behind: its thread keeps
  // `work` as long as it needs it, and the crew fails from then on.
  void run(const std::function<void(int64_t rank)>& work);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace assay::backends
