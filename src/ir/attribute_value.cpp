#include "ir/attribute_value.h"

namespace assay::ir {
namespace {

template <typename T>
std::vector<T> to_vector(std::span<const T> items) {
  return {items.begin(), items.end()};
}

}  // namespace

std::optional<AttributeValue> attribute_value(const Model& model, const Attribute& attribute) {
  if (attribute.is_reference()) return std::nullopt;
  switch (attribute.type()) {
    case AttributeType::integer:
      return attribute.integer();
    case AttributeType::floating:
      return attribute.floating();
    case AttributeType::string:
      return std::string(model.text(attribute.string()));
    case AttributeType::integers:
      return to_vector(attribute.integers());
    case AttributeType::floats:
      return to_vector(attribute.floats());
    case AttributeType::strings: {
      std::vector<std::string> texts;
      for (const Symbol symbol : attribute.strings()) texts.emplace_back(model.text(symbol));
      return texts;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace assay::ir
