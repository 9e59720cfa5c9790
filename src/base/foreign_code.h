#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace assay {

// While it lives, code of a foreign library runs in this thread and those that the library starts: in a program that
// called install_crash_handlers() a crash ends with one line that names the library, and with status 3. What was
// printed before is flushed first, so that it is not lost.
class [[nodiscard]] ForeignCode {
 public:
  explicit ForeignCode(std::string_view name);
  ~ForeignCode();
  ForeignCode(const ForeignCode&) = delete;
  ForeignCode& operator=(const ForeignCode&) = delete;

 private:
  std::string name_;
  const char* outer_;
  std::atomic<const char*>* slot_ = nullptr;
};

// A crash of foreign code is told; any crash removes unfinished output files. A file that foreign code has mapped and
// that shrank ends with status 2. `advice`, a literal, ends the line about a crash.
void install_crash_handlers(const char* advice = "");

}  // namespace assay
