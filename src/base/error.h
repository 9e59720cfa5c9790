#pragma once

#include <exception>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

namespace assay {

// What kind of thing went wrong; decides the program's exit status.
enum class ErrorCode { usage, io, parse, unsupported, shape, backend, limit, cancelled };

inline constexpr int kExitEqual = 0;
inline constexpr int kExitDifferent = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUndecided = 3;
inline constexpr int kExitOurBug = 70;

// Exit status of the program for an error of this code (the one table).
int exit_status(ErrorCode code);

// Stops one unit of work. The message says what was seen and what was expected; each level that knows more adds a
// frame, and line() prints all of it outside-in on one line.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  Error& add_frame(std::string frame);
  // The setting of a request that would change this, by the name of its field, as `max_memory`; empty: none is known.
  // The program adds how its users write it.
  const std::string& setting() const { return setting_; }
  Error& about(std::string setting) {
    setting_ = std::move(setting);
    return *this;
  }
  // frames and message, outside-in, without line breaks or control characters
  std::string line() const;
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  std::string setting_;
  std::vector<std::string> frames_;  // innermost first
};

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// Runs fn; an Error that passes through gains the frame that make_frame() returns.
template <typename Frame, typename Fn>
auto with_frame(Frame&& make_frame, Fn&& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (Error& error) {
    error.add_frame(make_frame());
    throw;
  }
}

// Value or Error, for the few places that go on after a failure; each use says what it tries.
template <typename Fn>
auto attempt(Fn&& fn) -> std::variant<decltype(fn()), Error> {
  try {
    return fn();
  } catch (Error& error) {
    return error;
  }
}

}  // namespace assay
