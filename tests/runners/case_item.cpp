#include "runners/case_item.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "runners/case_literal.h"

namespace assay::cases {
namespace {

class ItemParser {
 public:
  ItemParser(CaseCursor& cursor, Case& item) : cursor_(cursor), item_(item) {}
  void parse();

 private:
  void parse_named(bool is_constant);
  void parse_output(Output output);
  void parse_expected(Output& output);
  Expected parse_value(const Output& output);
  CaseAttribute parse_attribute(std::string name, int line);
  std::string parse_attribute_list();

  CaseCursor& cursor_;
  Case& item_;
};

void ItemParser::parse() {
  const int line = cursor_.line();
  if (cursor_.accept("?")) {
    if (item_.outputs.empty()) {
      item_.inputs.emplace_back();
    } else {
      item_.outputs.emplace_back();
    }
    return;
  }
  if (cursor_.is_next("error ") || cursor_.is_next("error\"")) {
    cursor_.expect("error");
    if (item_.error) cursor_.fail_at_line(line, "a second error");
    item_.error = cursor_.expect_quoted("a part of the error in quotes");
    return;
  }
  const bool is_constant = cursor_.accept("const ");
  parse_named(is_constant);
}

// An input `X: T[2] = {1,2}`, an output `Y: T[2] == {1,2}` or `Y == ?`, or an attribute `axis=1`.
void ItemParser::parse_named(bool is_constant) {
  const int line = cursor_.line();
  std::string name = cursor_.expect_word("an input, an output, an attribute or `error`", ".-/");
  Output output{.name = name, .begin = cursor_.end_of_last(), .line = line};
  if (cursor_.is_next("==")) return parse_output(std::move(output));
  if (cursor_.accept("=")) {
    if (is_constant) cursor_.fail_at_line(line, "`const` stands before an input, `const W: f32[2] = …`");
    item_.attributes.push_back(parse_attribute(std::move(name), line));
    return;
  }
  cursor_.expect(":");
  Literal value = parse_literal(cursor_);
  if (!cursor_.is_next("==")) {
    if (!item_.outputs.empty()) cursor_.fail_expected("`==`: inputs stand before outputs");
    item_.inputs.push_back({std::move(name), is_constant, std::move(value)});
    return;
  }
  if (is_constant || value.kind != Literal::Kind::tensor || value.fill != Fill::unset)
    cursor_.fail_expected("an input");
  output.dtype = std::move(value.dtype);
  output.dims = std::move(value.dims);
  parse_output(std::move(output));
}

void ItemParser::parse_output(Output output) {
  cursor_.expect("==");
  if (cursor_.accept("?")) {
    output.is_unfilled = true;
  } else {
    parse_expected(output);
  }
  output.end = cursor_.end_of_last();
  item_.outputs.push_back(std::move(output));
}

// `{1,2} from x`, or `by T f32 {1,2} from x f16 {1,2} from x`.
void ItemParser::parse_expected(Output& output) {
  if (!cursor_.accept_word("by")) {
    output.expected.push_back(parse_value(output));
    return;
  }
  output.variable = cursor_.expect_word("a variable");
  const auto is_named = [&](const Variable& variable) { return variable.name == output.variable; };
  const auto variable = std::find_if(item_.variables.begin(), item_.variables.end(), is_named);
  if (variable == item_.variables.end()) cursor_.fail_at_line(output.line, "`by` names no variable of a line `for`");
  for (const std::string& word : variable->words) {
    if (!cursor_.accept_word(word)) cursor_.fail_expected(fmt::format("`{}`, as `for` says", word));
    output.expected.push_back(parse_value(output));
    output.expected.back().key = word;
  }
}

Expected ItemParser::parse_value(const Output& output) {
  Expected expected;
  if (!output.dtype.empty()) {
    expected.value.line = cursor_.line();
    expected.value.dtype = output.dtype;
    expected.value.dims = output.dims;
    parse_fill(cursor_, expected.value);
  } else {
    expected.value = parse_literal(cursor_);
  }
  if (!cursor_.accept_word("from")) cursor_.fail_expected("`from` and who says so: by-hand, ort-1.31, onnx-ref-1.23");
  expected.source = cursor_.expect_word("a source", ".-+");
  return expected;
}

CaseAttribute ItemParser::parse_attribute(std::string name, int line) {
  CaseAttribute attribute{.name = std::move(name), .line = line};
  const size_t start = cursor_.offset();
  if (cursor_.is_next("\"\"\"")) {
    attribute.text = cursor_.expect_block();
  } else if (cursor_.peek() == '"') {
    cursor_.expect_quoted("a text");
    attribute.text = cursor_.text().substr(start, cursor_.end_of_last() - start);
  } else if (cursor_.peek() == '[') {
    attribute.text = parse_attribute_list();
  } else if (cursor_.accept_word("inf") || cursor_.accept_word("nan")) {
    attribute.text = cursor_.text().substr(start, cursor_.end_of_last() - start);
  } else if (cursor_.at_word() && !std::isdigit(static_cast<unsigned char>(cursor_.peek()))) {
    Literal tensor = parse_literal(cursor_);
    attribute.is_word = tensor.fill == Fill::unset && tensor.kind == Literal::Kind::tensor;
    attribute.text = tensor.dtype;
    if (!attribute.is_word) attribute.tensor = std::move(tensor);
  } else {
    attribute.text = cursor_.expect_number();
  }
  return attribute;
}

// A list as it stands there.
std::string ItemParser::parse_attribute_list() {
  const size_t start = cursor_.offset();
  cursor_.expect("[");
  do {
    if (cursor_.peek() == '"') {
      cursor_.expect_quoted("a text");
    } else {
      cursor_.expect_number();
    }
  } while (cursor_.accept(","));
  cursor_.expect("]");
  return std::string(cursor_.text().substr(start, cursor_.end_of_last() - start));
}

}  // namespace

void parse_item(CaseCursor& cursor, Case& item) { ItemParser(cursor, item).parse(); }

}  // namespace assay::cases
