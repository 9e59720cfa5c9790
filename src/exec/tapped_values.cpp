#include "exec/tapped_values.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace assay::exec {

TappedValues::TappedValues(const ir::Model& model, std::span<const std::string> names) : model_(model) {
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (use.value) values_.emplace(model.text(model[use.value].name), use.value);
  }
  std::set<std::string_view> missing(names.begin(), names.end());
  for (const auto& [name, value] : values_) missing.erase(name);
  for (uint32_t i = 0; i < model.value_slots() && !missing.empty(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (!value.alive || value.graph != model.main_graph() || missing.erase(model.text(value.name)) == 0) continue;
    values_.emplace(model.text(value.name), ir::ValueId{i});
    if (value.kind == ir::ValueKind::result) extra_outputs_.push_back(ir::ValueId{i});
  }
  if (!missing.empty()) fail(ErrorCode::usage, "the model has no value `{}`", printable(*missing.begin()));
}

std::optional<tensor::Datum> TappedValues::given(std::string_view name, std::span<const Feed> feeds) const {
  const auto found = values_.find(name);
  if (found == values_.end()) fail(ErrorCode::usage, "the value `{}` was not requested", printable(name));
  const ir::Value& value = model_[found->second];
  if (value.kind == ir::ValueKind::result) return std::nullopt;
  const auto feed = std::ranges::find(feeds, name, &Feed::name);
  if (feed != feeds.end()) return feed->value;
  if (!value.constant || model_[value.constant].sparse) return std::nullopt;
  return model_[value.constant].tensor;
}

}  // namespace assay::exec
