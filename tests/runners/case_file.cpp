#include "runners/case_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/files.h"
#include "runners/case_item.h"

namespace assay::cases {
namespace {

constexpr std::string_view kNameBytes = ".-/";

bool uses(const Literal& literal, const std::string& variable) {
  return literal.dtype == variable || std::any_of(literal.items.begin(), literal.items.end(),
                                                  [&](const Literal& item) { return uses(item, variable); });
}

// Whether a run of the case depends on the variable.
bool uses(const Case& item, const std::string& variable) {
  const auto in_input = [&](const Input& input) { return uses(input.value, variable); };
  const auto in_output = [&](const Output& output) {
    const auto in_value = [&](const Expected& expected) { return uses(expected.value, variable); };
    return output.dtype == variable || output.variable == variable ||
           std::any_of(output.expected.begin(), output.expected.end(), in_value);
  };
  const auto in_attribute = [&](const CaseAttribute& attribute) {
    return attribute.tensor ? uses(*attribute.tensor, variable) : attribute.is_word && attribute.text == variable;
  };
  return std::any_of(item.inputs.begin(), item.inputs.end(), in_input) ||
         std::any_of(item.outputs.begin(), item.outputs.end(), in_output) ||
         std::any_of(item.attributes.begin(), item.attributes.end(), in_attribute);
}

class CaseParser {
 public:
  CaseParser(const std::filesystem::path& path, std::string_view text) : cursor_(path, text) { file_.path = path; }

  CaseFile parse() {
    while (!cursor_.at_end()) parse_section();
    return std::move(file_);
  }

 private:
  void parse_section();
  void parse_op();
  void parse_model();
  void parse_variable();
  void parse_skip();
  void parse_case();
  void parse_case_word(Case& item);
  Tolerance parse_tolerance();
  double parse_amount();
  void check(const Case& item) const;

  bool at_section();

  CaseCursor cursor_;
  CaseFile file_;
  Subject subject_;
  std::vector<Variable> variables_;
};

constexpr std::string_view kSections[] = {"op", "graph", "for", "skip", "case"};

bool CaseParser::at_section() {
  if (!cursor_.at_line_start()) return false;
  const size_t start = cursor_.offset();
  for (const std::string_view word : kSections) {
    const bool found = cursor_.accept_word(word) && cursor_.peek() != '=' && cursor_.peek() != ':';
    cursor_.go_back(start);
    if (found) return true;
  }
  return false;
}

void CaseParser::parse_section() {
  if (cursor_.accept_word("op")) return parse_op();
  if (cursor_.accept_word("graph")) return parse_model();
  if (cursor_.accept_word("for")) return parse_variable();
  if (cursor_.accept_word("skip")) return parse_skip();
  if (cursor_.accept_word("case")) return parse_case();
  cursor_.fail_expected("op, graph, for, skip or case");
}

// `op com.microsoft::Gelu @1..`
void CaseParser::parse_op() {
  subject_ = Subject();
  variables_.clear();
  subject_.line = cursor_.line();
  subject_.op = cursor_.expect_word("the name of an operator", ".");
  if (cursor_.accept("::")) {
    subject_.domain = std::exchange(subject_.op, cursor_.expect_word("the name of an operator"));
    if (subject_.domain == "ai.onnx") subject_.domain.clear();
  }
  cursor_.expect("@");
  subject_.first_version = cursor_.expect_integer();
  subject_.last_version = subject_.first_version;
  if (!cursor_.accept("..")) return;
  subject_.last_version = cursor_.at_line_start() ? 0 : cursor_.expect_integer();
}

void CaseParser::parse_model() {
  subject_ = Subject();
  variables_.clear();
  subject_.line = cursor_.line();
  subject_.model_text = cursor_.expect_block();
}

// `for T in f32 f16`, up to the end of the line.
void CaseParser::parse_variable() {
  const int line = cursor_.line();
  Variable variable{cursor_.expect_word("a variable"), {}};
  cursor_.expect("in");
  while (!cursor_.at_end() && !cursor_.at_line_start())
    variable.words.push_back(cursor_.expect_word("an element type"));
  if (variable.words.empty()) cursor_.fail_at_line(line, "`for` without element types");
  std::erase_if(variables_, [&](const Variable& old) { return old.name == variable.name; });
  variables_.push_back(std::move(variable));
}

// `skip openvino group2_* because "…"`
void CaseParser::parse_skip() {
  Skip skip;
  skip.backend = cursor_.expect_word("the name of a backend", kNameBytes);
  skip.pattern = cursor_.expect_word("a pattern of cases", "*?[]!=@,.:-");
  cursor_.expect("because");
  skip.reason = cursor_.expect_quoted("a reason in quotes");
  file_.skips.push_back(std::move(skip));
}

void CaseParser::parse_case() {
  Case item;
  item.line = cursor_.line();
  if (subject_.line == 0) cursor_.fail_at_line(item.line, "a case before the line `op` or `graph` that it is about");
  item.subject = subject_;
  item.variables = variables_;
  item.name = cursor_.expect_word("the name of a case", "-.");
  while (!cursor_.at_end() && !cursor_.at_line_start()) parse_case_word(item);
  while (!cursor_.at_end() && !at_section()) parse_item(cursor_, item);
  check(item);
  std::erase_if(item.variables, [&](const Variable& variable) { return !uses(item, variable.name); });
  file_.cases.push_back(std::move(item));
}

void CaseParser::parse_case_word(Case& item) {
  if (cursor_.accept("tol=")) {
    item.tolerance = parse_tolerance();
  } else if (cursor_.accept_word("constant-ok")) {
    item.is_constant_ok = true;
  } else {
    cursor_.fail_expected("tol=… or constant-ok");
  }
}

// `ulp:2`, `rel:1e-5`, `abs:1e-6`, joined by `,`; or `bits`.
Tolerance CaseParser::parse_tolerance() {
  Tolerance tolerance;
  do {
    if (cursor_.accept("ulp:")) {
      tolerance.ulp = parse_amount();
    } else if (cursor_.accept("rel:")) {
      tolerance.rel = parse_amount();
    } else if (cursor_.accept("abs:")) {
      tolerance.abs = parse_amount();
    } else if (cursor_.accept_word("bits")) {
      tolerance.bits = true;
    } else {
      cursor_.fail_expected("ulp:N, rel:X, abs:X or bits");
    }
  } while (cursor_.accept(","));
  return tolerance;
}

double CaseParser::parse_amount() {
  const int line = cursor_.line();
  const double amount = std::strtod(cursor_.expect_number().c_str(), nullptr);
  if (!(amount >= 0 && amount < 1e30)) cursor_.fail_at_line(line, "a tolerance is negative or not finite");
  return amount;
}

void CaseParser::check(const Case& item) const {
  const auto is_same = [&](const Case& other) { return other.name == item.name; };
  if (std::any_of(file_.cases.begin(), file_.cases.end(), is_same)) {
    cursor_.fail_at_line(item.line, fmt::format("a second case `{}`", item.name));
  }
  const auto is_named = [](const Output& output) { return !output.name.empty(); };
  const bool has_outputs = std::any_of(item.outputs.begin(), item.outputs.end(), is_named);
  if (has_outputs == item.error.has_value()) {
    cursor_.fail_at_line(item.line,
                         fmt::format("case `{}` needs expected outputs or an error, and not both", item.name));
  }
  if (!item.subject.model_text.empty() && !item.attributes.empty()) {
    cursor_.fail_at_line(item.line, "attributes stand in the text of the graph");
  }
}

}  // namespace

CaseFile parse_case_file(const std::filesystem::path& path, std::string_view text) {
  return CaseParser(path, text).parse();
}

CaseFile read_case_file(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  return parse_case_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace assay::cases
