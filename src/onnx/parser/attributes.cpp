#include "onnx/parser/attributes.h"

#include <array>

#include <fmt/core.h>

#include "base/text.h"

namespace assay::onnx {

using ir::Attribute;
using ir::AttributeType;
using ir::Symbol;

namespace {

// In the order of ONNX's numbers.
constexpr std::array<std::string_view, 15> kWords = {
    "undefined", "float",   "int",    "string",        "tensor",         "graph",      "floats",     "ints",
    "strings",   "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};

constexpr AttributeType kLists[][2] = {
    {AttributeType::floating, AttributeType::floats}, {AttributeType::integer, AttributeType::integers},
    {AttributeType::string, AttributeType::strings},  {AttributeType::tensor, AttributeType::tensors},
    {AttributeType::graph, AttributeType::graphs},    {AttributeType::sparse_tensor, AttributeType::sparse_tensors},
    {AttributeType::type, AttributeType::types},
};

// The type of a list's items; undefined for what is not a list.
AttributeType item_type(AttributeType list) {
  for (const auto& [single, plural] : kLists) {
    if (plural == list) return single;
  }
  return AttributeType::undefined;
}

AttributeType list_type(AttributeType item) {
  for (const auto& [single, plural] : kLists) {
    if (single == item) return plural;
  }
  return AttributeType::undefined;
}

}  // namespace

std::string_view attribute_type_word(AttributeType type) { return kWords[static_cast<size_t>(type)]; }

std::vector<Attribute> AttributeParser::parse_list() {
  std::vector<Attribute> attributes;
  do {
    const Symbol name = edit_.intern(lexer_.expect_name("the name of an attribute"));
    attributes.push_back(parse(name));
  } while (lexer_.accept(','));
  lexer_.expect('>');
  return attributes;
}

Attribute AttributeParser::parse(Symbol name) {
  const bool is_annotated = lexer_.accept(':');
  const AttributeType type = is_annotated ? parse_type() : AttributeType::undefined;
  if (is_annotated && type == AttributeType::undefined) return Attribute::reference(name, type, ir::kEmpty);
  lexer_.expect('=');
  return lexer_.peek() == '[' ? parse_items(name, type) : parse_single(name, type);
}

AttributeType AttributeParser::parse_type() {
  const std::string_view word = lexer_.peek_identifier();
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] != word) continue;
    lexer_.identifier();
    return static_cast<AttributeType>(i);
  }
  lexer_.fail_expected("a type of attributes (int, floats, tensor, ...)");
}

AttributeType AttributeParser::expect_item_type(AttributeType list) {
  const AttributeType item = item_type(list);
  if (list != AttributeType::undefined && item == AttributeType::undefined) {
    lexer_.fail_expected(fmt::format("a value of type {}", attribute_type_word(list)));
  }
  return item;
}

Attribute AttributeParser::parse_items(Symbol name, AttributeType type) {
  const AttributeType item = expect_item_type(type);
  lexer_.expect('[');
  if (lexer_.peek() == ']') return parse_end(name, type);
  const Attribute first = parse_item(name, item);
  switch (first.type()) {
    case AttributeType::floating:
      return parse_rest<float>(first, [](const Attribute& a) { return a.floating(); });
    case AttributeType::integer:
      return parse_rest<int64_t>(first, [](const Attribute& a) { return a.integer(); });
    case AttributeType::string:
      return parse_rest<Symbol>(first, [](const Attribute& a) { return a.string(); });
    case AttributeType::graph:
      return parse_rest<ir::GraphId>(first, [](const Attribute& a) { return a.graphs()[0]; });
    case AttributeType::type:
      return parse_rest<ir::TypeId>(first, [](const Attribute& a) { return a.type_value(); });
    default:
      return parse_rest<ir::TensorId>(first, [](const Attribute& a) { return a.tensors()[0]; });
  }
}

// Parses an empty list, behind its `[`.
Attribute AttributeParser::parse_end(Symbol name, AttributeType type) {
  if (type == AttributeType::undefined) {
    lexer_.fail_expected("an item, or a type before the `=`, as in `axes: ints = []`");
  }
  lexer_.expect(']');
  return Attribute::list(name, type, std::span<const int64_t>());
}

template <typename T, typename Get>
Attribute AttributeParser::parse_rest(const Attribute& first, Get&& get) {
  std::vector<T> items = {get(first)};
  while (lexer_.accept(',')) items.push_back(get(parse_item(first.name(), first.type())));
  if (lexer_.peek() != ']') lexer_.fail_expected("`,` or `]`");
  lexer_.expect(']');
  return Attribute::list(first.name(), list_type(first.type()), model_.arena().copy(std::span<const T>(items)));
}

Attribute AttributeParser::parse_item(Symbol name, AttributeType expected) {
  if (lexer_.peek() == '@') lexer_.fail_expected("an item");
  return parse_single(name, expected);
}

// Parses an attribute, of the expected type if there is one.
Attribute AttributeParser::parse_single(Symbol name, AttributeType expected) {
  const size_t start = lexer_.offset();
  const Attribute value = parse_value(name, expected);
  if (expected != AttributeType::undefined && value.type() != expected) {
    lexer_.fail_at(start, fmt::format("expected a value of type {}, found one of type {}",
                                      attribute_type_word(expected), attribute_type_word(value.type())));
  }
  return value;
}

Attribute AttributeParser::parse_value(Symbol name, AttributeType expected) {
  if (lexer_.accept('@')) return parse_reference(name, expected);
  if (lexer_.accept('?')) return Attribute::of(name, AttributeType::type, ir::TypeId{});
  if (lexer_.peek() == '"') return parse_quoted(name);
  if (types_.at_type()) return parse_type_or_tensor(name);
  if (lexer_.at_number()) return parse_number(name, expected);
  return parse_word(name);
}

Attribute AttributeParser::parse_number(Symbol name, AttributeType expected) {
  const Number number = lexer_.expect_number("a number");
  const bool is_integer = number.is_integer && expected != AttributeType::floating;
  return is_integer ? Attribute::of(name, lexer_.to_integer(number)) : Attribute::of(name, lexer_.to_float(number));
}

// A text, or a body whose name is quoted.
Attribute AttributeParser::parse_quoted(Symbol name) {
  const Symbol text = edit_.intern(lexer_.expect_quoted("a text"));
  const char next = lexer_.peek();
  if (next == '(' || next == '=') return Attribute::of(name, AttributeType::graph, parse_body_(text));
  return Attribute::of(name, AttributeType::string, text);
}

Attribute AttributeParser::parse_word(Symbol name) {
  const Symbol body = edit_.intern(lexer_.expect_identifier("a value"));
  return Attribute::of(name, AttributeType::graph, parse_body_(body));
}

Attribute AttributeParser::parse_type_or_tensor(Symbol name) {
  const ir::TypeId type = types_.parse();
  const bool is_tensor = lexer_.peek() == '{' || lexer_.peek() == '=' || lexer_.at_name();
  if (!is_tensor) return Attribute::of(name, AttributeType::type, type);
  const std::string_view label = lexer_.at_name() ? edit_.keep(lexer_.expect_name("a name")) : std::string_view();
  lexer_.accept('=');
  const bool is_sparse = model_[type].kind == ir::TypeKind::sparse_tensor;
  return Attribute::of(name, is_sparse ? AttributeType::sparse_tensor : AttributeType::tensor,
                       tensors_.parse(type, label));
}

Attribute AttributeParser::parse_reference(Symbol name, AttributeType type) {
  const size_t start = lexer_.offset();
  const Symbol target = edit_.intern(lexer_.expect_name("the name of an attribute"));
  if (target == ir::kEmpty) lexer_.fail_at(start, "expected the name of an attribute, found an empty one");
  return Attribute::reference(name, type, target);
}

}  // namespace assay::onnx
