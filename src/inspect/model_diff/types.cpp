#include "inspect/model_diff/parts.h"
#include "inspect/model_overview.h"

namespace assay::inspect {

bool TypeComparison::same(ir::TypeId a, ir::TypeId b) {
  const uint64_t key = uint64_t{a.index} << 32 | b.index;
  const auto [place, is_new] = known_.try_emplace(key, false);
  if (is_new) place->second = compare(a, b);
  return place->second;
}

bool TypeComparison::compare(ir::TypeId id_a, ir::TypeId id_b) const {
  for (; id_a && id_b; id_a = context_.a[id_a].element, id_b = context_.b[id_b].element) {
    const ir::Type& a = context_.a[id_a];
    const ir::Type& b = context_.b[id_b];
    const bool is_same = a.kind == b.kind && a.dtype == b.dtype && same_dims(a, b) &&
                         context_.a.text(a.domain) == context_.b.text(b.domain) &&
                         context_.a.text(a.name) == context_.b.text(b.name);
    if (!is_same) return false;
  }
  return !id_a && !id_b;
}

bool TypeComparison::same_dims(const ir::Type& a, const ir::Type& b) const {
  if (a.ranked != b.ranked || a.dims.size() != b.dims.size()) return false;
  const std::vector<results::ListedDim> dims_a = dims_of(context_.a, a);
  const std::vector<results::ListedDim> dims_b = dims_of(context_.b, b);
  for (size_t i = 0; i < dims_a.size(); ++i) {
    if (dims_a[i].value != dims_b[i].value) return false;
    const bool both_named = !dims_a[i].symbol.empty() && !dims_b[i].symbol.empty();
    if (context_.options.ignore_names && both_named) continue;
    if (dims_a[i].symbol != dims_b[i].symbol) return false;
  }
  return true;
}

void diff_value_infos(const DiffContext& context, results::ModelDiff& diff) {
  TypeComparison types(context);
  std::vector<bool> is_output(context.a.value_slots());
  for (const ir::Use& use : context.a.outputs(context.a.main_graph())) {
    if (use.value) is_output[use.value.index] = true;
  }
  for (uint32_t i = 0; i < context.a.value_slots(); ++i) {
    const ir::ValueId a{i};
    const ir::ValueId b = context.matching.values_in_b[i];
    if (!context.a[a].alive || !b || !context.a[a].producer || is_output[i]) continue;
    const ir::TypeId type_a = context.a[a].type;
    const ir::TypeId type_b = context.b[b].type;
    diff.value_infos.added_count += !type_a && type_b;
    diff.value_infos.removed_count += type_a && !type_b;
    if (!type_a || !type_b || types.same(type_a, type_b)) continue;
    diff.value_infos.changed.emplace_back(value_info(context.a, a), value_info(context.b, b));
  }
}

}  // namespace assay::inspect
