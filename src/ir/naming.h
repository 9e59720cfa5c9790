#pragma once

#include <cstdint>
#include <string_view>

#include "ir/edit.h"

namespace assay::ir {

// `base`, or `base_1`, `base_2`, … if the model already has that name.
Symbol fresh_name(Edit& edit, std::string_view base);

// Numbered names that the model does not have: `base_0`, `base_1`, …; the numbers go on from call to call.
class NameCounter {
 public:
  Symbol next(Edit& edit, std::string_view base);

 private:
  uint64_t next_ = 0;
};

// The name by which users know a node: its own, or that of its first result with a name; may be empty.
std::string_view known_name(const Model& model, NodeId node);

}  // namespace assay::ir
