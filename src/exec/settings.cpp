#include "exec/settings.h"

namespace assay::exec {

const std::vector<std::string>& Settings::list(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

std::string Settings::text(std::string_view name) const { return list(name).empty() ? "" : list(name).back(); }

}  // namespace assay::exec
