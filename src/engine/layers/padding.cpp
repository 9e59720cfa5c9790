#include "engine/layers/padding.h"

#include <algorithm>

#include "ops/evaluate.h"
#include "ops/kernels/movement/padding.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

constexpr int64_t kLongestAxis = int64_t{1} << 22;  // of longer ones, where elements come from would take much memory

using Numbers = std::optional<std::vector<int64_t>>;

bool has_input(const Layer& layer, size_t i) { return i < layer.inputs.size() && layer.inputs[i].exists(); }

Numbers constant_numbers(const Layer& layer, size_t i) {
  if (!has_input(layer, i) || layer.constants[i] == nullptr) return std::nullopt;
  return tensor::load_elements<int64_t>(*layer.constants[i]);
}

// Nullopt: pads or axes are computed, or negative pads might leave nothing that could be repeated.
std::optional<std::vector<ops::AxisMap>> find_maps(const Layer& layer, const ops::Node& facts) {
  const ops::PadArguments arguments = ops::pad_arguments(facts);
  const Numbers pads =
      facts.version() < arguments.pads.since ? facts.integers(arguments.pads.name) : constant_numbers(layer, 1);
  const Numbers axes = constant_numbers(layer, 3);
  if (!pads || (has_input(layer, 3) && !axes)) return std::nullopt;
  const ops::PadMode mode = ops::pad_mode(facts);
  const bool cuts = std::ranges::any_of(*pads, [](int64_t pad) { return pad < 0; });
  if (cuts && mode != ops::PadMode::constant) return std::nullopt;
  const tensor::Shape& dims = layer.inputs[0].dims;
  return ops::pad_maps(dims, ops::padded_axes(axes, dims.size()), *pads, mode);
}

}  // namespace

std::optional<Padding> find_padding(const Layer& layer) {
  if (!layer.is_single() || !layer.starts_with("Pad")) return std::nullopt;
  const TensorDesc& in = layer.inputs[0];
  const TensorDesc& out = layer.outputs[0];
  if (in.dims.empty() || in.count() == 0 || out.count() == 0 || std::ranges::max(out.dims) > kLongestAxis) return {};
  const ops::Node facts = layer.facts(layer.nodes[0]);
  std::optional<std::vector<ops::AxisMap>> maps = find_maps(layer, facts);
  if (!maps || tensor::bit_width(in.dtype) % 8 != 0) return std::nullopt;
  Padding padding{.maps = std::move(*maps)};
  if (facts.version() < ops::pad_arguments(facts).pads.since) {
    const tensor::Tensor value = ops::make_rounded(in.dtype, {}, std::vector<double>{facts.floating("value")});
    std::ranges::copy(value.bytes(), padding.filler.begin());
  }
  padding.is_filler_given = has_input(layer, Padding::kFiller) && layer.inputs[Padding::kFiller].count() == 1;
  return padding;
}

}  // namespace assay::engine
