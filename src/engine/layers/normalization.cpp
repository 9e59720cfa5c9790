#include "engine/layers/normalization.h"

#include "engine/layers/softmax_dims.h"
#include "engine/layers/spelled_norm.h"

namespace assay::engine {
namespace {

// The dims from `axis` on are the row.
void set_rows(const tensor::Shape& dims, int64_t axis, NormForm& norm) {
  for (size_t i = 0; i < dims.size(); ++i) (static_cast<int64_t>(i) < axis ? norm.count : norm.inner) *= dims[i];
}

std::optional<NormForm> read_operator(const Layer& layer) {
  const bool is_rms = layer.starts_with("RMSNormalization") || layer.starts_with("SimplifiedLayerNormalization");
  if (!is_rms && !layer.starts_with("LayerNormalization")) return std::nullopt;
  for (size_t i = 1; i < layer.outputs.size(); ++i) {
    if (layer.outputs[i].exists()) return std::nullopt;
  }
  if (!layer.inputs[1].exists()) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const bool has_shift = layer.inputs.size() > 2 && layer.inputs[2].exists();
  NormForm norm{.data = 0, .scale = 1, .shift = has_shift ? 2 : -1};
  norm.epsilon = static_cast<float>(facts.floating("epsilon", 1e-5));
  norm.is_rms = is_rms;
  const tensor::Shape& dims = layer.inputs[0].dims;
  set_rows(dims, ops::normalize_axis(facts.integer("axis", -1), static_cast<int64_t>(dims.size())), norm);
  const bool fits = layer.inputs[1].count() == norm.inner && (!has_shift || layer.inputs[2].count() == norm.inner);
  return fits ? std::optional(norm) : std::nullopt;
}

std::optional<NormForm> read_spelled(const Layer& layer) {
  const ConstantOf constant = layer.constants_by_value();
  const std::optional<SpelledNorm> found = match_norm(*layer.model, layer.nodes, constant);
  if (!found || layer.outputs.size() != 1) return std::nullopt;
  const auto input_of = [&](ir::ValueId value) { return value.valid() ? layer.input_of(value) : -1; };
  NormForm norm{.data = input_of(found->data), .scale = input_of(found->scale), .shift = input_of(found->shift)};
  norm.epsilon = found->epsilon;
  norm.is_rms = found->is_rms;
  if (norm.data < 0) return std::nullopt;
  const tensor::Shape& dims = layer.inputs[static_cast<size_t>(norm.data)].dims;
  if (dims.empty() || layer.outputs[0].dims != dims) return std::nullopt;
  set_rows(dims, static_cast<int64_t>(dims.size()) - 1, norm);
  for (const int input : {norm.scale, norm.shift}) {
    if (input >= 0 && layer.inputs[static_cast<size_t>(input)].dims != tensor::Shape{norm.inner}) return std::nullopt;
  }
  return norm;
}

}  // namespace

std::optional<NormForm> find_norm(const Layer& layer) {
  return layer.is_single() ? read_operator(layer) : read_spelled(layer);
}

std::optional<SoftmaxForm> find_softmax(const Layer& layer) {
  const bool is_log = layer.starts_with("LogSoftmax");
  if (!layer.is_single() || (!is_log && !layer.starts_with("Softmax"))) return std::nullopt;
  const size_t rank = layer.inputs[0].dims.size();
  if (rank == 0 || layer.inputs[0].count() == 0) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  return SoftmaxForm{is_log, flattens_dims(facts), softmax_axis(facts, rank)};
}

std::optional<ChannelNormForm> find_channel_norm(const Layer& layer) {
  const bool has_groups = layer.starts_with("GroupNormalization");
  if (!layer.is_single() || (!has_groups && !layer.starts_with("InstanceNormalization"))) return std::nullopt;
  const TensorDesc& in = layer.inputs[0];
  if (in.dims.size() < 2 || in.count() == 0) return std::nullopt;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const int64_t channels = in.dims[1];
  return ChannelNormForm{.batch = in.dims[0],
                         .channels = channels,
                         .pixels = in.count() / (in.dims[0] * channels),
                         .groups = has_groups ? facts.integer("num_groups", 1) : channels,
                         .per_number = channels / layer.inputs[1].count(),
                         .epsilon = facts.floating("epsilon", 1e-5)};
}

}  // namespace assay::engine
