#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// Kinds of things that go wrong.
enum class ErrorCode {
  usage,        // the caller asks for what makes no sense
  io,           // a file cannot be read or written
  parse,        // a file is damaged, or holds something else
  unsupported,  // cannot be done here
  shape,        // tensors do not fit
  backend,      // a backend failed
  limit,        // more memory, steps or time than was allowed
  cancelled,    // an observer ended the task
};

// Stops one unit of work. The message says what was seen and what was expected; each level that knows more adds a
// frame, and line() gives all of it outside-in on one line.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  Error& add_frame(std::string frame);
  // The setting of a request that is at fault, by the name of its field, as `plugin_dir`; empty: none is known. Whoever
  // prints the error says how its users write it.
  const std::string& setting() const { return setting_; }
  Error& about(std::string setting) {
    setting_ = std::move(setting);
    return *this;
  }
  // The setting that lifts what is said, as `max_steps`; empty: none does.
  const std::string& remedy() const { return remedy_; }
  Error& remedied_by(std::string setting) {
    remedy_ = std::move(setting);
    return *this;
  }
  // frames and message, outside-in, without line breaks or control characters
  std::string line() const;
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  std::string setting_;
  std::string remedy_;
  std::vector<std::string> frames_;  // innermost first
};

}  // namespace assay
