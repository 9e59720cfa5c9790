#include "surgery/rename.h"

#include <fmt/format.h>

#include "base/text.h"
#include "tasks/edit/edit_job.h"

namespace assay::tasks {

EditOutcome rename(const EditRequest& request, const surgery::Renamings& renamings, Observer& observer) {
  EditJob job("surgeon rename", request, observer);
  for (const surgery::Renamed& item : surgery::rename(job.load(), renamings)) {
    observer.info(fmt::format("Renamed {} `{}` to `{}`", item.what, printable(item.from), printable(item.to)));
    job.changed("rename", item.from, item.to);
  }
  return job.save();
}

}  // namespace assay::tasks
