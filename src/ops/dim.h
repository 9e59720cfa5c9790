#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/dims.h"

namespace assay::ir {
class Model;
}

namespace assay::ops {

class DimSpace;

// A dim, or an element of a shape tensor: a number, an affine expression in named symbols, or nothing known. Arithmetic
// beyond affine gives a symbol that is named after its formula (`floor(h/2)`), so that equal formulas are equal dims.
class Dim {
 public:
  Dim() = default;                                                 // nothing known
  Dim(int64_t number) : value_(number), space_(&number_space_) {}  // NOLINT: numbers are dims

  bool is_unknown() const { return space_ == nullptr; }
  bool is_number() const { return space_ == &number_space_; }
  std::optional<int64_t> number() const { return is_number() ? std::optional(value_) : std::nullopt; }
  bool is(int64_t value) const { return is_number() && value_ == value; }
  // Known to be the same; two unknown dims are not.
  bool equals(const Dim& other) const;
  // Certainly not negative: symbols stand for sizes.
  bool is_non_negative() const;
  std::string text() const;  // `4`, `2*batch + 1`, `?`

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, int64_t divisor);  // divisor > 0
  friend Dim ceil_div(const Dim& a, int64_t divisor);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  // The product of all of `dims` divided by that of `divisors`, where that is known to divide; else unknown.
  friend Dim quotient(std::span<const Dim> dims, std::span<const Dim> divisors);
  // The dim in the tables of a model.
  friend ir::DimId to_model(const Dim& dim, ir::Model& model);

 private:
  friend class DimSpace;
  inline static char number_space_ = 0;  // marks numbers, by its address
  Dim(DimSpace& space, ir::DimId id) : value_(id.index), space_(&space) {}
  bool is_expression() const { return !is_unknown() && !is_number(); }
  // For expressions.
  DimSpace& space() const { return *static_cast<DimSpace*>(space_); }
  ir::DimId id() const { return {static_cast<uint32_t>(value_)}; }
  // The space of the one that is an expression.
  static DimSpace& space_of(const Dim& a, const Dim& b) { return a.is_number() ? b.space() : a.space(); }

  // A model of a million nodes has some millions of dims: 16 bytes each.
  int64_t value_ = 0;      // the number, or the id of the expression
  void* space_ = nullptr;  // null: nothing is known; number_space_: a number
};

using Dims = std::vector<Dim>;

Dim product(std::span<const Dim> dims);
std::string text(std::span<const Dim> dims);  // `[2, batch, ?]`
// All as numbers, if all are.
std::optional<std::vector<int64_t>> numbers(std::span<const Dim> dims);
inline Dims dims_of(std::span<const int64_t> numbers) { return Dims(numbers.begin(), numbers.end()); }

// The expressions of one inference, apart from the tables of the model that it looks at.
class DimSpace {
 public:
  DimSpace() = default;
  // With the symbols of the model's dims, in their order; fresh symbols take no name that the model has.
  explicit DimSpace(const ir::Model& model);
  DimSpace(const DimSpace&) = delete;
  DimSpace& operator=(const DimSpace&) = delete;

  Dim from(ir::DimId id);           // an id of this space, as to_id() gives it
  ir::DimId to_id(const Dim& dim);  // equal dims have equal ids
  Dim from_model(ir::DimId id);
  Dim symbol(std::string_view name);
  // A symbol that stands for a size which only running the model tells: `unk__0`, `unk__1`, ...
  Dim fresh();
  // True if a fresh symbol occurs in the dim.
  bool has_fresh(const Dim& dim) const;

 private:
  friend class Dim;
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, int64_t divisor);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  friend Dim quotient(std::span<const Dim> dims, std::span<const Dim> divisors);
  friend ir::DimId to_model(const Dim& dim, ir::Model& model);

  // number * product of symbols, the symbols sorted.
  struct Monomial {
    int64_t number = 1;
    std::vector<ir::Symbol> factors;
  };

  Dim extreme(const char* name, const Dim& a, const Dim& b);
  std::optional<Monomial> monomial(std::span<const Dim> dims);
  Dim from(const Monomial& monomial);
  std::string text(ir::DimId id) const { return table_.text(id, symbols_); }

  const ir::Model* model_ = nullptr;
  ir::DimTable table_;
  ir::SymbolTable symbols_;
  std::vector<ir::DimId> of_model_;                         // by the model's id: the same dim here, if it was asked for
  std::map<ir::Symbol, std::vector<ir::Symbol>> products_;  // symbol named `a*b` -> its factors
  std::map<ir::Symbol, ir::DimId> sums_;                    // symbol named `(a + 1)` -> the sum
  std::set<ir::Symbol> fresh_;
  uint32_t fresh_count_ = 0;
};

}  // namespace assay::ops
