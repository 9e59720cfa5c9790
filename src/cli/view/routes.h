#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "cli/view/page_tasks.h"
#include "http/reply.h"
#include "tasks/view.h"

namespace assay::cli {

// Replies to all that a view page may ask for.
class ViewRoutes {
 public:
  ViewRoutes(tasks::View& view, std::string command_line);
  http::Reply reply(const http::Request& request);

 private:
  using Parts = std::vector<std::string_view>;

  http::Reply api(const http::Request& request, const Parts& parts);
  http::Reply get(const http::Request& request, const Parts& parts);
  http::Reply post(const http::Request& request, const Parts& parts);
  http::Reply value(const http::Request& request, const Parts& parts);
  http::Reply exported(const http::Request& request);
  void stream_events(http::Stream& stream);
  // Counts the versions of the model's files that were seen.
  uint64_t revision();

  tasks::View& view_;
  std::string command_line_;
  std::mutex mutex_;
  uint64_t revision_ = 1;
  std::vector<std::filesystem::file_time_type> times_;  // of the files
  PageTasks tasks_;
};

}  // namespace assay::cli
