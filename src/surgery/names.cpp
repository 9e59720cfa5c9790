#include "surgery/names.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/verify.h"

namespace assay::surgery {

NamedValues::NamedValues(const ir::Model& model)
    : model_(model), values_(model.symbols().size()), is_defined_twice_(model.symbols().size()) {
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (!value.alive || value.graph != model.main_graph() || value.name == ir::kEmpty) continue;
    ir::ValueId& slot = values_[value.name.index];
    if (slot) is_defined_twice_[value.name.index] = true;
    slot = ir::ValueId{i};
  }
}

ir::ValueId NamedValues::operator[](std::string_view name) const {
  const ir::Symbol symbol = model_.symbols().find(name);
  const bool is_known = symbol && symbol.index < values_.size() && values_[symbol.index];
  if (!is_known) fail_unknown(name);
  if (is_defined_twice_[symbol.index]) {
    fail(ErrorCode::parse, "the model defines `{}` twice: the name is ambiguous", printable(name));
  }
  return values_[symbol.index];
}

void NamedValues::fail_unknown(std::string_view name) const {
  for (uint32_t i = 0; i < model_.value_slots(); ++i) {
    const ir::Value& value = model_[ir::ValueId{i}];
    if (!value.alive || model_.text(value.name) != name || name.empty()) continue;
    const ir::NodeId parent = model_[value.graph].parent;
    if (!parent) continue;
    fail(ErrorCode::usage, "`{}` is in a body of {}; expected a value of the main graph", printable(name),
         ir::describe(model_, parent));
  }
  std::vector<std::string> known;
  for (const ir::ValueId value : values_) {
    if (value) known.emplace_back(model_.text(model_[value].name));
  }
  std::sort(known.begin(), known.end());
  const std::optional<std::string> near = did_you_mean(name, known);
  fail(ErrorCode::usage, "the model has no value `{}`{}", printable(name),
       near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
}

ir::Symbol fresh_name(const ir::Model& model, ir::Edit& edit, std::string_view base) {
  std::string name(base);
  for (size_t i = 1; model.symbols().find(name).valid(); ++i) name = fmt::format("{}_{}", base, i);
  return edit.intern(name);
}

}  // namespace assay::surgery
