#include "ops/kernels/elements/list_argument.h"

namespace assay::ops {

bool is_given(const Infer& node, const ListArgument& argument) {
  return node.version() < argument.since ? node.has_attribute(argument.name) : node.has(argument.input);
}

bool is_given(const Eval& node, const ListArgument& argument) {
  return node.version() < argument.since ? node.has_attribute(argument.name) : node.has(argument.input);
}

std::optional<Dims> known_list(const Infer& node, const ListArgument& argument) {
  if (!is_given(node, argument)) return std::nullopt;
  if (node.version() < argument.since) return dims_of(node.integers(argument.name));
  const bool is_scalar = argument.may_be_scalar && node.is_ranked(argument.input) && node.rank(argument.input) == 0;
  if (!is_scalar) node.require_rank(argument.input, 1);
  std::optional<Elements> elements = node.elements(argument.input);
  if (!elements) return std::nullopt;
  return std::move(elements->items);
}

std::optional<std::vector<int64_t>> known_numbers(const Infer& node, const ListArgument& argument) {
  const std::optional<Dims> list = known_list(node, argument);
  return list ? numbers(*list) : std::nullopt;
}

std::vector<int64_t> list_of(const Eval& node, const ListArgument& argument) {
  if (!is_given(node, argument)) return {};
  return node.version() < argument.since ? node.integers(argument.name) : node.integers_in(argument.input);
}

}  // namespace assay::ops
