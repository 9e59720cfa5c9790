#include "debug/causes/constant_changes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analysis/moves.h"
#include "debug/accuracy/distances.h"
#include "debug/causes/observation.h"
#include "tensor/index.h"

namespace assay::debug {
namespace {

constexpr double kRatio = 1e-4;  // by which the ratio of two elements may differ from that of the others
constexpr size_t kLeastClipped = 3;

class Elements {
 public:
  Elements(const Datum& a, const Datum& b) : shape_(b.tensor().shape()), a_(numbers_of(a)), b_(numbers_of(b)) {
    for (size_t i = 0; i < a_.size() && a_.size() == b_.size(); ++i) {
      if (!is_same(a_[i], b_[i])) changed_.push_back(i);
    }
  }

  std::string text() const {
    if (changed_.empty()) return {};
    if (const std::string found = one_number(); !found.empty()) return found;
    if (is_transposed()) return "is transposed in the other model";
    if (const std::string found = clipped(); !found.empty()) return found;
    if (const std::string found = scaled(); !found.empty()) return found;
    double greatest = 0;
    for (const size_t i : changed_) greatest = std::max(greatest, std::abs(a_[i] - b_[i]));
    return fmt::format("differs in the other model in {} of {} elements, by up to {:.4g}", changed_.size(), a_.size(),
                       greatest);
  }

 private:
  // All elements that differ are one number, and become another one.
  std::string one_number() const {
    const double before = a_[changed_[0]], after = b_[changed_[0]];
    const bool is_one =
        std::ranges::all_of(changed_, [&](size_t i) { return is_same(a_[i], before) && is_same(b_[i], after); });
    if (!is_one) return {};
    if (changed_.size() == a_.size()) return fmt::format("is {:.6g}, in the other model {:.6g}", before, after);
    if (changed_.size() > 1)
      return fmt::format("has {} times {:.6g}, in the other model {:.6g}", changed_.size(), before, after);
    return fmt::format("is {:.6g} at [{}], in the other model {:.6g}", before,
                       fmt::join(tensor::index_of(changed_[0], shape_), ","), after);
  }

  bool is_transposed() const {
    if (shape_.size() < 2 || shape_[shape_.size() - 2] != shape_.back()) return false;
    const auto rows = static_cast<size_t>(shape_.back());
    for (size_t i = 0; i < a_.size(); ++i) {
      const size_t inner = i % (rows * rows);
      if (!is_same(b_[i], a_[i - inner + inner % rows * rows + inner / rows])) return false;
    }
    return true;
  }

  // All that differ are beyond the least or greatest number of the other model, and become that.
  std::string clipped() const {
    const auto [least, most] = std::ranges::minmax(b_);
    if (changed_.size() < kLeastClipped || least == most) return {};
    for (const size_t i : changed_) {
      if (!(b_[i] == least && a_[i] < least) && !(b_[i] == most && a_[i] > most)) return {};
    }
    const std::string where =
        least == -most ? fmt::format("+-{:.4g}", most) : fmt::format("{:.4g} and {:.4g}", least, most);
    return fmt::format("is clipped at {} in the other model: {} of {} elements differ", where, changed_.size(),
                       a_.size());
  }

  // All, or those at one index of an axis, are times one factor, or one number more.
  std::string scaled() const {
    const std::string where = place();
    if (where.empty()) return {};
    const auto common = [&](auto relation) {
      double found = NAN, size = 0;
      for (const size_t i : changed_) {
        if (std::abs(a_[i]) > size) {
          found = relation(i);
          size = std::abs(a_[i]);
        }
      }
      return found;
    };
    const double factor = common([&](size_t i) { return b_[i] / a_[i]; });
    const double offset = common([&](size_t i) { return b_[i] - a_[i]; });
    const auto is_all = [&](auto candidate) {
      return std::ranges::all_of(
          changed_, [&](size_t i) { return std::abs(candidate(i) - b_[i]) <= kRatio * std::abs(b_[i] - a_[i]); });
    };
    if (is_all([&](size_t i) { return factor * a_[i]; }))
      return fmt::format("is {:.6g} times as large{} in the other model", factor, where == "all" ? "" : " at " + where);
    if (is_all([&](size_t i) { return offset + a_[i]; }))
      return fmt::format("is {:.6g} {}{} in the other model", std::abs(offset), offset > 0 ? "more" : "less",
                         where == "all" ? "" : " at " + where);
    return where == "all" ? "" : fmt::format("differs in the other model only at {}", where);
  }

  // `all`, or `index 3 of axis 1`; empty if neither.
  std::string place() const {
    const size_t zeros = static_cast<size_t>(std::ranges::count(a_, 0.0));
    if (changed_.size() + zeros >= a_.size()) return "all";
    size_t inner = a_.size();
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      const auto size = static_cast<size_t>(shape_[axis]);
      inner /= size;
      std::set<size_t> indices;
      for (const size_t i : changed_) indices.insert(i / inner % size);
      if (size > 1 && indices.size() == 1) return fmt::format("index {} of axis {}", *indices.begin(), axis);
    }
    return {};
  }

  tensor::Shape shape_;
  Numbers a_;
  Numbers b_;
  std::vector<size_t> changed_;
};

// A number of which the type of the other model makes 0 or infinity; rounding alone says nothing.
ConstantChange lost_number(const Datum& a, const Datum& b) {
  const Numbers wide = numbers_of(a), less = numbers_of(b);
  for (size_t i = 0; i < wide.size(); ++i) {
    const bool is_lost = (wide[i] != 0 && less[i] == 0) || (std::isfinite(wide[i]) && !std::isfinite(less[i]));
    if (is_lost)
      return {fmt::format("is {:.6g}, of which {} makes {:.6g}", wide[i], tensor::name(b.declared()), less[i]), true};
  }
  return {};
}

}  // namespace

ConstantChange constant_change(const Datum& a, const Datum& b) {
  if (!is_numeric(a) || !is_numeric(b)) return {};
  const bool are_single = a.tensor().count() == 1 && b.tensor().count() == 1;
  if (a.tensor().shape() != b.tensor().shape() && !are_single)
    return {fmt::format("has the shape [{}], in the other model [{}]", fmt::join(a.tensor().shape(), ","),
                        fmt::join(b.tensor().shape(), ","))};
  const bool are_floats = tensor::is_floating(a.declared()) && tensor::is_floating(b.declared());
  if (!are_floats || a.declared() == b.declared()) return {Elements(a, b).text()};
  const Datum narrow = analysis::rounded(Datum(with_numbers(a, numbers_of(a)).tensor(), b.declared()));
  return Elements(narrow, b).text().empty() ? lost_number(a, b) : ConstantChange{Elements(a, b).text()};
}

}  // namespace assay::debug
