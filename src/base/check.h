#pragma once

#include <stdexcept>
#include <string>

namespace assay {

// An invariant of ours did not hold: a bug of Assay, never the fault of an input. The program exits with 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace assay

#define ASSAY_CHECK(condition) \
  (static_cast<bool>(condition) ? void() : ::assay::check_failed(#condition, __FILE__, __LINE__))
