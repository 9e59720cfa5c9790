#include "base/error.h"

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
      return kExitUndecided;
  }
  return kExitOurBug;
}

Error& Error::add_frame(std::string frame) {
  frames_.push_back(std::move(frame));
  return *this;
}

std::string Error::line() const {
  std::string text;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) text += *frame + ": ";
  return printable(text + message_);
}

void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(fmt::format("{}:{}: check failed: {}", file, line, condition));
}

}  // namespace assay
