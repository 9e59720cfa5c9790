#include "cli/view/browser.h"

#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "base/files.h"

namespace assay::cli {

bool Browser::open(const std::string& address) {
  // NOLINTBEGIN(concurrency-mt-unsafe): before any thread is started
  const bool has_display = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  const char* chosen = std::getenv("BROWSER");
  // NOLINTEND(concurrency-mt-unsafe)
  if (!has_display) return false;
  const std::string path = (folder_.path() / "open.html").string();
  OutputFile file(path);
  file.write(
      fmt::format("<!DOCTYPE html><meta charset=\"utf-8\"><title>assay view</title><meta http-equiv=\"refresh\" "
                  "content=\"0;url={0}\"><a href=\"{0}\">assay view</a>\n",
                  address));
  file.commit();
  std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open";
  std::string argument = path;
  char* words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  const int status = posix_spawnp(&pid, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return status == 0;
}

}  // namespace assay::cli
