#pragma once

#include <memory>

#include "tasks/sweep.h"

namespace assay::tasks {

// A line from a worker, or how it ended.
struct WorkerEvent {
  size_t worker = 0;
  bool has_ended = false;
  std::string text;
};

// The processes that run units; each is started when it first gets something to do.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual size_t count() const = 0;
  virtual void send(size_t worker, std::string_view line) = 0;
  // Waits for events for at most so many seconds.
  virtual std::vector<WorkerEvent> wait(double seconds) = 0;
  // Kills a worker; that is no event. The next line starts another.
  virtual void end(size_t worker) = 0;
};

// Processes of this machine.
std::unique_ptr<Workers> local_workers(const SweepRequest& request);
// Actors of Ray, through the user's Python. Error (unsupported, backend): there is no Ray, or it cannot be reached.
std::unique_ptr<Workers> ray_workers(const SweepRequest& request);

}  // namespace assay::tasks
