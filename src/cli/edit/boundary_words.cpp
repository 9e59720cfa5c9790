#include "cli/edit/boundary_words.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

using surgery::Boundary;
using surgery::BoundaryDim;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool is_auto(std::string_view text) { return to_lower(text) == "auto"; }
bool is_list(std::string_view text) { return text.size() >= 2 && text.front() == '[' && text.back() == ']'; }

// Takes the part behind the last colon off the word; a list may hold colons.
std::optional<std::string_view> take_part(std::string_view& word) {
  const size_t colon = word.ends_with(']') ? word.rfind(":[") : word.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view part = word.substr(colon + 1);
  word = word.substr(0, colon);
  return part;
}

BoundaryDim parse_dim(std::string_view option, std::string_view text, std::string_view word) {
  const bool is_quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  if (is_quoted) text = text.substr(1, text.size() - 2);
  if (text.empty()) fail(ErrorCode::usage, "{}: empty dim in `{}`", option, printable(word));
  if (is_quoted) return std::string(text);
  const bool is_number = text.find_first_not_of("+-0123456789") == std::string_view::npos;
  if (is_number) {
    const int64_t number = parse_integer(option, text);
    return number < 0 ? BoundaryDim() : BoundaryDim(number);
  }
  if (begins_like_number(text) || text.find_first_of("[]'\"") != std::string_view::npos) {
    fail(ErrorCode::usage, "{}: `{}` in `{}` is no dim; expected a number, -1 or a name", option, printable(text),
         printable(word));
  }
  return std::string(text);
}

std::vector<BoundaryDim> parse_shape(std::string_view option, std::string_view list, std::string_view word) {
  std::vector<BoundaryDim> dims;
  const std::string_view inner = trimmed(list.substr(1, list.size() - 2));
  if (inner.empty()) return dims;
  for (const std::string_view item : split(inner, ',')) dims.push_back(parse_dim(option, trimmed(item), word));
  return dims;
}

tensor::DType parse_dtype(std::string_view option, std::string_view text, std::string_view word) {
  const std::optional<tensor::DType> dtype = tensor::find_dtype(text);
  if (!dtype) fail(ErrorCode::usage, "{}: unknown type `{}` in `{}`", option, printable(text), printable(word));
  return *dtype;
}

Boundary named(std::string_view option, std::string_view name, std::string_view word) {
  if (name.empty()) fail(ErrorCode::usage, "{}: `{}` names no tensor", option, printable(word));
  Boundary boundary;
  boundary.name = name;
  return boundary;
}

bool is_type(std::string_view text) { return is_auto(text) || tensor::find_dtype(text).has_value(); }

}  // namespace

Boundary parse_input_boundary(std::string_view option, std::string_view word) {
  std::string_view rest = word;
  std::optional<std::string_view> dtype = take_part(rest);
  if (dtype && is_list(*dtype)) {  // without a type
    Boundary boundary = named(option, rest, word);
    boundary.shape = parse_shape(option, *dtype, word);
    return boundary;
  }
  const std::string_view before_dtype = rest;
  std::optional<std::string_view> shape = take_part(rest);
  const bool has_shape = shape && (is_auto(*shape) || is_list(*shape));
  if (!has_shape) {  // the colon belongs to the name
    shape.reset();
    rest = dtype && is_type(*dtype) ? before_dtype : word;
    if (rest == word) dtype.reset();
  }
  Boundary boundary = named(option, rest, word);
  if (shape && !is_auto(*shape)) boundary.shape = parse_shape(option, *shape, word);
  if (dtype && !is_auto(*dtype)) boundary.dtype = parse_dtype(option, *dtype, word);
  return boundary;
}

Boundary parse_output_boundary(std::string_view option, std::string_view word) {
  std::string_view rest = word;
  const std::optional<std::string_view> dtype = take_part(rest);
  if (dtype && is_list(*dtype)) {
    fail(ErrorCode::usage, "{}: `{}` has a shape; expected NAME or NAME:TYPE", option, printable(word));
  }
  const bool has_type = dtype && is_type(*dtype);
  if (has_type && rest.ends_with(']') && rest.rfind(":[") != std::string_view::npos) {
    fail(ErrorCode::usage, "{}: `{}` has a shape; expected NAME or NAME:TYPE", option, printable(word));
  }
  Boundary boundary = named(option, has_type ? rest : word, word);
  if (has_type && !is_auto(*dtype)) boundary.dtype = parse_dtype(option, *dtype, word);
  return boundary;
}

}  // namespace assay::cli
