#include "surgery/names.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/named_results.h"
#include "ir/verify.h"
#include "ir/walk.h"

namespace assay::surgery {

NamedValues::NamedValues(const ir::Model& model)
    : model_(model), values_(model.symbols().size()), is_defined_twice_(model.symbols().size()) {
  for (const ir::ValueId id : ir::live_values(model)) {
    const ir::Value& value = model[id];
    if (value.graph != model.main_graph() || value.name == ir::kEmpty) continue;
    ir::ValueId& slot = values_[value.name.index];
    if (slot) is_defined_twice_[value.name.index] = true;
    slot = id;
  }
}

ir::ValueId NamedValues::operator[](std::string_view name) const {
  const ir::Symbol symbol = model_.symbols().find(name);
  const bool is_known = symbol && symbol.index < values_.size() && values_[symbol.index];
  if (!is_known) return result_of(name);
  if (is_defined_twice_[symbol.index]) {
    fail(ErrorCode::parse, "the model defines `{}` twice: the name is ambiguous", printable(name));
  }
  return values_[symbol.index];
}

ir::ValueId NamedValues::result_of(std::string_view node) const {
  const std::vector<ir::ValueId> results = ir::named_results(model_, model_.main_graph(), node);
  if (results.empty()) fail_unknown(node);
  if (results.size() == 1) return results.front();
  std::vector<std::string> names;
  for (const ir::ValueId result : results) names.push_back(printable(model_.text(model_[result].name)));
  fail(ErrorCode::usage, "`{}` is a node; expected one of its results: `{}`", printable(node), join(names, "`, `"));
}

void NamedValues::fail_unknown(std::string_view name) const {
  for (const ir::ValueId id : ir::live_values(model_)) {
    const ir::Value& value = model_[id];
    if (model_.text(value.name) != name || name.empty()) continue;
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

}  // namespace assay::surgery
