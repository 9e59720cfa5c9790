#include "analysis/rounding.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ir/queries.h"
#include "ir/written.h"
#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::analysis {
namespace {

using ops::RoundingClass;

// The share for a Range, whose steps may be added up one by one: about seven times the amplitude is allowed.
constexpr double kShareOfSteps = 1.0 / 6;

double last_dim(const tensor::Datum& datum) {
  if (!datum.is_tensor() || datum.tensor().shape().empty()) return 1;
  return static_cast<double>(datum.tensor().shape().back());
}

double count_of(std::span<const tensor::Datum> data, size_t index) {
  return index < data.size() && data[index].is_tensor() ? static_cast<double>(data[index].tensor().count()) : 0;
}

double first_dim(const tensor::Datum& datum) {
  return datum.is_tensor() && !datum.tensor().shape().empty() ? static_cast<double>(datum.tensor().shape()[0]) : 1;
}

// The greatest dim of the first value.
double greatest_dim(std::span<const tensor::Datum> data) {
  const bool has_dims = !data.empty() && data[0].is_tensor() && !data[0].tensor().shape().empty();
  return has_dims ? static_cast<double>(std::ranges::max(data[0].tensor().shape())) : 1;
}

// The axis of a TopK that need not sort what it finds.
std::optional<int64_t> free_axis(const ir::Model& model, ir::NodeId node) {
  if (model.text(model[node].op) != "TopK" || ir::written_integer(model, model[node], "sorted").value_or(1) != 0)
    return {};
  return ir::written_integer(model, model[node], "axis").value_or(-1);
}

// Updates that may meet in one place: those with the most frequent index.
double greatest_multiplicity(const tensor::Datum& indices) {
  if (!indices.is_tensor() || indices.tensor().count() == 0) return 1;
  std::vector<int64_t> sorted = tensor::load_elements<int64_t>(indices.tensor());
  std::ranges::sort(sorted);
  size_t greatest = 0;
  for (size_t begin = 0, i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != sorted[begin]) begin = i;
    greatest = std::max(greatest, i - begin + 1);
  }
  return static_cast<double>(greatest);
}

// A Scatter that combines updates with what is there.
bool has_reduction(const ir::Model& model, ir::NodeId node) {
  return model.text(model[node].op).starts_with("Scatter") &&
         ir::written_word(model, model[node], "reduction").value_or("none") != "none";
}

bool is_softmax(std::string_view op) { return op.find("Softmax") != std::string_view::npos; }

bool adds_along_axes(const ops::Traits& traits, std::string_view op) {
  return traits.is(ops::Nature::reduction) || traits.is(ops::Nature::pool) ||
         (traits.is(ops::Nature::normalization) && !is_softmax(op));
}

bool adds_operands(std::string_view op) { return op == "Sum" || op == "Mean"; }

// Products or elements that are summed into one element of the result; 1 if none are.
double sum_length(const ops::Traits& traits, std::string_view op, std::span<const tensor::Datum> inputs,
                  std::span<const tensor::Datum> outputs) {
  const double results = std::max(count_of(outputs, 0), 1.0);
  if (adds_operands(op)) return static_cast<double>(inputs.size());
  if (op.starts_with("Scatter")) return greatest_multiplicity(inputs[1]);
  if (op.ends_with("DFT") || op == "STFT") return std::max(greatest_dim(inputs), greatest_dim(outputs));
  if (op.find("MatMul") != std::string_view::npos || op == "Einsum") return std::max(last_dim(inputs[0]), 2.0);
  if (op.find("Gemm") != std::string_view::npos && inputs.size() > 1) {
    return std::max(count_of(inputs, 1) / last_dim(outputs[0]), 2.0);
  }
  if (op.find("ConvTranspose") != std::string_view::npos) return count_of(inputs, 1);
  if (op.find("Conv") != std::string_view::npos && inputs.size() > 1) {
    return std::max(count_of(inputs, 1) / first_dim(inputs[1]), 2.0);
  }
  if (traits.is(ops::Nature::recurrence)) {
    return first_dim(inputs[0]) * (last_dim(inputs[1]) + last_dim(inputs[2]));
  }
  if (op.find("Attention") != std::string_view::npos) return count_of(inputs, 1) + last_dim(inputs[0]);
  if (is_softmax(op)) return last_dim(inputs[0]);
  if (adds_along_axes(traits, op)) return std::max({count_of(inputs, 0) / results, last_dim(inputs[0]), 2.0});
  return 1;
}

bool is_floating(const tensor::Datum& datum) { return datum.is_tensor() && tensor::is_floating(datum.declared()); }

bool is_training(std::span<const tensor::Datum> inputs) {
  if (inputs.size() < 3 || !inputs[2].is_tensor() || inputs[2].tensor().count() != 1) return false;
  return inputs[2].tensor().bytes()[0] != std::byte{0};
}

// True if an operator that samples pictures takes elements as they are.
bool takes_nearest_elements(const ir::Model& model, ir::NodeId node) {
  const std::string_view op = model.text(model[node].op);
  const bool is_resize = op == "Resize" || op == "Upsample";
  if (!is_resize && op != "GridSample") return false;
  if (model.find_attribute(model[node], "mode") == nullptr) return is_resize;
  return ir::written_word(model, model[node], "mode") == "nearest";
}

Rounding continuous(const ops::Traits& traits, std::string_view op, std::span<const tensor::Datum> inputs,
                    std::span<const tensor::Datum> outputs) {
  Rounding rounding{.kind = RoundingKind::rounded, .inputs = 1, .output = 4};
  if (traits.rounding == RoundingClass::arithmetic) return {.kind = RoundingKind::rounded, .output = 3};
  if (op == "Range") return {.kind = RoundingKind::rounded, .output = 3 + count_of(outputs, 0) * kShareOfSteps};
  const double terms = inputs.empty() ? 1 : sum_length(traits, op, inputs, outputs);
  if (terms > 1) rounding.inputs = std::max(std::sqrt(terms / 2), 1.0);
  if (terms > 1) rounding.output += std::sqrt(terms / 3);
  rounding.adds_elements = adds_along_axes(traits, op) || adds_operands(op) || op.starts_with("Scatter");
  rounding.makes_codes = op.starts_with("DynamicQuantize");
  rounding.counts_one = traits.rounding == RoundingClass::part_of_one;
  rounding.moves_first_only = op == "Pow";  // a power of a negative number has no neighbours
  rounding.counts_input = traits.rounding == RoundingClass::activation;
  // Places are computed in float32; sizes of Resize follow from its scales, which are exact.
  if (traits.rounding == RoundingClass::sampled) {
    rounding.output += std::max(greatest_dim(inputs), greatest_dim(outputs));
    rounding.counts_plane = true;  // an element between two that differ is off by a part of their difference
    rounding.moves_first_only = op == "Resize" || op == "Upsample";
  }
  return rounding;
}

// Weights of 16 bits and less that a runtime may multiply by the factors of a BatchNormalization.
bool folds_weights(const ir::Model& model, ir::NodeId node, std::span<const tensor::Datum> inputs) {
  if (inputs.size() < 2 || !is_floating(inputs[1]) || tensor::bit_width(inputs[1].declared()) >= 32) return false;
  const ir::ValueId result = model[node].results[0];
  const ir::Use* const use = result ? model[result].first_use : nullptr;
  return use != nullptr && use->next == nullptr && !model[use->user].is_outputs &&
         ops::traits(model, use->user).is_affine();
}

}  // namespace

Rounding rounding_of(const ir::Model& model, ir::NodeId node, std::span<const tensor::Datum> inputs,
                     std::span<const tensor::Datum> outputs) {
  const std::string_view op = model.text(model[node].op);
  const ops::Traits& traits = ops::traits(model, node);
  if (traits.rounding == RoundingClass::random || (op == "Dropout" && is_training(inputs)))
    return {.kind = RoundingKind::random};
  if (std::ranges::none_of(inputs, is_floating) && op != "DequantizeLinear") {
    const bool computes = std::ranges::any_of(outputs, is_floating) && traits.rounding != RoundingClass::exact;
    return computes ? continuous(traits, op, inputs, outputs) : Rounding();
  }
  const bool is_reduced = has_reduction(model, node);
  if (traits.rounding == RoundingClass::exact && !is_reduced) return {};
  const bool is_cast_to_steps = op.starts_with("Cast") && !outputs.empty() && !is_floating(outputs[0]);
  if (is_cast_to_steps || traits.rounding == RoundingClass::decided) return {.kind = RoundingKind::decided};
  if (traits.rounding == RoundingClass::stepped) return {.kind = RoundingKind::quantized, .output = 2};
  if (traits.rounding == RoundingClass::coded) return {.kind = RoundingKind::quantized, .inputs = 4, .output = 2};
  if (traits.rounding == RoundingClass::selected || (!outputs.empty() && !is_floating(outputs[0]))) {
    return {.kind = RoundingKind::selected, .free_axis = free_axis(model, node)};
  }
  if (takes_nearest_elements(model, node)) return {.kind = RoundingKind::rounded, .picks_places = true};
  Rounding rounding = continuous(traits, op, inputs, outputs);
  rounding.folds_weights = folds_weights(model, node, inputs);
  return rounding;
}

}  // namespace assay::analysis
