#pragma once

#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// The values of the main graph by the names that users type.
class NamedValues {
 public:
  explicit NamedValues(const ir::Model& model);

  // A node's name means its only result. Error (usage) for an unknown name (with the nearest one), a name inside a
  // body, a node with several results, or a name of two values.
  ir::ValueId operator[](std::string_view name) const;

 private:
  ir::ValueId result_of(std::string_view node) const;
  [[noreturn]] void fail_unknown(std::string_view name) const;

  const ir::Model& model_;
  std::vector<ir::ValueId> values_;     // by symbol
  std::vector<bool> is_defined_twice_;  // by symbol
};

}  // namespace assay::surgery
