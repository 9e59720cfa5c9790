#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/temporary_folder.h"
#include "tasks/view.h"

namespace assay::cli {

// Commands that a page starts, one at a time, each in a process of its own; their reports become overlays. What they
// may say is a few words: no file is read or written that the command line of the view does not name.
class PageTasks {
 public:
  explicit PageTasks(tasks::View& view) : view_(view) {}
  ~PageTasks();
  PageTasks(const PageTasks&) = delete;
  PageTasks& operator=(const PageTasks&) = delete;

  // Words without the program's name. Error (usage) for others than those that are allowed, or while one runs.
  uint64_t start(const std::vector<std::string>& words);
  void cancel(uint64_t id);

  // JSON lines about tasks and files, numbered from 0.
  void tell(std::string event);
  size_t event_count();
  // Gives those from a number on; waits for one at most so long.
  std::vector<std::string> events_from(size_t first, double seconds);

 private:
  void add_event(std::string event);  // under the lock
  void run(const std::stop_token& stop, uint64_t id, std::vector<std::string> words);

  tasks::View& view_;
  TemporaryFolder folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> events_;
  size_t dropped_ = 0;
  uint64_t last_id_ = 0;
  bool is_running_ = false;
  std::jthread worker_;
};

// Error (usage) unless a page may start this command on the model.
void check_page_command(const std::vector<std::string>& words, std::string_view model);

}  // namespace assay::cli
