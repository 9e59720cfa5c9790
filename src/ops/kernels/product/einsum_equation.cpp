#include "ops/kernels/product/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace assay::ops {
namespace {

using Label = EinsumLabel;
using Term = EinsumTerm;

constexpr Label kEllipsis = 0;

struct Equation {
  std::vector<Term> inputs;
  std::optional<Term> output;  // empty: implicit
};

Term parse_term(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_dots = text.substr(i, 3) == "...";
    const bool is_letter = std::isalpha(static_cast<unsigned char>(text[i])) != 0;
    if (!is_dots && !is_letter) fail(ErrorCode::shape, "`{}` is no letter of an equation", text.substr(i, 1));
    if (is_dots && std::ranges::count(term, kEllipsis) != 0) fail(ErrorCode::shape, "`{}` has two ellipses", text);
    term.push_back(is_dots ? kEllipsis : text[i]);
    if (is_dots) i += 2;
  }
  return term;
}

Equation parse_equation(std::string_view written) {
  std::string text(written);
  std::erase(text, ' ');
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  for (size_t comma = left.find(','); comma != std::string_view::npos; comma = left.find(',')) {
    equation.inputs.push_back(parse_term(left.substr(0, comma)));
    left = left.substr(comma + 1);
  }
  equation.inputs.push_back(parse_term(left));
  if (arrow != std::string::npos) equation.output = parse_term(std::string_view(text).substr(arrow + 2));
  return equation;
}

// The ellipsis replaced by `count` labels.
Term expand(const Term& term, int64_t count) {
  Term result;
  for (const Label label : term) {
    if (label != kEllipsis) result.push_back(label);
    for (int64_t i = count; label == kEllipsis && i > 0; --i) result.push_back(static_cast<Label>(-i));
  }
  return result;
}

// The letters that occur once, in the order of their codes, after the ellipsis.
Term implicit_output(const std::vector<Term>& inputs, int64_t dots) {
  std::map<Label, int> counts;
  for (const Term& term : inputs) {
    for (const Label label : term) ++counts[label];
  }
  Term result = expand({kEllipsis}, dots);
  for (const auto& [label, count] : counts) {
    if (label > 0 && count == 1) result.push_back(label);
  }
  return result;
}

void check_output(const Term& output, const std::vector<Term>& inputs) {
  for (const Label label : output) {
    const bool is_known =
        std::ranges::any_of(inputs, [&](const Term& term) { return std::ranges::count(term, label) != 0; });
    const std::string name = label > 0 ? std::string(1, static_cast<char>(label)) : "...";
    if (!is_known) fail(ErrorCode::shape, "`{}` of the output occurs in no input", name);
    if (std::ranges::count(output, label) > 1) fail(ErrorCode::shape, "`{}` occurs twice in the output", name);
  }
}

}  // namespace

void check_einsum(std::string_view equation) { parse_equation(equation); }

EinsumLabels einsum_labels(std::string_view text, std::span<const int64_t> ranks) {
  const Equation equation = parse_equation(text);
  if (equation.inputs.size() != ranks.size()) {
    fail(ErrorCode::shape, "the equation `{}` has {} terms for {} inputs", text, equation.inputs.size(), ranks.size());
  }
  std::optional<int64_t> dots;
  EinsumLabels labels;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Term& term = equation.inputs[i];
    const bool has_dots = std::ranges::count(term, kEllipsis) != 0;
    const int64_t rest = ranks[i] - static_cast<int64_t>(term.size()) + has_dots;
    if (rest < 0 || (!has_dots && rest != 0)) {
      fail(ErrorCode::shape, "term {} of the equation `{}` does not fit rank {}", i, text, ranks[i]);
    }
    if (has_dots && dots && *dots != rest) {
      fail(ErrorCode::shape, "ellipses of the equation `{}` cover {} and {} dims", text, *dots, rest);
    }
    if (has_dots) dots = rest;
    labels.inputs.push_back(expand(term, rest));
  }
  if (equation.output && !dots && std::ranges::count(*equation.output, kEllipsis) != 0) {
    fail(ErrorCode::shape, "`...` of the output occurs in no input");
  }
  labels.output =
      equation.output ? expand(*equation.output, dots.value_or(0)) : implicit_output(labels.inputs, dots.value_or(0));
  check_output(labels.output, labels.inputs);
  return labels;
}

}  // namespace assay::ops
