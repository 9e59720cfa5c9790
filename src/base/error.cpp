#include "base/error.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace assay {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::io:
    case ErrorCode::parse:
    case ErrorCode::shape:
      return kExitUsage;
    case ErrorCode::unsupported:
    case ErrorCode::backend:
    case ErrorCode::limit:
    case ErrorCode::cancelled:
      return kExitUndecided;
  }
  return kExitOurBug;
}

namespace {

// The text with what stands between backticks cut where it is longer than anyone reads.
std::string with_short_words(std::string_view text) {
  constexpr size_t kLongest = 240;
  constexpr size_t kKept = 100;  // at either end
  std::string result;
  for (bool is_word = false;; is_word = !is_word) {
    const size_t end = std::min(text.find('`'), text.size());
    const std::string_view piece = text.substr(0, end);
    if (is_word && piece.size() > kLongest)
      result += fmt::format("{}...{}", piece.substr(0, kKept), piece.substr(piece.size() - kKept));
    else
      result += piece;
    if (end == text.size()) return result;
    result += '`';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Error& Error::add_frame(std::string frame) {
  frames_.push_back(std::move(frame));
  return *this;
}

std::string Error::line() const {
  constexpr size_t kKept = 3;  // at either end: functions may call each other a thousand deep
  std::string text;
  for (size_t i = frames_.size(); i > 0; --i) {
    const bool is_left_out = i <= frames_.size() - std::min(kKept, frames_.size()) && i > kKept;
    if (!is_left_out)
      text += frames_[i - 1] + ": ";
    else if (i == kKept + 1)
      text += fmt::format("... ({} more): ", frames_.size() - 2 * kKept);
  }
  return printable(with_short_words(text + message_));
}

void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(fmt::format("{}:{}: check failed: {}", file, line, condition));
}

}  // namespace assay
