#include "engine/layers/group_query.h"

#include <cmath>

#include "tensor/elements.h"

namespace assay::engine {
namespace {

constexpr size_t kPast = GroupQuery::kPast, kLast = GroupQuery::kLast, kTotal = GroupQuery::kTotal;
constexpr size_t kCosines = GroupQuery::kCosines, kSines = GroupQuery::kSines;

class Reader {
 public:
  explicit Reader(const Layer& layer) : layer_(layer), facts_(layer.facts(layer.nodes[0])) {}

  std::optional<GroupQuery> read() const {
    if (!has_known_values() || !has_known_attributes()) return std::nullopt;
    using Fresh = GroupQuery::Fresh;
    const tensor::Shape& q = layer_.inputs[0].dims;
    GroupQuery g{.dtype = dtype(), .batch = q[0], .length = q[1], .heads = facts_.integer("num_heads")};
    g.kv_heads = facts_.integer("kv_num_heads");
    g.present = layer_.outputs[1].dims[2];
    g.size = layer_.outputs[1].dims[3];
    g.room = has(kPast) ? layer_.inputs[kPast].dims[2] : 0;
    g.is_prompt = tensor::load_elements<int64_t>(*layer_.constants[kTotal]).front() == g.length;
    const int64_t own = g.heads * g.size;
    const int64_t shared = g.kv_heads * g.size;
    g.q = {0, q[2], 0};
    g.fresh = has(1) ? std::array{Fresh{1, shared, 0}, Fresh{2, shared, 0}}
                     : std::array{Fresh{0, q[2], own}, Fresh{0, q[2], own + shared}};
    if (facts_.flag("do_rotary")) {
      g.angles = layer_.inputs[kCosines].dims[0];
      g.half = layer_.inputs[kCosines].dims[1];
      g.interleaves = facts_.flag("rotary_interleaved");
    }
    g.is_causal = facts_.flag("causal");
    const double given = facts_.floating("scale", 0);
    g.scale = static_cast<float>(given == 0 ? 1 / std::sqrt(static_cast<double>(g.size)) : given);
    return g;
  }

 private:
  tensor::DType dtype() const { return layer_.inputs[0].dtype; }
  bool has(size_t input) const { return input < layer_.inputs.size() && layer_.inputs[input].exists(); }

  bool has_known_values() const {
    for (size_t i = 0; i < layer_.inputs.size(); ++i) {
      if (!has(i) || i == kTotal) continue;
      const tensor::DType wanted = i == kLast ? tensor::DType::int32 : dtype();
      if (i > kSines || layer_.inputs[i].dtype != wanted) return false;
    }
    const bool has_total = has(kTotal) && layer_.constants[kTotal] != nullptr && layer_.constants[kTotal]->count() == 1;
    const bool has_angles = !facts_.flag("do_rotary") || (has(kCosines) && has(kSines));
    if (layer_.outputs.size() < 3 || !has(kLast) || !has_total || !has_angles) return false;
    for (size_t i = 1; i < layer_.outputs.size(); ++i) {
      if (layer_.outputs[i].exists() != (i < 3) || (i < 3 && layer_.outputs[i].dtype != dtype())) {
        return false;
      }
    }
    return layer_.inputs[0].count() > 0 && layer_.outputs[0].dtype == dtype();
  }
  bool has_known_attributes() const {
    return facts_.integer("smooth_softmax", -1) != 1 && facts_.floating("softcap", 0) == 0 &&
           facts_.integer("local_window_size", -1) == -1 && facts_.integer("qk_output", 0) == 0;
  }

  const Layer& layer_;
  ops::Node facts_;
};

}  // namespace

std::optional<GroupQuery> find_group_query(const Layer& layer) {
  const bool is_operator = layer.is_single() && layer.op(layer.nodes[0]) == "GroupQueryAttention" &&
                           layer.model->text((*layer.model)[layer.nodes[0]].domain) == "com.microsoft";
  return is_operator ? Reader(layer).read() : std::nullopt;
}

AttentionGeometry group_query_geometry(const GroupQuery& g) {
  const int64_t group = g.heads / g.kv_heads;
  const int64_t columns = g.half > 0 ? g.heads * g.size : g.q.columns;
  const auto tokens = [&](int64_t width) {
    return Matrices{.input = 0, .items = {g.length * width, group * g.size, g.size}, .row = width, .column = 1};
  };
  const auto cache = [&](int result) {
    return Matrices{.input = result,
                    .is_result = true,
                    .items = {g.kv_heads * g.present * g.size, g.present * g.size, 0},
                    .row = g.size,
                    .column = 1};
  };
  AttentionGeometry a{.dtype = g.dtype, .items = {g.batch, g.kv_heads, group}, .rows = g.length, .keys = g.present};
  a.depth = a.width = g.size;
  a.q = tokens(columns);
  a.k = cache(1);
  a.v = cache(2);
  a.out = tokens(g.heads * g.size);
  a.scale = g.scale;
  a.is_causal = g.is_causal;
  a.last_key = {.input = static_cast<int>(kLast), .items = {1, 0, 0}};
  a.ends_with_last = !g.is_prompt;
  a.zeroes_what_sees_none = true;
  return a;
}

}  // namespace assay::engine
