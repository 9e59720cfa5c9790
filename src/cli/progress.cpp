#include "cli/progress.h"

#include <fmt/format.h>

namespace assay::cli {

void Progress::advance() {
  constexpr double kQuietSeconds = 2;
  constexpr double kStepSeconds = 0.2;
  ++done_;
  const double now = since_.seconds();
  if (now < kQuietSeconds || now - shown_ < kStepSeconds) return;
  shown_ = now;
  if (total_ < done_) return log_.status(fmt::format("{}: {} done, {:.0f} s", what_, done_, now));
  const double left = now / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  log_.status(fmt::format("{}: {} of {}, {:.0f} s left", what_, done_, total_, left));
}

}  // namespace assay::cli
