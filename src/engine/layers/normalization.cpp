#include "engine/layers/normalization.h"

#include <array>

#include "engine/layers/softmax_dims.h"
#include "engine/layers/spelled_norm.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "tensor/elements.h"

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
  const ir::NodeId node = layer.nodes[0];
  const auto input = [&](uint32_t operand) {
    const ir::ValueId value = layer.operand(node, operand);
    return value.valid() ? layer.input_of(value) : -1;
  };
  NormForm norm{.data = input(0), .scale = input(1), .shift = input(2)};
  if (norm.data < 0 || norm.scale < 0) return std::nullopt;
  const ops::Node facts = layer.facts(node);
  norm.epsilon = static_cast<float>(facts.floating("epsilon", 1e-5));
  norm.is_rms = is_rms;
  const tensor::Shape& dims = layer.inputs[static_cast<size_t>(norm.data)].dims;
  set_rows(dims, ops::normalize_axis(facts.integer("axis", -1), static_cast<int64_t>(dims.size())), norm);
  const bool fits = std::ranges::all_of(std::array{norm.scale, norm.shift}, [&](int factors) {
    return factors < 0 || layer.inputs[static_cast<size_t>(factors)].count() == norm.inner;
  });
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

constexpr std::string_view kInstances = "InstanceNormalization";

bool is_reshape(const ir::Model& model, ir::NodeId node) {
  return node.valid() && ops::traits(model, node).is_reshape();
}

bool is_all(const tensor::Tensor* constant, double number) {
  return constant != nullptr &&
         std::ranges::all_of(tensor::load_elements<double>(*constant), [&](double x) { return x == number; });
}

// The other operand of a node that has two.
ir::ValueId other_operand(const ir::Model& model, ir::NodeId node, ir::ValueId one) {
  return ir::operand(model, node, ir::operand(model, node, 0) == one ? 1 : 0);
}

// True if a value has one number for each channel of such pictures.
bool is_by_channel(const std::optional<TensorDesc>& desc, const TensorDesc& pictures) {
  const size_t behind = pictures.dims.size() - 2;
  return desc && desc->dims.size() > behind && desc->dims.size() <= pictures.dims.size() &&
         desc->count() == pictures.dims[1] && desc->dims[desc->dims.size() - behind - 1] == pictures.dims[1];
}

// Five nodes, the last of which are a product and a sum, or three.
std::optional<ChannelNormForm> read_groups(const Layer& layer) {
  const bool is_known = (layer.nodes.size() == 3 || layer.nodes.size() == 5) &&
                        layer.op(layer.nodes[1]) == kInstances && is_reshape(*layer.model, layer.nodes[0]) &&
                        layer.outputs.size() == 1;
  if (!is_known) return std::nullopt;
  ChannelNormForm form{.data = layer.input_of(layer.operand(layer.nodes[0], 0))};
  const bool has_factors = layer.nodes.size() == 5;
  const auto added = [&](size_t place) {
    return layer.input_of(other_operand(*layer.model, layer.nodes[place], layer.result(layer.nodes[place - 1], 0)));
  };
  form.scale = has_factors ? added(3) : layer.input_of(layer.operand(layer.nodes[1], 1));
  form.shift = has_factors ? added(4) : layer.input_of(layer.operand(layer.nodes[1], 2));
  if (form.data < 0 || form.scale < 0 || form.shift < 0) return std::nullopt;
  const TensorDesc& in = layer.inputs[static_cast<size_t>(form.data)];
  form.batch = in.dims[0];
  form.channels = in.dims[1];
  form.pixels = in.count() / (form.batch * form.channels);
  form.groups = layer.desc_of(layer.result(layer.nodes[0], 0)).dims[1];
  form.per_number = has_factors ? 1 : form.per_group();
  form.epsilon = layer.facts(layer.nodes[1]).floating("epsilon", 1e-5);
  return form;
}

}  // namespace

std::vector<ir::NodeId> group_norm_nodes(const ir::Model& model, const ops::Inference& inference, ir::NodeId node,
                                         const ConstantOf& constant) {
  if (!ir::is_op(model, node, kInstances)) return {};
  const ir::NodeId before = ir::producer(model, ir::operand(model, node, 0));
  const ir::NodeId after = only_user(model, ir::result(model, node));
  if (!is_reshape(model, before) || !is_reshape(model, after)) return {};
  const std::optional<TensorDesc> in = find_desc(model, inference, ir::operand(model, before, 0));
  const std::optional<TensorDesc> groups = find_desc(model, inference, ir::operand(model, node, 0));
  const std::optional<TensorDesc> out = find_desc(model, inference, ir::result(model, after));
  const bool is_known = in && groups && out && in->dims == out->dims && in->dims.size() > 2 && in->count() > 0 &&
                        in->dtype == out->dtype && groups->dims.size() > 2 && groups->dims[0] == in->dims[0] &&
                        in->dims[1] % groups->dims[1] == 0;
  if (!is_known || only_user(model, ir::operand(model, node, 0)) != node) return {};
  std::vector<ir::NodeId> nodes = {before, node, after};
  if (!is_all(constant(ir::operand(model, node, 1)), 1) || !is_all(constant(ir::operand(model, node, 2)), 0))
    return nodes;
  for (const std::string_view op : {"Mul", "Add"}) {
    const ir::ValueId last = ir::result(model, nodes.back());
    const ir::NodeId next = only_user(model, last);
    if (!next.valid() || !ir::is_op(model, next, op)) break;
    if (!is_by_channel(find_desc(model, inference, other_operand(model, next, last)), *in)) break;
    nodes.push_back(next);
  }
  if (nodes.size() == 4) nodes.pop_back();
  return nodes;
}

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
  if (!layer.is_single()) return read_groups(layer);
  const bool has_groups = layer.starts_with("GroupNormalization");
  if (!has_groups && !layer.starts_with(kInstances)) return std::nullopt;
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
