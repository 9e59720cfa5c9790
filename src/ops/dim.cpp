#include "ops/dim.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/model.h"

namespace assay::ops {
namespace {

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}

std::optional<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

Dim dim_of(std::optional<int64_t> number) { return number ? Dim(*number) : Dim(); }

int64_t floor_quotient(int64_t a, int64_t divisor) { return a / divisor - (a % divisor < 0 ? 1 : 0); }

}  // namespace

bool Dim::equals(const Dim& other) const { return !is_unknown() && space_ == other.space_ && value_ == other.value_; }

bool Dim::is_non_negative() const {
  if (is_number()) return value_ >= 0;
  if (is_unknown()) return false;
  const ir::AffineDim& expression = space().table_.expression(id());
  return expression.constant >= 0 &&
         std::ranges::all_of(expression.terms, [](const auto& term) { return term.second >= 0; });
}

std::string Dim::text() const {
  if (is_number()) return fmt::format("{}", value_);
  return is_unknown() ? "?" : space().text(id());
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return dim_of(checked_add(a.value_, b.value_));
  if (a.is_unknown() || b.is_unknown()) return {};
  DimSpace& space = Dim::space_of(a, b);
  return space.from(space.table_.add(space.to_id(a), space.to_id(b)));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return dim_of(checked_multiply(a.value_, b.value_));
  if (a.is(0) || b.is(0)) return 0;
  if (a.is_unknown() || b.is_unknown()) return {};
  DimSpace& space = Dim::space_of(a, b);
  if (a.is_number()) return space.from(space.table_.scale(b.id(), a.value_));
  if (b.is_number()) return space.from(space.table_.scale(a.id(), b.value_));
  const std::optional<DimSpace::Monomial> result = space.monomial(Dims{a, b});
  return result ? space.from(*result) : Dim();
}

// floor(e/d): what d divides leaves the bracket, the rest becomes a symbol.
Dim floor_div(const Dim& a, int64_t divisor) {
  ASSAY_CHECK(divisor > 0);
  if (a.is_number()) return floor_quotient(a.value_, divisor);
  if (a.is_unknown() || divisor == 1) return a;
  DimSpace& space = a.space();
  Dim whole = 0;
  Dim rest = 0;
  const ir::AffineDim expression = space.table_.expression(a.id());
  const auto divide = [&](int64_t coefficient, const Dim& factor) {
    const int64_t quotient = floor_quotient(coefficient, divisor);
    whole = whole + factor * Dim(quotient);
    rest = rest + factor * Dim(coefficient - quotient * divisor);
  };
  for (const auto& [name, coefficient] : expression.terms) {
    divide(coefficient, space.from(space.table_.symbol(name)));
  }
  divide(expression.constant, 1);
  if (rest.is_number()) return whole + Dim(floor_quotient(rest.value_, divisor));
  if (rest.is_unknown() || whole.is_unknown()) return {};
  const std::string inner = rest.text();
  const bool is_sum = inner.find(' ') != std::string::npos;
  return whole + space.symbol(is_sum ? fmt::format("floor(({})/{})", inner, divisor)
                                     : fmt::format("floor({}/{})", inner, divisor));
}

Dim ceil_div(const Dim& a, int64_t divisor) { return floor_div(a + Dim(divisor - 1), divisor); }

Dim min(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return std::min(a.value_, b.value_);
  if (a.is_unknown() || b.is_unknown()) return {};
  if ((a - b).is_non_negative()) return b;
  if ((b - a).is_non_negative()) return a;
  return Dim::space_of(a, b).extreme("min", a, b);
}

Dim max(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return std::max(a.value_, b.value_);
  if (a.is_unknown() || b.is_unknown()) return {};
  if ((a - b).is_non_negative()) return a;
  if ((b - a).is_non_negative()) return b;
  return Dim::space_of(a, b).extreme("max", a, b);
}

Dim quotient(std::span<const Dim> dims, std::span<const Dim> divisors) {
  DimSpace* space = nullptr;
  for (const std::span<const Dim> factors : {dims, divisors}) {
    for (const Dim& dim : factors) space = dim.is_expression() ? &dim.space() : space;
  }
  if (!space) {
    const std::optional<int64_t> total = product(dims).number();
    const std::optional<int64_t> part = product(divisors).number();
    if (!total || !part || *part == 0 || *total % *part != 0) return {};
    return *total / *part;
  }
  std::optional<DimSpace::Monomial> total = space->monomial(dims);
  const std::optional<DimSpace::Monomial> part = space->monomial(divisors);
  if (!total || !part || part->number == 0 || total->number % part->number != 0) return {};
  for (const ir::Symbol factor : part->factors) {
    const auto found = std::ranges::find(total->factors, factor);
    if (found == total->factors.end()) return {};
    total->factors.erase(found);
  }
  total->number /= part->number;
  return space->from(*total);
}

Dim product(std::span<const Dim> dims) {
  Dim result = 1;
  for (const Dim& dim : dims) result = result * dim;
  return result;
}

std::string text(std::span<const Dim> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + dims[i].text();
  return text + "]";
}

std::optional<std::vector<int64_t>> numbers(std::span<const Dim> dims) {
  std::vector<int64_t> result;
  for (const Dim& dim : dims) {
    if (!dim.is_number()) return std::nullopt;
    result.push_back(*dim.number());
  }
  return result;
}

ir::DimId to_model(const Dim& dim, ir::Model& model) {
  if (dim.is_unknown()) return ir::kUnknownDim;
  if (dim.is_number()) return model.dims().constant(dim.value_);
  const DimSpace& space = dim.space();
  const ir::AffineDim& expression = space.table_.expression(dim.id());
  ir::DimId sum = model.dims().constant(expression.constant);
  for (const auto& [name, coefficient] : expression.terms) {
    const ir::DimId symbol = model.dims().symbol(model.symbols().intern(space.symbols_.text(name)));
    sum = model.dims().add(sum, model.dims().scale(symbol, coefficient));
  }
  return sum;
}

DimSpace::DimSpace(const ir::Model& model) : model_(&model) {
  std::set<ir::Symbol> names;
  for (uint32_t i = 0; i < model.dims().size(); ++i) {
    for (const auto& [name, coefficient] : model.dims().expression(ir::DimId{i}).terms) names.insert(name);
  }
  for (const ir::Symbol name : names) symbols_.intern(model.text(name));
}

Dim DimSpace::from_model(ir::DimId id) {
  if (!id.valid()) return {};
  if (const std::optional<int64_t> number = model_->dims().as_constant(id)) return *number;
  if (id.index >= of_model_.size()) of_model_.resize(model_->dims().size());
  ir::DimId& known = of_model_[id.index];
  if (known.valid()) return from(known);
  const ir::AffineDim& expression = model_->dims().expression(id);
  Dim sum = expression.constant;
  for (const auto& [name, coefficient] : expression.terms) sum = sum + symbol(model_->text(name)) * coefficient;
  known = id == ir::kUnknownDim ? id : to_id(sum);
  return from(known);
}

Dim DimSpace::from(ir::DimId id) {
  if (id == ir::kUnknownDim || !id.valid()) return {};
  if (const std::optional<int64_t> number = table_.as_constant(id)) return *number;
  return {*this, id};
}

ir::DimId DimSpace::to_id(const Dim& dim) {
  if (dim.is_unknown()) return ir::kUnknownDim;
  return dim.is_number() ? table_.constant(dim.value_) : dim.id();
}

Dim DimSpace::symbol(std::string_view name) { return from(table_.symbol(symbols_.intern(name))); }

Dim DimSpace::fresh() {
  std::string name;
  do name = fmt::format("unk__{}", fresh_count_++);
  while (symbols_.find(name).valid() || (model_ && model_->symbols().find(name).valid()));
  fresh_.insert(symbols_.intern(name));
  return symbol(name);
}

bool DimSpace::has_fresh(const Dim& dim) const {
  if (!dim.is_expression()) return false;
  return std::ranges::any_of(table_.expression(dim.id()).terms, [&](const auto& term) {
    if (fresh_.contains(term.first)) return true;
    // A formula has the names of its symbols in its own.
    const std::string_view name = symbols_.text(term.first);
    return std::ranges::any_of(
        fresh_, [&](ir::Symbol fresh) { return name.find(symbols_.text(fresh)) != std::string_view::npos; });
  });
}

Dim DimSpace::extreme(const char* name, const Dim& a, const Dim& b) {
  std::string first = a.text();
  std::string second = b.text();
  if (second < first) std::swap(first, second);
  return symbol(fmt::format("{}({}, {})", name, first, second));
}

// The product as number and symbols, a sum being one symbol; empty where something is unknown or overflows.
std::optional<DimSpace::Monomial> DimSpace::monomial(std::span<const Dim> dims) {
  Monomial result;
  for (const Dim& dim : dims) {
    if (dim.is_unknown()) return std::nullopt;
    int64_t coefficient = dim.value_;
    if (!dim.is_number()) {
      const ir::AffineDim& expression = table_.expression(dim.id());
      if (expression.terms.size() != 1 || expression.constant != 0) {
        const ir::Symbol sum = symbols_.intern(fmt::format("({})", text(dim.id())));
        sums_.try_emplace(sum, dim.id());
        result.factors.push_back(sum);
        continue;
      }
      coefficient = expression.terms[0].second;
      const ir::Symbol name = expression.terms[0].first;
      const auto known = products_.find(name);
      if (known == products_.end()) {
        result.factors.push_back(name);
      } else {
        result.factors.insert(result.factors.end(), known->second.begin(), known->second.end());
      }
    }
    const std::optional<int64_t> number = checked_multiply(result.number, coefficient);
    if (!number) return std::nullopt;
    result.number = *number;
  }
  std::ranges::sort(result.factors);
  return result;
}

Dim DimSpace::from(const Monomial& monomial) {
  if (monomial.factors.empty()) return monomial.number;
  if (monomial.factors.size() == 1 && sums_.contains(monomial.factors[0])) {
    return from(table_.scale(sums_.at(monomial.factors[0]), monomial.number));
  }
  std::string name;
  for (const ir::Symbol factor : monomial.factors) {
    name += (name.empty() ? "" : "*") + std::string(symbols_.text(factor));
  }
  const ir::Symbol symbol = symbols_.intern(name);
  if (monomial.factors.size() > 1) products_.try_emplace(symbol, monomial.factors);
  return from(table_.scale(table_.symbol(symbol), monomial.number));
}

}  // namespace assay::ops
