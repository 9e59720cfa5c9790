#include "compare/runs/pairing.h"

#include <fmt/format.h>

namespace assay::compare {
namespace {

// `y` of `y[2]`, `y.keys` and `y`: the longest known name that the part can belong to.
std::pair<std::string_view, std::string_view> split_part(std::string_view name,
                                                         const std::map<std::string, std::string, std::less<>>& known) {
  for (size_t length = name.size(); length > 0; --length) {
    const bool is_border = length == name.size() || name[length] == '[' || name[length] == '.';
    if (is_border && known.contains(name.substr(0, length))) return {name.substr(0, length), name.substr(length)};
  }
  return {};
}

}  // namespace

void flatten(std::string_view name, const tensor::Datum& value, tensor::NamedData& parts) {
  if (value.is_sequence() && !value.items().empty()) {
    for (size_t i = 0; i < value.items().size(); ++i) flatten(fmt::format("{}[{}]", name, i), value.items()[i], parts);
  } else if (value.is_map()) {
    parts.push_back({fmt::format("{}.keys", name), value.keys()});
    parts.push_back({fmt::format("{}.values", name), value.values()});
  } else {
    parts.push_back({std::string(name), value});
  }
}

NameMatcher::NameMatcher(const std::vector<std::pair<std::string, std::string>>& matches) {
  for (const auto& [a, b] : matches) {
    a_of_b_[b] = a;
    b_of_a_[a] = b;
  }
}

std::string NameMatcher::partner(std::string_view name_b) const {
  const auto [base, rest] = split_part(name_b, a_of_b_);
  if (!base.empty()) return a_of_b_.find(base)->second + std::string(rest);
  if (!split_part(name_b, b_of_a_).first.empty()) return {};
  return std::string(name_b);
}

bool NameMatcher::is_explicit(std::string_view name_b) const { return !split_part(name_b, a_of_b_).first.empty(); }

}  // namespace assay::compare
