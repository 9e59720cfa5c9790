#include "engine/layers/attention_geometry.h"

#include <algorithm>

#include "engine/layers/appended_cache.h"
#include "engine/layers/attention_operator.h"
#include "engine/layers/form.h"

namespace assay::engine {
namespace {

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
    g.k = operand(spelled_.k, items, g.k_cache);
    for (Matrices* const k : {&g.k, &g.k_cache.past, &g.k_cache.kept}) std::swap(k->row, k->column);
    g.v = operand(spelled_.v, items, g.v_cache);
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
  TensorDesc desc(ir::ValueId value) const {
    const int input = layer_.input_of(value);
    return input < 0 ? layer_.desc_of(value) : layer_.inputs[static_cast<size_t>(input)];
  }

  // The matrices of an operand; those that are appended to a cache, where they are.
  Matrices operand(const AttentionOperand& operand, const tensor::Shape& items, AttentionCache& cache) const {
    const std::optional<AppendedCache> found = find_appended(*layer_.model, *layer_.inference, layer_.nodes, operand);
    if (!found) return this->operand(operand, items);
    const auto with = [&](ir::ValueId value) {
      AttentionOperand other = operand;
      other.value = value;
      return other;
    };
    const TensorDesc past = desc(found->past);
    cache.past = this->operand(with(found->past), items);
    cache.past_rows = past.dims[past.dims.size() - (has_rows_of_keys(operand) ? 2 : 1)];
    cache.past_type = past.dtype;
    const auto given = std::ranges::find(layer_.output_values, found->given);
    if (found->given.valid() && given != layer_.output_values.end()) {
      const auto result = static_cast<size_t>(given - layer_.output_values.begin());
      cache.kept = located(operand, layer_.outputs[result], static_cast<int>(result), items);
      cache.kept.is_result = true;
      cache.kept_type = layer_.outputs[result].dtype;
    }
    return this->operand(with(found->fresh), items);
  }

  Matrices operand(const AttentionOperand& operand, const tensor::Shape& items) const {
    return located(operand, desc(operand.value), layer_.input_of(operand.value), items);
  }
  Matrices located(const AttentionOperand& operand, TensorDesc given, int input, const tensor::Shape& items) const {
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

std::optional<AttentionGeometry> read_spelled(const Layer& layer) {
  const auto* const spelled = form_as<SpelledAttention>(layer);
  const auto is_plain = [](const TensorDesc& desc) { return has_layout(desc, Layout::plain); };
  if (spelled == nullptr || !std::ranges::all_of(layer.outputs, is_plain)) return {};
  for (const AttentionOperand* const operand : {&spelled->k, &spelled->v}) {
    const bool is_given = layer.input_of(operand->value) >= 0;
    if (!is_given && !find_appended(*layer.model, *layer.inference, layer.nodes, *operand)) return {};
  }
  return SpelledReader(layer, *spelled).read();
}

}  // namespace

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

int64_t element_of(const Matrices& matrices, const std::vector<int64_t>& items, int64_t item) {
  int64_t element = 0;
  for (size_t i = items.size(); i-- > 0; item /= items[i]) element += item % items[i] * matrices.items[i];
  return element;
}

TensorDesc turned_back(const TensorDesc& out, const std::vector<int64_t>& order) {
  TensorDesc desc = out;
  for (size_t i = 0; i < order.size(); ++i) {
    desc.dims[static_cast<size_t>(order[i])] = out.dims[i];
    desc.strides[static_cast<size_t>(order[i])] = out.strides[i];
  }
  return desc;
}

std::optional<AttentionGeometry> attention_geometry(const Layer& layer) {
  std::optional<AttentionGeometry> g = layer.is_single() ? read_attention_operator(layer) : read_spelled(layer);
  if (g) g->may_round_weights = !layer.is_strict;
  return g;
}

}  // namespace assay::engine
