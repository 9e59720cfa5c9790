#include "onnx/parser/types.h"

#include <array>
#include <limits>
#include <unordered_map>

namespace assay::onnx {

using ir::Type;
using ir::TypeId;
using ir::TypeKind;
using tensor::DType;

namespace {

using DTypes = std::unordered_map<std::string_view, DType>;

DTypes make_dtypes() {
  DTypes dtypes;
  for (int32_t i = 1; tensor::is_known(static_cast<DType>(i)); ++i) {
    dtypes.emplace(tensor::onnx_name(static_cast<DType>(i)), static_cast<DType>(i));
  }
  return dtypes;
}

// Words that begin a type where `(` follows them.
bool is_type_function(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"seq", "optional", "map", "sparse_tensor", "opaque", "dtype"};
  for (const std::string_view known : kWords) {
    if (word == known) return true;
  }
  return false;
}

}  // namespace

std::optional<DType> find_text_dtype(std::string_view word) {
  static const DTypes kDTypes = make_dtypes();
  const DTypes::const_iterator found = kDTypes.find(word);
  return found == kDTypes.end() ? std::nullopt : std::optional(found->second);
}

bool is_type_word(std::string_view word) { return find_text_dtype(word) || is_type_function(word); }

bool TypeParser::at_type() {
  const std::string_view word = lexer_.peek_identifier();
  if (word.empty()) return false;
  return find_text_dtype(word) || (is_type_function(word) && lexer_.is_before('('));
}

TypeId TypeParser::parse() {
  const TextLexer::Level level(lexer_);
  Type type = parse_kind();
  if (lexer_.accept('@')) type.denotation = edit_.intern(lexer_.expect_quoted("a quoted denotation"));
  return model_.types().intern(std::move(type));
}

Type TypeParser::parse_kind() {
  const std::string_view word = lexer_.peek_identifier();
  if (word == "seq") return parse_wrapped(TypeKind::sequence);
  if (word == "optional") return parse_wrapped(TypeKind::optional);
  if (word == "map") return parse_map();
  if (word == "sparse_tensor") return parse_sparse();
  if (word == "opaque") return parse_opaque();
  return parse_tensor();
}

Type TypeParser::parse_tensor() {
  Type type;
  type.dtype = parse_dtype();
  parse_shape(type);
  return type;
}

DType TypeParser::parse_dtype() {
  const std::optional<DType> known = find_text_dtype(lexer_.peek_identifier());
  if (!known && lexer_.peek_identifier() != "dtype") lexer_.fail_expected("a type");
  lexer_.identifier();
  if (known) return *known;
  lexer_.expect('(');
  const int64_t number = lexer_.expect_integer(INT32_MIN, INT32_MAX);
  lexer_.expect(')');
  return static_cast<DType>(number);
}

// Without brackets a scalar, with empty ones a tensor of unknown rank.
void TypeParser::parse_shape(Type& type) {
  type.ranked = true;
  if (!lexer_.accept('[')) return;
  if (lexer_.accept(']')) {
    type.ranked = false;
    return;
  }
  do {
    type.dims.push_back(parse_dim());
  } while (lexer_.accept(','));
  lexer_.expect(']');
}

// Parses a dim. Like in a binary file, a negative number or an empty name is a dim that is not known.
ir::DimId TypeParser::parse_dim() {
  if (lexer_.accept('?')) return ir::kUnknownDim;
  if (lexer_.at_name()) {
    const std::string_view name = lexer_.expect_name("a dim");
    return name.empty() ? ir::kUnknownDim : model_.dims().symbol(edit_.intern(name));
  }
  if (!lexer_.at_number()) lexer_.fail_expected("a dim (a number, a name or `?`)");
  const int64_t value = lexer_.expect_integer();
  return value < 0 ? ir::kUnknownDim : model_.dims().constant(value);
}

TypeId TypeParser::parse_element() { return lexer_.peek() == ')' ? TypeId{} : parse(); }

Type TypeParser::parse_wrapped(TypeKind kind) {
  Type type{kind};
  lexer_.identifier();
  lexer_.expect('(');
  type.element = parse_element();
  lexer_.expect(')');
  return type;
}

Type TypeParser::parse_sparse() {
  lexer_.identifier();
  lexer_.expect('(');
  Type type = parse_tensor();
  type.kind = TypeKind::sparse_tensor;
  lexer_.expect(')');
  return type;
}

Type TypeParser::parse_map() {
  Type type{TypeKind::map};
  lexer_.identifier();
  lexer_.expect('(');
  type.dtype = parse_dtype();
  lexer_.expect(',');
  type.element = parse_element();
  lexer_.expect(')');
  return type;
}

// A single name is the type's name, of two the first one is its domain.
Type TypeParser::parse_opaque() {
  Type type{TypeKind::opaque};
  lexer_.identifier();
  lexer_.expect('(');
  if (lexer_.accept(')')) return type;
  type.name = parse_dotted_name();
  if (lexer_.accept(',')) {
    type.domain = type.name;
    type.name = parse_dotted_name();
  }
  lexer_.expect(')');
  return type;
}

ir::Symbol TypeParser::parse_dotted_name() {
  std::string name(lexer_.expect_name("a name"));
  while (lexer_.accept('.')) name.append(".").append(lexer_.expect_name("a name"));
  return edit_.intern(name);
}

}  // namespace assay::onnx
