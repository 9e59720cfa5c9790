// Split: lengths became an input in version 13; version 18 counts outputs where there are none.
#include <fmt/format.h>

#include "passes/opset/adapters.h"

namespace assay::passes {
namespace {

constexpr size_t kLengths = 1;

Refusal lengths_to_input(Draft& draft) {
  to_input(draft, "split", kLengths);
  return {};
}

Refusal lengths_to_attribute(Draft& draft) { return to_attribute(draft, kLengths, "split"); }

Refusal count_outputs(Draft& draft) {
  if (!draft.has(kLengths)) draft.set("num_outputs", static_cast<int64_t>(draft.result_count()));
  return {};
}

std::optional<int64_t> split_length(const Draft& draft) {
  const ops::Type type = draft.type(0);
  if (!type.is_tensor() || !type.dims) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims->size());
  const int64_t axis = draft.integer("axis", 0);
  if (axis < -rank || axis >= rank) return std::nullopt;
  return (*type.dims)[static_cast<size_t>(axis < 0 ? axis + rank : axis)].number();
}

// Before version 18 parts without lengths are equal.
Refusal write_lengths(Draft& draft) {
  draft.drop("num_outputs");
  if (draft.has(kLengths)) return {};
  const auto count = static_cast<int64_t>(draft.result_count());
  const std::optional<int64_t> length = split_length(draft);
  if (!length) return "the length of the axis that it splits is not known, and may not be a multiple of its outputs";
  if (*length % count == 0) return {};
  const int64_t part = *length / count + 1;
  std::vector<int64_t> lengths(static_cast<size_t>(count), part);
  lengths.back() = *length - part * (count - 1);
  if (lengths.back() < 0) return fmt::format("{} elements cannot be split into {} parts", *length, count);
  draft.set_operand(kLengths, draft.add_integers(lengths));
  return {};
}

}  // namespace

std::span<const Adapter> split_adapters() {
  static constexpr Adapter kRows[] = {
      {"Split", 13, lengths_to_input, lengths_to_attribute},
      {"Split", 18, count_outputs, write_lengths},
  };
  return kRows;
}

}  // namespace assay::passes
