#include "remote/process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/signal_tables.h"
#include "base/text.h"

namespace assay::remote {
namespace {

constexpr int kFirstDescriptor = 3;
constexpr int kAboveTargets = 16;  // copies that are moved to 3, 4, … lie there

// All that the child needs, made before it exists: it shares our memory and may only make system calls.
struct Prepared {
  std::string program;
  std::vector<std::string> words;
  std::vector<char*> argv;
  std::vector<Descriptor> descriptors;
  std::array<int, 3> streams = {};
  bool has_group = false;
  uint64_t max_data_bytes = 0;
  pid_t parent = 0;
  sigset_t mask = {};
  volatile int error = 0;  // set by the child if it does not get as far as the program
};

Prepared prepare(const Launch& launch, std::span<const int> descriptors) {
  Prepared prepared;
  prepared.program = launch.program.string();
  prepared.words = launch.arguments;
  prepared.words.insert(prepared.words.begin(), prepared.program);
  for (std::string& word : prepared.words) prepared.argv.push_back(word.data());
  prepared.argv.push_back(nullptr);
  for (const int descriptor : descriptors) {
    prepared.descriptors.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, kAboveTargets));
    if (prepared.descriptors.back().is_open()) continue;
    const int error = errno == EINVAL ? EMFILE : errno;  // no number from kAboveTargets on is allowed
    fail(ErrorCode::backend, "cannot start `{}`: {}", printable(prepared.program), errno_text(error));
  }
  prepared.streams = launch.streams;
  prepared.has_group = launch.has_group;
  prepared.max_data_bytes = launch.max_data_bytes;
  prepared.parent = getpid();
  return prepared;
}

// Our handlers must not run in the child; what is ignored stays so, but for what we ignore ourselves.
void reset_signals() {
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    const bool is_ignored = sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!is_ignored || number == SIGPIPE || number == SIGXFSZ) sigaction(number, &plain, nullptr);
  }
}

void limit_data_segment(uint64_t bytes) {
  rlimit limit = {};
  if (bytes == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < bytes) return;
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_DATA, &limit);
}

[[noreturn, gnu::noinline]] void run_child(Prepared& prepared) {
  reset_signals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != prepared.parent) _exit(1);
  if (prepared.has_group) setpgid(0, 0);
  const auto [in, out, errors] = prepared.streams;
  bool worked = in < 0 || dup2(in, STDIN_FILENO) >= 0;
  worked = worked && dup2(out < 0 ? STDERR_FILENO : out, STDOUT_FILENO) >= 0;
  worked = worked && (errors < 0 || dup2(errors, STDERR_FILENO) >= 0);
  int target = kFirstDescriptor;
  for (const Descriptor& descriptor : prepared.descriptors) {
    worked = worked && dup2(descriptor.number(), target++) >= 0;
  }
  close_range(static_cast<unsigned>(target), ~0u, 0);
  limit_data_segment(prepared.max_data_bytes);
  sigprocmask(SIG_SETMASK, &prepared.mask, nullptr);
  if (worked) execve(prepared.program.c_str(), prepared.argv.data(), environ);
  prepared.error = errno;
  _exit(127);
}

std::string describe(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("ended with status {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const char* text = sigdescr_np(number);
  return fmt::format("was killed by signal {} ({})", number, text == nullptr ? "unknown" : to_lower(text));
}

}  // namespace

Process::Process(const Launch& launch, std::span<const int> descriptors) {
  Prepared prepared = prepare(launch, descriptors);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &prepared.mask);
  id_ = vfork();  // NOLINT: the child only calls run_child
  if (id_ == 0) run_child(prepared);
  const int error = id_ < 0 ? errno : prepared.error;
  pthread_sigmask(SIG_SETMASK, &prepared.mask, nullptr);
  is_running_ = id_ > 0;
  has_group_ = is_running_ && launch.has_group;
  if (has_group_) group_slot_ = remember_group(id_);
  if (is_running_ && error == 0) return;
  end(0);
  fail(ErrorCode::backend, "cannot start `{}`: {}", printable(prepared.program), errno_text(error));
}

Descriptor Process::descriptor() const { return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id_, 0))); }

// Waits for the process. Returns true if it has ended.
bool Process::reap(int flags) {
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(id_, &status, flags);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return false;
  is_running_ = false;
  ending_ = ended > 0 ? describe(status) : "ended";
  status_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

void Process::kill_all() const { kill(has_group_ ? -id_ : id_, SIGKILL); }

const std::string& Process::end(double grace_seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(grace_seconds * 1000));
  while (is_running_ && !reap(WNOHANG) && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (is_running_) {
    kill_all();
    reap(0);
  }
  if (has_group_) forget_group(group_slot_);
  has_group_ = false;
  return ending_;
}

}  // namespace assay::remote
