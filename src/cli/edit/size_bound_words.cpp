#include "cli/edit/size_bound_words.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {

std::vector<tasks::NamedSizeBound> parse_size_bounds(std::span<const std::string> words) {
  constexpr std::string_view kOption = "--set-unbounded-dds-upper-bound";
  std::vector<tasks::NamedSizeBound> bounds;
  for (const std::string& word : words) {
    const KeyValue parts = split_key_value(word);
    const int64_t bound = parse_integer(kOption, parts.value);
    if (bound < 0) fail(ErrorCode::usage, "{}: expected a bound of at least 0, seen `{}`", kOption, printable(word));
    bounds.push_back({parts.key, bound});
  }
  return bounds;
}

}  // namespace assay::cli
