#include "ir/dims.h"

#include <fmt/format.h>

namespace assay::ir {
namespace {

using Terms = std::vector<std::pair<Symbol, int64_t>>;

// The terms of both sides merged by symbol; empty where a coefficient overflows.
std::optional<Terms> merge(const Terms& a, const Terms& b) {
  std::map<Symbol, int64_t> sums(a.begin(), a.end());
  for (const auto& [name, coefficient] : b) {
    if (__builtin_add_overflow(sums[name], coefficient, &sums[name])) return std::nullopt;
  }
  std::erase_if(sums, [](const std::pair<const Symbol, int64_t>& term) { return term.second == 0; });
  return Terms(sums.begin(), sums.end());
}

}  // namespace

DimTable::DimTable() {
  static const AffineDim unknown;
  expressions_.push_back(&unknown);
}

DimTable::DimTable(const DimTable& other) : DimTable() {
  for (uint32_t i = 1; i < other.expressions_.size(); ++i) intern(*other.expressions_[i]);
}

DimId DimTable::intern(AffineDim expression) {
  const auto [entry, is_new] =
      ids_.try_emplace(std::move(expression), DimId{static_cast<uint32_t>(expressions_.size())});
  if (is_new) expressions_.push_back(&entry->first);
  return entry->second;
}

DimId DimTable::constant(int64_t value) { return intern({value, {}}); }

DimId DimTable::symbol(Symbol name) { return intern({0, {{name, 1}}}); }

DimId DimTable::add(DimId a, DimId b) {
  if (a == kUnknownDim || b == kUnknownDim) return kUnknownDim;
  std::optional<Terms> terms = merge(expression(a).terms, expression(b).terms);
  int64_t constant = 0;
  const bool overflow = __builtin_add_overflow(expression(a).constant, expression(b).constant, &constant);
  return terms && !overflow ? intern({constant, std::move(*terms)}) : kUnknownDim;
}

DimId DimTable::scale(DimId a, int64_t factor) {
  if (a == kUnknownDim) return kUnknownDim;
  AffineDim result;
  if (factor == 0) return intern(result);
  result = expression(a);
  bool overflow = __builtin_mul_overflow(result.constant, factor, &result.constant);
  for (auto& [name, coefficient] : result.terms) overflow |= __builtin_mul_overflow(coefficient, factor, &coefficient);
  return overflow ? kUnknownDim : intern(std::move(result));
}

std::optional<int64_t> DimTable::as_constant(DimId dim) const {
  if (dim == kUnknownDim || !expression(dim).terms.empty()) return std::nullopt;
  return expression(dim).constant;
}

std::string DimTable::text(DimId dim, const SymbolTable& symbols) const {
  if (dim == kUnknownDim) return "?";
  const AffineDim& expr = expression(dim);
  std::string text;
  for (const auto& [name, coefficient] : expr.terms) {
    if (!text.empty()) text += " + ";
    if (coefficient != 1) text += fmt::format("{}*", coefficient);
    text += symbols.text(name);
  }
  if (text.empty()) return fmt::format("{}", expr.constant);
  if (expr.constant > 0) text += fmt::format(" + {}", expr.constant);
  if (expr.constant < 0) text += fmt::format(" - {}", uint64_t{0} - static_cast<uint64_t>(expr.constant));
  return text;
}

}  // namespace assay::ir
