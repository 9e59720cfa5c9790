#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "assay/error.h"

namespace assay {

inline constexpr int kExitEqual = 0;
inline constexpr int kExitDifferent = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUndecided = 3;
inline constexpr int kExitOurBug = 70;

// Exit status of the program for an error of this code (the one table).
int exit_status(ErrorCode code);

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
