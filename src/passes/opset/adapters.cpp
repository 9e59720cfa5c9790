#include "passes/opset/adapters.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace assay::passes {

std::span<const std::span<const Adapter>> adapter_groups() {
  static const std::array kGroups = {axes_adapters(),          argument_adapters(),     image_adapters(),
                                     normalization_adapters(), quantization_adapters(), softmax_adapters(),
                                     split_adapters(),         addition_adapters(),     shape_adapters()};
  return kGroups;
}

const Adapter* find_adapter(std::string_view op, int64_t since) {
  for (const std::span<const Adapter> group : adapter_groups()) {
    for (const Adapter& row : group) {
      if (row.op == op && row.since == since) return &row;
    }
  }
  return nullptr;
}

Refusal to_attribute(Draft& draft, size_t index, std::string_view name) {
  if (!draft.has(index)) return {};
  const std::optional<std::vector<int64_t>> values = draft.known_integers(index);
  if (!values) return fmt::format("its `{}` is computed, and an attribute in the older version", name);
  draft.drop_operand(index);
  draft.set(name, *values);
  return {};
}

void to_input(Draft& draft, std::string_view name, size_t index) {
  if (!draft.find(name)) return;
  draft.set_operand(index, draft.add_integers(draft.integers(name)));
  draft.drop(name);
}

Refusal drop_saturate(Draft& draft) {
  draft.drop("saturate");
  return {};
}

Refusal drop_dilations(Draft& draft) {
  const std::vector<int64_t> dilations = draft.integers("dilations");
  const bool is_plain = std::ranges::all_of(dilations, [](int64_t dilation) { return dilation == 1; });
  if (!is_plain) return "it is dilated, which the older version cannot be";
  draft.drop("dilations");
  return {};
}

}  // namespace assay::passes
