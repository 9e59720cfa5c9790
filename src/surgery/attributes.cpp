#include <type_traits>

#include "surgery/insert.h"

namespace assay::surgery {
namespace {

using ir::AttributeType;
using ir::Symbol;

ir::Attribute make(ir::Model&, Symbol name, int64_t value) { return ir::Attribute::of(name, value); }
ir::Attribute make(ir::Model&, Symbol name, float value) { return ir::Attribute::of(name, value); }

ir::Attribute make(ir::Model& model, Symbol name, const std::string& text) {
  return ir::Attribute::of(name, AttributeType::string, model.symbols().intern(text));
}

template <typename T>
ir::Attribute make_list(ir::Model& model, Symbol name, AttributeType type, std::span<const T> items) {
  return ir::Attribute::list(name, type, model.arena().copy(items));
}

ir::Attribute make(ir::Model& model, Symbol name, const std::vector<int64_t>& items) {
  return make_list(model, name, AttributeType::integers, std::span(items));
}

ir::Attribute make(ir::Model& model, Symbol name, const std::vector<float>& items) {
  return make_list(model, name, AttributeType::floats, std::span(items));
}

ir::Attribute make(ir::Model& model, Symbol name, const std::vector<std::string>& items) {
  std::vector<Symbol> symbols;
  for (const std::string& text : items) symbols.push_back(model.symbols().intern(text));
  return make_list(model, name, AttributeType::strings, std::span<const Symbol>(symbols));
}

}  // namespace

ir::Attribute attribute_of(ir::Model& model, const NamedAttribute& attribute) {
  const Symbol name = model.symbols().intern(attribute.name);
  return std::visit([&](const auto& value) { return make(model, name, value); }, attribute.value);
}

}  // namespace assay::surgery
