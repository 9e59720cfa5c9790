#include "cli/streams.h"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"

namespace assay::cli {
namespace {

// True if the stream is a pipe or socket that nobody reads any more.
bool has_no_reader(std::FILE* stream) {
  pollfd state = {.fd = fileno(stream), .events = POLLOUT, .revents = 0};
  return state.fd >= 0 && poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void open_missing_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // opened in the wrong direction, so that using it fails as the closed stream would; the lowest free number is this
    // one
    if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

int finish_log(int status, Log& log) {
  try {
    log.close_file();
    return status;
  } catch (const Error& error) {
    log.critical("error: " + error.line());
    return exit_status(error.code());
  }
}

int finish_stream(std::FILE* stream, int status, Log& log) {
  const bool failed_before = std::ferror(stream) != 0;
  errno = 0;
  const bool failed_now = std::fflush(stream) != 0;
  if (!failed_before && !failed_now) return status;
  if (errno == EPIPE || has_no_reader(stream)) return status;
  log.critical(
      fmt::format("error: writing standard output: {}", errno != 0 ? errno_text(errno) : "not everything was written"));
  return exit_status(ErrorCode::io);
}

}  // namespace assay::cli
