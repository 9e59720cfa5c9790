#pragma once

#include <map>
#include <string>
#include <vector>

#include "tensor/named.h"

namespace assay::compare {

// A value in parts that can be compared: a tensor is one, an item of a sequence is `name[2]`, a map is `name.keys` and
// `name.values`; an empty optional is one part without a tensor.
void flatten(std::string_view name, const tensor::Datum& value, tensor::NamedData& parts);

// Pairs values of the first run with values of the second one by name. Names that are matched explicitly are paired
// with nothing else; a match of `y` also applies to the parts of `y`.
class NameMatcher {
 public:
  explicit NameMatcher(const std::vector<std::pair<std::string, std::string>>& matches);
  // The name in the first run that a name of the second one would be paired with; empty: none.
  std::string partner(std::string_view name_b) const;
  bool is_explicit(std::string_view name_b) const;

 private:
  std::map<std::string, std::string, std::less<>> a_of_b_;
  std::map<std::string, std::string, std::less<>> b_of_a_;
};

}  // namespace assay::compare
