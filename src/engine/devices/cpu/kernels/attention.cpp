// Attention by blocks of queries and keys, written out in operators or as the operator.
#include <algorithm>
#include <cmath>

#include "engine/devices/cpu/attention/attention_blocks.h"
#include "engine/devices/cpu/attention/group_query.h"
#include "engine/devices/cpu/device.h"
#include "engine/layers/form.h"

namespace assay::engine::cpu {
namespace {

bool has_dense_rows(const AttentionGeometry& g) {
  const auto are_dense = [](std::initializer_list<const Matrices*> all) {
    return std::ranges::all_of(all, [](const Matrices* m) { return !m->exist() || m->column == 1; });
  };
  if (g.dtype != tensor::DType::float32) {
    const bool has_cache = g.k_cache.past.exist() || g.k_cache.kept.exist();
    const bool are_known_keys = are_dense({&g.k}) || (g.k.row == 1 && !has_cache);
    if (!are_known_keys || !are_dense({&g.v, &g.k_cache.past, &g.k_cache.kept, &g.v_cache.past, &g.v_cache.kept})) {
      return false;
    }
  }
  return are_dense({&g.q, &g.out, &g.mask, &g.conditions});
}

// Quotients of powers of two are products, which take less time.
void multiply_where_exact(AttentionGeometry& g) {
  int exponent = 0;
  constexpr float kMantissaOfPowers = 0.5F;
  if (!g.divides || std::fabs(std::frexp(g.scale, &exponent)) != kMantissaOfPowers) return;
  if (!std::isnormal(1 / g.scale)) return;
  g.scale = 1 / g.scale;
  g.divides = false;
}

class Attention final : public Implementation {
 public:
  std::string_view name() const override { return "attention.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (const auto* const query = form_as<GroupQuery>(layer)) {
      const bool is_known = query->dtype == tensor::DType::float32 && layer.lies_plainly();
      return is_known ? make_group_query(*query) : nullptr;
    }
    std::optional<AttentionGeometry> g = attention_geometry(layer);
    if (!g) return nullptr;
    const bool is_spelled_pair = g->dtype == tensor::DType::bfloat16 && !layer.is_single();
    const bool is_known = g->dtype == tensor::DType::float32 || is_spelled_pair;
    if (!is_known || !has_dense_rows(*g)) return nullptr;
    multiply_where_exact(*g);
    join_rows_of_heads(*g);
    return make_attention(std::move(*g));
  }
};

}  // namespace

KernelFamily cpu_kernel_attention() { return family_of<Attention>(); }

}  // namespace assay::engine::cpu
