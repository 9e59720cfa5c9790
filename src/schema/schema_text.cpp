#include "schema/schema_text.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "schema/words.h"

namespace assay::schema {
namespace {

struct Variable {
  std::string_view name;
  TypeSet types;
};

// Names that arguments refer to: the variables of their line and the words of the header.
struct TypeNames {
  std::vector<Variable> variables;
  std::span<const TypeWord> words;
};

TypeNames parse_variables(std::string_view column, std::span<const TypeWord> type_words) {
  TypeNames names{{}, type_words};
  while (true) {
    std::string_view types = take_word(column);
    if (types.empty()) return names;
    const std::string_view name = take_until(types, '=');
    names.variables.push_back({name, parse_types(types, type_words)});
  }
}

ArgumentSchema parse_argument(std::string_view type, const TypeNames& names) {
  ArgumentSchema argument;
  argument.name = take_until(type, ':');
  argument.homogeneous = !take_suffix(type, "~");
  if (take_suffix(type, "?")) argument.option = ArgumentOption::optional;
  if (const size_t star = type.find('*'); star != type.npos) {
    argument.option = ArgumentOption::variadic;
    argument.min_arity = parse_number<uint32_t>(type.substr(star + 1));
    type = type.substr(0, star);
  }
  const auto variable = std::ranges::find(names.variables, type, &Variable::name);
  if (variable != names.variables.end()) {
    argument.variable = type;
    argument.types = variable->types;
  } else {
    argument.types = parse_types(type, names.words);
  }
  return argument;
}

std::vector<ArgumentSchema> parse_arguments(std::string_view column, const TypeNames& names) {
  std::vector<ArgumentSchema> arguments;
  while (true) {
    const std::string_view word = take_word(column);
    if (word.empty()) return arguments;
    arguments.push_back(parse_argument(word, names));
  }
}

// The least and greatest number of arguments of a node: single ones and all before them are needed.
std::pair<uint32_t, uint32_t> arity(std::span<const ArgumentSchema> arguments) {
  uint32_t least = 0;
  uint32_t most = 0;
  for (const ArgumentSchema& argument : arguments) {
    if (argument.option == ArgumentOption::variadic) return {most + argument.min_arity, Schema::kUnlimited};
    ++most;
    if (argument.option == ArgumentOption::single) least = most;
  }
  return {least, most};
}

ir::AttributeType parse_attribute_type(std::string_view word) {
  using enum ir::AttributeType;
  static constexpr std::pair<std::string_view, ir::AttributeType> kTypes[] = {
      {"int", integer},
      {"float", floating},
      {"string", string},
      {"ints", integers},
      {"floats", floats},
      {"strings", strings},
      {"tensor", tensor},
      {"graph", graph},
      {"sparse_tensor", sparse_tensor},
      {"type_proto", type},
      {"tensors", tensors},
      {"graphs", graphs},
      {"sparse_tensors", sparse_tensors},
      {"type_protos", types},
  };
  const auto found = std::ranges::find(kTypes, word, &std::pair<std::string_view, ir::AttributeType>::first);
  ASSAY_CHECK(found != std::end(kTypes));
  return found->second;
}

std::string_view parse_string(std::string_view text) {
  ASSAY_CHECK(take_prefix(text, "\"") && take_suffix(text, "\""));
  return text;
}

template <typename T>
std::vector<T> parse_list(std::string_view text, T (*parse_item)(std::string_view)) {
  ASSAY_CHECK(take_prefix(text, "[") && take_suffix(text, "]"));
  std::vector<T> items;
  while (!text.empty()) items.push_back(parse_item(take_until(text, ',')));
  return items;
}

AttributeDefault parse_default(ir::AttributeType type, std::string_view text) {
  switch (type) {
    case ir::AttributeType::integer:
      return parse_number<int64_t>(text);
    case ir::AttributeType::floating:
      return parse_number<float>(text);
    case ir::AttributeType::string:
      return parse_string(text);
    case ir::AttributeType::integers:
      return parse_list(text, &parse_number<int64_t>);
    case ir::AttributeType::floats:
      return parse_list(text, &parse_number<float>);
    case ir::AttributeType::strings:
      return parse_list(text, &parse_string);
    default:
      ASSAY_CHECK(!"a default of this type has no format");
      return {};
  }
}

std::vector<AttributeSchema> parse_attributes(std::string_view column) {
  std::vector<AttributeSchema> attributes;
  while (true) {
    std::string_view text = take_word(column);
    if (text.empty()) return attributes;
    AttributeSchema& attribute = attributes.emplace_back();
    attribute.name = take_until(text, ':');
    std::string_view type = take_until(text, '=');
    attribute.required = take_suffix(type, "!");
    attribute.type = parse_attribute_type(type);
    if (!text.empty()) attribute.value = parse_default(attribute.type, text);
  }
}

// The key is taken off the text.
LineKey take_key(std::string_view& text) {
  LineKey key;
  key.name = take_until(text, ' ');
  key.since = parse_number<int64_t>(take_until(text, ' '));
  if (const size_t colons = key.name.find("::"); colons != key.name.npos) {
    key.domain = key.name.substr(0, colons);
    key.name.remove_prefix(colons + 2);
  }
  return key;
}

void parse_flags(std::string_view text, Schema& schema) {
  while (true) {
    const std::string_view flag = take_word(text);
    if (flag.empty()) return;
    ASSAY_CHECK(flag == "deprecated" || flag == "body" || flag == "random");
    if (flag == "deprecated") schema.deprecated = true;
    if (flag == "body") schema.has_body = true;
    if (flag == "random") schema.deterministic = false;
  }
}

}  // namespace

std::string_view take_line(std::string_view& text) { return take_until(text, '\n'); }

void parse_header_line(std::string_view line, Header& header) {
  const std::string_view kind = take_word(line);
  const std::string_view name = take_word(line);
  ASSAY_CHECK(kind == "@package" || kind == "@ir" || kind == "@domain" || kind == "@release" || kind == "@set");
  if (kind == "@ir") header.ir_version = parse_number<int64_t>(name);
  if (kind == "@domain") header.domains.push_back({canonical_domain(name), parse_number<int64_t>(take_word(line))});
  if (kind == "@release") {
    Release& release = header.releases.emplace_back(Release{name, 0, 0, 0, 0});
    for (int64_t* number : {&release.ir, &release.opset, &release.ml, &release.training}) {
      *number = parse_number<int64_t>(take_word(line));
    }
  }
  if (kind == "@set") {
    const TypeSet types = parse_types(line, header.type_words);
    header.type_words.push_back({name, types.tensors});
  }
}

LineKey parse_key(std::string_view line) { return take_key(line); }

Schema parse_schema(std::string_view line, std::span<const TypeWord> type_words) {
  ASSAY_CHECK(std::ranges::count(line, '|') == 4);
  Schema schema;
  std::string_view head = take_until(line, '|');
  const std::string_view inputs = take_until(line, '|');
  const std::string_view outputs = take_until(line, '|');
  const std::string_view attributes = take_until(line, '|');
  const LineKey key = take_key(head);
  schema.domain = key.domain;
  schema.name = key.name;
  schema.since = key.since;
  parse_flags(head, schema);
  const TypeNames names = parse_variables(line, type_words);
  schema.inputs = parse_arguments(inputs, names);
  schema.outputs = parse_arguments(outputs, names);
  schema.attributes = parse_attributes(attributes);
  std::tie(schema.min_inputs, schema.max_inputs) = arity(schema.inputs);
  std::tie(schema.min_outputs, schema.max_outputs) = arity(schema.outputs);
  return schema;
}

}  // namespace assay::schema
