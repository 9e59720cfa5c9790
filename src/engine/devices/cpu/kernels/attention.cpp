// Attention by blocks of queries and keys, written out in operators or as the operator.
#include <cmath>

#include "engine/devices/cpu/attention_blocks.h"
#include "engine/devices/cpu/device.h"
#include "engine/spelled_attention.h"

namespace assay::engine::cpu {
namespace {

// Where matrices are whose first dims are those of the scores, or 1.
Matrices matrices_of(int input, const TensorDesc& desc, const tensor::Shape& items) {
  Matrices matrices{.input = input, .items = {}};
  const size_t rank = desc.dims.size();
  const auto stride = [&](size_t i) { return desc.dims[i] == 1 ? 0 : desc.strides[i]; };
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t missing = items.size() + 2 - rank;
    matrices.items.push_back(i < missing ? 0 : stride(i - missing));
  }
  matrices.row = rank < 2 ? 0 : stride(rank - 2);
  matrices.column = desc.strides[rank - 1];
  return matrices;
}

// The result as if its dims were in the order of the product.
TensorDesc turned_back(const TensorDesc& out, const std::vector<int64_t>& order) {
  TensorDesc desc = out;
  for (size_t i = 0; i < order.size(); ++i) {
    desc.dims[static_cast<size_t>(order[i])] = out.dims[i];
    desc.strides[static_cast<size_t>(order[i])] = out.strides[i];
  }
  return desc;
}

bool has_dense_rows(const AttentionGeometry& g) {
  return g.q.column == 1 && g.out.column == 1 && (g.mask.input < 0 || g.mask.column == 1);
}

// Of the operator Attention. Heads of queries come in groups that share those of keys and values.
class OperatorReader {
 public:
  explicit OperatorReader(const Layer& layer) : layer_(layer), facts_(layer.facts(layer.nodes[0])) {}

  // Nullopt: it has a cache, or something else that the kernel does not compute.
  std::optional<AttentionGeometry> read() const {
    if (!is_simple()) return std::nullopt;
    const int64_t kv_heads = heads_of(1, "kv_num_heads");
    const int64_t group = heads_of(0, "q_num_heads") / kv_heads;
    AttentionGeometry g{.items = {layer_.inputs[0].dims[0], kv_heads, group}};
    g.q = matrices(layer_.inputs[0], 0, kv_heads, group);
    g.k = matrices(layer_.inputs[1], 1, kv_heads, 1);
    g.v = matrices(layer_.inputs[2], 2, kv_heads, 1);
    g.k.items.back() = g.v.items.back() = 0;  // the same for a group
    g.out = matrices(layer_.outputs[0], 0, kv_heads, group);
    g.rows = length(layer_.inputs[0]);
    g.keys = length(layer_.inputs[1]);
    g.depth = size(layer_.inputs[0], kv_heads * group);
    g.width = size(layer_.inputs[2], kv_heads);
    g.scale = static_cast<float>(facts_.floating("scale", 1 / std::sqrt(static_cast<double>(g.depth))));
    g.is_causal = facts_.flag("is_causal");
    g.zeroes_what_sees_none = true;
    return read_mask(g) ? std::optional(std::move(g)) : std::nullopt;
  }

 private:
  static constexpr size_t kMask = 3;
  bool has(size_t input) const { return input < layer_.inputs.size() && layer_.inputs[input].exists(); }

  bool is_simple() const {
    for (size_t i = 0; i < kMask; ++i) {
      const TensorDesc& desc = layer_.inputs[i];
      if (desc.dtype != tensor::DType::float32 || desc.count() == 0) return false;
    }
    for (size_t i = kMask + 1; i < layer_.inputs.size(); ++i) {
      if (has(i)) return false;
    }
    for (size_t i = 1; i < layer_.outputs.size(); ++i) {
      if (layer_.outputs[i].exists()) return false;
    }
    const bool sees_all = facts_.integer("left_window_size", -1) == -1 && facts_.integer("right_window_size", -1) == -1;
    constexpr int64_t kFloat = 1;
    return sees_all && facts_.floating("softcap", 0) == 0 && facts_.integer("softmax_precision", kFloat) == kFloat;
  }

  // Of [batch, heads, length, size], or of [batch, length, heads * size].
  bool is_packed(const TensorDesc& desc) const { return desc.dims.size() == 3; }
  int64_t length(const TensorDesc& desc) const { return desc.dims[is_packed(desc) ? 1 : 2]; }
  int64_t size(const TensorDesc& desc, int64_t heads) const {
    return is_packed(desc) ? desc.dims[2] / heads : desc.dims[3];
  }
  int64_t heads_of(size_t input, std::string_view name) const {
    const TensorDesc& desc = layer_.inputs[input];
    return is_packed(desc) ? facts_.integer(name) : desc.dims[1];
  }

  Matrices matrices(const TensorDesc& desc, int input, int64_t heads, int64_t group) const {
    const tensor::Shape& strides = desc.strides;
    if (!is_packed(desc)) return {input, {strides[0], group * strides[1], strides[1]}, strides[2], strides[3]};
    const int64_t head = size(desc, heads * group) * strides[2];
    return {input, {strides[0], group * head, head}, strides[1], strides[2]};
  }
  bool read_mask(AttentionGeometry& g) const {
    if (!has(kMask)) return true;
    const TensorDesc& mask = layer_.inputs[kMask];
    g.has_conditions = mask.dtype == tensor::DType::boolean;
    const bool has_type = g.has_conditions || mask.dtype == tensor::DType::float32;
    if (!has_type || mask.dims.empty() || mask.dims.back() != g.keys) return false;
    const Matrices whole = matrices_of(static_cast<int>(kMask), mask, {g.items[0], g.items[1] * g.items[2]});
    g.mask = {whole.input, {whole.items[0], g.items[2] * whole.items[1], whole.items[1]}, whole.row, whole.column};
    return true;
  }

  const Layer& layer_;
  ops::Node facts_;
};

class Attention final : public Implementation {
 public:
  std::string_view name() const override { return "attention.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_operator = layer.is_single() && layer.starts_with("Attention");
    const std::optional<AttentionGeometry> g = is_operator ? OperatorReader(layer).read() : read_spelled(layer);
    return g && has_dense_rows(*g) ? make_attention(*g) : nullptr;
  }

 private:
  static std::optional<AttentionGeometry> read_spelled(const Layer& layer) {
    const ConstantOf constant = [&](ir::ValueId value) { return layer.constant(value); };
    const auto spelled = match_attention(*layer.model, *layer.inference, layer.nodes, constant);
    if (!spelled || layer.outputs.size() != 1 || !has_layout(layer.outputs[0], Layout::plain)) return {};
    const auto desc = [&](ir::ValueId value) { return layer.inputs[static_cast<size_t>(layer.input_of(value))]; };
    const auto matrices = [&](ir::ValueId value, const tensor::Shape& items) {
      return matrices_of(layer.input_of(value), desc(value), items);
    };
    const TensorDesc out = turned_back(layer.outputs[0], spelled->order);
    AttentionGeometry g{
        .items = {out.dims.begin(), out.dims.end() - 2}, .scale = spelled->scale, .divides = spelled->divides};
    g.rows = out.dims[out.dims.size() - 2];
    g.width = out.dims.back();
    g.depth = desc(spelled->q).dims.back();
    g.keys = desc(spelled->k).dims.back();
    g.q = matrices(spelled->q, g.items);
    g.k = matrices(spelled->k, g.items);
    std::swap(g.k.row, g.k.column);
    g.v = matrices(spelled->v, g.items);
    g.out = matrices_of(0, out, g.items);
    if (spelled->mask.valid()) g.mask = matrices(spelled->mask, g.items);
    return g;
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Attention>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_attention() { return {make_all}; }

}  // namespace assay::engine::cpu
