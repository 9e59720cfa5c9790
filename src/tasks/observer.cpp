#include "tasks/observer.h"

#include <memory>

#include "base/error.h"

namespace assay::tasks {

void check_cancelled(Observer& observer) {
  if (observer.is_cancelled()) fail(ErrorCode::cancelled, "the task was cancelled");
}

uint64_t counted_steps(std::optional<uint64_t> iterations, uint64_t each) {
  constexpr uint64_t kMostIterations = uint64_t{1} << 32;
  return iterations && *iterations <= kMostIterations ? *iterations * each : 0;
}

Counter::Counter(Observer& observer, std::string what, uint64_t total)
    : observer_(observer), what_(std::move(what)), total_(total) {}

Counter::~Counter() { observer_.on_progress({what_, done_, total_, since_.seconds(), true}); }

void Counter::advance() {
  ++done_;
  observer_.on_progress({what_, done_, total_, since_.seconds(), false});
  check_cancelled(observer_);
}

std::function<void(uint64_t done, uint64_t total)> layer_counter(Observer& observer) {
  return [&observer, counter = std::make_shared<std::unique_ptr<Counter>>()](uint64_t done, uint64_t total) {
    if (*counter == nullptr) *counter = std::make_unique<Counter>(observer, "layers", total);
    (*counter)->advance();
    if (done == total) counter->reset();
  };
}

}  // namespace assay::tasks
