#include "base/signal_tables.h"

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

namespace assay {
namespace {

// A slot belongs to whoever moved it from kFree to kClaimed; handlers look at kReady ones only.
enum State : int { kFree, kClaimed, kReady };

struct Temporary {
  std::atomic<int> state{kFree};
  char path[PATH_MAX] = {};
};

struct Mapping {
  std::atomic<int> state{kFree};
  uintptr_t begin = 0;
  uintptr_t end = 0;
  char line[512] = {};  // the complete message
};

std::array<Temporary, 32> temporaries;
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

void unlink_temporaries() {
  for (const Temporary& temporary : temporaries) {
    if (temporary.state.load() == kReady) unlink(temporary.path);
  }
}

void on_termination(int signal_number) {
  unlink_temporaries();
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
  const Mapping* mapping = is_fault ? find_mapping(reinterpret_cast<uintptr_t>(info->si_addr)) : nullptr;
  if (mapping == nullptr) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);  // delivered when this handler returns
    return;
  }
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, mapping->line, strlen(mapping->line));
  unlink_temporaries();
  _exit(kExitUsage);
}

void handle(int signal_number, void (*plain)(int), void (*with_info)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  if (with_info != nullptr) {
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = with_info;
  } else {
    action.sa_handler = plain;
  }
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

int remember_temporary(const char* path) {
  if (strlen(path) >= PATH_MAX) return -1;
  const int slot = claim(temporaries);
  if (slot < 0) return -1;
  strcpy(temporaries[slot].path, path);
  temporaries[slot].state.store(kReady);
  return slot;
}

void forget_temporary(int slot) {
  if (slot >= 0) temporaries[slot].state.store(kFree);
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

void install_signal_handlers() {
  handle(SIGINT, on_termination, nullptr);
  handle(SIGTERM, on_termination, nullptr);
  handle(SIGPIPE, SIG_IGN, nullptr);
  handle(SIGBUS, nullptr, on_bus_error);
}

}  // namespace assay
