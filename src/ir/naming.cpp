#include "ir/naming.h"

#include <string>

#include <fmt/format.h>

namespace assay::ir {

Symbol fresh_name(Edit& edit, std::string_view base) {
  std::string name(base);
  for (uint64_t i = 1; edit.model().symbols().find(name); ++i) name = fmt::format("{}_{}", base, i);
  return edit.intern(name);
}

Symbol NameCounter::next(Edit& edit, std::string_view base) {
  for (;;) {
    const std::string name = fmt::format("{}_{}", base, next_++);
    if (!edit.model().symbols().find(name)) return edit.intern(name);
  }
}

std::string_view known_name(const Model& model, NodeId id) {
  const Node& node = model[id];
  if (!node.name.empty()) return node.name;
  for (const ValueId result : node.results) {
    if (result && !model.text(model[result].name).empty()) return model.text(model[result].name);
  }
  return {};
}

}  // namespace assay::ir
