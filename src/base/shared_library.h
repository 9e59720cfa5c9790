#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay {

// A library that is opened at run time. It is never closed: its threads and exit handlers may outlive who opened it.
class SharedLibrary {
 public:
  // `path`: of a file, or a bare name for the system's loader. Error (backend) with the loader's reason.
  static SharedLibrary open(const std::filesystem::path& path);

  // One that somebody in this process has opened already; nullopt: nobody has.
  static std::optional<SharedLibrary> opened(const char* name);

  // The address of a symbol; null if there is none.
  void* find(const char* symbol) const;
  // The file that was opened, as the loader names it.
  const std::filesystem::path& path() const { return path_; }

 private:
  SharedLibrary(void* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::filesystem::path path_;
};

// While it lives, foreign code may change how this thread rounds and flushes floats; its end restores that.
class [[nodiscard]] FloatModeGuard {
 public:
  FloatModeGuard();
  ~FloatModeGuard();
  FloatModeGuard(const FloatModeGuard&) = delete;
  FloatModeGuard& operator=(const FloatModeGuard&) = delete;

 private:
  uint64_t mode_;
};

// Keeps the signal mask and the handlers of signals, which libraries set when they are opened.
class [[nodiscard]] SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGXCPU, SIGUSR1,
                                          SIGUSR2, SIGALRM, SIGPROF,   SIGPIPE, SIGCHLD, SIGSEGV,
                                          SIGBUS,  SIGFPE,  SIGVTALRM, SIGILL,  SIGABRT};
  std::array<struct sigaction, kSignals.size()> actions_;
  sigset_t mask_;
};

}  // namespace assay
