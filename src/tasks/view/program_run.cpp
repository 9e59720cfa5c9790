#include "tasks/program_run.h"

#include <array>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "remote/process.h"

namespace assay::tasks {
namespace {

constexpr int kPollMilliseconds = 100;
constexpr double kGraceSeconds = 0;

// Gives whole lines, those that overwrite each other too, and keeps what is left of the last one.
void take_lines(std::string& text, const std::function<void(std::string_view)>& on_line) {
  for (size_t end = 0; (end = text.find_first_of("\n\r")) != std::string::npos; text.erase(0, end + 1)) {
    if (end > 0) on_line(std::string_view(text).substr(0, end));
  }
}

}  // namespace

int run_program(const std::vector<std::string>& words, const std::function<void(std::string_view line)>& on_line,
                const std::stop_token& stop) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ErrorCode::io, "cannot make a pipe");
  const remote::Descriptor reading(ends[0]);
  remote::Descriptor writing(ends[1]);
  remote::Launch launch;
  launch.program = "/proc/self/exe";
  launch.arguments = words;
  launch.streams = {-1, writing.number(), writing.number()};
  launch.has_group = true;
  remote::Process process(launch, {});
  writing.reset();
  std::string text;
  std::array<char, 4096> buffer;
  while (!stop.stop_requested()) {
    pollfd entry{.fd = reading.number(), .events = POLLIN, .revents = 0};
    if (poll(&entry, 1, kPollMilliseconds) <= 0) continue;
    const ssize_t size = read(reading.number(), buffer.data(), buffer.size());
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(size));
    take_lines(text, on_line);
  }
  if (!text.empty()) on_line(text);
  process.end(stop.stop_requested() ? kGraceSeconds : 30);
  return process.status();
}

}  // namespace assay::tasks
