#include "runners/case_literal.h"

#include <fmt/format.h>

namespace assay::cases {
namespace {

struct Rule {
  std::string_view word;
  Fill fill;
  size_t arguments;
};

constexpr Rule kRules[] = {{"fill", Fill::value, 1}, {"iota", Fill::iota, 2}, {"rand", Fill::random, 3}};

constexpr std::string_view kContainers[] = {"seq(", "opt(", "none(", "map("};

// The items up to the closing token; a comma may stand behind the last one.
template <typename ParseItem>
void parse_list(CaseCursor& cursor, std::string_view end, ParseItem&& parse_item) {
  while (!cursor.accept(end)) {
    parse_item();
    if (!cursor.accept(",") && !cursor.is_next(end)) cursor.fail_expected(fmt::format("`,` or `{}`", end));
  }
}

std::string parse_element(CaseCursor& cursor) {
  if (cursor.peek() == '"') return cursor.expect_quoted("a text");
  if (cursor.accept_word("true")) return "1";
  if (cursor.accept_word("false")) return "0";
  return cursor.expect_number();
}

std::string parse_bits(CaseCursor& cursor) {
  const size_t start = cursor.offset();
  std::string word = cursor.expect_word("bits as 0x7c01");
  const bool is_hex = word.substr(0, 2) == "0x" && word.find_first_not_of("0123456789abcdefABCDEF", 2) == word.npos;
  if (is_hex && word.size() > 2 && word.size() <= 18) return word;
  cursor.go_back(start);
  cursor.fail_expected("bits as 0x7c01");
}

const Rule* find_rule(CaseCursor& cursor) {
  for (const Rule& rule : kRules) {
    if (cursor.is_next(fmt::format("{}(", rule.word))) return &rule;
  }
  return nullptr;
}

// `f32)` or `seq(f32))`: the type of what is not there.
void parse_element_type(CaseCursor& cursor, Literal& literal) {
  literal.is_sequence_element = cursor.accept("seq(");
  literal.dtype = cursor.expect_word("an element type");
  literal.dims = parse_dims(cursor);
  if (literal.is_sequence_element) cursor.expect(")");
}

void parse_sequence(CaseCursor& cursor, Literal& literal) {
  literal.kind = Literal::Kind::sequence;
  parse_list(cursor, ")", [&] { literal.items.push_back(parse_literal(cursor)); });
  if (literal.items.empty()) cursor.fail_at_line(literal.line, "an empty sequence needs a type, as in `seq(f32)`");
  const bool has_values = literal.items[0].kind != Literal::Kind::tensor || literal.items[0].fill != Fill::unset;
  if (literal.items.size() > 1 || has_values) return;
  literal.dtype = literal.items[0].dtype;
  literal.items.clear();
}

void parse_container(CaseCursor& cursor, Literal& literal) {
  if (cursor.accept("seq(")) return parse_sequence(cursor, literal);
  if (cursor.accept("none(")) {
    literal.kind = Literal::Kind::none;
    parse_element_type(cursor, literal);
  } else if (cursor.accept("opt(")) {
    literal.kind = Literal::Kind::optional;
    literal.items.push_back(parse_literal(cursor));
  } else {
    cursor.expect("map(");
    literal.kind = Literal::Kind::map;
    literal.items.push_back(parse_literal(cursor));
    cursor.expect(",");
    literal.items.push_back(parse_literal(cursor));
  }
  cursor.expect(")");
}

}  // namespace

bool at_container(CaseCursor& cursor) {
  for (const std::string_view word : kContainers) {
    if (cursor.is_next(word)) return true;
  }
  return false;
}

tensor::Shape parse_dims(CaseCursor& cursor) {
  tensor::Shape dims;
  if (!cursor.accept("[")) return dims;
  parse_list(cursor, "]", [&] {
    dims.push_back(cursor.expect_integer());
    if (dims.back() < 0) cursor.fail_at_line(cursor.line(), "a dim is negative");
  });
  return dims;
}

bool at_fill(CaseCursor& cursor) { return cursor.peek() == '{' || cursor.is_next("bits{") || find_rule(cursor); }

void parse_fill(CaseCursor& cursor, Literal& literal) {
  if (cursor.accept("{")) {
    literal.fill = Fill::elements;
    return parse_list(cursor, "}", [&] { literal.words.push_back(parse_element(cursor)); });
  }
  if (cursor.accept("bits{")) {
    literal.fill = Fill::bits;
    return parse_list(cursor, "}", [&] { literal.words.push_back(parse_bits(cursor)); });
  }
  const Rule* rule = find_rule(cursor);
  if (rule == nullptr) cursor.fail_expected("`{…}`, fill(v), iota(a,b), rand(seed,lo,hi) or bits{0x…}");
  cursor.expect(rule->word);
  cursor.expect("(");
  literal.fill = rule->fill;
  parse_list(cursor, ")", [&] { literal.words.push_back(parse_element(cursor)); });
  if (literal.words.size() != rule->arguments) {
    cursor.fail_at_line(literal.line, fmt::format("{} takes {} arguments, found {}", rule->word, rule->arguments,
                                                  literal.words.size()));
  }
}

Literal parse_literal(CaseCursor& cursor) {
  Literal literal;
  literal.line = cursor.line();
  if (at_container(cursor)) {
    parse_container(cursor, literal);
    return literal;
  }
  literal.dtype = cursor.expect_word("an element type");
  literal.dims = parse_dims(cursor);
  if (!cursor.is_next("==")) cursor.accept("=");
  if (at_fill(cursor)) parse_fill(cursor, literal);
  return literal;
}

}  // namespace assay::cases
