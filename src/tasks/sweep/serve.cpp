#include <csignal>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "base/error.h"
#include "sweep/folder.h"
#include "sweep/journal.h"
#include "tasks/sweep.h"
#include "tasks/sweep/lines.h"
#include "tasks/sweep/messages.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

void check_group(const UnitGroup& group, const results::SweepPlan& plan) {
  bool fits = group.model < plan.models.size() && group.shard < plan.shards.size() && !group.columns.empty();
  for (const size_t column : group.columns) fits = fits && column < plan.columns.size();
  if (!fits) fail(ErrorCode::parse, "the plan has no such units");
}

}  // namespace

int serve_sweep(const SweepRequest& request, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a run that hangs must not outlive who asked for it
  const TaskThreads threads(request.session.threads);
  const results::SweepPlan plan = sweep::load_plan(request.folder);
  LineChannel channel{remote::Descriptor(socket), remote::Descriptor()};
  UnitRunner runner(request, plan);
  const UnitListener listener = {.on_column = [&](size_t column) { channel.send(fmt::format("at {}", column)); },
                                 .on_unit =
                                     [&](const results::SweepUnit& unit) {
                                       std::string line = sweep::journal_line(unit);
                                       line.pop_back();
                                       channel.send("unit " + line);
                                     }};
  for (std::vector<std::string> lines; channel.receive(lines); lines.clear()) {
    for (const std::string& line : lines) {
      const UnitGroup group = parse_run_line(line);
      check_group(group, plan);
      channel.send("begin");
      runner.run(group, listener);
      if (!channel.send("done")) return kExitEqual;
    }
  }
  return kExitEqual;
}

}  // namespace assay::tasks
