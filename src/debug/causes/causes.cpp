#include "debug/causes/causes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "debug/causes/counterpart.h"
#include "debug/causes/lower_types.h"
#include "debug/causes/naive_variance.h"
#include "debug/causes/places.h"
#include "debug/causes/ranges.h"
#include "debug/causes/variants.h"

namespace assay::debug {
namespace {

std::optional<Cause> semantics(const CauseCase& given, const Observation& seen) {
  const std::string variant = matching_variant(given.model, given.accused, seen);
  if (variant.empty()) return std::nullopt;
  return Cause{"semantics", fmt::format("it gives what the layer would give {}", variant)};
}

std::optional<Cause> precision(const LayerTrial& trial, const Observation& seen) {
  std::string text = matching_type(trial, seen);
  if (text.empty()) return std::nullopt;
  return Cause{"precision", std::move(text)};
}

// A single number that no input has a part in.
std::optional<Cause> constant(const CauseCase& given, const Observation& seen) {
  const auto is_known = [&](const ir::Use& use) { return !use.value || is_constant(given.model, use.value); };
  if (seen.given().size() != 1 || !std::ranges::all_of(given.model[given.accused.node].operands, is_known))
    return std::nullopt;
  return Cause{"constant", fmt::format("it is {:.6g}, and should be {:.6g}", seen.given()[0], seen.exact()[0])};
}

Cause unknown(const Accused& accused) {
  const size_t before = accused.error.group.size();
  if (before == 0) return {"unknown", "introduced in this layer; nothing that was tried explains the numbers"};
  return {"unknown", fmt::format("only `{}` is known: it may be any of the {} layers up to it",
                                 printable(accused.error.value), before + 1)};
}

}  // namespace

Cause find_cause(const CauseCase& given) {
  const Accused& accused = given.accused;
  const bool has_shape = accused.given.tensor().shape() == accused.exact.tensor().shape();
  if (given.other != nullptr) {
    if (std::optional<Cause> found = difference_from(given, *given.other)) return *found;
  }
  if (!has_shape) {
    return {"shape", fmt::format("its shape is [{}] and should be [{}]", fmt::join(accused.given.tensor().shape(), ","),
                                 fmt::join(accused.exact.tensor().shape(), ","))};
  }
  const Observation seen(accused);
  const LayerTrial trial(given.model, accused);
  if (std::optional<Cause> found = out_of_range(given, seen)) return *found;
  if (std::optional<Cause> found = constant(given, seen)) return *found;
  if (std::optional<Cause> found = semantics(given, seen)) return *found;
  if (std::optional<Cause> found = naive_variance(trial, seen)) return *found;
  if (std::optional<Cause> found = on_steps(seen)) return *found;
  if (std::optional<Cause> found = precision(trial, seen)) return *found;
  if (std::optional<Cause> found = clipped(seen)) return *found;
  if (std::optional<Cause> found = layout(seen)) return *found;
  if (std::optional<Cause> found = scale(seen)) return *found;
  if (std::optional<Cause> found = place(seen)) return *found;
  return unknown(accused);
}

}  // namespace assay::debug
