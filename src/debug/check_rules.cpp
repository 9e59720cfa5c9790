#include "debug/check_rules.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace assay::debug {
namespace {

// The matcher of the library recurses with the length of what it reads: longer lines are searched in pieces that
// overlap.
constexpr size_t kPiece = 8192;

bool has(const std::vector<int64_t>& codes, int64_t code) { return std::ranges::find(codes, code) != codes.end(); }

bool is_in_line(std::string_view line, const std::regex& pattern) {
  for (size_t begin = 0;; begin += kPiece / 2) {
    const std::string_view piece = line.substr(begin, kPiece);
    if (std::regex_search(piece.begin(), piece.end(), pattern)) return true;
    if (begin + kPiece >= line.size()) return false;
  }
}

}  // namespace

CheckRules::CheckRules(std::vector<int64_t> fail_codes, std::vector<int64_t> ignored_codes,
                       const std::vector<std::string>& patterns)
    : fail_codes_(std::move(fail_codes)), ignored_codes_(std::move(ignored_codes)) {
  for (const std::string& text : patterns) {
    try {
      patterns_.emplace_back(text);
    } catch (const std::regex_error&) {
      throw Error(ErrorCode::usage, fmt::format("`{}` is no regular expression", printable(text))).about("fail_regex");
    }
  }
}

bool CheckRules::is_found(const std::string& text) const {
  for (const std::string_view line : split(text, '\n')) {
    if (std::ranges::any_of(patterns_, [&](const std::regex& pattern) { return is_in_line(line, pattern); }))
      return true;
  }
  return false;
}

bool CheckRules::is_failure(const CommandResult& result) const {
  if (has(ignored_codes_, result.status)) return false;
  const bool is_listed = fail_codes_.empty() ? result.status != 0 : has(fail_codes_, result.status);
  if (patterns_.empty()) return is_listed;
  const bool is_matched = is_found(result.out) || is_found(result.err);
  return is_matched && (fail_codes_.empty() || is_listed);
}

}  // namespace assay::debug
