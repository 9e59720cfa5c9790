#include "debug/causes/places.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "debug/causes/fits.h"

namespace assay::debug {
namespace {

constexpr size_t kLeastDistinct = 4;  // numbers that stand in other places

// The wrong elements at each index of each axis.
std::vector<std::vector<uint64_t>> failures_along(const Observation& seen) {
  std::vector<std::vector<uint64_t>> failures;
  for (const int64_t size : seen.shape()) failures.emplace_back(static_cast<size_t>(size));
  for (size_t i = 0; i < seen.given().size(); ++i) {
    size_t rest = i;
    for (size_t axis = failures.size(); axis-- > 0;) {
      failures[axis][rest % failures[axis].size()] += seen.is_wrong(i) ? 1 : 0;
      rest /= failures[axis].size();
    }
  }
  return failures;
}

struct Slice {
  size_t axis = 0;
  size_t index = 0;
  size_t inner = 1;  // elements from one index of the axis to the next
  size_t size = 1;   // of the axis
  bool holds(size_t i) const { return i / inner % size == index; }
};

// The slice that holds all wrong elements; nothing if all slices have some.
std::optional<Slice> wrong_slice(const Observation& seen) {
  if (seen.wrong_count() == 0) return std::nullopt;
  const std::vector<std::vector<uint64_t>> failures = failures_along(seen);
  size_t inner = seen.given().size();
  for (size_t axis = 0; axis < failures.size(); ++axis) {
    const std::vector<uint64_t>& along = failures[axis];
    inner /= along.size();
    const auto is_hit = [](uint64_t count) { return count > 0; };
    if (along.size() < 2 || std::ranges::count_if(along, is_hit) != 1) continue;
    const auto at = std::ranges::find_if(along, is_hit) - along.begin();
    return Slice{axis, static_cast<size_t>(at), inner, along.size()};
  }
  return std::nullopt;
}

// The exact numbers with those of `where` changed.
template <typename Where, typename Change>
Numbers changed(const Numbers& exact, Where where, Change change) {
  Numbers numbers = exact;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (where(i)) numbers[i] = change(numbers[i]);
  }
  return numbers;
}

// `all is 2 times what it should be`.
std::string scaled_text(const Observation& seen, std::string_view who, const auto& where) {
  const std::optional<Fitted> factor = fit(seen, {1, 0}, [&](double by) {
    return changed(seen.exact(), where, [by](double number) { return number * by; });
  });
  if (factor) return fmt::format("{} {:.6g} times what it should be", who, factor->parameter);
  const std::optional<Fitted> offset = fit(
      seen, {0}, [&](double by) { return changed(seen.exact(), where, [by](double number) { return number + by; }); });
  if (!offset) return {};
  return fmt::format("{} {:.6g} {} than it should be", who, std::abs(offset->parameter),
                     offset->parameter > 0 ? "more" : "less");
}

}  // namespace

std::optional<Cause> layout(const Observation& seen) {
  Numbers given = seen.given(), exact = seen.exact();
  std::ranges::sort(given);
  std::ranges::sort(exact);
  size_t distinct = 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const double greatest = std::max(std::abs(exact.front()), std::abs(exact.back()));
    const double may = 64 * seen.unit() * greatest;
    if (given[i] != exact[i] && !(std::abs(given[i] - exact[i]) <= may)) return std::nullopt;
    distinct += i > 0 && exact[i] - exact[i - 1] > 2 * may ? 1 : 0;
  }
  if (distinct < kLeastDistinct || seen.wrong_count() < 2) return std::nullopt;
  return Cause{"layout", "the right numbers stand in other places"};
}

std::optional<Cause> scale(const Observation& seen) {
  std::string text = scaled_text(seen, "all is", [](size_t) { return true; });
  if (!text.empty()) return Cause{"scale", std::move(text)};
  const std::optional<Slice> slice = wrong_slice(seen);
  if (!slice) return std::nullopt;
  text = scaled_text(seen, fmt::format("index {} of axis {} is", slice->index, slice->axis),
                     [&](size_t i) { return slice->holds(i); });
  if (text.empty()) return std::nullopt;
  return Cause{"scale", std::move(text)};
}

std::optional<Cause> place(const Observation& seen) {
  if (seen.wrong_count() == 0 || seen.wrong_count() == seen.given().size()) return std::nullopt;
  if (const std::optional<Slice> slice = wrong_slice(seen))
    return Cause{"one_slice", fmt::format("only index {} of axis {} is wrong", slice->index, slice->axis)};
  if (seen.shape().size() != 4) return std::nullopt;
  const std::vector<std::vector<uint64_t>> failures = failures_along(seen);
  for (size_t axis = 2; axis < failures.size(); ++axis) {
    const std::vector<uint64_t>& along = failures[axis];
    if (along.size() > 3 && along[along.size() / 2] == 0)
      return Cause{"border", fmt::format("only the border of axis {} is wrong", axis)};
  }
  return std::nullopt;
}

}  // namespace assay::debug
