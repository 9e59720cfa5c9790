#include "sweep/folder.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/text.h"
#include "formats/json/field_reader.h"
#include "formats/json/field_writer.h"
#include "results/fields/sweep.h"
#include "sweep/versions.h"

namespace assay::sweep {
namespace {

namespace fs = std::filesystem;

fs::path plan_path(const fs::path& folder) { return folder / "plan.json"; }
fs::path lock_path(const fs::path& folder) { return folder / "lock"; }

int open_lock(const fs::path& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) fail(ErrorCode::io, "`{}` cannot be opened: {}", printable(path.string()), errno_text(errno));
  return file;
}

}  // namespace

fs::path journal_folder(const fs::path& folder) { return folder / "journal"; }

results::SweepPlan load_plan(const fs::path& folder) {
  const fs::path path = plan_path(folder);
  if (!is_file(path))
    fail(ErrorCode::io, "`{}` is no folder of a sweep: it has no plan.json", printable(folder.string()));
  results::SweepPlan plan = with_frame([&] { return fmt::format("reading `{}`", printable(path.string())); },
                                       [&] { return formats::read_report<results::SweepPlan>(read_text(path)); });
  check_version(plan.schema, kPlanSchema, path.string());
  const bool is_whole = !plan.models.empty() && !plan.columns.empty() && !plan.shards.empty() &&
                        std::ranges::all_of(plan.shards, [](const auto& shard) { return shard.begin < shard.end; });
  if (!is_whole) fail(ErrorCode::parse, "`{}` names no models, no sides or no samples", printable(path.string()));
  return plan;
}

void save_plan(const fs::path& folder, const results::SweepPlan& plan) {
  OutputFile file(plan_path(folder));
  file.write(formats::json_text(plan));
  file.commit();
}

FolderLock::FolderLock(const fs::path& folder, const Share& share) {
  const bool is_part = share.count > 1;
  const auto take = [&](const fs::path& path, int how) {
    files_.push_back(open_lock(path));
    if (flock(files_.back(), how | LOCK_NB) == 0) return;
    const bool is_held = errno == EWOULDBLOCK;
    const std::string reason = errno_text(errno);
    for (const int file : files_) close(file);
    if (is_held) fail(ErrorCode::usage, "another sweep is at work in `{}`", printable(folder.string()));
    fail(ErrorCode::io, "`{}` cannot be locked: {}", printable(path.string()), reason);
  };
  take(lock_path(folder), is_part ? LOCK_SH : LOCK_EX);
  if (is_part) take(folder / fmt::format("lock.{}of{}", share.index, share.count), LOCK_EX);
}

FolderLock::~FolderLock() {
  for (const int file : files_) close(file);
}

bool FolderLock::is_held(const fs::path& folder) {
  const int file = open(lock_path(folder).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_free = flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return !is_free;
}

}  // namespace assay::sweep
