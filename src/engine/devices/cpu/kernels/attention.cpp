// Attention by blocks of queries and keys, written out in operators or as the operator.
#include <algorithm>

#include "engine/devices/cpu/attention_cache.h"
#include "engine/devices/cpu/attention_operator.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/group_query.h"
#include "engine/spelled_attention.h"

namespace assay::engine::cpu {
namespace {

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
  const auto is_dense = [](const Matrices& matrices) { return matrices.input < 0 || matrices.column == 1; };
  if (g.dtype != tensor::DType::float32 && !(is_dense(g.v) && (is_dense(g.k) || g.k.row == 1))) return false;
  return g.q.column == 1 && g.out.column == 1 && is_dense(g.mask) && is_dense(g.conditions);
}

// Attention that is written out. Its last items are split where heads share keys or values: [groups, heads of a group].
class SpelledReader {
 public:
  SpelledReader(const Layer& layer, const SpelledAttention& spelled)
      : layer_(layer), spelled_(spelled), sharing_(std::max(spelled.k.sharing, spelled.v.sharing)) {}

  AttentionGeometry read() const {
    const TensorDesc out = turned_back(layer_.outputs[0], spelled_.order);
    const tensor::Shape items(out.dims.begin(), out.dims.end() - 2);
    const TensorDesc keys = desc(spelled_.k.value);
    AttentionGeometry g{.dtype = out.dtype, .items = items};
    g.rows = out.dims[out.dims.size() - 2];
    g.width = out.dims.back();
    g.depth = desc(spelled_.q.value).dims.back();
    g.keys = spelled_.k.is_turned ? keys.dims[keys.dims.size() - 2] : keys.dims.back();
    g.q = operand(spelled_.q, items);
    g.k = operand(spelled_.k, items);
    std::swap(g.k.row, g.k.column);
    g.v = operand(spelled_.v, items);
    g.out = split(matrices_of(0, out, items));
    if (spelled_.mask.valid()) g.mask = operand({.value = spelled_.mask}, items);
    if (spelled_.conditions.valid()) g.conditions = operand({.value = spelled_.conditions}, items);
    if (sharing_ > 1) {
      g.items.back() /= sharing_;
      g.items.push_back(sharing_);
    }
    g.scale = spelled_.scale;
    g.divides = spelled_.divides;
    g.hidden_where = spelled_.hidden_where;
    g.hidden = spelled_.hidden;
    g.replaces = true;
    g.zeroes_no_number = spelled_.zeroes_no_number;
    return g;
  }

 private:
  TensorDesc desc(ir::ValueId value) const { return layer_.inputs[static_cast<size_t>(layer_.input_of(value))]; }

  Matrices operand(const AttentionOperand& operand, const tensor::Shape& items) const {
    TensorDesc given = desc(operand.value);
    const int input = layer_.input_of(operand.value);
    Matrices matrices;
    if (operand.sharing == 1) {
      matrices = split(matrices_of(input, given, items));
    } else {
      const bool has_dim_of_repeats = given.dims.size() == items.size() + 3;
      if (has_dim_of_repeats) erase_dim(given, given.dims.size() - 3);
      matrices = matrices_of(input, given, items);
      matrices.items.push_back(0);
    }
    if (operand.is_turned) std::swap(matrices.row, matrices.column);
    return matrices;
  }
  static void erase_dim(TensorDesc& desc, size_t at) {
    desc.dims.erase(desc.dims.begin() + static_cast<ptrdiff_t>(at));
    desc.strides.erase(desc.strides.begin() + static_cast<ptrdiff_t>(at));
  }
  Matrices split(Matrices matrices) const {
    if (sharing_ == 1) return matrices;
    const int64_t head = matrices.items.back();
    matrices.items.back() *= sharing_;
    matrices.items.push_back(head);
    return matrices;
  }

  const Layer& layer_;
  const SpelledAttention& spelled_;
  int64_t sharing_;
};

class Attention final : public Implementation {
 public:
  std::string_view name() const override { return "attention.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (layer.is_single()) {
      if (std::unique_ptr<Kernel> kernel = make_group_query(layer)) return kernel;
      std::optional<AttentionOperator> found = read_attention_operator(layer);
      if (!found || !has_dense_rows(found->geometry)) return nullptr;
      join_rows_of_heads(found->geometry);
      return make_cached_attention(std::move(found->caches), std::move(found->geometry));
    }
    std::optional<AttentionGeometry> g = read_spelled(layer);
    if (!g || !has_dense_rows(*g)) return nullptr;
    join_rows_of_heads(*g);
    return make_attention(std::move(*g));
  }

 private:
  static std::optional<AttentionGeometry> read_spelled(const Layer& layer) {
    const ConstantOf constant = [&](ir::ValueId value) { return layer.constant(value); };
    const auto spelled = match_attention(*layer.model, *layer.inference, layer.nodes, constant);
    if (!spelled || layer.outputs.size() != 1 || !has_layout(layer.outputs[0], Layout::plain)) return {};
    return SpelledReader(layer, *spelled).read();
  }
};

Implementations make_attention_kernels(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Attention>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_attention() { return {make_attention_kernels}; }

}  // namespace assay::engine::cpu
