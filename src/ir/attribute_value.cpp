#include "ir/attribute_value.h"

namespace assay::ir {
namespace {

template <typename T>
std::vector<T> to_vector(std::span<const T> items) {
  return {items.begin(), items.end()};
}

Attribute made(Model&, Symbol name, int64_t value) { return Attribute::of(name, value); }
Attribute made(Model&, Symbol name, float value) { return Attribute::of(name, value); }

Attribute made(Model& model, Symbol name, const std::string& text) {
  return Attribute::of(name, AttributeType::string, model.symbols().intern(text));
}

template <typename T>
Attribute made_list(Model& model, Symbol name, AttributeType type, std::span<const T> items) {
  return Attribute::list(name, type, model.arena().copy(items));
}

Attribute made(Model& model, Symbol name, const std::vector<int64_t>& items) {
  return made_list(model, name, AttributeType::integers, std::span(items));
}

Attribute made(Model& model, Symbol name, const std::vector<float>& items) {
  return made_list(model, name, AttributeType::floats, std::span(items));
}

Attribute made(Model& model, Symbol name, const std::vector<std::string>& items) {
  std::vector<Symbol> symbols;
  for (const std::string& text : items) symbols.push_back(model.symbols().intern(text));
  return made_list(model, name, AttributeType::strings, std::span<const Symbol>(symbols));
}

}  // namespace

Attribute make_attribute(Model& model, std::string_view name, const AttributeValue& value) {
  const Symbol symbol = model.symbols().intern(name);
  return std::visit([&](const auto& given) { return made(model, symbol, given); }, value);
}

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
