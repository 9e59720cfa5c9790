#include "engine/layers/attention_operator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay::engine {
namespace {

// The places of an operator's operands. Those that are not named are query, key and value, or must be left out.
struct Places {
  std::string_view domain, op;
  size_t mask, past;  // keys of the past, then values
  std::string_view q_heads, kv_heads;
};
constexpr std::array kPlaces = {
    Places{"", "Attention", 3, 4, "q_num_heads", "kv_num_heads"},
    Places{"com.microsoft", "MultiHeadAttention", 5, 6, "num_heads", "num_heads"},
};

const Places* find_operands(const Layer& layer) {
  const ir::Model& model = *layer.model;
  const ir::Node& node = model[layer.nodes[0]];
  const auto* const found = std::ranges::find_if(kPlaces, [&](const Places& known) {
    return model.text(node.op) == known.op && model.text(node.domain) == known.domain;
  });
  return found == kPlaces.end() ? nullptr : found;
}

// Heads of queries come in groups that share those of keys and values.
class OperatorReader {
 public:
  OperatorReader(const Layer& layer, const Places& places)
      : layer_(layer), places_(places), facts_(layer.facts(layer.nodes[0])) {}

  std::optional<AttentionGeometry> read() const {
    if (!has_known_values() || !has_known_attributes()) return std::nullopt;
    const int64_t kv_heads = heads_of(1, places_.kv_heads);
    const int64_t group = heads_of(0, places_.q_heads) / kv_heads;
    AttentionGeometry g{.dtype = dtype(), .items = {layer_.inputs[0].dims[0], kv_heads, group}};
    g.q = matrices(layer_.inputs[0], 0, kv_heads, group);
    g.k = shared(matrices(layer_.inputs[1], 1, kv_heads, 1));
    g.v = shared(matrices(layer_.inputs[2], 2, kv_heads, 1));
    g.k_cache = cache(1, kv_heads);
    g.v_cache = cache(2, kv_heads);
    g.out = matrices(layer_.outputs[0], 0, kv_heads, group);
    g.rows = length(layer_.inputs[0]);
    g.keys = past_length() + length(layer_.inputs[1]);
    g.depth = size(layer_.inputs[0], kv_heads * group);
    g.width = size(layer_.inputs[2], kv_heads);
    g.scale = scale(g.depth);
    g.is_causal = facts_.flag(is_microsoft() ? "unidirectional" : "is_causal");
    g.past = is_microsoft() ? g.keys - std::min(g.rows, g.keys) : past_length();
    g.zeroes_what_sees_none = true;
    return read_mask(g) ? std::optional(std::move(g)) : std::nullopt;
  }

 private:
  bool is_microsoft() const { return !places_.domain.empty(); }
  bool has(size_t input) const { return input < layer_.inputs.size() && layer_.inputs[input].exists(); }
  bool gives(size_t output) const { return output < layer_.outputs.size() && layer_.outputs[output].exists(); }
  tensor::DType dtype() const { return layer_.inputs[0].dtype; }
  bool is_float(const TensorDesc& desc) const {
    return is_short_float(desc.dtype) && desc.dtype == dtype() && desc.count() > 0;
  }

  bool has_known_values() const {
    for (size_t i = 0; i < layer_.inputs.size(); ++i) {
      const bool is_tensor = i < 3 || i == places_.past || i == places_.past + 1;
      if (has(i) && (is_tensor ? !is_float(layer_.inputs[i]) : i != places_.mask)) return false;
      if (!has(i) && i < 3) return false;
    }
    for (size_t i = 1; i < layer_.outputs.size(); ++i) {
      if (gives(i) && (i > 2 || !is_float(layer_.outputs[i]) || !has_layout(layer_.outputs[i], Layout::plain))) {
        return false;
      }
    }
    const bool has_past = has(places_.past);  // the result continues it
    return has_past == has(places_.past + 1) && (!has_past || (gives(1) && gives(2)));
  }
  bool has_known_attributes() const {
    if (is_microsoft()) return true;
    const bool sees_all = facts_.integer("left_window_size", -1) == -1 && facts_.integer("right_window_size", -1) == -1;
    constexpr int64_t kFloat = 1;
    return sees_all && facts_.floating("softcap", 0) == 0 && facts_.integer("softmax_precision", kFloat) == kFloat;
  }
  float scale(int64_t depth) const {
    const double usual = 1 / std::sqrt(static_cast<double>(depth));
    const double given = facts_.floating("scale", is_microsoft() ? 0 : usual);
    return static_cast<float>(is_microsoft() && given == 0 ? usual : given);
  }

  // True for [batch, length, heads * size], false for [batch, heads, length, size].
  bool is_packed(const TensorDesc& desc) const { return desc.dims.size() == 3; }
  int64_t length(const TensorDesc& desc) const { return desc.dims[is_packed(desc) ? 1 : 2]; }
  int64_t past_length() const { return has(places_.past) ? length(layer_.inputs[places_.past]) : 0; }
  int64_t size(const TensorDesc& desc, int64_t heads) const {
    return is_packed(desc) ? desc.dims[2] / heads : desc.dims[3];
  }
  int64_t heads_of(size_t input, std::string_view name) const {
    const TensorDesc& desc = layer_.inputs[input];
    return is_packed(desc) ? facts_.integer(name) : desc.dims[1];
  }

  Matrices matrices(const TensorDesc& desc, int input, int64_t heads, int64_t group) const {
    const tensor::Shape& strides = desc.strides;
    if (!is_packed(desc)) {
      return {.input = input,
              .items = {strides[0], group * strides[1], strides[1]},
              .row = strides[2],
              .column = strides[3]};
    }
    const int64_t head = size(desc, heads * group) * strides[2];
    return {.input = input, .items = {strides[0], group * head, head}, .row = strides[1], .column = strides[2]};
  }

  // The matrices shared by a group.
  static Matrices shared(Matrices matrices) {
    matrices.items.back() = 0;
    return matrices;
  }
  // The cache of keys (1) or values (2).
  AttentionCache cache(size_t input, int64_t heads) const {
    AttentionCache cache{.past_type = dtype(), .kept_type = dtype()};
    const size_t past = places_.past + input - 1;
    if (has(past)) {
      cache.past = shared(matrices(layer_.inputs[past], static_cast<int>(past), heads, 1));
      cache.past_rows = past_length();
    }
    if (gives(input)) {
      cache.kept = shared(matrices(layer_.outputs[input], static_cast<int>(input), heads, 1));
      cache.kept.is_result = true;
    }
    return cache;
  }

  bool read_mask(AttentionGeometry& g) const {
    if (!has(places_.mask)) return true;
    const TensorDesc& mask = layer_.inputs[places_.mask];
    const bool has_conditions = mask.dtype == tensor::DType::boolean;
    const bool has_type = has_conditions || mask.dtype == dtype();
    if (!has_type || mask.dims.empty() || mask.dims.back() != g.keys) return false;
    Matrices matrices = matrices_of(static_cast<int>(places_.mask), mask, {g.items[0], g.items[1] * g.items[2]});
    const int64_t head = matrices.items[1];
    matrices.items = {matrices.items[0], g.items[2] * head, head};
    g.hidden = -std::numeric_limits<float>::infinity();
    (has_conditions ? g.conditions : g.mask) = std::move(matrices);
    return true;
  }

  const Layer& layer_;
  const Places& places_;
  ops::Node facts_;
};

}  // namespace

std::optional<AttentionGeometry> read_attention_operator(const Layer& layer) {
  const Places* const places = find_operands(layer);
  return places == nullptr ? std::nullopt : OperatorReader(layer, *places).read();
}

}  // namespace assay::engine
