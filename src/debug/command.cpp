#include "debug/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "remote/isolated_backend.h"
#include "remote/process.h"

namespace assay::debug {
namespace {

namespace fs = std::filesystem;
using remote::Descriptor;

constexpr size_t kMostKept = size_t{32} << 20;  // bytes of each stream
constexpr int kDrainMilliseconds = 50;          // for what was written before the end

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// One stream of a command: the end of a pipe, and what came out of it.
struct Stream {
  Descriptor pipe;
  std::string* text = nullptr;
  bool is_cut = false;

  void read_some() {
    std::array<char, 65536> buffer;
    const ssize_t size = read(pipe.number(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) return;
    if (size <= 0) return pipe.reset();
    const size_t room = kMostKept - std::min(kMostKept, text->size());
    const size_t kept = std::min(room, static_cast<size_t>(size));
    text->append(buffer.data(), kept);
    is_cut = is_cut || kept < static_cast<size_t>(size);
  }
};

std::pair<Descriptor, Descriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(ErrorCode::backend, "cannot make a pipe: {}", errno_text(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Reads both streams until the command has ended: false if its time was up first.
class Reader {
 public:
  Reader(std::array<Stream, 2>& streams, const Descriptor& ending, double timeout_seconds)
      : streams_(streams), ending_(ending), timeout_seconds_(timeout_seconds) {}

  bool run() {
    while (!has_ended_ && (streams_[0].pipe.is_open() || streams_[1].pipe.is_open() || ending_.is_open())) {
      const int wait = milliseconds_left();
      if (wait == 0) return false;
      step(wait);
    }
    while ((streams_[0].pipe.is_open() || streams_[1].pipe.is_open()) && step(kDrainMilliseconds)) {
    }
    return true;
  }

 private:
  int milliseconds_left() const {
    if (timeout_seconds_ <= 0) return -1;
    const double left = (timeout_seconds_ - since_.seconds()) * 1e3;
    return left <= 0 ? 0 : static_cast<int>(std::min(left + 1, 1e9));
  }

  // Reads what is there. Returns true if there was anything.
  bool step(int wait) {
    std::array<pollfd, 3> polled = {pollfd{streams_[0].pipe.number(), POLLIN, 0},
                                    pollfd{streams_[1].pipe.number(), POLLIN, 0},
                                    pollfd{has_ended_ ? -1 : ending_.number(), POLLIN, 0}};
    if (poll(polled.data(), polled.size(), wait) <= 0) return false;
    bool has_read = false;
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (polled[i].revents == 0) continue;
      streams_[i].read_some();
      has_read = true;
    }
    has_ended_ = has_ended_ || polled[2].revents != 0;
    return has_read;
  }

  std::array<Stream, 2>& streams_;
  const Descriptor& ending_;
  double timeout_seconds_;
  Stopwatch since_;
  bool has_ended_ = false;
};

}  // namespace

std::string find_program(const std::string& word) {
  if (word.find('/') != std::string::npos) {
    if (is_program(word)) return word;
    fail(ErrorCode::usage, "`{}` is no program that can be run", printable(word));
  }
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / word;
    if (is_program(candidate)) return candidate.string();
  }
  if (word == "assay") return remote::worker_program().string();
  fail(ErrorCode::usage, "there is no program `{}` on PATH", printable(word));
}

CommandResult run_command(const std::vector<std::string>& words, double timeout_seconds) {
  const Stopwatch since;
  CommandResult result;
  std::array<Stream, 2> streams;
  auto [out, out_end] = make_pipe();
  auto [err, err_end] = make_pipe();
  streams[0] = {std::move(out), &result.out};
  streams[1] = {std::move(err), &result.err};
  Descriptor none(open("/dev/null", O_RDONLY | O_CLOEXEC));
  remote::Launch launch{.program = find_program(words.at(0)),
                        .arguments = {words.begin() + 1, words.end()},
                        .streams = {none.number(), out_end.number(), err_end.number()},
                        .has_group = true};
  remote::Process process(launch, {});
  out_end.reset();
  err_end.reset();
  const Descriptor ending = process.descriptor();
  result.is_late = !Reader(streams, ending, timeout_seconds).run();
  process.end(result.is_late ? 0 : 1);
  result.status = process.status();
  result.is_cut = streams[0].is_cut || streams[1].is_cut;
  result.seconds = since.seconds();
  return result;
}

}  // namespace assay::debug
