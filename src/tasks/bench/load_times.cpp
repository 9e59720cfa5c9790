#include "tasks/bench/load_times.h"

#include <array>

#include "base/stopwatch.h"
#include "tasks/bench/statistics.h"

namespace assay::tasks {

results::LoadTimes time_loading(std::string_view work, const exec::Backend& backend, const std::filesystem::path& plan,
                                const exec::SessionOptions& options, Observer& observer) {
  constexpr int kUncounted = 2;
  constexpr int kCounted = 20;
  constexpr std::array kPercentiles = {90.0, 95.0, 99.0};
  results::LoadTimes times{.work = std::string(work), .bytes = std::filesystem::file_size(plan), .others = {}};
  std::vector<double> seconds;
  for (int i = 0; i < kUncounted + 1 + kCounted; ++i) {
    check_cancelled(observer);
    Diagnostics told;
    const Stopwatch watch;
    const std::unique_ptr<exec::Session> session = backend.open_plan(plan, options, told);
    const double taken = watch.seconds();
    if (i == kUncounted) times.first_seconds = taken;
    if (i > kUncounted) seconds.push_back(taken);
  }
  times.others = distribution(seconds, kPercentiles);
  return times;
}

}  // namespace assay::tasks
