#include "engine/devices/cuda/attention/attention_operands.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/item_places.h"

namespace assay::engine::cuda {

int64_t AttentionOperands::items() const {
  int64_t count = 1;
  for (const int64_t dim : g_.items) count *= dim;
  return count;
}

const TensorDesc& AttentionOperands::desc_of(const Matrices& matrices) const {
  const auto number = static_cast<size_t>(matrices.input);
  return matrices.is_result ? layer_.outputs[number] : layer_.inputs[number];
}

std::array<NamedMatrices, 9> AttentionOperands::operands() const {
  return {NamedMatrices{"Q", "Q", "q", g_.q},
          NamedMatrices{"K", "K", "k", g_.k},
          NamedMatrices{"V", "V", "v", g_.v},
          NamedMatrices{"Mask", "Mask", "mask", g_.mask},
          NamedMatrices{"Out", "Out", "out", g_.out},
          NamedMatrices{"Conditions", "Conditions", "conditions", g_.conditions},
          NamedMatrices{"Last", "Last", "last", g_.last_key},
          NamedMatrices{"PastK", "PastK", "past_k", g_.k_cache.past},
          NamedMatrices{"PastV", "PastV", "past_v", g_.v_cache.past}};
}

void AttentionOperands::add_operands() {
  for (const NamedMatrices& operand : operands()) {
    if (operand.place == "out") {
      add_written(operand, layer_.outputs[0].dtype, output_pointer(0));
    } else {
      add(operand);
    }
  }
  add_numbers();
}

void AttentionOperands::add_written(const NamedMatrices& operand, tensor::DType type, const Pointer& to) {
  writer_.type(operand.type, type);
  writer_.pointer(fmt::format("k{}", operand.name), operand.type, to);
  writer_.number(fmt::format("k{}Row", operand.name), operand.matrices.row);
  writer_.number(fmt::format("k{}Column", operand.name), operand.matrices.column);
}

void AttentionOperands::add(const NamedMatrices& operand) {
  writer_.type(operand.type, type_of(operand));
  writer_.pointer(fmt::format("k{}", operand.name), fmt::format("const {}", operand.type),
                  operand.place == "q" ? q_ : pointer_of(operand.matrices));
  writer_.number(fmt::format("k{}Row", operand.name), operand.matrices.row);
  writer_.number(fmt::format("k{}Column", operand.name), operand.matrices.column);
}

// The type of its elements; where there are none, such as the text can read.
tensor::DType AttentionOperands::type_of(const NamedMatrices& operand) const {
  if (operand.matrices.exist()) return desc_of(operand.matrices).dtype;
  return operand.place == "last" ? tensor::DType::int32 : tensor::DType::uint8;
}

Pointer AttentionOperands::pointer_of(const Matrices& matrices) {
  if (!matrices.exist()) return input_pointer(0);
  const auto number = static_cast<size_t>(matrices.input);
  return matrices.is_result ? output_pointer(number) : input_pointer(number);
}

void AttentionOperands::add_places(const std::vector<NamedMatrices>& more) {
  std::vector<PlacedMatrices> places;
  for (const NamedMatrices& operand : operands()) places.push_back({operand.place, operand.matrices});
  for (const NamedMatrices& operand : more) places.push_back({operand.place, operand.matrices});
  writer_.text(item_places_text(g_.items, places, writer_.launch()));
}

void AttentionOperands::add_numbers() {
  writer_.number("kKeys", g_.keys);
  writer_.number("kRows", g_.rows);
  writer_.number("kPast", g_.past);
  // Scores that are divided by a power of two may as well be multiplied.
  constexpr int kMostExponent = 100;
  int exponent = 0;
  const bool is_power = std::frexp(g_.scale, &exponent) == 0.5F && std::abs(exponent) < kMostExponent;
  const bool is_divided = g_.divides && !is_power;
  writer_.real("kScaleBy", g_.divides && !is_divided ? 1 / g_.scale : g_.scale);
  writer_.real("kHidden", g_.hidden);
  writer_.constant("kDivides", is_divided ? 1 : 0);
  writer_.constant("kIsCausal", g_.is_causal ? 1 : 0);
  writer_.constant("kHasMask", g_.mask.exist() ? 1 : 0);
  writer_.constant("kHasConditions", g_.conditions.exist() ? 1 : 0);
  writer_.constant("kHiddenWhere", g_.hidden_where ? 1 : 0);
  writer_.constant("kReplaces", g_.replaces ? 1 : 0);
  writer_.constant("kHasLast", g_.last_key.exist() ? 1 : 0);
  writer_.constant("kEndsWithLast", g_.ends_with_last ? 1 : 0);
  writer_.constant("kZeroesNothing", g_.zeroes_what_sees_none ? 1 : 0);
  writer_.constant("kZeroesNoNumber", g_.zeroes_no_number ? 1 : 0);
}

bool AttentionOperands::keeps(Programs& programs, Launches& launches) const {
  std::vector<ElementResult> copies;
  add_copies(g_.k_cache, g_.k, g_.depth, copies);
  add_copies(g_.v_cache, g_.v, g_.width, copies);
  if (copies.empty()) return true;
  std::optional<Launch> launch = element_launch(programs, copies);
  if (launch) launches.all.push_back(std::move(*launch));
  return launch.has_value();
}

void AttentionOperands::add_copies(const AttentionCache& cache, const Matrices& added, int64_t width,
                                   std::vector<ElementResult>& copies) const {
  if (!cache.kept.exist()) return;
  const int64_t past = cache.past.exist() ? cache.past_rows : 0;
  const ElementText copy{.inputs = {0}, .statements = "    const float made = x0;\n", .numbers = {}};
  const auto add_copy = [&](const Matrices& from, int64_t rows, int64_t first) {
    if (!from.exist() || rows == 0) return;
    TensorDesc source = stacked(from, rows, width), target = stacked(cache.kept, rows, width);
    for (size_t i = 0; i < g_.items.size(); ++i) {  // of heads that share a cache, one copies
      if (cache.kept.items[i] == 0) source.dims[i] = target.dims[i] = 1;
    }
    Pointer to = pointer_of(cache.kept);
    to.offset = first * cache.kept.row * tensor::bit_width(target.dtype) / 8;
    copies.push_back({copy, {{pointer_of(from), source}}, {to, target}});
  };
  add_copy(cache.past, past, 0);
  add_copy(added, g_.keys - past, past);
}

TensorDesc AttentionOperands::stacked(const Matrices& matrices, int64_t rows, int64_t width) const {
  TensorDesc desc{desc_of(matrices).dtype, g_.items, matrices.items};
  desc.dims.insert(desc.dims.end(), {rows, width});
  desc.strides.insert(desc.strides.end(), {matrices.row, matrices.column});
  return desc;
}

}  // namespace assay::engine::cuda
