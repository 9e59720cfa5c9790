#include "surgery/set.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tasks/edit/edit_job.h"

namespace assay::tasks {
namespace {

std::string describe(const surgery::SettingDone& item) {
  if (item.after.empty()) return fmt::format("removed, was {}", item.before);
  return item.before.empty() ? item.after : fmt::format("{}, was {}", item.after, item.before);
}

}  // namespace

EditOutcome set(const EditRequest& request, const surgery::Settings& settings, Observer& observer) {
  EditJob job("surgeon set", request, observer);
  for (const surgery::SettingDone& item : surgery::set(job.load(), settings)) {
    const std::string users = item.users > 1 ? fmt::format(" (read {} times)", item.users) : "";
    observer.info(fmt::format("Set `{}`: {}{}", printable(item.name), describe(item), users));
    job.changed("set", item.name, describe(item));
  }
  return job.save();
}

}  // namespace assay::tasks
