#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "debug/command.h"

namespace assay::debug {

// When a check counts as failed. A signal that ended it has its number with a minus as exit code.
class CheckRules {
 public:
  // Error (usage) for a pattern that is no regular expression.
  CheckRules(std::vector<int64_t> fail_codes, std::vector<int64_t> ignored_codes,
             const std::vector<std::string>& patterns);

  // Codes that are ignored pass. Patterns are searched in all that was written, line by line; with codes and patterns
  // both must speak for failure, with neither any code but 0 does.
  bool is_failure(const CommandResult& result) const;

 private:
  bool is_found(const std::string& text) const;

  std::vector<int64_t> fail_codes_;
  std::vector<int64_t> ignored_codes_;
  std::vector<std::regex> patterns_;
};

}  // namespace assay::debug
