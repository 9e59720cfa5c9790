#include "cli/run/settings_words.h"

#include <algorithm>

#include "cli/options/groups/backends.h"

namespace assay::cli {

std::string settings_words(const Arguments& arguments) {
  const std::vector<OptionGroup> groups = backend_settings_groups();
  std::string words;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    const bool is_setting = std::ranges::any_of(groups, [&](const OptionGroup& group) {
      return std::ranges::any_of(group.rows, [&](const OptionRow& row) { return canonical_name(row) == name; });
    });
    if (!is_setting || use.row->is_output) continue;
    words += " " + std::string(name);
    for (const std::string& value : use.values) words += " " + value;
  }
  return words;
}

}  // namespace assay::cli
