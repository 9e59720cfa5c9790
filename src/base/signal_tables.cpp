#include "base/signal_tables.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/foreign_code.h"

namespace assay {
namespace {

// A slot belongs to whoever moved it from kFree to kClaimed; handlers look at kReady ones only.
enum State : int { kFree, kClaimed, kReady };

struct Temporary {
  std::atomic<int> state{kFree};
  char path[PATH_MAX] = {};
};

struct Group {
  std::atomic<int> state{kFree};
  pid_t id = 0;
};

struct Mapping {
  std::atomic<int> state{kFree};
  uintptr_t begin = 0;
  uintptr_t end = 0;
  char line[512] = {};  // the complete message
};

std::array<Temporary, 32> temporaries;
std::array<Group, 64> groups;
std::array<Mapping, 1024> mappings;
static_assert(std::atomic<int>::is_always_lock_free, "handlers read the slots' states");

template <typename Table>
int claim(Table& table) {
  for (size_t slot = 0; slot < table.size(); ++slot) {
    int expected = kFree;
    if (table[slot].state.compare_exchange_strong(expected, kClaimed)) return static_cast<int>(slot);
  }
  return -1;
}

constexpr int kDeepestFolder = 8;

void empty_folder(int folder, int depth);

void remove_entry(int folder, const char* name, int depth) {
  if (unlinkat(folder, name, 0) == 0 || errno != EISDIR || depth == kDeepestFolder) return;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return;
  empty_folder(inner, depth + 1);
  close(inner);
  unlinkat(folder, name, AT_REMOVEDIR);
}

// By system calls alone: the library's functions for folders take memory, which a handler must not.
void empty_folder(int folder, int depth) {
  struct Entry {  // the kernel's linux_dirent64
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;  // behind it the name
  };
  alignas(Entry) char buffer[2048];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    if (bytes <= 0) return;
    for (long at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const Entry*>(buffer + at);
      const char* const name = buffer + at + offsetof(Entry, type) + 1;
      const bool is_self = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
      if (!is_self) remove_entry(folder, name, depth);
      at += entry->size;
    }
  }
}

void remove_temporaries() {
  for (const Temporary& temporary : temporaries) {
    if (temporary.state.load() == kReady) remove_entry(AT_FDCWD, temporary.path, 0);
  }
}

std::array<std::atomic<const char*>, 64> foreign_names{};  // of code that runs now, in any thread
thread_local const char* own_foreign_name = nullptr;
std::atomic<const char*> crash_advice{""};
alignas(16) std::array<char, 64 << 10> crash_stack;  // for a crash that used up the main thread's own

// The foreign code in which this thread is, or else one in which another is: libraries have threads of their own.
const char* foreign_name() {
  const char* found = own_foreign_name;
  for (const std::atomic<const char*>& name : foreign_names) {
    if (found == nullptr) found = name.load();
  }
  return found;
}

void say(const char* text) { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, strlen(text)); }

// The default action, when the handler that calls this returns.
void die_of(int signal_number) {
  remove_temporaries();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

const char* crash_text(int signal_number) {
  switch (signal_number) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGFPE:
      return "arithmetic exception";
    case SIGILL:
      return "illegal instruction";
    default:
      return "abort";
  }
}

void on_crash(int signal_number, siginfo_t*, void*) {
  const char* const library = foreign_name();
  if (library == nullptr) return die_of(signal_number);
  say("[!] error: ");
  say(library);
  say(" crashed: ");
  say(crash_text(signal_number));
  say(crash_advice.load());
  say("\n");
  remove_temporaries();
  _exit(kExitUndecided);
}

void end_groups() {
  for (const Group& group : groups) {
    if (group.state.load() == kReady) kill(-group.id, SIGKILL);
  }
}

// A user who sends one of the first four knows why the program ends; limits and timers end it unasked.
const char* termination_text(int signal_number) {
  switch (signal_number) {
    case SIGXCPU:
      return "[!] error: the processor time that is allowed (ulimit -t) is used up\n";
    case SIGUSR1:
      return "[!] error: ended by SIGUSR1\n";
    case SIGUSR2:
      return "[!] error: ended by SIGUSR2\n";
    case SIGALRM:
      return "[!] error: ended by SIGALRM\n";
    case SIGVTALRM:
      return "[!] error: ended by SIGVTALRM\n";
    case SIGPROF:
      return "[!] error: ended by SIGPROF\n";
    default:
      return "";
  }
}

void on_termination(int signal_number) {
  say(termination_text(signal_number));
  end_groups();
  remove_temporaries();
  _exit(128 + signal_number);
}

const Mapping* find_mapping(uintptr_t address) {
  for (const Mapping& mapping : mappings) {
    if (mapping.state.load() == kReady && mapping.begin <= address && address < mapping.end) return &mapping;
  }
  return nullptr;
}

// A page of a mapped file that is no longer there ends the program with one line; any other SIGBUS is a crash.
void on_bus_error(int signal_number, siginfo_t* info, void*) {
  const bool is_fault = info->si_code > 0;
  const Mapping* const mapping = is_fault ? find_mapping(reinterpret_cast<uintptr_t>(info->si_addr)) : nullptr;
  const char* const library = foreign_name();
  if (mapping == nullptr && (!is_fault || library == nullptr)) return die_of(signal_number);
  if (mapping != nullptr) {
    say(mapping->line);
  } else {
    say("[!] error: a file that ");
    say(library);
    say(" has mapped shrank while it was read\n");
  }
  remove_temporaries();
  _exit(kExitUsage);
}

void handle(int signal_number, void (*plain)(int)) {
  struct sigaction action = {};
  action.sa_handler = plain;
  sigaction(signal_number, &action, nullptr);
}

void handle_fault(int signal_number, void (*with_info)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = with_info;
  sigaction(signal_number, &action, nullptr);
}

// Unless the caller has it ignored, as nohup does.
void handle_termination(int signal_number) {
  struct sigaction action = {};
  const bool is_ignored = sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  if (!is_ignored) handle(signal_number, on_termination);
}

}  // namespace

int remember_temporary(const char* path) {
  const size_t size = strlen(path) + 1;
  if (size > PATH_MAX) return -1;
  const int slot = claim(temporaries);
  if (slot < 0) return -1;
  memcpy(temporaries[slot].path, path, size);
  temporaries[slot].state.store(kReady);
  return slot;
}

void forget_temporary(int slot) {
  if (slot >= 0) temporaries[slot].state.store(kFree);
}

std::optional<int> make_remembered_folder(const char* path, mode_t mode) {
  const int slot = remember_temporary(path);
  if (mkdir(path, mode) == 0) return slot;
  const int error = errno;
  forget_temporary(slot);
  errno = error;
  return std::nullopt;
}

int remember_group(pid_t group) {
  const int slot = claim(groups);
  if (slot < 0) return -1;
  groups[slot].id = group;
  groups[slot].state.store(kReady);
  return slot;
}

void forget_group(int slot) {
  if (slot >= 0) groups[slot].state.store(kFree);
}

void remember_mapping(const void* begin, size_t size, const char* path) {
  const int slot = claim(mappings);
  if (slot < 0) return;
  Mapping& mapping = mappings[slot];
  mapping.begin = reinterpret_cast<uintptr_t>(begin);
  mapping.end = mapping.begin + size;
  snprintf(mapping.line, sizeof mapping.line, "[!] error: `%.440s` shrank while it was read\n", path);
  mapping.state.store(kReady);
}

void forget_mapping(const void* begin) {
  for (Mapping& mapping : mappings) {
    const bool found = mapping.state.load() == kReady && mapping.begin == reinterpret_cast<uintptr_t>(begin);
    if (found) mapping.state.store(kFree);
  }
}

// A file that grows beyond the user's limit (SIGXFSZ) is a failed write.
void install_signal_handlers() {
  for (const int signal_number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF}) {
    handle_termination(signal_number);
  }
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) handle(signal_number, SIG_IGN);
  handle_fault(SIGBUS, on_bus_error);
}

void install_crash_handlers(const char* advice) {
  crash_advice.store(advice);
  stack_t stack = {};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  sigaltstack(&stack, nullptr);
  for (const int signal_number : {SIGSEGV, SIGFPE, SIGILL, SIGABRT}) handle_fault(signal_number, on_crash);
}

ForeignCode::ForeignCode(std::string_view name) : name_(name), outer_(own_foreign_name) {
  fflush(nullptr);
  own_foreign_name = name_.c_str();
  for (std::atomic<const char*>& slot : foreign_names) {
    const char* none = nullptr;
    if (!slot.compare_exchange_strong(none, name_.c_str())) continue;
    slot_ = &slot;
    return;
  }
}

ForeignCode::~ForeignCode() {
  own_foreign_name = outer_;
  if (slot_ != nullptr) slot_->store(nullptr);
}

}  // namespace assay
