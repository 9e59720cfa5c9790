#pragma once

#include <optional>

#include "ir/model.h"

namespace assay::ir {

// The attribute of a node, if it is of that type; nothing also where only callers of the enclosing function know it.
inline const Attribute* written_attribute(const Model& model, const Node& node, std::string_view name,
                                          AttributeType type) {
  const Attribute* const found = model.find_attribute(node, name);
  return found != nullptr && found->type() == type && !found->is_reference() ? found : nullptr;
}

inline std::optional<int64_t> written_integer(const Model& model, const Node& node, std::string_view name) {
  const Attribute* const found = written_attribute(model, node, name, AttributeType::integer);
  return found != nullptr ? std::optional(found->integer()) : std::nullopt;
}

inline std::optional<float> written_float(const Model& model, const Node& node, std::string_view name) {
  const Attribute* const found = written_attribute(model, node, name, AttributeType::floating);
  return found != nullptr ? std::optional(found->floating()) : std::nullopt;
}

inline std::optional<std::string_view> written_word(const Model& model, const Node& node, std::string_view name) {
  const Attribute* const found = written_attribute(model, node, name, AttributeType::string);
  return found != nullptr ? std::optional(model.text(found->string())) : std::nullopt;
}

}  // namespace assay::ir
